# unit: store DW=64 OUT=4 BURST=16
# file: bc_store.sv
# expect: WVALID or its payload changed
# lenient
# A beat is replaced before it is taken.
s/\(~wvalid_q \| wready_i\)/1'b1/
