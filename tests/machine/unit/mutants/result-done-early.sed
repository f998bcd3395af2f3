# unit: result TM=4 TN=4 Q=4 GL=16 DW=64 OB_D=256 PS_D=64 ACC_W=48
# file: bc_result.sv
# expect: done_o
# Done comes a cycle early.
s/done_o = s4_last_q/done_o = s3_last_q/
