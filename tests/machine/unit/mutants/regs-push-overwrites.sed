# unit: regs
# file: bc_regs.sv
# expect: inst_hi_q|bresp_q|mm_data_o
# A push replaces the one that waits.
s/wr_inst_hi = write \& ~mm_valid_q/wr_inst_hi = write/
