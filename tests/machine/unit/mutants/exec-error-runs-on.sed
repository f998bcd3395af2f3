# unit: exec KL=32 GL=16 TM=4 TN=2 BA=2 BW=4 DW=64 L1A_D=64 L1W_D=32 P_MAX=8
# file: bc_exec.sv
# expect: desc_valid_o|setup|run_q
# An illegal instruction reaches the array later.
s/if \(err_o \| load\) run_q/if (load) run_q/
