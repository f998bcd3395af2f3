# unit: exec KL=32 GL=16 TM=4 TN=2 BA=2 BW=4 DW=64 L1A_D=64 L1W_D=32 P_MAX=8
# file: bc_gather.sv
# expect: own_rem_q|u_outer|u_tap
# A goes on with each column tile.
s/next_row = tile & last_other;/next_row = tile;/
