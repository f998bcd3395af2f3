// Register block: AXI4-Lite slave (32 bits), parameters, control and status, first error, counters
// with a coherent snapshot, interrupts, watchdog, and instruction pushes in two halves. The map is
// in bc_machine_pkg and docs/the-machine.md.
//
// An address without a register, a write to a read-only one, and a push while the last one still
// waits are answered with SLVERR and change nothing.
module bc_regs #(
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
    parameter int GL = 16,
    parameter int DW = 64,
    parameter int L1A_D = 512,
    parameter int L1W_D = 512,
    parameter int OB_D = 512,
    parameter int PS_D = 64,
    parameter int QD = 4,
    parameter int OUT = 8,
    parameter int BURST = 16
) (
    input  logic             clk_i,
    input  logic             rst_ni,
    // AXI4-Lite.
    input  logic             s_awvalid_i,
    output logic             s_awready_o,
    input  logic [11:0]      s_awaddr_i,
    input  logic             s_wvalid_i,
    output logic             s_wready_o,
    input  logic [31:0]      s_wdata_i,
    input  logic [3:0]       s_wstrb_i,
    output logic             s_bvalid_o,
    input  logic             s_bready_i,
    output logic [1:0]       s_bresp_o,
    input  logic             s_arvalid_i,
    output logic             s_arready_o,
    input  logic [11:0]      s_araddr_i,
    output logic             s_rvalid_o,
    input  logic             s_rready_i,
    output logic [31:0]      s_rdata_o,
    output logic [1:0]       s_rresp_o,
    output logic             irq_o,
    // Control of the core.
    output logic             enable_o,
    output logic             halt_o,            // no engine starts; the dispatcher discards
    output logic             stop_o,            // no further AXI burst
    output logic             soft_o,            // reset the core in the next cycle
    output logic             clear_o,           // counters to 0
    output logic             clear_extremes_o,  // min, max and overflow of the result path
    // Instructions.
    output logic             mm_valid_o,
    input  logic             mm_ready_i,
    output logic [63:0]      mm_data_o,
    // State of the core; engines in the order fetch, exec, store.
    input  logic [2:0]       busy_i,
    input  logic [2:0]       queue_valid_i,
    input  logic [2:0]       queue_full_i,
    input  logic             dispatch_busy_i,
    input  logic [2:0]       pop_i,             // an instruction starts or is dropped
    input  logic             progress_i,        // something moved: for the watchdog
    input  logic             quiet_i,           // no AXI burst outstanding
    // Errors: fetch, exec, store, dispatcher (header), tokens.
    input  logic [4:0]       err_i,
    input  logic [3*4-1:0]   err_cause_i,       // of the engines
    // Counters: idle, run, wait_in, wait_out of fetch, exec, store; tokens f2e e2f e2r r2e r2f.
    input  logic [12*48-1:0] counters_i,
    input  logic [5*16-1:0]  tokens_i,
    input  logic [63:0]      min_i,
    input  logic [63:0]      max_i,
    input  logic             overflow_i
);

  localparam logic [31:0] Id = 32'h4243_5943;
  localparam logic [31:0] Version = 32'h0001_0000;
  localparam logic [1:0] RespOk = 2'd0;
  localparam logic [1:0] RespSlvErr = 2'd2;
  localparam logic [1:0] EngineControl = 2'd3;

  // AXI4-Lite.
  logic        aw_full_q, w_full_q, bvalid_q, rvalid_q;
  logic [11:0] awaddr_q;
  logic [31:0] wdata_q, rdata_q;
  logic [3:0]  wstrb_q;
  logic [1:0]  bresp_q, rresp_q;
  // Configuration.
  logic        enable_q;
  logic [2:0]  irq_enable_q;
  logic [31:0] limit_q;
  // Control.
  logic [2:0]  irq_q;         // done, error, watchdog
  logic        soft_q;        // soft reset wanted
  logic        halt_q;
  logic [3:0]  cause_q;
  logic [1:0]  engine_q;
  logic        ran_q;         // an instruction has run since the last done
  logic [31:0] stuck_q;       // cycles without progress
  logic [47:0] cycles_q;      // enabled cycles
  logic        resetting_q;   // the core is in reset
  logic        mm_valid_q;
  logic [31:0] inst_lo_q, inst_hi_q;
  // Snapshot of what is wider than a word.
  logic [63:0] snap_min_q, snap_max_q;
  logic        snap_overflow_q;
  logic [47:0] snap_cycles_q;

  logic [12*64-1:0] snap;

  // ---------------------------------------------------------------- writes
  logic        write, write_ok, soft_set, snapshot;
  logic        wr_control, wr_irq_enable, wr_irq_status, wr_watchdog, wr_inst_lo, wr_inst_hi;
  logic [31:0] wmask;
  logic [31:0] wbits;

  assign s_awready_o = ~aw_full_q;
  assign s_wready_o = ~w_full_q;
  assign s_bvalid_o = bvalid_q;
  assign s_bresp_o = bresp_q;
  assign write = aw_full_q & w_full_q & (~bvalid_q | s_bready_i);
  assign wmask = {{8{wstrb_q[3]}}, {8{wstrb_q[2]}}, {8{wstrb_q[1]}}, {8{wstrb_q[0]}}};
  assign wbits = wdata_q & wmask;

  always_comb begin
    wr_control    = 1'b0;
    wr_irq_enable = 1'b0;
    wr_irq_status = 1'b0;
    wr_watchdog   = 1'b0;
    wr_inst_lo    = 1'b0;
    wr_inst_hi    = 1'b0;
    case (awaddr_q)
      bc_machine_pkg::REG_CONTROL: wr_control = write;
      bc_machine_pkg::REG_IRQ_ENABLE: wr_irq_enable = write;
      bc_machine_pkg::REG_IRQ_STATUS: wr_irq_status = write;
      bc_machine_pkg::REG_WATCHDOG: wr_watchdog = write;
      bc_machine_pkg::REG_INST_LO: wr_inst_lo = write & ~mm_valid_q;
      bc_machine_pkg::REG_INST_HI: wr_inst_hi = write & ~mm_valid_q;
      default: ;
    endcase
  end

  assign write_ok =
      wr_control | wr_irq_enable | wr_irq_status | wr_watchdog | wr_inst_lo | wr_inst_hi;
  assign soft_set = wr_control & wbits[bc_machine_pkg::REG_CONTROL_SOFT_RESET_BIT];
  assign clear_o = wr_control & wbits[bc_machine_pkg::REG_CONTROL_CLEAR_COUNTERS_BIT];
  assign snapshot = wr_control & wbits[bc_machine_pkg::REG_CONTROL_SNAPSHOT_BIT];
  assign clear_extremes_o = wr_control & wbits[bc_machine_pkg::REG_CONTROL_CLEAR_EXTREMES_BIT];

  // ---------------------------------------------------------------- state
  logic       active, expired, idle, done, go;
  logic       error;
  logic [2:0] irq_event;
  logic [3:0] cause;
  logic [1:0] engine;

  assign idle = ~|busy_i & ~|queue_valid_i & ~dispatch_busy_i & ~mm_valid_q;
  assign done = ran_q & idle & ~halt_q;
  assign go = soft_q & quiet_i;
  assign active = |busy_i | (|queue_valid_i & enable_q & ~halt_q);
  assign expired = active & ~progress_i & (limit_q != '0) & (stuck_q >= limit_q - 32'd1);

  always_comb begin
    error = 1'b1;
    cause = '0;
    engine = EngineControl;
    if (err_i[0]) begin
      engine = 2'd0;
      cause = err_cause_i[3:0];
    end else if (err_i[1]) begin
      engine = 2'd1;
      cause = err_cause_i[7:4];
    end else if (err_i[2]) begin
      engine = 2'd2;
      cause = err_cause_i[11:8];
    end else if (err_i[3]) begin
      cause = bc_machine_pkg::CAUSE_HEADER;
    end else if (err_i[4]) begin
      cause = bc_machine_pkg::CAUSE_TOKEN_OVERFLOW;
    end else if (expired) begin
      cause = bc_machine_pkg::CAUSE_WATCHDOG;
    end else begin
      error = 1'b0;
    end
  end

  always_comb begin
    irq_event = '0;
    irq_event[bc_machine_pkg::REG_IRQ_STATUS_DONE_BIT] = done;
    irq_event[bc_machine_pkg::REG_IRQ_STATUS_ERROR_BIT] = error & ~halt_q;
    irq_event[bc_machine_pkg::REG_IRQ_STATUS_WATCHDOG_BIT] = expired;
  end

  assign enable_o = enable_q;
  assign halt_o = halt_q | soft_q;
  assign stop_o = soft_q;
  assign soft_o = go;
  assign mm_valid_o = mm_valid_q;
  assign mm_data_o = {inst_hi_q, inst_lo_q};
  assign irq_o = |(irq_q & irq_enable_q);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_full_q    <= 1'b0;
      w_full_q     <= 1'b0;
      bvalid_q     <= 1'b0;
      bresp_q      <= '0;
      enable_q     <= 1'b1;
      irq_enable_q <= '0;
      limit_q      <= '0;
      irq_q        <= '0;
      soft_q       <= 1'b0;
      halt_q       <= 1'b0;
      cause_q      <= '0;
      engine_q     <= '0;
      ran_q        <= 1'b0;
      stuck_q      <= '0;
      cycles_q     <= '0;
      resetting_q  <= 1'b0;
      mm_valid_q   <= 1'b0;
      inst_lo_q    <= '0;
      inst_hi_q    <= '0;
    end else begin
      if (write) begin
        aw_full_q <= 1'b0;
        w_full_q  <= 1'b0;
        bvalid_q  <= 1'b1;
        bresp_q   <= write_ok ? RespOk : RespSlvErr;
      end else begin
        if (s_awvalid_i) aw_full_q <= 1'b1;
        if (s_wvalid_i) w_full_q <= 1'b1;
        if (s_bready_i) bvalid_q <= 1'b0;
      end

      // State of the core; what a soft reset clears.
      if (go) begin
        soft_q     <= 1'b0;
        halt_q     <= 1'b0;
        cause_q    <= '0;
        engine_q   <= '0;
        ran_q      <= 1'b0;
        stuck_q    <= '0;
        mm_valid_q <= 1'b0;
      end else begin
        if (error & ~halt_q) begin
          halt_q   <= 1'b1;
          cause_q  <= cause;
          engine_q <= engine;
        end
        ran_q <= |pop_i | (ran_q & ~done);
        stuck_q <= (active & ~progress_i & ~expired) ? stuck_q + 32'd1 : '0;
        if (mm_ready_i) mm_valid_q <= 1'b0;
      end
      resetting_q <= go;
      if (clear_o | go | resetting_q) cycles_q <= '0;
      else if (enable_q) cycles_q <= cycles_q + 48'd1;

      // Written registers.
      if (wr_control & wstrb_q[0]) enable_q <= wdata_q[bc_machine_pkg::REG_CONTROL_ENABLE_BIT];
      if (soft_set) soft_q <= 1'b1;
      if (wr_irq_enable & wstrb_q[0]) irq_enable_q <= wdata_q[2:0];
      if (wr_watchdog) limit_q <= (limit_q & ~wmask) | wbits;
      if (wr_inst_lo) inst_lo_q <= (inst_lo_q & ~wmask) | wbits;
      if (wr_inst_hi) begin
        inst_hi_q  <= (inst_hi_q & ~wmask) | wbits;
        mm_valid_q <= 1'b1;
      end
      irq_q <= (irq_q & ~(wr_irq_status ? wbits[2:0] : 3'd0)) | irq_event;
    end
  end

  // Data registers are not reset.
  always_ff @(posedge clk_i) begin
    if (s_awvalid_i & ~aw_full_q) awaddr_q <= {s_awaddr_i[11:2], 2'b00};
    if (s_wvalid_i & ~w_full_q) begin
      wdata_q <= s_wdata_i;
      wstrb_q <= s_wstrb_i;
    end
    if (snapshot) begin
      snap_min_q      <= min_i;
      snap_max_q      <= max_i;
      snap_overflow_q <= overflow_i;
      snap_cycles_q   <= cycles_q;
    end
  end

  for (genvar c = 0; c < 12; c++) begin : g_counter
    logic [47:0] snap_q;
    always_ff @(posedge clk_i) begin
      if (snapshot) snap_q <= counters_i[c*48+:48];
    end
    assign snap[c*64+:64] = {16'd0, snap_q};
  end

  // ---------------------------------------------------------------- reads
  logic        read, read_ok;
  logic [11:0] raddr;
  logic [31:0] rdata;

  assign s_arready_o = ~rvalid_q;
  assign s_rvalid_o = rvalid_q;
  assign s_rdata_o = rdata_q;
  assign s_rresp_o = rresp_q;
  assign read = s_arvalid_i & ~rvalid_q;
  assign raddr = {s_araddr_i[11:2], 2'b00};

  always_comb begin
    read_ok = 1'b1;
    rdata = '0;
    case (raddr)
      bc_machine_pkg::REG_ID: rdata = Id;
      bc_machine_pkg::REG_VERSION: rdata = Version;
      bc_machine_pkg::REG_PARAM0: begin
        rdata[bc_machine_pkg::REG_PARAM0_RA_BIT+:bc_machine_pkg::REG_PARAM0_RA_W] = 8'(RA);
        rdata[bc_machine_pkg::REG_PARAM0_RW_BIT+:bc_machine_pkg::REG_PARAM0_RW_W] = 8'(RW);
        rdata[bc_machine_pkg::REG_PARAM0_KL_BIT+:bc_machine_pkg::REG_PARAM0_KL_W] = 16'(KL);
      end
      bc_machine_pkg::REG_PARAM1: begin
        rdata[bc_machine_pkg::REG_PARAM1_TM_BIT+:bc_machine_pkg::REG_PARAM1_TM_W] = 8'(TM);
        rdata[bc_machine_pkg::REG_PARAM1_TN_BIT+:bc_machine_pkg::REG_PARAM1_TN_W] = 8'(TN);
        rdata[bc_machine_pkg::REG_PARAM1_S_BIT+:bc_machine_pkg::REG_PARAM1_S_W] = 8'(S);
        rdata[bc_machine_pkg::REG_PARAM1_P_MAX_BIT+:bc_machine_pkg::REG_PARAM1_P_MAX_W] = 8'(P_MAX);
      end
      bc_machine_pkg::REG_PARAM2: begin
        rdata[bc_machine_pkg::REG_PARAM2_BA_BIT+:bc_machine_pkg::REG_PARAM2_BA_W] = 16'(BA);
        rdata[bc_machine_pkg::REG_PARAM2_BW_BIT+:bc_machine_pkg::REG_PARAM2_BW_W] = 16'(BW);
      end
      bc_machine_pkg::REG_PARAM3: begin
        rdata[bc_machine_pkg::REG_PARAM3_AC_W_BIT+:bc_machine_pkg::REG_PARAM3_AC_W_W] = 8'(AC_W);
        rdata[bc_machine_pkg::REG_PARAM3_ACC_W_BIT+:bc_machine_pkg::REG_PARAM3_ACC_W_W] = 8'(ACC_W);
        rdata[bc_machine_pkg::REG_PARAM3_Q_BIT+:bc_machine_pkg::REG_PARAM3_Q_W] = 16'(Q);
      end
      bc_machine_pkg::REG_PARAM4: begin
        rdata[bc_machine_pkg::REG_PARAM4_DW_BIT+:bc_machine_pkg::REG_PARAM4_DW_W] = 16'(DW);
        rdata[bc_machine_pkg::REG_PARAM4_GL_BIT+:bc_machine_pkg::REG_PARAM4_GL_W] = 8'(GL);
        rdata[bc_machine_pkg::REG_PARAM4_QD_BIT+:bc_machine_pkg::REG_PARAM4_QD_W] = 8'(QD);
      end
      bc_machine_pkg::REG_PARAM5: begin
        rdata[bc_machine_pkg::REG_PARAM5_OUT_BIT+:bc_machine_pkg::REG_PARAM5_OUT_W] = 8'(OUT);
        rdata[bc_machine_pkg::REG_PARAM5_BURST_BIT+:bc_machine_pkg::REG_PARAM5_BURST_W] =
            16'(BURST);
      end
      bc_machine_pkg::REG_L1A_D: rdata = 32'(L1A_D);
      bc_machine_pkg::REG_L1W_D: rdata = 32'(L1W_D);
      bc_machine_pkg::REG_OB_D: rdata = 32'(OB_D);
      bc_machine_pkg::REG_PS_D: rdata = 32'(PS_D);
      bc_machine_pkg::REG_CONTROL: begin
        rdata[bc_machine_pkg::REG_CONTROL_ENABLE_BIT] = enable_q;
        rdata[bc_machine_pkg::REG_CONTROL_SOFT_RESET_BIT] = soft_q;
      end
      bc_machine_pkg::REG_STATUS: begin
        rdata[bc_machine_pkg::REG_STATUS_BUSY_BIT+:bc_machine_pkg::REG_STATUS_BUSY_W] = busy_i;
        rdata[bc_machine_pkg::REG_STATUS_HALTED_BIT] = halt_q & ~|busy_i;
        rdata[bc_machine_pkg::REG_STATUS_QUEUE_FULL_BIT+:bc_machine_pkg::REG_STATUS_QUEUE_FULL_W] =
            queue_full_i;
        rdata[bc_machine_pkg::REG_STATUS_DISPATCH_BUSY_BIT] = dispatch_busy_i;
        rdata[bc_machine_pkg::REG_STATUS_PUSH_READY_BIT] = ~mm_valid_q;
        rdata[bc_machine_pkg::REG_STATUS_IDLE_BIT] = idle;
        rdata[bc_machine_pkg::REG_STATUS_SOFT_PENDING_BIT] = soft_q;
        rdata[bc_machine_pkg::REG_STATUS_HALT_BIT] = halt_q;
      end
      bc_machine_pkg::REG_ERROR: begin
        rdata[bc_machine_pkg::REG_ERROR_CAUSE_BIT+:bc_machine_pkg::REG_ERROR_CAUSE_W] = cause_q;
        rdata[bc_machine_pkg::REG_ERROR_ENGINE_BIT+:bc_machine_pkg::REG_ERROR_ENGINE_W] = engine_q;
      end
      bc_machine_pkg::REG_IRQ_ENABLE: rdata = {29'd0, irq_enable_q};
      bc_machine_pkg::REG_IRQ_STATUS: rdata = {29'd0, irq_q};
      bc_machine_pkg::REG_WATCHDOG: rdata = limit_q;
      bc_machine_pkg::REG_INST_LO: rdata = inst_lo_q;
      bc_machine_pkg::REG_INST_HI: rdata = inst_hi_q;
      bc_machine_pkg::REG_VMIN_LOW: rdata = snap_min_q[31:0];
      bc_machine_pkg::REG_VMIN_HIGH: rdata = snap_min_q[63:32];
      bc_machine_pkg::REG_VMAX_LOW: rdata = snap_max_q[31:0];
      bc_machine_pkg::REG_VMAX_HIGH: rdata = snap_max_q[63:32];
      bc_machine_pkg::REG_FLAGS: begin
        rdata[bc_machine_pkg::REG_FLAGS_OVERFLOW_BIT] = snap_overflow_q;
      end
      bc_machine_pkg::REG_CYCLES_LOW: rdata = snap_cycles_q[31:0];
      bc_machine_pkg::REG_CYCLES_HIGH: rdata = {16'd0, snap_cycles_q[47:32]};
      default: begin
        read_ok = 1'b0;
        for (int i = 0; i < 5; i++) begin
          if (raddr == bc_machine_pkg::REG_F2E + 12'(4 * i)) begin
            read_ok = 1'b1;
            rdata = {16'd0, tokens_i[i*16+:16]};
          end
        end
        for (int i = 0; i < 24; i++) begin
          if (raddr == bc_machine_pkg::REG_FETCH_IDLE_LOW + 12'(4 * i)) begin
            read_ok = 1'b1;
            rdata = snap[i*32+:32];
          end
        end
      end
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) rvalid_q <= 1'b0;
    else if (read) rvalid_q <= 1'b1;
    else if (s_rready_i) rvalid_q <= 1'b0;
  end

  // Data registers are not reset.
  always_ff @(posedge clk_i) begin
    if (read) begin
      rdata_q <= rdata;
      rresp_q <= read_ok ? RespOk : RespSlvErr;
    end
  end

  logic unused_addr;
  assign unused_addr = ^{s_awaddr_i[1:0], s_araddr_i[1:0]};

endmodule
