# unit: dispatch
# file: bc_dispatch.sv
# expect: count_q|pending_q
# A flush keeps a started instruction.
s/if \(flush_i\) begin/if (1'b0) begin/
