// Requantiser of one result: three stages behind the partial sums, defined bit for bit by
// golden/requantise.hpp.
//   stage 2  v = acc - za*sum_w - zw*sum_a + kzz, 64 bits, wrapping (raw: acc)
//   stage 3  v * mult, 80 bits; the element's random bits
//   stage 4  rounded by shift, + zout, clamped (raw: v)
// Data registers, not reset; each moves only when its stage has something to do.
module bc_requant #(
    parameter int ACC_W = 48,
    parameter int CLOCK_GATING = 0  // 0: enables, 1: clock gates
) (
    input  logic             clk_i,
    // Instruction, stable while it runs.
    input  logic             raw_i,
    input  logic [1:0]       rounding_i,  // 0 nearest even, 1 half up, 2 floor, 3 stochastic
    input  logic [4:0]       out_bits_i,
    input  logic             out_signed_i,
    input  logic [15:0]      mult_i,
    input  logic [5:0]       shift_i,
    input  logic [16:0]      zout_i,
    input  logic [31:0]      seed_i,
    // Stage 1.
    input  logic             en1_i,
    input  logic [ACC_W-1:0] acc_i,
    input  logic [63:0]      zero_row_i,  // zw*sum_a - kzz of the row
    input  logic [63:0]      zero_col_i,  // za*sum_w of the column
    input  logic [31:0]      element_i,
    // Stages 2 and 3.
    input  logic             en2_i,
    output logic [63:0]      v_o,
    input  logic             en3_i,
    input  logic             mask3_i,     // inside M and N
    // Stage 4: 48 raw bits, or the code (0 outside M and N).
    output logic [47:0]      out_o
);

  logic [63:0] v_q;
  logic [31:0] element_q;
  logic [63:0] lo_q;  // product
  logic [15:0] hi_q;
  logic [47:0] out_q;

  logic stochastic;
  assign stochastic = ~raw_i & (rounding_i == 2'd3);

  // ---------------------------------------------------------------- stage 1 to 2
  logic [63:0] acc;
  assign acc = {{(64 - ACC_W) {acc_i[ACC_W-1]}}, acc_i};

  logic clk_v, clk_element, en_element;
  assign en_element = en1_i & stochastic;
  bc_clock_gate #(.GATED(CLOCK_GATING)) u_gate_v (.clk_i, .en_i(en1_i), .clk_o(clk_v));
  bc_clock_gate #(.GATED(CLOCK_GATING)) u_gate_element (
      .clk_i, .en_i(en_element), .clk_o(clk_element)
  );
  always_ff @(posedge clk_v) begin
    if (CLOCK_GATING != 0 || en1_i) v_q <= raw_i ? acc : acc - zero_col_i - zero_row_i;
  end
  always_ff @(posedge clk_element) begin
    if (CLOCK_GATING != 0 || en_element) element_q <= element_i;
  end

  // ---------------------------------------------------------------- stage 2 to 3
  // Signed v times unsigned mult, from its two halves.
  logic [47:0] p0, p1, t;
  assign p0 = {16'd0, v_q[31:0]} * {32'd0, mult_i};
  assign p1 = {{16{v_q[63]}}, v_q[63:32]} * {32'd0, mult_i};
  assign t = p1 + {32'd0, p0[47:32]};

  logic clk_lo, clk_hi, en_hi;
  assign en_hi = en2_i & ~raw_i;
  bc_clock_gate #(.GATED(CLOCK_GATING)) u_gate_lo (.clk_i, .en_i(en2_i), .clk_o(clk_lo));
  bc_clock_gate #(.GATED(CLOCK_GATING)) u_gate_hi (.clk_i, .en_i(en_hi), .clk_o(clk_hi));
  always_ff @(posedge clk_lo) begin
    if (CLOCK_GATING != 0 || en2_i) lo_q <= raw_i ? v_q : {t[31:0], p0[31:0]};
  end
  always_ff @(posedge clk_hi) begin
    if (CLOCK_GATING != 0 || en_hi) hi_q <= t[47:32];
  end

  logic [15:0] random;
  bc_random #(.CLOCK_GATING(CLOCK_GATING)) u_random (
      .clk_i, .en_i(en2_i & stochastic), .seed_i, .element_i(element_q), .random_o(random)
  );

  // ---------------------------------------------------------------- stage 3 to 4
  // floor((product + addend) / 2^shift): the addend makes the rounding.
  function automatic logic [80:0] round_shift(
      input logic [79:0] product, input logic [5:0] shift, input logic [1:0] rounding,
      input logic [15:0] random_bits);
    logic [80:0] value, addend, half;
    value = {product[79], product};
    half = 81'd1 << (shift - 6'd1);
    case (rounding)
      // Half less one, plus the kept bit: a tie moves up only from an odd code.
      2'd0: addend = half - 81'd1 + {80'd0, 1'(product >> shift)};
      2'd1: addend = half;
      2'd2: addend = '0;
      // The top min(shift, 16) random bits end right below the kept bit.
      default: addend = ({65'd0, random_bits} << shift) >> 16;
    endcase
    if (shift == 6'd0) addend = '0;
    value = value + addend;
    round_shift = $signed(value) >>> shift;
  endfunction

  function automatic logic [15:0] clamp(
      input logic [80:0] rounded, input logic [16:0] zout, input logic [4:0] out_bits,
      input logic out_signed);
    logic signed [80:0] value, low, high;
    logic [15:0]        bounded;
    value = $signed(rounded + {{64{zout[16]}}, zout});
    high = $signed((81'd1 << (out_bits - {4'd0, out_signed})) - 81'd1);
    low = out_signed ? ~high : '0;
    bounded = (value < low) ? low[15:0] : (value > high) ? high[15:0] : value[15:0];
    // Only out_bits bits of a code leave.
    clamp = bounded & 16'((17'd1 << out_bits) - 17'd1);
  endfunction

  logic clk_out;
  bc_clock_gate #(.GATED(CLOCK_GATING)) u_gate_out (.clk_i, .en_i(en3_i), .clk_o(clk_out));
  always_ff @(posedge clk_out) begin
    if (CLOCK_GATING != 0 || en3_i) begin
      if (raw_i) out_q <= lo_q[47:0];
      else if (~mask3_i) out_q <= '0;
      else
        out_q <= {32'd0, clamp(round_shift({hi_q, lo_q}, shift_i, rounding_i, random), zout_i,
                               out_bits_i, out_signed_i)};
    end
  end

  assign v_o = v_q;
  assign out_o = out_q;

endmodule
