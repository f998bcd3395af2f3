// Sum of two output positions: the outer digits a0 and a1 with carries, and the address (see
// bc_pos_outer_add, which has the gather's coordinates besides).
module bc_out_add (
    input  logic [63:0] p_i,     // {a1, a0, address}
    input  logic [63:0] q_i,
    input  logic [15:0] r0_i,    // radices of a0 and a1
    input  logic [15:0] r1_i,
    input  logic [31:0] o1w_i,   // O1 - OR0*O0
    input  logic [31:0] o2w_i,   // O2 - OR1*O1
    output logic [63:0] sum_o
);

  logic [16:0] a0, a1;
  logic        c0, c1;

  assign a0 = 17'(p_i[47:32]) + 17'(q_i[47:32]);
  assign c0 = a0 >= 17'(r0_i);
  assign a1 = 17'(p_i[63:48]) + 17'(q_i[63:48]) + 17'(c0);
  assign c1 = a1 >= 17'(r1_i);
  assign sum_o[63:48] = 16'(a1) - (c1 ? r1_i : 16'd0);
  assign sum_o[47:32] = 16'(a0) - (c0 ? r0_i : 16'd0);
  assign sum_o[31:0] = p_i[31:0] + q_i[31:0] + (c0 ? o1w_i : 32'd0) + (c1 ? o2w_i : 32'd0);

endmodule
