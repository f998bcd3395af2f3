// Sum of two outer positions: two digits with carries, so that no division is needed. An overflow
// of a digit corrects the address and the coordinates (see docs on the gather's address rule).
// A position is {a1, a0, y, x} and an address.
module bc_pos_outer_add (
    input  logic [63:0] p_i,
    input  logic [31:0] p_addr_i,
    input  logic [63:0] q_i,
    input  logic [31:0] q_addr_i,
    input  logic [15:0] r0_i,    // radices of a0 and a1
    input  logic [15:0] r1_i,
    input  logic [31:0] a1w_i,   // A1 - R0*A0
    input  logic [31:0] a2w_i,   // A2 - R1*A1
    input  logic [15:0] sy_i,    // y of a step of a1
    input  logic [15:0] xw_i,    // R0*sx
    input  logic [15:0] yw_i,    // R1*sy
    output logic [63:0] sum_o,
    output logic [31:0] sum_addr_o
);

  logic [16:0] a0, a1;
  logic        c0, c1;

  assign a0 = 17'(p_i[47:32]) + 17'(q_i[47:32]);
  assign c0 = a0 >= 17'(r0_i);
  assign a1 = 17'(p_i[63:48]) + 17'(q_i[63:48]) + 17'(c0);
  assign c1 = a1 >= 17'(r1_i);
  assign sum_o[63:48] = 16'(a1) - (c1 ? r1_i : 16'd0);
  assign sum_o[47:32] = 16'(a0) - (c0 ? r0_i : 16'd0);
  assign sum_o[31:16] = p_i[31:16] + q_i[31:16] + (c0 ? sy_i : 16'd0) - (c1 ? yw_i : 16'd0);
  assign sum_o[15:0] = p_i[15:0] + q_i[15:0] - (c0 ? xw_i : 16'd0);
  assign sum_addr_o = p_addr_i + q_addr_i + (c0 ? a1w_i : 32'd0) + (c1 ? a2w_i : 32'd0);

endmodule
