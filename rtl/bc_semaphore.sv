// Counter of tokens between two engines. A token posted in cycle t counts from t+1 on. At 65535 a
// further token is lost and overflow_o says so.
module bc_semaphore (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        post_i,      // one token more
    input  logic [15:0] need_i,      // tokens that the waiting instruction needs
    output logic        ok_o,        // they are there
    input  logic        take_i,      // take them; only with ok_o
    output logic [15:0] count_o,
    output logic        overflow_o
);

  logic [15:0] count_q, left;

  assign ok_o = count_q >= need_i;
  assign count_o = count_q;
  assign left = take_i ? count_q - need_i : count_q;
  assign overflow_o = post_i & (left == 16'hffff);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) count_q <= '0;
    else if (post_i & ~overflow_o) count_q <= left + 16'd1;
    else count_q <= left;
  end

endmodule
