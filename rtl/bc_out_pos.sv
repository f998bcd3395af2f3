// Output positions of P neighbouring rows (or columns) of a tile: base + d[first .. first+P-1].
// d[e], the position of element e, is built by doubling: clog2(N) + 1 cycles from the start on.
module bc_out_pos #(
    parameter int N = 16,  // elements of a tile, a power of two
    parameter int P = 1,   // positions that leave at once
    // Derived.
    parameter int IdxW = (N > 1) ? $clog2(N) : 1
) (
    input  logic            clk_i,
    input  logic            rst_ni,
    input  logic            start_i,
    input  logic [15:0]     r0_i,       // instruction: valid in the start cycle and while it runs
    input  logic [15:0]     r1_i,
    input  logic [31:0]     o0_i,
    input  logic [31:0]     o1w_i,
    input  logic [31:0]     o2w_i,
    input  logic [3:0]      at_i,       // log2 of the step of the base
    input  logic            next_i,     // the base moves a step
    input  logic            restart_i,  // the base moves back to element 0
    input  logic [IdxW-1:0] first_i,    // a multiple of the positions that are used
    output logic [P*32-1:0] addr_o
);

  localparam int Steps = $clog2(N);

  logic        setup_q;
  logic [3:0]  k_q;
  logic [63:0] dbl_q, step_q, base_q;
  logic [63:0] one, dbl, next;
  logic [63:0] d[N];

  bc_out_add u_one (
      .p_i(64'd0), .q_i({16'd0, 16'd1, o0_i}), .r0_i, .r1_i, .o1w_i, .o2w_i, .sum_o(one)
  );
  bc_out_add u_double (.p_i(dbl_q), .q_i(dbl_q), .r0_i, .r1_i, .o1w_i, .o2w_i, .sum_o(dbl));
  bc_out_add u_next (.p_i(base_q), .q_i(step_q), .r0_i, .r1_i, .o1w_i, .o2w_i, .sum_o(next));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      setup_q <= 1'b0;
      k_q     <= 4'd0;
    end else if (start_i) begin
      setup_q <= 1'b1;
      k_q     <= 4'd0;
    end else if (setup_q) begin
      setup_q <= k_q != 4'(Steps);
      k_q     <= k_q + 4'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) dbl_q <= one;
    else if (setup_q) dbl_q <= dbl;
    if (setup_q & (k_q == at_i)) step_q <= dbl_q;
    if (start_i | restart_i) base_q <= 64'd0;
    else if (next_i) base_q <= next;
  end

  assign d[0] = 64'd0;
  for (genvar e = 1; e < N; e++) begin : g_element
    localparam int K = $clog2(e + 1) - 1;
    logic [63:0] d_q, sum;
    if (e == (1 << K)) begin : g_power
      assign sum = dbl_q;
    end else begin : g_sum
      bc_out_add u_add (
          .p_i(g_element[e-(1<<K)].d_q), .q_i(dbl_q), .r0_i, .r1_i, .o1w_i, .o2w_i, .sum_o(sum)
      );
    end
    always_ff @(posedge clk_i) begin
      if (setup_q & (k_q == 4'(K))) d_q <= sum;
    end
    assign d[e] = d_q;
  end

  for (genvar p = 0; p < P; p++) begin : g_position
    logic [IdxW-1:0] index;
    logic [31:0]     unused_digits;
    assign index = first_i + IdxW'(p);
    bc_out_add u_add (
        .p_i(d[index]), .q_i(base_q), .r0_i, .r1_i, .o1w_i, .o2w_i,
        .sum_o({unused_digits, addr_o[p*32 +: 32]})
    );
  end

endmodule
