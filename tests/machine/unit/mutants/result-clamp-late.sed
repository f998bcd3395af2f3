# unit: result TM=4 TN=4 Q=4 GL=16 DW=64 OB_D=256 PS_D=64 ACC_W=48
# file: bc_requant.sv
# expect: out_q|code bit
# The clamp of signed codes forgets the sign bit.
s/out_bits - \{4'd0, out_signed\}/out_bits/
