# unit: result TM=4 TN=4 Q=4 GL=16 DW=64 OB_D=256 PS_D=64 ACC_W=48
# file: bc_out_add.sv
# expect: d_q|dbl_q|code bit|raw
# The second digit takes no carry.
s/ \+ 17'\(c0\);/;/
