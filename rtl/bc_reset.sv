// Resets: asserted asynchronously by rst_ni, released synchronously. The core (everything but the
// register block) is also reset for one cycle by soft_i.
module bc_reset (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic soft_i,      // reset the core in the next cycle
    output logic rst_no,      // register block
    output logic core_rst_no  // everything else
);

  logic meta_q, sync_q, core_q;

  assign rst_no = sync_q;
  assign core_rst_no = core_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      meta_q <= 1'b0;
      sync_q <= 1'b0;
      core_q <= 1'b0;
    end else begin
      meta_q <= 1'b1;
      sync_q <= meta_q;
      core_q <= meta_q & ~soft_i;
    end
  end

endmodule
