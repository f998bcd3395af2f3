# unit: result TM=4 TN=4 Q=4 GL=16 DW=64 OB_D=256 PS_D=64 ACC_W=48
# file: bc_psum.sv
# expect: overflow
# Every change of sign counts as an overflow.
s/\(in\[ACC_W-1\] == prev\[ACC_W-1\]\) \& //
