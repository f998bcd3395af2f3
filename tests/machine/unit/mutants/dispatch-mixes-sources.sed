# unit: dispatch
# file: bc_dispatch.sv
# expect: ready_o|inst_o|asm_q|src_q
# An instruction takes words of both sources.
s/border \? ~inst_valid_i : src_q/~inst_valid_i/
