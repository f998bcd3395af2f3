# unit: result TM=4 TN=4 Q=4 GL=16 DW=64 OB_D=256 PS_D=64 ACC_W=48
# file: bc_requant.sv
# expect: v_q
# The zero-point term of the columns is added.
s/acc - zero_col_i/acc + zero_col_i/
