# unit: result TM=4 TN=4 Q=4 GL=16 DW=64 OB_D=256 PS_D=64 ACC_W=48
# file: bc_result.sv
# expect: min_|max_
# Lanes outside M and N count for the extremes.
s/s2_mask_q\[q\] \? v : 64'h7FFF_FFFF_FFFF_FFFF/v/
