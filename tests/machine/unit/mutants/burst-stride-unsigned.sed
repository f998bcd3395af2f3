# unit: fetch DW=64 OUT=4 BURST=16
# file: bc_burst.sv
# expect: araddr_o|u_burst
# The middle stride loses its sign.
s/\{\{8\{stride1_q\[31\]\}\}, stride1_q\}/{8'd0, stride1_q}/
