# unit: regs
# file: bc_regs.sv
# expect: cause_q|engine_q
# The last error counts, not the first.
s/if \(error \& ~halt_q\)/if (error)/
