# unit: exec KL=32 GL=16 TM=4 TN=2 BA=2 BW=4 DW=64 L1A_D=64 L1W_D=32 P_MAX=8
# file: bc_pos_outer_add.sv
# expect: u_outer|u_tap
# The second digit carries one too late.
s/a1 >= 17'\(r1_i\)/a1 > 17'(r1_i)/
