# unit: store DW=64 OUT=4 BURST=16
# file: bc_store.sv
# expect: WLAST is out of place
# lenient
# Every beat is the last.
s/wlast_q  <= load_last/wlast_q  <= load/
