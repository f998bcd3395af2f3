# unit: store DW=64 OUT=4 BURST=16
# file: bc_store.sv
# expect: write data before their address
# lenient
# Data do not wait for their address.
s/load = \(aw_ahead_q != '0\)/load = (aw_ahead_q != '0 | burst_valid)/
