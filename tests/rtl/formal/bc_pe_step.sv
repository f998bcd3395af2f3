// Proof harness: one clock of bc_pe equals its definition, for every state and every input.
// AC' = (first ? 0 : AC << d) + sum over lanes of digit(a)*digit(w), where a digit is two's
// complement if its flag is set. The definition is written with integers, unlike the PE.
module bc_pe_step #(
    parameter int RA = 1,
    parameter int RW = 1,
    parameter int KL = 4,
    parameter int AC_W = 20
) (
    input logic             clk_i,
    input logic             add_i,
    input logic             first_i,
    input logic [2:0]       d_i,
    input logic [KL*RA-1:0] a_i,
    input logic             a_neg_i,
    input logic [KL*RW-1:0] w_i,
    input logic             w_neg_i
);

  logic [AC_W-1:0] ac, expected_q;
  logic            armed_q;
  initial armed_q = 1'b0;

  bc_pe #(.RA(RA), .RW(RW), .KL(KL), .AC_W(AC_W), .HOLD(0)) u_pe (
      .clk_i(clk_i), .add_i(add_i), .first_i(first_i), .d_i(d_i), .a_i(a_i), .a_neg_i(a_neg_i),
      .w_i(w_i), .w_neg_i(w_neg_i), .hold_i(1'b0), .sum_o(ac)
  );

  logic [AC_W-1:0] total, va, vw;
  integer l;
  always @* begin
    total = first_i ? 0 : ac << d_i;
    for (l = 0; l < KL; l = l + 1) begin
      va = a_i[l*RA +: RA];
      vw = w_i[l*RW +: RW];
      if (a_neg_i && a_i[l*RA+RA-1]) va = va - (1 << RA);
      if (w_neg_i && w_i[l*RW+RW-1]) vw = vw - (1 << RW);
      total = total + va * vw;
    end
  end

  always @(posedge clk_i) begin
    armed_q    <= 1'b1;
    expected_q <= add_i ? total : ac;
  end

  // The sequencer never emits a larger drop in weight.
  always @* assume (d_i <= 3'd4);
  always @* if (armed_q) assert (ac == expected_q);

endmodule
