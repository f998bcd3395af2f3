# unit: result TM=4 TN=4 Q=4 GL=16 DW=64 OB_D=256 PS_D=64 ACC_W=48
# file: bc_out_pos.sv
# expect: base_q|code bit
# Positions of columns do not restart with a row of tiles.
s/start_i \| restart_i/start_i/
