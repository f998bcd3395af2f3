# unit: result TM=4 TN=4 Q=4 GL=16 DW=64 OB_D=256 PS_D=64 ACC_W=48
# file: bc_random.sv
# expect: random_q
# Seven rounds.
s/Rounds = 8/Rounds = 7/
