// Processing element: KL digit products, an adder tree and the chunk accumulator
// AC = (AC << d) + sum; the first pair of a pass loads. With HOLD a finished AC is copied to AH,
// from where the group's shared adder takes it while the next pass runs (rule R1).
module bc_pe #(
    parameter int RA = 1,
    parameter int RW = 1,
    parameter int KL = 64,
    parameter int AC_W = 24,
    parameter int HOLD = 1,
    parameter int CLOCK_GATING = 0  // 0: enables, 1: clock gates
) (
    input  logic             clk_i,
    input  logic             add_i,    // clock enable of AC
    input  logic             first_i,
    input  logic [2:0]       d_i,
    input  logic [KL*RA-1:0] a_i,      // lane l: bits l*RA +: RA
    input  logic             a_neg_i,  // the digit is two's complement
    input  logic [KL*RW-1:0] w_i,
    input  logic             w_neg_i,
    input  logic             hold_i,   // AC is complete: copy it
    output logic [AC_W-1:0]  sum_o     // AH with HOLD, else AC
);

  logic [AC_W-1:0] ac_q;
  logic [AC_W-1:0] dot;

  if (RA == 1 && RW == 1) begin : g_bit
    logic [AC_W-1:0] ones;
    assign ones = AC_W'($countones(a_i & w_i));
    assign dot = (a_neg_i ^ w_neg_i) ? -ones : ones;
  end else begin : g_digit
    // Digits are extended by one bit, so that signed and unsigned ones share the multiplier.
    always_comb begin
      logic signed [RA:0] a;
      logic signed [RW:0] w;
      logic signed [RA+RW:0] product;
      logic signed [AC_W-1:0] total;
      total = '0;
      for (int l = 0; l < KL; l++) begin
        a = {a_neg_i & a_i[l*RA+RA-1], a_i[l*RA +: RA]};
        w = {w_neg_i & w_i[l*RW+RW-1], w_i[l*RW +: RW]};
        product = (RA+RW+1)'(a) * (RA+RW+1)'(w);
        total = total + AC_W'(product);
      end
      dot = total;
    end
  end

  logic [AC_W-1:0] base;
  always_comb begin
    unique case (d_i)
      3'd0:    base = ac_q;
      3'd1:    base = ac_q << 1;
      3'd2:    base = ac_q << 2;
      3'd3:    base = ac_q << 3;
      default: base = ac_q << 4;
    endcase
    if (first_i) base = '0;
  end

  logic clk_ac;
  bc_clock_gate #(.GATED(CLOCK_GATING)) u_gate_ac (.clk_i, .en_i(add_i), .clk_o(clk_ac));
  always_ff @(posedge clk_ac) begin
    if (CLOCK_GATING != 0 || add_i) ac_q <= base + dot;
  end

  if (HOLD != 0) begin : g_hold
    logic [AC_W-1:0] ah_q;
    logic            clk_ah;
    bc_clock_gate #(.GATED(CLOCK_GATING)) u_gate_ah (.clk_i, .en_i(hold_i), .clk_o(clk_ah));
    always_ff @(posedge clk_ah) begin
      if (CLOCK_GATING != 0 || hold_i) ah_q <= ac_q;
    end
    assign sum_o = ah_q;
  end else begin : g_direct
    logic unused_hold;
    assign unused_hold = hold_i;
    assign sum_o = ac_q;
  end

endmodule
