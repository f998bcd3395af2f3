// Store engine: reads the output buffer contiguously and writes the lines of a strided 3-D transfer
// through an AXI4 master port. INCR bursts, one ID, at most OUT outstanding. Data of a burst leave
// after its address has been taken; the last response ends the instruction. An error response is
// kept and reported at the end.
module bc_store #(
    parameter int DW = 64,     // bits of a beat
    parameter int OUT = 8,     // most bursts outstanding, a power of two
    parameter int BURST = 16,  // most beats of a burst, a power of two
    parameter int CLOCK_GATING = 0  // 0: enables, 1: clock gates
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    // Engine. The instruction is the head of the queue.
    input  logic [bc_machine_pkg::STORE_WORDS*64-1:0] inst_i,
    output logic            illegal_o,
    output logic [3:0]      cause_o,
    input  logic            start_i,
    input  logic            stop_i,       // ask for no further bursts
    output logic            done_o,
    output logic            err_o,        // with done_o
    output logic [3:0]      err_cause_o,
    output logic            quiet_o,      // no burst is outstanding or asked for
    // Output buffer: the beat at the address, in the same cycle.
    output logic [23:0]     ob_addr_o,
    input  logic [DW-1:0]   ob_data_i,
    // AXI4 write channels.
    output logic            awvalid_o,
    input  logic            awready_i,
    output logic [39:0]     awaddr_o,
    output logic [7:0]      awlen_o,
    output logic            wvalid_o,
    input  logic            wready_i,
    output logic [DW-1:0]   wdata_o,
    output logic [DW/8-1:0] wstrb_o,
    output logic            wlast_o,
    input  logic            bvalid_i,
    output logic            bready_o,
    input  logic [1:0]      bresp_i
);

  localparam int OutW = $clog2(OUT) + 1;
  localparam int PtrW = (OUT > 1) ? $clog2(OUT) : 1;

  logic [OutW-1:0] outstanding_q;
  logic            held_q;          // awvalid stands since an earlier cycle
  logic [OutW-1:0] aw_ahead_q;      // bursts whose address is out and whose data are not all loaded
  logic [PtrW-1:0] rd_q, wr_q;      // ring of their lengths
  logic [7:0]      beat_q;          // beats loaded of the oldest one
  logic [23:0]     ob_addr_q;
  logic            wvalid_q, wlast_q;
  logic [DW-1:0]   wdata_q;
  logic            bad_q;           // an error response came
  logic            dec_q;           // the first one was DECERR

  logic       burst_valid, aw_take, load, load_last, bad;
  logic [7:0] len;

  logic [39:0] dram;
  logic [31:0] line_beats, stride0, stride1, stride2;
  logic [15:0] n0, n1, n2;
  logic [23:0] buffer;

  assign dram = inst_i[bc_machine_pkg::STORE_DRAM_BIT+:bc_machine_pkg::STORE_DRAM_W];
  assign line_beats =
      inst_i[bc_machine_pkg::STORE_LINE_BEATS_BIT+:bc_machine_pkg::STORE_LINE_BEATS_W];
  assign n0 = inst_i[bc_machine_pkg::STORE_N0_BIT+:bc_machine_pkg::STORE_N0_W];
  assign n1 = inst_i[bc_machine_pkg::STORE_N1_BIT+:bc_machine_pkg::STORE_N1_W];
  assign n2 = inst_i[bc_machine_pkg::STORE_N2_BIT+:bc_machine_pkg::STORE_N2_W];
  assign buffer = inst_i[bc_machine_pkg::STORE_BUFFER_BIT+:bc_machine_pkg::STORE_BUFFER_W];
  assign stride0 = inst_i[bc_machine_pkg::STORE_STRIDE0_BIT+:bc_machine_pkg::STORE_STRIDE0_W];
  assign stride1 = inst_i[bc_machine_pkg::STORE_STRIDE1_BIT+:bc_machine_pkg::STORE_STRIDE1_W];
  assign stride2 = inst_i[bc_machine_pkg::STORE_STRIDE2_BIT+:bc_machine_pkg::STORE_STRIDE2_W];

  bc_dma_check #(.DW(DW)) u_check (
      .addr_i(dram[11:0]), .line_i(line_beats), .n0_i(n0), .n1_i(n1), .n2_i(n2),
      .illegal_o, .cause_o
  );

  bc_burst #(.DW(DW), .BURST(BURST)) u_burst (
      .clk_i, .rst_ni, .load_i(start_i), .base_i(dram), .line_i(line_beats), .n0_i(n0), .n1_i(n1),
      .n2_i(n2), .stride0_i(stride0), .stride1_i(stride1), .stride2_i(stride2),
      .next_i(aw_take), .valid_o(burst_valid), .addr_o(awaddr_o), .len_o(awlen_o)
  );

  // Reserved bits and the engine's fields.
  logic unused_inst;
  assign unused_inst = ^inst_i;

  assign awvalid_o = burst_valid & (outstanding_q < OutW'(OUT)) & (~stop_i | held_q);
  assign aw_take = awvalid_o & awready_i;
  assign load = (aw_ahead_q != '0) & (~wvalid_q | wready_i);
  assign load_last = load & (beat_q == len);

  assign ob_addr_o = ob_addr_q;
  assign wvalid_o = wvalid_q;
  assign wdata_o = wdata_q;
  assign wstrb_o = '1;
  assign wlast_o = wlast_q;
  assign bready_o = 1'b1;
  assign bad = bvalid_i & bresp_i[1];

  assign done_o = bvalid_i & ~burst_valid & (outstanding_q == OutW'(1));
  assign err_o = bad_q | bad;
  assign err_cause_o = (bad_q ? dec_q : bresp_i[0]) ? bc_machine_pkg::CAUSE_DECERR
                                                    : bc_machine_pkg::CAUSE_SLVERR;
  assign quiet_o = (outstanding_q == '0) & ~awvalid_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      outstanding_q <= '0;
      held_q        <= 1'b0;
      aw_ahead_q    <= '0;
      rd_q          <= '0;
      wr_q          <= '0;
      beat_q        <= '0;
      wvalid_q      <= 1'b0;
      wlast_q       <= 1'b0;
      bad_q         <= 1'b0;
      dec_q         <= 1'b0;
    end else begin
      outstanding_q <= outstanding_q + OutW'(aw_take) - OutW'(bvalid_i);
      held_q        <= awvalid_o & ~awready_i;
      aw_ahead_q    <= aw_ahead_q + OutW'(aw_take) - OutW'(load_last);
      if (OUT > 1) begin
        rd_q <= rd_q + PtrW'(load_last);
        wr_q <= wr_q + PtrW'(aw_take);
      end
      if (load) begin
        wvalid_q <= 1'b1;
        wlast_q  <= load_last;
        beat_q   <= load_last ? '0 : beat_q + 8'd1;
      end else if (wready_i) begin
        wvalid_q <= 1'b0;
      end
      if (start_i) begin
        bad_q <= 1'b0;
        dec_q <= 1'b0;
      end else if (bad & ~bad_q) begin
        bad_q <= 1'b1;
        dec_q <= bresp_i[0];
      end
    end
  end

  // Data registers are not reset.
  // Registers of one array may have clocks of their own.
  /* verilator lint_off MULTIDRIVEN */
  (* mem2reg *) logic [7:0] len_q[OUT];
  /* verilator lint_on MULTIDRIVEN */
  if (CLOCK_GATING == 0) begin : g_enable
    always_ff @(posedge clk_i) begin
      if (aw_take) len_q[wr_q] <= awlen_o;
    end
  end else begin : g_gated
    for (genvar i = 0; i < OUT; i++) begin : g_burst
      logic clk;
      bc_clock_gate u_gate (.clk_i, .en_i(aw_take & (wr_q == PtrW'(i))), .clk_o(clk));
      always_ff @(posedge clk) len_q[i] <= awlen_o;
    end
  end
  assign len = len_q[rd_q];

  always_ff @(posedge clk_i) begin
    if (start_i) ob_addr_q <= buffer;
    else if (load) ob_addr_q <= ob_addr_q + 24'd1;
  end

  logic clk_data;
  bc_clock_gate #(.GATED(CLOCK_GATING)) u_gate_data (.clk_i, .en_i(load), .clk_o(clk_data));
  always_ff @(posedge clk_data) begin
    if (CLOCK_GATING != 0 || load) wdata_q <= ob_data_i;
  end

endmodule
