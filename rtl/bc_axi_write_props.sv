// Protocol assertions of AXI4 write channels, for both sides: INCR bursts of whole beats, one ID, in
// order, data after their address. Simulation only (--assert).
`ifndef SYNTHESIS
module bc_axi_write_props #(
    parameter int DW = 64,
    parameter int OUT = 8,
    parameter int BURST = 16
) (
    input logic            clk_i,
    input logic            rst_ni,
    input logic            awvalid,
    input logic            awready,
    input logic [39:0]     awaddr,
    input logic [7:0]      awlen,
    input logic            wvalid,
    input logic            wready,
    input logic [DW-1:0]   wdata,
    input logic [DW/8-1:0] wstrb,
    input logic            wlast,
    input logic            bvalid,
    input logic            bready,
    input logic [1:0]      bresp
);

  localparam int Bytes = DW / 8;

  int unsigned open;        // bursts accepted and not answered
  int unsigned ahead;       // of which data are missing
  int unsigned head, tail;  // ring of their lengths
  logic [7:0]  lengths[OUT];
  int unsigned beat;        // beats taken of the oldest
  logic        last;        // its last beat is due

  assign last = beat == 32'(lengths[head]);

  // rst_ni resets asynchronously and nothing else.
  logic live;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      live <= 1'b0;
      open  <= 0;
      ahead <= 0;
      head  <= 0;
      tail  <= 0;
      beat  <= 0;
    end else begin
      live <= 1'b1;
      open  <= open + 32'(awvalid && awready) - 32'(bvalid && bready);
      ahead <= ahead + 32'(awvalid && awready) - 32'(wvalid && wready && wlast);
      if (awvalid & awready) begin
        lengths[tail] <= awlen;
        tail <= (tail + 1) % OUT;
      end
      if (wvalid & wready) begin
        beat <= wlast ? 0 : beat + 1;
        if (wlast) head <= (head + 1) % OUT;
      end
    end
  end

  aw_stable : assert property (@(posedge clk_i) disable iff (!live)
      awvalid & ~awready |=> awvalid & $stable(awaddr) & $stable(awlen))
      else $error("AWVALID or its payload changed before AWREADY");
  w_stable : assert property (@(posedge clk_i) disable iff (!live)
      wvalid & ~wready |=> wvalid & $stable(wdata) & $stable(wstrb) & $stable(wlast))
      else $error("WVALID or its payload changed before WREADY");
  b_stable : assert property (@(posedge clk_i) disable iff (!live)
      bvalid & ~bready |=> bvalid & $stable(bresp))
      else $error("BVALID or its payload changed before BREADY");
  aw_page : assert property (@(posedge clk_i) disable iff (!live)
      awvalid |-> 32'(awaddr[11:0]) + (32'(awlen) + 1) * Bytes <= 4096)
      else $error("write burst crosses 4 KB");
  aw_aligned : assert property (@(posedge clk_i) disable iff (!live)
      awvalid |-> 32'(awaddr[11:0]) % Bytes == 0)
      else $error("write burst is not beat aligned");
  aw_length : assert property (@(posedge clk_i) disable iff (!live)
      awvalid |-> 32'(awlen) < BURST)
      else $error("write burst is longer than BURST");
  aw_outstanding : assert property (@(posedge clk_i) disable iff (!live)
      awvalid |-> open < OUT)
      else $error("more than OUT write bursts outstanding");
  w_addressed : assert property (@(posedge clk_i) disable iff (!live)
      wvalid |-> ahead != 0)
      else $error("write data before their address");
  w_last : assert property (@(posedge clk_i) disable iff (!live)
      wvalid & (ahead != 0) |-> wlast == last)
      else $error("WLAST is out of place");
  b_requested : assert property (@(posedge clk_i) disable iff (!live)
      bvalid |-> open != ahead)
      else $error("write response without a whole burst");
  w_reset : assert property (@(posedge clk_i) !live |-> ~awvalid & ~wvalid)
      else $error("AWVALID or WVALID during reset");

endmodule
`endif
