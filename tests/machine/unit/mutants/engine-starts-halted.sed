# unit: engine
# file: bc_engine.sv
# expect: pop_o
# A halted engine starts.
s/ \& ~halt_i;/;/
