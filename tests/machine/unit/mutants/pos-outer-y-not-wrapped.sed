# unit: exec KL=32 GL=16 TM=4 TN=2 BA=2 BW=4 DW=64 L1A_D=64 L1W_D=32 P_MAX=8
# file: bc_pos_outer_add.sv
# expect: u_outer|u_tap
# y keeps what R1 steps have added.
s/ - \(c1 \? yw_i : 16'd0\)//
