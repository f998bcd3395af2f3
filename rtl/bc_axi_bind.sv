// Binds the protocol assertions to the modules that drive the AXI ports.
`ifndef SYNTHESIS
bind bc_fetch bc_axi_read_props #(.DW(DW), .OUT(OUT), .BURST(BURST)) u_axi_props (
    .clk_i(clk_i), .rst_ni(rst_ni), .arvalid(arvalid_o), .arready(arready_i), .araddr(araddr_o),
    .arlen(arlen_o), .rvalid(rvalid_i), .rready(rready_o), .rdata(rdata_i), .rresp(rresp_i),
    .rlast(rlast_i)
);

bind bc_store bc_axi_write_props #(.DW(DW), .OUT(OUT), .BURST(BURST)) u_axi_props (
    .clk_i(clk_i), .rst_ni(rst_ni), .awvalid(awvalid_o), .awready(awready_i), .awaddr(awaddr_o),
    .awlen(awlen_o), .wvalid(wvalid_o), .wready(wready_i), .wdata(wdata_o), .wstrb(wstrb_o),
    .wlast(wlast_o), .bvalid(bvalid_i), .bready(bready_o), .bresp(bresp_i)
);

bind bc_regs bc_axi_lite_props u_axi_props (
    .clk_i(clk_i), .rst_ni(rst_ni), .awvalid(s_awvalid_i), .awready(s_awready_o),
    .awaddr(s_awaddr_i), .wvalid(s_wvalid_i), .wready(s_wready_o), .wdata(s_wdata_i),
    .wstrb(s_wstrb_i), .bvalid(s_bvalid_o), .bready(s_bready_i), .bresp(s_bresp_o),
    .arvalid(s_arvalid_i), .arready(s_arready_o), .araddr(s_araddr_i), .rvalid(s_rvalid_o),
    .rready(s_rready_i), .rdata(s_rdata_o), .rresp(s_rresp_o)
);
`endif
