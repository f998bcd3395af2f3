# unit: regs
# file: bc_regs.sv
# expect: halt_q|stuck_q|irq_q
# The watchdog waits a cycle more.
s/stuck_q >= limit_q - 32'd1/stuck_q >= limit_q/
