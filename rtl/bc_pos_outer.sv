// Outer positions of N consecutive elements from a base on: base + d[e], where d[e] is the position
// of element e, built by doubling at the start of an instruction.
//
// Start cycle: the fields are latched and dbl_q = position of 1. Set-up cycle k: d[2^k + e] = d[e]
// + dbl_q, dbl_q doubles. The step of the base is dbl_q at k = at_i. The adder of an
// element serves the set-up first and the base after it. Registers of data: not reset.
module bc_pos_outer #(
    parameter int N = 16  // a power of two
) (
    input  logic            clk_i,
    // Fields of the starting instruction.
    input  logic            start_i,
    input  logic [15:0]     r0_i,
    input  logic [15:0]     r1_i,
    input  logic [31:0]     a0_i,
    input  logic [31:0]     a1w_i,
    input  logic [31:0]     a2w_i,
    input  logic [15:0]     sy_i,
    input  logic [15:0]     sx_i,
    input  logic [15:0]     xw_i,
    input  logic [15:0]     yw_i,
    input  logic [31:0]     base_i,     // position of element 0
    input  logic [15:0]     y0_i,
    input  logic [15:0]     x0_i,
    // Set-up.
    input  logic            setup_i,
    input  logic [3:0]      setup_k_i,
    input  logic [3:0]      at_i,       // log2 of the elements of a step; stable after the start
    input  logic            load_i,     // end of the set-up: base = element 0
    // Base.
    input  logic            next_i,     // a step further
    input  logic            restart_i,  // back to element 0
    output logic [N*32-1:0] addr_o,
    output logic [N*32-1:0] yx_o,       // {y, x}
    output logic            illegal_o   // a radix is 0
);

  logic [15:0] r0_q, r1_q, sy_q, xw_q, yw_q, y0_q, x0_q;
  logic [31:0] a1w_q, a2w_q, base_addr0_q;
  logic [63:0] d_q[N];
  logic [31:0] d_addr_q[N];
  logic [63:0] dbl_q, step_q, base_q;
  logic [31:0] dbl_addr_q, step_addr_q, base_addr_q;

  assign illegal_o = (r0_q == 16'd0) | (r1_q == 16'd0);

  // The position of 1 or twice dbl_q; the next base.
  logic [63:0] one, dbl, next;
  logic [31:0] one_addr, dbl_addr, next_addr;
  bc_pos_outer_add u_one (
      .p_i(64'd0), .p_addr_i(32'd0), .q_i({16'd0, 16'd1, 16'd0, sx_i}), .q_addr_i(a0_i),
      .r0_i(r0_i), .r1_i(r1_i), .a1w_i(a1w_i), .a2w_i(a2w_i), .sy_i(sy_i), .xw_i(xw_i), .yw_i(yw_i),
      .sum_o(one), .sum_addr_o(one_addr)
  );
  bc_pos_outer_add u_double (
      .p_i(dbl_q), .p_addr_i(dbl_addr_q), .q_i(dbl_q), .q_addr_i(dbl_addr_q),
      .r0_i(r0_q), .r1_i(r1_q), .a1w_i(a1w_q), .a2w_i(a2w_q), .sy_i(sy_q), .xw_i(xw_q), .yw_i(yw_q),
      .sum_o(dbl), .sum_addr_o(dbl_addr)
  );
  bc_pos_outer_add u_next (
      .p_i(base_q), .p_addr_i(base_addr_q), .q_i(step_q), .q_addr_i(step_addr_q),
      .r0_i(r0_q), .r1_i(r1_q), .a1w_i(a1w_q), .a2w_i(a2w_q), .sy_i(sy_q), .xw_i(xw_q), .yw_i(yw_q),
      .sum_o(next), .sum_addr_o(next_addr)
  );

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      r0_q         <= r0_i;
      r1_q         <= r1_i;
      a1w_q        <= a1w_i;
      a2w_q        <= a2w_i;
      sy_q         <= sy_i;
      xw_q         <= xw_i;
      yw_q         <= yw_i;
      base_addr0_q <= base_i;
      y0_q         <= y0_i;
      x0_q         <= x0_i;
      dbl_q        <= one;
      dbl_addr_q   <= one_addr;
    end else if (setup_i) begin
      dbl_q      <= dbl;
      dbl_addr_q <= dbl_addr;
    end
    if ((setup_i | load_i) & (setup_k_i == at_i)) begin
      step_q      <= dbl_q;
      step_addr_q <= dbl_addr_q;
    end
    if (load_i | restart_i) begin
      base_q      <= {32'd0, y0_q, x0_q};
      base_addr_q <= base_addr0_q;
    end else if (next_i) begin
      base_q      <= next;
      base_addr_q <= next_addr;
    end
  end

  // Element e: d[e] + base, or in the set-up d[e without its highest bit] + dbl_q.
  logic [63:0] q;
  logic [31:0] q_addr;
  assign q = setup_i ? dbl_q : base_q;
  assign q_addr = setup_i ? dbl_addr_q : base_addr_q;

  for (genvar e = 0; e < N; e++) begin : g_element
    localparam int K = (e > 0) ? $clog2(e + 1) - 1 : 0;
    localparam int From = (e > 0) ? e - (1 << K) : 0;
    logic [63:0] p, sum;
    logic [31:0] p_addr;
    assign p = setup_i ? d_q[From] : d_q[e];
    assign p_addr = setup_i ? d_addr_q[From] : d_addr_q[e];
    bc_pos_outer_add u_add (
        .p_i(p), .p_addr_i(p_addr), .q_i(q), .q_addr_i(q_addr),
        .r0_i(r0_q), .r1_i(r1_q), .a1w_i(a1w_q), .a2w_i(a2w_q),
        .sy_i(sy_q), .xw_i(xw_q), .yw_i(yw_q),
        .sum_o(sum), .sum_addr_o(addr_o[e*32 +: 32])
    );
    assign yx_o[e*32 +: 32] = sum[31:0];
    if (e == 0) begin : g_zero
      logic unused_digits;
      assign unused_digits = ^sum[63:32];
      always_ff @(posedge clk_i) begin
        if (start_i) begin
          d_q[e]      <= 64'd0;
          d_addr_q[e] <= 32'd0;
        end
      end
    end else begin : g_double
      always_ff @(posedge clk_i) begin
        if (setup_i & (setup_k_i == 4'(K))) begin
          d_q[e]      <= sum;
          d_addr_q[e] <= addr_o[e*32 +: 32];
        end
      end
    end
  end

endmodule
