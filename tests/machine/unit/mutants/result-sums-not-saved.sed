# unit: result TM=4 TN=4 Q=4 GL=16 DW=64 OB_D=256 PS_D=64 ACC_W=48
# file: bc_psum.sv
# expect: ps_mem|sum_q
# The sums of A are not saved with the partial sums.
s/if \(save\) ps_mem\[saved_q\] <= sum_q;/if (1'b0) ps_mem[saved_q] <= sum_q;/
