# unit: regs
# file: bc_regs.sv
# expect: BVALID or its payload changed
# lenient
# A write response does not wait for its master.
s/if \(s_bready_i\) bvalid_q/bvalid_q/
