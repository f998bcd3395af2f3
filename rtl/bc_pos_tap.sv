// Tap positions of N consecutive elements from a base on: as bc_pos_outer, whose timing it shares.
// Element 0 is the position 0.
module bc_pos_tap #(
    parameter int N = 16  // a power of two
) (
    input  logic            clk_i,
    // Fields of the starting instruction.
    input  logic            start_i,
    input  logic [7:0]      br_i,
    input  logic [15:0]     cg_i,
    input  logic [15:0]     kb0_i,
    input  logic [31:0]     sc_i,
    input  logic [31:0]     b0w_i,
    input  logic [31:0]     b1w_i,
    input  logic [15:0]     dx_i,
    input  logic [15:0]     dy_i,
    input  logic [15:0]     dxw_i,
    // Set-up.
    input  logic            setup_i,
    input  logic [3:0]      setup_k_i,
    input  logic [3:0]      at_i,         // log2 of the elements of a step; stable after the start
    input  logic            load_i,       // end of the set-up: base = element 0
    // Base.
    input  logic            next_i,       // a step further
    input  logic            restart_i,    // back to element 0
    output logic [N*32-1:0] addr_o,
    output logic [N*32-1:0] yx_o,         // {y, x}
    output logic [N*8-1:0]  bit_o,        // bit of the granule, from 0
    output logic [N-1:0]    first_cg_o,   // cg is 0
    output logic [N-1:0]    last_cg_o,    // cg is CG - 1
    output logic            illegal_o     // a radix is 0
);

  logic [7:0]  br_q;
  logic [15:0] cg_q, kb0_q, dx_q, dy_q, dxw_q;
  logic [31:0] sc_q, b0w_q, b1w_q;
  logic [63:0] d_q[N];
  logic [31:0] d_addr_q[N];
  logic [7:0]  d_bit_q[N];
  logic [63:0] dbl_q, step_q, base_q;
  logic [31:0] dbl_addr_q, step_addr_q, base_addr_q;
  logic [7:0]  dbl_bit_q, step_bit_q, base_bit_q;

  assign illegal_o = (br_q == 8'd0) | (cg_q == 16'd0) | (kb0_q == 16'd0);

  logic [63:0] one, dbl, next;
  logic [31:0] one_addr, dbl_addr, next_addr;
  logic [7:0]  one_bit, dbl_bit, next_bit;
  bc_pos_tap_add u_one (
      .p_i(64'd0), .p_addr_i(32'd0), .p_bit_i(8'd0),
      .q_i(64'd0), .q_addr_i(32'd0), .q_bit_i(8'd1),
      .br_i(br_i), .cg_i(cg_i), .kb0_i(kb0_i), .sc_i(sc_i), .b0w_i(b0w_i), .b1w_i(b1w_i),
      .dx_i(dx_i), .dy_i(dy_i), .dxw_i(dxw_i),
      .sum_o(one), .sum_addr_o(one_addr), .sum_bit_o(one_bit)
  );
  bc_pos_tap_add u_double (
      .p_i(dbl_q), .p_addr_i(dbl_addr_q), .p_bit_i(dbl_bit_q),
      .q_i(dbl_q), .q_addr_i(dbl_addr_q), .q_bit_i(dbl_bit_q),
      .br_i(br_q), .cg_i(cg_q), .kb0_i(kb0_q), .sc_i(sc_q), .b0w_i(b0w_q), .b1w_i(b1w_q),
      .dx_i(dx_q), .dy_i(dy_q), .dxw_i(dxw_q),
      .sum_o(dbl), .sum_addr_o(dbl_addr), .sum_bit_o(dbl_bit)
  );
  bc_pos_tap_add u_next (
      .p_i(base_q), .p_addr_i(base_addr_q), .p_bit_i(base_bit_q),
      .q_i(step_q), .q_addr_i(step_addr_q), .q_bit_i(step_bit_q),
      .br_i(br_q), .cg_i(cg_q), .kb0_i(kb0_q), .sc_i(sc_q), .b0w_i(b0w_q), .b1w_i(b1w_q),
      .dx_i(dx_q), .dy_i(dy_q), .dxw_i(dxw_q),
      .sum_o(next), .sum_addr_o(next_addr), .sum_bit_o(next_bit)
  );

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      br_q       <= br_i;
      cg_q       <= cg_i;
      kb0_q      <= kb0_i;
      sc_q       <= sc_i;
      b0w_q      <= b0w_i;
      b1w_q      <= b1w_i;
      dx_q       <= dx_i;
      dy_q       <= dy_i;
      dxw_q      <= dxw_i;
      dbl_q      <= one;
      dbl_addr_q <= one_addr;
      dbl_bit_q  <= one_bit;
    end else if (setup_i) begin
      dbl_q      <= dbl;
      dbl_addr_q <= dbl_addr;
      dbl_bit_q  <= dbl_bit;
    end
    if ((setup_i | load_i) & (setup_k_i == at_i)) begin
      step_q      <= dbl_q;
      step_addr_q <= dbl_addr_q;
      step_bit_q  <= dbl_bit_q;
    end
    if (load_i | restart_i) begin
      base_q      <= 64'd0;
      base_addr_q <= 32'd0;
      base_bit_q  <= 8'd0;
    end else if (next_i) begin
      base_q      <= next;
      base_addr_q <= next_addr;
      base_bit_q  <= next_bit;
    end
  end

  // Element e: d[e] + base, or in the set-up d[e without its highest bit] + dbl_q.
  logic [63:0] q;
  logic [31:0] q_addr;
  logic [7:0]  q_bit;
  assign q = setup_i ? dbl_q : base_q;
  assign q_addr = setup_i ? dbl_addr_q : base_addr_q;
  assign q_bit = setup_i ? dbl_bit_q : base_bit_q;

  for (genvar e = 0; e < N; e++) begin : g_element
    localparam int K = (e > 0) ? $clog2(e + 1) - 1 : 0;
    localparam int From = (e > 0) ? e - (1 << K) : 0;
    logic [63:0] p, sum;
    logic [31:0] p_addr;
    logic [7:0]  p_bit;
    assign p = setup_i ? d_q[From] : d_q[e];
    assign p_addr = setup_i ? d_addr_q[From] : d_addr_q[e];
    assign p_bit = setup_i ? d_bit_q[From] : d_bit_q[e];
    bc_pos_tap_add u_add (
        .p_i(p), .p_addr_i(p_addr), .p_bit_i(p_bit),
        .q_i(q), .q_addr_i(q_addr), .q_bit_i(q_bit),
        .br_i(br_q), .cg_i(cg_q), .kb0_i(kb0_q), .sc_i(sc_q), .b0w_i(b0w_q), .b1w_i(b1w_q),
        .dx_i(dx_q), .dy_i(dy_q), .dxw_i(dxw_q),
        .sum_o(sum), .sum_addr_o(addr_o[e*32 +: 32]), .sum_bit_o(bit_o[e*8 +: 8])
    );
    assign yx_o[e*32 +: 32] = sum[31:0];
    assign first_cg_o[e] = sum[47:32] == 16'd0;
    assign last_cg_o[e] = sum[47:32] == cg_q - 16'd1;
    if (e == 0) begin : g_zero
      logic unused_digits;
      assign unused_digits = ^sum[63:48];
      always_ff @(posedge clk_i) begin
        if (start_i) begin
          d_q[e]      <= 64'd0;
          d_addr_q[e] <= 32'd0;
          d_bit_q[e]  <= 8'd0;
        end
      end
    end else begin : g_double
      always_ff @(posedge clk_i) begin
        if (setup_i & (setup_k_i == 4'(K))) begin
          d_q[e]      <= sum;
          d_addr_q[e] <= addr_o[e*32 +: 32];
          d_bit_q[e]  <= bit_o[e*8 +: 8];
        end
      end
    end
  end

endmodule
