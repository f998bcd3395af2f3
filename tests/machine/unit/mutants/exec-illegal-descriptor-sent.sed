# unit: exec KL=1 GL=1 TM=1 TN=1 BA=1 BW=2 DW=8 L1A_D=64 L1W_D=2
# file: bc_exec.sv
# expect: desc_valid_o
# Without a set-up the descriptor leaves in the cycle of the error.
s/run_q & last & ~err_o;/run_q \& last;/
