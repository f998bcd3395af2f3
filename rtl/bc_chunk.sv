// Chunk registers of one row (or column) and its operand register: two banks of P_MAX bit planes
// of KL lanes; a digit of R planes is selected and registered, lane by lane, for broadcast.
module bc_chunk #(
    parameter int KL = 64,
    parameter int P_MAX = 16,
    parameter int R = 1,    // digit width
    parameter int WPB = 1,  // planes written per beat
    parameter int CLOCK_GATING = 0  // 0: enables, 1: clock gates
) (
    input  logic                      clk_i,
    // Write: WPB planes, the first is plane_i counted from the most significant one.
    input  logic                      we_i,
    input  logic                      wr_bank_i,
    input  logic [bc_pkg::BITS_W-1:0] plane_i,
    input  logic [WPB*KL-1:0]         data_i,
    input  logic [KL-1:0]             lane_en_i,  // lanes at or beyond K are written as 0
    // Select: digit `digit_i` of the operand in bank `bank_i`.
    input  logic                      sel_i,
    input  logic                      bank_i,
    input  logic [3:0]                digit_i,
    input  logic [bc_pkg::BITS_W-1:0] bits_i,
    input  logic                      signed_i,
    output logic [KL*R-1:0]           digit_o     // lane l: bits l*R +: R
);

  localparam int AddrW = $clog2(2 * P_MAX);
  localparam int PlaneW = bc_pkg::BITS_W + 1;

  // Registers of one array may have clocks of their own.
  /* verilator lint_off MULTIDRIVEN */
  (* mem2reg *) logic [KL-1:0] chunk_q[2*P_MAX];
  /* verilator lint_on MULTIDRIVEN */
  logic [KL*R-1:0] digit_q;
  logic [KL*R-1:0] digit_d;

  // Register index of plane p counted from the least significant one.
  function automatic logic [AddrW-1:0] index(input logic bank, input logic [PlaneW-1:0] p);
    index = AddrW'((bank ? P_MAX : 0) + 32'(p));
  endfunction

  // Words of a beat: whether they are written, and where.
  logic [WPB-1:0]   word_we;
  logic [AddrW-1:0] word_index[WPB];
  for (genvar w = 0; w < WPB; w++) begin : g_word
    logic [PlaneW-1:0] from_top;
    assign from_top = PlaneW'(plane_i) + PlaneW'(w);
    assign word_we[w] = we_i && from_top < PlaneW'(bits_i);
    assign word_index[w] = index(wr_bank_i, PlaneW'(bits_i) - PlaneW'(1) - from_top);
  end

  if (CLOCK_GATING == 0) begin : g_enable
    always_ff @(posedge clk_i) begin
      for (int w = 0; w < WPB; w++) begin
        if (word_we[w]) chunk_q[word_index[w]] <= data_i[w*KL +: KL] & lane_en_i;
      end
    end
  end else begin : g_gated
    for (genvar b = 0; b < 2; b++) begin : g_bank
      // A gate of its own pays for planes of eight lanes and more; less wide ones share their bank's.
      logic clk_bank;
      bc_clock_gate #(.GATED((KL < 8) ? 1 : 0)) u_gate (
          .clk_i, .en_i(we_i & (wr_bank_i == 1'(b))), .clk_o(clk_bank)
      );
      for (genvar p = 0; p < P_MAX; p++) begin : g_plane
        logic          we, clk;
        logic [KL-1:0] word;
        always_comb begin
          we = 1'b0;
          word = data_i[0 +: KL];
          for (int w = 0; w < WPB; w++) begin
            if (word_we[w] && word_index[w] == AddrW'(b * P_MAX + p)) begin
              we = 1'b1;
              if (WPB > 1) word = data_i[w*KL +: KL];
            end
          end
        end
        bc_clock_gate #(.GATED((KL < 8) ? 0 : 1)) u_gate (
            .clk_i(clk_bank), .en_i(we), .clk_o(clk)
        );
        always_ff @(posedge clk) begin
          if (KL >= 8 || we) chunk_q[b*P_MAX + p] <= word & lane_en_i;
        end
      end
    end
  end

  for (genvar x = 0; x < R; x++) begin : g_select
    logic [PlaneW-1:0] plane;
    logic [KL-1:0]     bits;
    assign plane = PlaneW'(digit_i) * PlaneW'(R) + PlaneW'(x);
    // Above the top plane a signed operand repeats its sign, an unsigned one is zero.
    assign bits = (plane < PlaneW'(bits_i)) ? chunk_q[index(bank_i, plane)]
                : signed_i ? chunk_q[index(bank_i, PlaneW'(bits_i) - PlaneW'(1))] : '0;
    for (genvar l = 0; l < KL; l++) begin : g_lane
      assign digit_d[l*R + x] = bits[l];
    end
  end

  logic clk_digit;
  bc_clock_gate #(.GATED(CLOCK_GATING)) u_gate_digit (.clk_i, .en_i(sel_i), .clk_o(clk_digit));
  always_ff @(posedge clk_digit) begin
    if (CLOCK_GATING != 0 || sel_i) digit_q <= digit_d;
  end

  assign digit_o = digit_q;

endmodule
