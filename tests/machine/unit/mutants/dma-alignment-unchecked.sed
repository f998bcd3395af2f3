# unit: store DW=64 OUT=4 BURST=16
# file: bc_dma_check.sv
# expect: illegal_o
# Addresses inside a beat are let through.
s/12'\(Bytes - 1\)/12'd0/
