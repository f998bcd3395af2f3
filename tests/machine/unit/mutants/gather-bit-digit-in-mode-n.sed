# unit: exec KL=32 GL=16 TM=4 TN=2 BA=2 BW=4 DW=64 L1A_D=64 L1W_D=32 P_MAX=8
# file: bc_gather.sv
# expect: u_tap.br_q
# Granules are counted as bits.
s/\.br_i\(side_i\[bc_machine_pkg::SIDE_TRANSPOSED_BIT\]/.br_i(1'b1/
