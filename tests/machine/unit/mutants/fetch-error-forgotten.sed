# unit: fetch DW=64 OUT=4 BURST=16
# file: bc_fetch.sv
# expect: err_o
# Only the last beat's response counts.
s/err_o = bad_q \| bad;/err_o = bad;/
