# unit: fetch DW=64 OUT=4 BURST=16
# file: bc_fetch.sv
# expect: ARVALID or its payload changed
# lenient
# A soft reset takes back an address that stands.
s/\(~stop_i \| held_q\)/~stop_i/
