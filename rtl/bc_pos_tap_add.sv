// Sum of two tap positions: digits bit, cg, b0 with carries, as bc_pos_outer_add.
// A position is {b0, cg, y, x}, an address and the bit of the granule.
module bc_pos_tap_add (
    input  logic [63:0] p_i,
    input  logic [31:0] p_addr_i,
    input  logic [7:0]  p_bit_i,
    input  logic [63:0] q_i,
    input  logic [31:0] q_addr_i,
    input  logic [7:0]  q_bit_i,
    input  logic [7:0]  br_i,    // radices of bit, cg, b0
    input  logic [15:0] cg_i,
    input  logic [15:0] kb0_i,
    input  logic [31:0] sc_i,    // address of a step of cg
    input  logic [31:0] b0w_i,   // B0 - CG*SC
    input  logic [31:0] b1w_i,   // B1 - KB0*B0
    input  logic [15:0] dx_i,    // x of a step of b0
    input  logic [15:0] dy_i,    // y of a step of b1
    input  logic [15:0] dxw_i,   // KB0*dx
    output logic [63:0] sum_o,
    output logic [31:0] sum_addr_o,
    output logic [7:0]  sum_bit_o
);

  logic [8:0]  bits;
  logic [16:0] cg, b0;
  logic        cb, c1, c2;

  assign bits = 9'(p_bit_i) + 9'(q_bit_i);
  assign cb = bits >= 9'(br_i);
  assign cg = 17'(p_i[47:32]) + 17'(q_i[47:32]) + 17'(cb);
  assign c1 = cg >= 17'(cg_i);
  assign b0 = 17'(p_i[63:48]) + 17'(q_i[63:48]) + 17'(c1);
  assign c2 = b0 >= 17'(kb0_i);
  assign sum_bit_o = 8'(bits) - (cb ? br_i : 8'd0);
  assign sum_o[63:48] = 16'(b0) - (c2 ? kb0_i : 16'd0);
  assign sum_o[47:32] = 16'(cg) - (c1 ? cg_i : 16'd0);
  assign sum_o[31:16] = p_i[31:16] + q_i[31:16] + (c2 ? dy_i : 16'd0);
  assign sum_o[15:0] = p_i[15:0] + q_i[15:0] + (c1 ? dx_i : 16'd0) - (c2 ? dxw_i : 16'd0);
  assign sum_addr_o = p_addr_i + q_addr_i + (cb ? sc_i : 32'd0) + (c1 ? b0w_i : 32'd0)
                    + (c2 ? b1w_i : 32'd0);

endmodule
