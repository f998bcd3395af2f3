// Protocol assertions of AXI4-Lite, for both sides. Simulation only (--assert).
`ifndef SYNTHESIS
module bc_axi_lite_props (
    input logic        clk_i,
    input logic        rst_ni,
    input logic        awvalid,
    input logic        awready,
    input logic [11:0] awaddr,
    input logic        wvalid,
    input logic        wready,
    input logic [31:0] wdata,
    input logic [3:0]  wstrb,
    input logic        bvalid,
    input logic        bready,
    input logic [1:0]  bresp,
    input logic        arvalid,
    input logic        arready,
    input logic [11:0] araddr,
    input logic        rvalid,
    input logic        rready,
    input logic [31:0] rdata,
    input logic [1:0]  rresp
);

  int unsigned addresses, datas, reads;  // accepted and not answered

  // rst_ni resets asynchronously and nothing else.
  logic live;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      live <= 1'b0;
      addresses <= 0;
      datas     <= 0;
      reads     <= 0;
    end else begin
      live <= 1'b1;
      addresses <= addresses + 32'(awvalid && awready) - 32'(bvalid && bready);
      datas     <= datas + 32'(wvalid && wready) - 32'(bvalid && bready);
      reads     <= reads + 32'(arvalid && arready) - 32'(rvalid && rready);
    end
  end

  aw_stable : assert property (@(posedge clk_i) disable iff (!live)
      awvalid & ~awready |=> awvalid & $stable(awaddr))
      else $error("AWVALID or its payload changed before AWREADY");
  w_stable : assert property (@(posedge clk_i) disable iff (!live)
      wvalid & ~wready |=> wvalid & $stable(wdata) & $stable(wstrb))
      else $error("WVALID or its payload changed before WREADY");
  b_stable : assert property (@(posedge clk_i) disable iff (!live)
      bvalid & ~bready |=> bvalid & $stable(bresp))
      else $error("BVALID or its payload changed before BREADY");
  ar_stable : assert property (@(posedge clk_i) disable iff (!live)
      arvalid & ~arready |=> arvalid & $stable(araddr))
      else $error("ARVALID or its payload changed before ARREADY");
  r_stable : assert property (@(posedge clk_i) disable iff (!live)
      rvalid & ~rready |=> rvalid & $stable(rdata) & $stable(rresp))
      else $error("RVALID or its payload changed before RREADY");
  b_requested : assert property (@(posedge clk_i) disable iff (!live)
      bvalid |-> (addresses != 0) & (datas != 0))
      else $error("write response without a request");
  r_requested : assert property (@(posedge clk_i) disable iff (!live)
      rvalid |-> reads != 0)
      else $error("read data without a request");
  lite_reset : assert property (@(posedge clk_i) !live |-> ~bvalid & ~rvalid)
      else $error("BVALID or RVALID during reset");

endmodule
`endif
