// First-in first-out queue of instructions of WORDS 64-bit words. Registered: what is pushed in
// cycle t is at the output from t+1 on. A full queue takes a push in the cycle of a pop.
module bc_queue #(
    parameter int WORDS = 6,  // words of an instruction
    parameter int QD = 4,     // instructions, a power of two
    parameter int CLOCK_GATING = 0,  // 0: enables, 1: clock gates
    // Derived.
    parameter int PtrW = (QD > 1) ? $clog2(QD) : 1
) (
    input  logic                clk_i,
    input  logic                rst_ni,
    input  logic                push_i,   // only with room_o
    input  logic [WORDS*64-1:0] data_i,
    output logic                room_o,
    input  logic                pop_i,    // only with valid_o
    output logic                valid_o,
    output logic [WORDS*64-1:0] data_o,
    output logic                full_o
);

  localparam int CountW = $clog2(QD) + 1;

  logic [CountW-1:0] count_q;
  logic [PtrW-1:0]   rd_q, wr_q;

  assign valid_o = count_q != '0;
  assign full_o = count_q == CountW'(QD);
  assign room_o = ~full_o | pop_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= '0;
      rd_q    <= '0;
      wr_q    <= '0;
    end else begin
      count_q <= count_q + CountW'(push_i) - CountW'(pop_i);
      if (QD > 1) begin
        rd_q <= rd_q + PtrW'(pop_i);
        wr_q <= wr_q + PtrW'(push_i);
      end
    end
  end

  // Data registers are not reset. A clock for each entry.
  logic [QD-1:0] push, clk;
  for (genvar i = 0; i < QD; i++) begin : g_entry
    assign push[i] = push_i & (wr_q == PtrW'(i));
    bc_clock_gate #(.GATED(CLOCK_GATING)) u_gate (.clk_i, .en_i(push[i]), .clk_o(clk[i]));
  end
  for (genvar w = 0; w < WORDS; w++) begin : g_word
    /* verilator lint_off MULTIDRIVEN */
    (* mem2reg *) logic [63:0] word_q[QD];
    /* verilator lint_on MULTIDRIVEN */
    for (genvar i = 0; i < QD; i++) begin : g_entry
      always_ff @(posedge clk[i]) begin
        if (CLOCK_GATING != 0 || push[i]) word_q[i] <= data_i[w*64+:64];
      end
    end
    assign data_o[w*64+:64] = word_q[rd_q];
  end

endmodule
