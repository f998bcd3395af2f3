// 16 random bits for one output element: a keyed hash of its number, defined by
// golden/hardware_random.hpp, with a register behind it. Eight rounds of a 16-bit addition, two
// rotations and two exclusive-ors in a cycle.
module bc_random #(
    parameter int CLOCK_GATING = 0  // 0: enables, 1: clock gates
) (
    input  logic        clk_i,
    input  logic        en_i,
    input  logic [31:0] seed_i,
    input  logic [31:0] element_i,
    output logic [15:0] random_o
);

  localparam int Rounds = 8;

  logic [15:0] random_q;  // not reset

  // A function, so that a simulator works only when it is enabled.
  function automatic logic [15:0] hash(input logic [31:0] seed, input logic [31:0] element);
    logic [63:0] keys;
    logic [15:0] x, y;
    keys = {seed[31:16] ^ 16'h79B9, seed[15:0] ^ 16'h9E37, seed};
    x = element[31:16];
    y = element[15:0];
    for (int i = 0; i < Rounds; i++) begin
      x = ({x[6:0], x[15:7]} + y) ^ (keys[(i%4)*16 +: 16] + 16'(i * 32'h3C6F));
      y = {y[13:0], y[15:14]} ^ x;
    end
    hash = x ^ {y[10:0], y[15:11]};
  endfunction

  logic clk;
  bc_clock_gate #(.GATED(CLOCK_GATING)) u_gate (.clk_i, .en_i, .clk_o(clk));
  always_ff @(posedge clk) begin
    if (CLOCK_GATING != 0 || en_i) random_q <= hash(seed_i, element_i);
  end

  assign random_o = random_q;

endmodule
