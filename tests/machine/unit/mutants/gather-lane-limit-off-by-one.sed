# unit: exec KL=32 GL=16 TM=4 TN=2 BA=2 BW=4 DW=64 L1A_D=64 L1W_D=32 P_MAX=8
# file: bc_gather.sv
# expect: data_o differs
# A masked lane of the last granule passes.
s/>= hi_q/> hi_q/
