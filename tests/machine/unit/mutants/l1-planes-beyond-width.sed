# unit: exec KL=32 GL=16 TM=4 TN=2 BA=2 BW=4 DW=64 L1A_D=64 L1W_D=32 P_MAX=8
# file: bc_l1.sv
# expect: data_o differs
# A beat carries planes that the operand does not have.
s/ & \(32'\(plane_i\) \+ 32'\(p\) < 32'\(bits_i\)\)//
