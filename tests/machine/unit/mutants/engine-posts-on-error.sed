# unit: engine
# file: bc_engine.sv
# expect: post_o
# A failed instruction posts its tokens.
s/done_i \& ~err_i/done_i/
