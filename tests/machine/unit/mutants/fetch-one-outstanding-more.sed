# unit: fetch DW=64 OUT=4 BURST=16
# file: bc_fetch.sv
# expect: more than OUT read bursts
# lenient
# One burst too many.
s/outstanding_q < OutW'/outstanding_q <= OutW'/
