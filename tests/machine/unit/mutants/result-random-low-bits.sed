# unit: result TM=4 TN=4 Q=4 GL=16 DW=64 OB_D=256 PS_D=64 ACC_W=48
# file: bc_requant.sv
# expect: out_q|code bit
# Stochastic rounding takes the low random bits.
s/<< shift\) >> 16/<< 6'd0)/
