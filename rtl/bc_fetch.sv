// Fetch engine: reads the lines of a strided 3-D transfer through an AXI4 master port and writes
// them contiguously into an operand buffer. INCR bursts, one ID, at most OUT outstanding.
// Every beat is written in the cycle of its handshake; the last one ends the instruction. An error
// response is kept and reported at the end.
module bc_fetch #(
    parameter int DW = 64,     // bits of a beat
    parameter int OUT = 8,     // most bursts outstanding, a power of two
    parameter int BURST = 16   // most beats of a burst, a power of two
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    // Engine. The instruction is the head of the queue.
    input  logic [bc_machine_pkg::FETCH_WORDS*64-1:0] inst_i,
    output logic            illegal_o,
    output logic [3:0]      cause_o,
    input  logic            start_i,
    input  logic            busy_i,
    input  logic            stop_i,        // ask for no further bursts
    output logic            done_o,
    output logic            err_o,         // with done_o
    output logic [3:0]      err_cause_o,
    output logic            quiet_o,       // no burst is outstanding or asked for
    // Operand buffers.
    output logic            l1_we_o,
    output logic            l1_target_o,   // 0 L1A, 1 L1W
    output logic [23:0]     l1_addr_o,     // beat
    output logic [DW-1:0]   l1_data_o,
    // AXI4 read channels.
    output logic            arvalid_o,
    input  logic            arready_i,
    output logic [39:0]     araddr_o,
    output logic [7:0]      arlen_o,
    input  logic            rvalid_i,
    output logic            rready_o,
    input  logic [DW-1:0]   rdata_i,
    input  logic [1:0]      rresp_i,
    input  logic            rlast_i
);

  localparam int OutW = $clog2(OUT) + 1;

  logic [OutW-1:0] outstanding_q;
  logic            held_q;     // arvalid stands since an earlier cycle
  logic            target_q;
  logic [23:0]     l1_addr_q;
  logic            bad_q;      // an error response came
  logic            dec_q;      // the first one was DECERR

  logic burst_valid, ar_take, r_take, burst_end, bad;

  logic [39:0] dram;
  logic [31:0] line_beats, stride0, stride1, stride2;
  logic [15:0] n0, n1, n2;
  logic [23:0] buffer;

  assign dram = inst_i[bc_machine_pkg::FETCH_DRAM_BIT+:bc_machine_pkg::FETCH_DRAM_W];
  assign line_beats =
      inst_i[bc_machine_pkg::FETCH_LINE_BEATS_BIT+:bc_machine_pkg::FETCH_LINE_BEATS_W];
  assign n0 = inst_i[bc_machine_pkg::FETCH_N0_BIT+:bc_machine_pkg::FETCH_N0_W];
  assign n1 = inst_i[bc_machine_pkg::FETCH_N1_BIT+:bc_machine_pkg::FETCH_N1_W];
  assign n2 = inst_i[bc_machine_pkg::FETCH_N2_BIT+:bc_machine_pkg::FETCH_N2_W];
  assign buffer = inst_i[bc_machine_pkg::FETCH_BUFFER_BIT+:bc_machine_pkg::FETCH_BUFFER_W];
  assign stride0 = inst_i[bc_machine_pkg::FETCH_STRIDE0_BIT+:bc_machine_pkg::FETCH_STRIDE0_W];
  assign stride1 = inst_i[bc_machine_pkg::FETCH_STRIDE1_BIT+:bc_machine_pkg::FETCH_STRIDE1_W];
  assign stride2 = inst_i[bc_machine_pkg::FETCH_STRIDE2_BIT+:bc_machine_pkg::FETCH_STRIDE2_W];

  bc_dma_check #(.DW(DW)) u_check (
      .addr_i(dram[11:0]), .line_i(line_beats), .n0_i(n0), .n1_i(n1), .n2_i(n2),
      .illegal_o, .cause_o
  );

  bc_burst #(.DW(DW), .BURST(BURST)) u_burst (
      .clk_i, .rst_ni, .load_i(start_i), .base_i(dram), .line_i(line_beats), .n0_i(n0), .n1_i(n1),
      .n2_i(n2), .stride0_i(stride0), .stride1_i(stride1), .stride2_i(stride2),
      .next_i(ar_take), .valid_o(burst_valid), .addr_o(araddr_o), .len_o(arlen_o)
  );

  // Reserved bits and the engine's fields.
  logic unused_inst;
  assign unused_inst = ^inst_i;

  assign arvalid_o = burst_valid & (outstanding_q < OutW'(OUT)) & (~stop_i | held_q);
  assign ar_take = arvalid_o & arready_i;
  assign rready_o = busy_i;
  assign r_take = rvalid_i & rready_o;
  assign burst_end = r_take & rlast_i;
  assign bad = r_take & rresp_i[1];

  assign done_o = burst_end & ~burst_valid & (outstanding_q == OutW'(1));
  assign err_o = bad_q | bad;
  assign err_cause_o = (bad_q ? dec_q : rresp_i[0]) ? bc_machine_pkg::CAUSE_DECERR
                                                    : bc_machine_pkg::CAUSE_SLVERR;
  assign quiet_o = (outstanding_q == '0) & ~arvalid_o;

  assign l1_we_o = r_take;
  assign l1_target_o = target_q;
  assign l1_addr_o = l1_addr_q;
  assign l1_data_o = rdata_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      outstanding_q <= '0;
      held_q        <= 1'b0;
      bad_q         <= 1'b0;
      dec_q         <= 1'b0;
    end else begin
      outstanding_q <= outstanding_q + OutW'(ar_take) - OutW'(burst_end);
      held_q        <= arvalid_o & ~arready_i;
      if (start_i) begin
        bad_q <= 1'b0;
        dec_q <= 1'b0;
      end else if (bad & ~bad_q) begin
        bad_q <= 1'b1;
        dec_q <= rresp_i[0];
      end
    end
  end

  // Data registers are not reset.
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      target_q  <= inst_i[bc_machine_pkg::FETCH_TARGET_BIT];
      l1_addr_q <= buffer;
    end else if (r_take) begin
      l1_addr_q <= l1_addr_q + 24'd1;
    end
  end

endmodule
