# unit: exec KL=32 GL=16 TM=4 TN=2 BA=2 BW=4 DW=64 L1A_D=64 L1W_D=32 P_MAX=8
# file: bc_pos_outer.sv
# expect: u_outer|u_tap
# The longest step appears in the descriptor's cycle, and is missed.
s/\(setup_i \| load_i\) & \(setup_k_i/setup_i \& (setup_k_i/
