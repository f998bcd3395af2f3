# unit: fetch DW=64 OUT=4 BURST=16
# file: bc_burst.sv
# expect: read burst crosses 4 KB
# lenient
# Bursts are cut at BURST only.
s/\(32'\(page_left\) < BURST\)/1'b0/
