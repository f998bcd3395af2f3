// Protocol assertions of AXI4 read channels, for both sides: INCR bursts of whole beats, one ID, in
// order. Simulation only (--assert).
`ifndef SYNTHESIS
module bc_axi_read_props #(
    parameter int DW = 64,
    parameter int OUT = 8,
    parameter int BURST = 16
) (
    input logic          clk_i,
    input logic          rst_ni,
    input logic          arvalid,
    input logic          arready,
    input logic [39:0]   araddr,
    input logic [7:0]    arlen,
    input logic          rvalid,
    input logic          rready,
    input logic [DW-1:0] rdata,
    input logic [1:0]    rresp,
    input logic          rlast
);

  localparam int Bytes = DW / 8;

  int unsigned open;           // bursts accepted and not ended
  int unsigned head, tail;     // ring of their lengths
  logic [7:0]  lengths[OUT];
  int unsigned beat;           // beats taken of the oldest
  logic        last;           // its last beat is due

  assign last = beat == 32'(lengths[head]);

  // rst_ni resets asynchronously and nothing else.
  logic live;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      live <= 1'b0;
      open <= 0;
      head <= 0;
      tail <= 0;
      beat <= 0;
    end else begin
      live <= 1'b1;
      open <= open + 32'(arvalid && arready) - 32'(rvalid && rready && rlast);
      if (arvalid & arready) begin
        lengths[tail] <= arlen;
        tail <= (tail + 1) % OUT;
      end
      if (rvalid & rready) begin
        beat <= rlast ? 0 : beat + 1;
        if (rlast) head <= (head + 1) % OUT;
      end
    end
  end

  ar_stable : assert property (@(posedge clk_i) disable iff (!live)
      arvalid & ~arready |=> arvalid & $stable(araddr) & $stable(arlen))
      else $error("ARVALID or its payload changed before ARREADY");
  r_stable : assert property (@(posedge clk_i) disable iff (!live)
      rvalid & ~rready |=> rvalid & $stable(rdata) & $stable(rresp) & $stable(rlast))
      else $error("RVALID or its payload changed before RREADY");
  ar_page : assert property (@(posedge clk_i) disable iff (!live)
      arvalid |-> 32'(araddr[11:0]) + (32'(arlen) + 1) * Bytes <= 4096)
      else $error("read burst crosses 4 KB");
  ar_aligned : assert property (@(posedge clk_i) disable iff (!live)
      arvalid |-> 32'(araddr[11:0]) % Bytes == 0)
      else $error("read burst is not beat aligned");
  ar_length : assert property (@(posedge clk_i) disable iff (!live)
      arvalid |-> 32'(arlen) < BURST)
      else $error("read burst is longer than BURST");
  ar_outstanding : assert property (@(posedge clk_i) disable iff (!live)
      arvalid |-> open < OUT)
      else $error("more than OUT read bursts outstanding");
  r_requested : assert property (@(posedge clk_i) disable iff (!live)
      rvalid |-> open != 0)
      else $error("read data without a request");
  r_last : assert property (@(posedge clk_i) disable iff (!live)
      rvalid & (open != 0) |-> rlast == last)
      else $error("RLAST is out of place");
  ar_reset : assert property (@(posedge clk_i) !live |-> ~arvalid)
      else $error("ARVALID during reset");

endmodule
`endif
