// What every engine has: start and end of its instructions, and four counters, of which each
// enabled cycle increments exactly one.
//
// An instruction starts when the engine is free, its tokens are there and nothing halts the
// machine; it leaves the queue and takes its tokens in that cycle. An illegal one is dropped in the
// same way: its unit does not start and nothing is posted. The next start is at the earliest in
// the cycle after done_i.
module bc_engine (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        enable_i,   // instructions start and counters count
    input  logic        halt_i,     // instructions do not start
    input  logic        clear_i,    // counters to 0
    // Head of the queue.
    input  logic        valid_i,
    input  logic        illegal_i,
    input  logic        in_ok_i,    // input tokens are there
    input  logic        out_ok_i,   // space tokens are there
    input  logic [1:0]  post_i,     // tokens that it posts at its end
    output logic        pop_o,      // leaves the queue, takes its tokens
    output logic        start_o,    // the unit starts
    output logic        drop_o,     // illegal: the unit does not
    // Unit.
    output logic        busy_o,
    input  logic        done_i,     // only while busy
    input  logic        err_i,      // with done_i: failed, nothing is posted
    output logic [1:0]  post_o,
    output logic [47:0] idle_o,
    output logic [47:0] run_o,
    output logic [47:0] wait_in_o,
    output logic [47:0] wait_out_o
);

  logic        busy_q;
  logic [1:0]  post_q;
  logic [47:0] idle_q, run_q, wait_in_q, wait_out_q;
  logic        run, idle, wait_in;

  assign pop_o = ~busy_q & valid_i & in_ok_i & out_ok_i & enable_i & ~halt_i;
  assign start_o = pop_o & ~illegal_i;
  assign drop_o = pop_o & illegal_i;
  assign busy_o = busy_q;
  assign post_o = post_q & {2{done_i & ~err_i}};
  assign idle_o = idle_q;
  assign run_o = run_q;
  assign wait_in_o = wait_in_q;
  assign wait_out_o = wait_out_q;

  assign run = busy_q | pop_o;
  assign idle = ~run & ~valid_i;
  assign wait_in = ~run & valid_i & ~in_ok_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q     <= 1'b0;
      post_q     <= '0;
      idle_q     <= '0;
      run_q      <= '0;
      wait_in_q  <= '0;
      wait_out_q <= '0;
    end else begin
      if (start_o) begin
        busy_q <= 1'b1;
        post_q <= post_i;
      end else if (done_i) begin
        busy_q <= 1'b0;
      end
      if (clear_i) begin
        idle_q     <= '0;
        run_q      <= '0;
        wait_in_q  <= '0;
        wait_out_q <= '0;
      end else if (enable_i) begin
        if (run) run_q <= run_q + 48'd1;
        else if (idle) idle_q <= idle_q + 48'd1;
        else if (wait_in) wait_in_q <= wait_in_q + 48'd1;
        else wait_out_q <= wait_out_q + 48'd1;
      end
    end
  end

endmodule
