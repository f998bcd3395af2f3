# unit: exec KL=32 GL=16 TM=4 TN=2 BA=2 BW=4 DW=64 L1A_D=64 L1W_D=32 P_MAX=8
# file: bc_l1.sv
# expect: data_o differs
# The padding on the right is a column too far.
s/\(x < w_i\)/(x <= w_i)/
