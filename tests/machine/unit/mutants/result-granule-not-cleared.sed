# unit: result TM=4 TN=4 Q=4 GL=16 DW=64 OB_D=256 PS_D=64 ACC_W=48
# file: bc_ob.sv
# expect: ob_mem|lanes beyond
# The first lanes of a granule leave the others alone.
s/\(LR == GL\) \| \(lane_i == '0\)/(LR == GL)/
