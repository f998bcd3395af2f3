// The whole accelerator: fetch, execute and store engines around the array, decoupled by instruction
// queues and token counters; operand, partial-sum and output buffers; an AXI4 read and an AXI4 write
// port; AXI4-Lite registers. See docs/the-machine.md.
module bc_machine #(
    // Array: see bc_array.
    parameter int RA = 1,
    parameter int RW = 1,
    parameter int KL = 64,
    parameter int TM = 16,
    parameter int TN = 16,
    parameter int S = 8,
    parameter int BA = 8,
    parameter int BW = 8,
    parameter int AC_W = 24,
    parameter int ACC_W = 48,
    parameter int P_MAX = 16,
    parameter int Q = 16,
    // Machine.
    parameter int GL = 16,       // lanes of a stored word: min(16, KL)
    parameter int DW = 512,      // bits of a beat
    parameter int L1A_D = 2048,  // beats of the buffer of A
    parameter int L1W_D = 2048,  // beats of the buffer of W
    parameter int OB_D = 2048,   // beats of the output buffer
    parameter int PS_D = 1024,   // result beats of the partial-sum buffer
    parameter int QD = 4,        // instructions of each queue
    parameter int OUT = 16,      // most bursts outstanding in each direction
    parameter int BURST = 64,    // most beats of a burst
    // 0: registers have enables (simulation, FPGAs), 1: clock gates (synthesis for a cell library).
    parameter int CLOCK_GATING = 0,
    // Derived: as in bc_array.
    parameter int RPB = (Q > TN) ? Q / TN : 1,
    parameter int CPB = (Q > TN) ? TN : Q
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    output logic            irq_o,
    // Instruction stream.
    input  logic            inst_valid_i,
    output logic            inst_ready_o,
    input  logic [63:0]     inst_data_i,
    // AXI4-Lite registers.
    input  logic            s_awvalid_i,
    output logic            s_awready_o,
    input  logic [11:0]     s_awaddr_i,
    input  logic            s_wvalid_i,
    output logic            s_wready_o,
    input  logic [31:0]     s_wdata_i,
    input  logic [3:0]      s_wstrb_i,
    output logic            s_bvalid_o,
    input  logic            s_bready_i,
    output logic [1:0]      s_bresp_o,
    input  logic            s_arvalid_i,
    output logic            s_arready_o,
    input  logic [11:0]     s_araddr_i,
    output logic            s_rvalid_o,
    input  logic            s_rready_i,
    output logic [31:0]     s_rdata_o,
    output logic [1:0]      s_rresp_o,
    // AXI4 read port. One ID; every burst is INCR of whole beats.
    output logic            arvalid_o,
    input  logic            arready_i,
    output logic [39:0]     araddr_o,
    output logic [7:0]      arlen_o,
    output logic [2:0]      arsize_o,
    output logic [1:0]      arburst_o,
    input  logic            rvalid_i,
    output logic            rready_o,
    input  logic [DW-1:0]   rdata_i,
    input  logic [1:0]      rresp_i,
    input  logic            rlast_i,
    // AXI4 write port.
    output logic            awvalid_o,
    input  logic            awready_i,
    output logic [39:0]     awaddr_o,
    output logic [7:0]      awlen_o,
    output logic [2:0]      awsize_o,
    output logic [1:0]      awburst_o,
    output logic            wvalid_o,
    input  logic            wready_i,
    output logic [DW-1:0]   wdata_o,
    output logic [DW/8-1:0] wstrb_o,
    output logic            wlast_o,
    input  logic            bvalid_i,
    output logic            bready_o,
    input  logic [1:0]      bresp_i
);

  localparam int FetchBits = 6 * 64;
  localparam int ExecBits = 27 * 64;
  localparam int AddrA = $clog2(L1A_D);
  localparam int AddrW = $clog2(L1W_D);
  localparam int AddrOb = $clog2(OB_D);
  // Engines, in the order of the register map.
  localparam int F = 0;
  localparam int E = 1;
  localparam int R = 2;

`ifndef SYNTHESIS
  bc_machine_check #(
      .KL(KL), .TM(TM), .TN(TN), .ACC_W(ACC_W), .GL(GL), .DW(DW), .L1A_D(L1A_D), .L1W_D(L1W_D),
      .OB_D(OB_D), .PS_D(PS_D), .QD(QD), .OUT(OUT), .BURST(BURST)
  ) u_machine_check ();
`endif

  assign arsize_o = 3'($clog2(DW / 8));
  assign awsize_o = 3'($clog2(DW / 8));
  assign arburst_o = 2'b01;
  assign awburst_o = 2'b01;

  // ---------------------------------------------------------------- reset and registers
  logic soft_rst, regs_rst_n, core_rst_n;
  logic enable, halt, stop, clear, clear_extremes;

  bc_reset u_reset (
      .clk_i, .rst_ni, .soft_i(soft_rst), .rst_no(regs_rst_n), .core_rst_no(core_rst_n)
  );

  logic            mm_valid, mm_ready;
  logic [63:0]     mm_data;
  logic [2:0]      busy, valid, full, pop, start, drop, done, unit_err;
  logic            dispatch_busy, dispatch_err, progress, quiet;
  logic [4:0]      err;
  logic [3*4-1:0]  err_cause;
  logic [12*48-1:0] counters;
  logic [5*16-1:0] tokens;
  logic [4:0]      token_overflow;
  logic [63:0]     min, max;
  logic            overflow;

  bc_regs #(
      .RA(RA), .RW(RW), .KL(KL), .TM(TM), .TN(TN), .S(S), .BA(BA), .BW(BW), .AC_W(AC_W),
      .ACC_W(ACC_W), .P_MAX(P_MAX), .Q(Q), .GL(GL), .DW(DW), .L1A_D(L1A_D), .L1W_D(L1W_D),
      .OB_D(OB_D), .PS_D(PS_D), .QD(QD), .OUT(OUT), .BURST(BURST)
  ) u_regs (
      .clk_i, .rst_ni(regs_rst_n),
      .s_awvalid_i, .s_awready_o, .s_awaddr_i, .s_wvalid_i, .s_wready_o, .s_wdata_i, .s_wstrb_i,
      .s_bvalid_o, .s_bready_i, .s_bresp_o, .s_arvalid_i, .s_arready_o, .s_araddr_i, .s_rvalid_o,
      .s_rready_i, .s_rdata_o, .s_rresp_o, .irq_o,
      .enable_o(enable), .halt_o(halt), .stop_o(stop), .soft_o(soft_rst), .clear_o(clear),
      .clear_extremes_o(clear_extremes),
      .mm_valid_o(mm_valid), .mm_ready_i(mm_ready), .mm_data_o(mm_data),
      .busy_i(busy), .queue_valid_i(valid), .queue_full_i(full), .dispatch_busy_i(dispatch_busy),
      .pop_i(pop), .progress_i(progress), .quiet_i(quiet),
      .err_i(err), .err_cause_i(err_cause), .counters_i(counters), .tokens_i(tokens),
      .min_i(min), .max_i(max), .overflow_i(overflow)
  );

  // ---------------------------------------------------------------- instructions
  logic [2:0]           push, room;
  logic [ExecBits-1:0]  inst;
  logic [FetchBits-1:0] fetch_inst, store_inst;
  logic [ExecBits-1:0]  exec_inst;

  bc_dispatch #(.CLOCK_GATING(CLOCK_GATING)) u_dispatch (
      .clk_i, .rst_ni(core_rst_n), .flush_i(halt),
      .inst_valid_i, .inst_ready_o, .inst_data_i,
      .mm_valid_i(mm_valid), .mm_ready_o(mm_ready), .mm_data_i(mm_data),
      .push_o(push), .room_i(room), .inst_o(inst), .busy_o(dispatch_busy), .err_o(dispatch_err)
  );
  bc_queue #(.WORDS(6), .QD(QD), .CLOCK_GATING(CLOCK_GATING)) u_fetch_queue (
      .clk_i, .rst_ni(core_rst_n), .push_i(push[F]), .data_i(inst[FetchBits-1:0]),
      .room_o(room[F]), .pop_i(pop[F]), .valid_o(valid[F]), .data_o(fetch_inst), .full_o(full[F])
  );
  bc_queue #(.WORDS(27), .QD(QD), .CLOCK_GATING(CLOCK_GATING)) u_exec_queue (
      .clk_i, .rst_ni(core_rst_n), .push_i(push[E]), .data_i(inst),
      .room_o(room[E]), .pop_i(pop[E]), .valid_o(valid[E]), .data_o(exec_inst), .full_o(full[E])
  );
  bc_queue #(.WORDS(6), .QD(QD), .CLOCK_GATING(CLOCK_GATING)) u_store_queue (
      .clk_i, .rst_ni(core_rst_n), .push_i(push[R]), .data_i(inst[FetchBits-1:0]),
      .room_o(room[R]), .pop_i(pop[R]), .valid_o(valid[R]), .data_o(store_inst), .full_o(full[R])
  );

  // ---------------------------------------------------------------- tokens
  // Down the pipeline: fetch to execute, execute to store (result), store to fetch. Up: space.
  logic f2e_ok, e2f_ok, e2r_ok, r2e_ok, r2f_ok;
  logic f2e_post, e2f_post, e2r_post, r2e_post, r2f_post;

  bc_semaphore u_f2e (
      .clk_i, .rst_ni(core_rst_n), .post_i(f2e_post),
      .need_i(16'(exec_inst[bc_machine_pkg::EXEC_WAIT_F2E_BIT +: bc_machine_pkg::EXEC_WAIT_F2E_W])),
      .ok_o(f2e_ok), .take_i(pop[E]), .count_o(tokens[0 +: 16]), .overflow_o(token_overflow[0])
  );
  bc_semaphore u_e2f (
      .clk_i, .rst_ni(core_rst_n), .post_i(e2f_post),
      .need_i(16'(fetch_inst[bc_machine_pkg::FETCH_WAIT_E2F_BIT +:
                             bc_machine_pkg::FETCH_WAIT_E2F_W])),
      .ok_o(e2f_ok), .take_i(pop[F]), .count_o(tokens[16 +: 16]), .overflow_o(token_overflow[1])
  );
  bc_semaphore u_e2r (
      .clk_i, .rst_ni(core_rst_n), .post_i(e2r_post),
      .need_i(16'(store_inst[bc_machine_pkg::STORE_WAIT_E2R_BIT +:
                             bc_machine_pkg::STORE_WAIT_E2R_W])),
      .ok_o(e2r_ok), .take_i(pop[R]), .count_o(tokens[32 +: 16]), .overflow_o(token_overflow[2])
  );
  bc_semaphore u_r2e (
      .clk_i, .rst_ni(core_rst_n), .post_i(r2e_post),
      .need_i(16'(exec_inst[bc_machine_pkg::EXEC_WAIT_R2E_BIT +: bc_machine_pkg::EXEC_WAIT_R2E_W])),
      .ok_o(r2e_ok), .take_i(pop[E]), .count_o(tokens[48 +: 16]), .overflow_o(token_overflow[3])
  );
  bc_semaphore u_r2f (
      .clk_i, .rst_ni(core_rst_n), .post_i(r2f_post),
      .need_i(16'(fetch_inst[bc_machine_pkg::FETCH_WAIT_R2F_BIT +:
                             bc_machine_pkg::FETCH_WAIT_R2F_W])),
      .ok_o(r2f_ok), .take_i(pop[F]), .count_o(tokens[64 +: 16]), .overflow_o(token_overflow[4])
  );

  // ---------------------------------------------------------------- engines
  logic       fetch_illegal, store_illegal, fetch_done, store_done, fetch_err, store_err;
  logic       exec_done, exec_err;
  logic [3:0] exec_cause, fetch_cause, store_cause, fetch_err_cause, store_err_cause;
  logic       unused_fetch_post;

  bc_engine u_fetch_engine (
      .clk_i, .rst_ni(core_rst_n), .enable_i(enable), .halt_i(halt), .clear_i(clear),
      .valid_i(valid[F]), .illegal_i(fetch_illegal), .in_ok_i(r2f_ok), .out_ok_i(e2f_ok),
      .post_i({1'b0, fetch_inst[bc_machine_pkg::FETCH_POST_F2E_BIT]}),
      .pop_o(pop[F]), .start_o(start[F]), .drop_o(drop[F]), .busy_o(busy[F]),
      .done_i(done[F]), .err_i(unit_err[F]), .post_o({unused_fetch_post, f2e_post}),
      .idle_o(counters[0*48 +: 48]), .run_o(counters[1*48 +: 48]),
      .wait_in_o(counters[2*48 +: 48]), .wait_out_o(counters[3*48 +: 48])
  );
  bc_engine u_exec_engine (
      .clk_i, .rst_ni(core_rst_n), .enable_i(enable), .halt_i(halt), .clear_i(clear),
      .valid_i(valid[E]), .illegal_i(1'b0), .in_ok_i(f2e_ok), .out_ok_i(r2e_ok),
      .post_i({exec_inst[bc_machine_pkg::EXEC_POST_E2R_BIT],
               exec_inst[bc_machine_pkg::EXEC_POST_E2F_BIT]}),
      .pop_o(pop[E]), .start_o(start[E]), .drop_o(drop[E]), .busy_o(busy[E]),
      .done_i(done[E]), .err_i(unit_err[E]), .post_o({e2r_post, e2f_post}),
      .idle_o(counters[4*48 +: 48]), .run_o(counters[5*48 +: 48]),
      .wait_in_o(counters[6*48 +: 48]), .wait_out_o(counters[7*48 +: 48])
  );
  bc_engine u_store_engine (
      .clk_i, .rst_ni(core_rst_n), .enable_i(enable), .halt_i(halt), .clear_i(clear),
      .valid_i(valid[R]), .illegal_i(store_illegal), .in_ok_i(e2r_ok), .out_ok_i(1'b1),
      .post_i({store_inst[bc_machine_pkg::STORE_POST_R2F_BIT],
               store_inst[bc_machine_pkg::STORE_POST_R2E_BIT]}),
      .pop_o(pop[R]), .start_o(start[R]), .drop_o(drop[R]), .busy_o(busy[R]),
      .done_i(done[R]), .err_i(unit_err[R]), .post_o({r2f_post, r2e_post}),
      .idle_o(counters[8*48 +: 48]), .run_o(counters[9*48 +: 48]),
      .wait_in_o(counters[10*48 +: 48]), .wait_out_o(counters[11*48 +: 48])
  );

  assign done = {store_done, exec_done | exec_err, fetch_done};
  assign unit_err = {store_err, exec_err, fetch_err};
  assign err = {|token_overflow, dispatch_err, drop[R] | (done[R] & store_err), exec_err,
                drop[F] | (done[F] & fetch_err)};
  assign err_cause = {drop[R] ? store_cause : store_err_cause, exec_cause,
                      drop[F] ? fetch_cause : fetch_err_cause};

  // ---------------------------------------------------------------- fetch
  logic          fetch_quiet, store_quiet, l1_we, l1_target;
  // Buffers take the bits of an address that they have.
  /* verilator lint_off UNUSEDSIGNAL */
  logic [23:0]   l1_addr, ob_addr;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [DW-1:0] l1_data;

  bc_fetch #(.DW(DW), .OUT(OUT), .BURST(BURST)) u_fetch (
      .clk_i, .rst_ni(core_rst_n), .inst_i(fetch_inst),
      .illegal_o(fetch_illegal), .cause_o(fetch_cause), .start_i(start[F]), .busy_i(busy[F]),
      .stop_i(stop), .done_o(fetch_done), .err_o(fetch_err), .err_cause_o(fetch_err_cause),
      .quiet_o(fetch_quiet),
      .l1_we_o(l1_we), .l1_target_o(l1_target), .l1_addr_o(l1_addr), .l1_data_o(l1_data),
      .arvalid_o, .arready_i, .araddr_o, .arlen_o, .rvalid_i, .rready_o, .rdata_i, .rresp_i,
      .rlast_i
  );

  // ---------------------------------------------------------------- execute
  logic                      desc_valid, desc_ready, a_signed, w_signed;
  logic [bc_pkg::DIM_W-1:0]  m, n, k;
  logic [bc_pkg::BITS_W-1:0] pa, pw;
  logic                      a_valid, a_ready, w_valid, w_ready;
  logic [BA*KL-1:0]          a_data;
  logic [BW*KL-1:0]          w_data;
  logic                      res_done;

  bc_exec #(
      .KL(KL), .TM(TM), .TN(TN), .BA(BA), .BW(BW), .P_MAX(P_MAX), .GL(GL), .DW(DW),
      .L1A_D(L1A_D), .L1W_D(L1W_D)
  ) u_exec (
      .clk_i, .rst_ni(core_rst_n), .start_i(start[E]), .inst_i(exec_inst),
      .done_o(exec_done), .err_o(exec_err), .cause_o(exec_cause),
      .l1a_we_i(l1_we & ~l1_target), .l1a_addr_i(l1_addr[AddrA-1:0]),
      .l1w_we_i(l1_we & l1_target), .l1w_addr_i(l1_addr[AddrW-1:0]), .l1_data_i(l1_data),
      .desc_valid_o(desc_valid), .desc_ready_i(desc_ready),
      .desc_m_o(m), .desc_n_o(n), .desc_k_o(k), .desc_pa_o(pa), .desc_pw_o(pw),
      .desc_a_signed_o(a_signed), .desc_w_signed_o(w_signed),
      .a_valid_o(a_valid), .a_ready_i(a_ready), .a_data_o(a_data),
      .w_valid_o(w_valid), .w_ready_i(w_ready), .w_data_o(w_data),
      .res_done_i(res_done)
  );

  logic                 res_valid, res_last, array_overflow;
  logic [Q-1:0]         res_mask;
  logic [Q*ACC_W-1:0]   res_data;
  logic [RPB*ACC_W-1:0] res_sum_a;
  logic [CPB*ACC_W-1:0] res_sum_w;
  logic                 unused_array_err;
  logic [1:0]           unused_array_cause;
  logic                 unused_digit, unused_idle, unused_freeze, unused_add, unused_flush;
  logic [6:0]           unused_rows, unused_cols, unused_f_rows, unused_f_ones, unused_f_cols;
  logic [10:0]          unused_a_words, unused_w_words;

  bc_array #(
      .RA(RA), .RW(RW), .KL(KL), .TM(TM), .TN(TN), .S(S), .BA(BA), .BW(BW), .AC_W(AC_W),
      .ACC_W(ACC_W), .P_MAX(P_MAX), .Q(Q), .CLOCK_GATING(CLOCK_GATING)
  ) u_array (
      .clk_i, .rst_ni(core_rst_n), .desc_valid_i(desc_valid), .desc_ready_o(desc_ready),
      .desc_m_i(m), .desc_n_i(n), .desc_k_i(k), .desc_pa_i(pa), .desc_pw_i(pw),
      .desc_a_signed_i(a_signed), .desc_w_signed_i(w_signed),
      .err_o(unused_array_err), .cause_o(unused_array_cause),
      .a_valid_i(a_valid), .a_ready_o(a_ready), .a_data_i(a_data),
      .w_valid_i(w_valid), .w_ready_o(w_ready), .w_data_i(w_data),
      .res_valid_o(res_valid), .res_ready_i(1'b1), .res_last_o(res_last), .res_mask_o(res_mask),
      .res_data_o(res_data), .res_sum_a_o(res_sum_a), .res_sum_w_o(res_sum_w),
      .overflow_o(array_overflow),
      .ev_digit_o(unused_digit), .ev_idle_o(unused_idle), .ev_freeze_o(unused_freeze),
      .ev_add_o(unused_add), .ev_flush_o(unused_flush), .ev_rows_o(unused_rows),
      .ev_cols_o(unused_cols), .ev_flush_rows_o(unused_f_rows),
      .ev_flush_ones_o(unused_f_ones), .ev_flush_cols_o(unused_f_cols),
      .ev_a_words_o(unused_a_words), .ev_w_words_o(unused_w_words)
  );

  // ---------------------------------------------------------------- results
  logic [DW-1:0] ob_data;

  bc_result #(
      .TM(TM), .TN(TN), .ACC_W(ACC_W), .Q(Q), .GL(GL), .DW(DW), .OB_D(OB_D), .PS_D(PS_D),
      .CLOCK_GATING(CLOCK_GATING)
  ) u_result (
      .clk_i, .rst_ni(core_rst_n), .clear_i(clear_extremes),
      .start_i(start[E]), .inst_i(exec_inst), .done_o(res_done),
      .res_valid_i(res_valid), .res_last_i(res_last), .res_mask_i(res_mask),
      .res_data_i(res_data), .res_sum_a_i(res_sum_a), .res_sum_w_i(res_sum_w),
      .res_overflow_i(array_overflow), .min_o(min), .max_o(max), .overflow_o(overflow),
      .rd_beat_i(ob_addr[AddrOb-1:0]), .rd_data_o(ob_data)
  );

  // ---------------------------------------------------------------- store
  bc_store #(
      .DW(DW), .OUT(OUT), .BURST(BURST), .CLOCK_GATING(CLOCK_GATING)
  ) u_store (
      .clk_i, .rst_ni(core_rst_n), .inst_i(store_inst),
      .illegal_o(store_illegal), .cause_o(store_cause), .start_i(start[R]), .stop_i(stop),
      .done_o(store_done), .err_o(store_err), .err_cause_o(store_err_cause),
      .quiet_o(store_quiet), .ob_addr_o(ob_addr), .ob_data_i(ob_data),
      .awvalid_o, .awready_i, .awaddr_o, .awlen_o, .wvalid_o, .wready_i, .wdata_o, .wstrb_o,
      .wlast_o, .bvalid_i, .bready_o, .bresp_i
  );

  assign quiet = fetch_quiet & store_quiet;
  assign progress = (arvalid_o & arready_i) | (rvalid_i & rready_o) | (awvalid_o & awready_i) |
                    (wvalid_o & wready_i) | (bvalid_i & bready_o) | (|pop) | (|done) | busy[E];

endmodule
