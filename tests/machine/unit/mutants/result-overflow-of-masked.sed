# unit: result TM=4 TN=4 Q=4 GL=16 DW=64 OB_D=256 PS_D=64 ACC_W=48
# file: bc_psum.sv
# expect: overflow
# Lanes outside M and N raise the overflow.
s/res_mask_i\[i\] \& \(in/(in/
