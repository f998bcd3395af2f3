# unit: exec KL=32 GL=16 TM=4 TN=2 BA=2 BW=4 DW=64 L1A_D=64 L1W_D=32 P_MAX=8
# file: bc_gather.sv
# expect: u_outer|u_tap
# The next row tile goes on with W behind its end.
s/assign restart_row = tile & last_own;/assign restart_row = 1'b0;/
