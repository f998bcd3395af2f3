// Result unit: partial sums, requantiser, packing and the output buffer.
//
// A beat that the array hands over in cycle c is in the partial-sum stage in c + 1 (saved there, and
// the sums of operands written), in v in c + 2, multiplied in c + 3, rounded in c + 4, the cycle in
// which it is written to the output buffer. done_o: the last beat of the instruction is written.
module bc_result #(
    parameter int TM = 16,
    parameter int TN = 16,
    parameter int ACC_W = 48,
    parameter int Q = 16,      // a power of two
    parameter int GL = 16,     // lanes of a stored word
    parameter int DW = 64,     // bits of a beat
    parameter int OB_D = 512,  // beats of the output buffer
    parameter int PS_D = 64,   // entries of the partial-sum buffer
    parameter int CLOCK_GATING = 0,  // 0: enables, 1: clock gates
    // Derived.
    parameter int RPB = (Q > TN) ? Q / TN : 1,
    parameter int CPB = (Q > TN) ? TN : Q,
    parameter int BeatW = $clog2(OB_D)
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic                 clear_i,   // extremes and overflow start anew
    // Start of an exec instruction and, in that cycle, its words (word w at bit w*64).
    input  logic                 start_i,
    input  logic [27*64-1:0]     inst_i,
    output logic                 done_o,
    // Result stream of the array; always taken.
    input  logic                 res_valid_i,
    input  logic                 res_last_i,
    input  logic [Q-1:0]         res_mask_i,
    input  logic [Q*ACC_W-1:0]   res_data_i,
    input  logic [RPB*ACC_W-1:0] res_sum_a_i,
    input  logic [CPB*ACC_W-1:0] res_sum_w_i,
    input  logic                 res_overflow_i,
    // Statistics since clear_i: of v, of results that left.
    output logic [63:0]          min_o,
    output logic [63:0]          max_o,
    output logic                 overflow_o,
    // Beat port of the store engine.
    input  logic [BeatW-1:0]     rd_beat_i,
    output logic [DW-1:0]        rd_data_o
);

  localparam int AW = $clog2(OB_D * (DW / GL));
  localparam int LR = (CPB < GL) ? CPB : GL;
  localparam int LC = (RPB < GL) ? RPB : GL;
  localparam int SEG = (LR < LC) ? Q / LR : Q / LC;
  localparam int WIDE = Q + RPB + CPB;
  localparam int LaneW = (GL > 1) ? $clog2(GL) : 1;
  localparam int Levels = $clog2(Q);

`ifndef SYNTHESIS
  if ((Q & (Q - 1)) != 0 || (TM & (TM - 1)) != 0 || (TN & (TN - 1)) != 0) begin : g_powers
    $fatal(1, "Q = %0d, TM = %0d, TN = %0d: must be powers of two", Q, TM, TN);
  end
  if (ACC_W > 48 || 16 % GL != 0 || DW % GL != 0) begin : g_widths
    $fatal(1, "ACC_W = %0d, GL = %0d, DW = %0d: ACC_W <= 48, GL divides 16 and DW", ACC_W, GL, DW);
  end
  if (PS_D < 2 || (PS_D & (PS_D - 1)) != 0 || (OB_D & (OB_D - 1)) != 0) begin : g_depths
    $fatal(1, "PS_D = %0d, OB_D = %0d: must be powers of two, PS_D at least 2", PS_D, OB_D);
  end
`endif

  // ---------------------------------------------------------------- instruction
  logic        ps_read_q, ps_write_q, raw_q, column_q, sums_q, raw32_q, out_signed_q;
  logic [4:0]  out_bits_q;
  logic [1:0]  rounding_q;
  logic [31:0] n_q;
  logic [23:0] ob_base_q, sum_a_base_q, sum_w_base_q;
  logic [15:0] or0_q, or1_q;
  logic [31:0] o0_q, o1w_q, o2w_q, oc_q;
  logic [15:0] mult_q;
  logic [5:0]  shift_q;
  logic [16:0] za_q, zw_q, zout_q;
  logic [63:0] kzz_q;
  logic [31:0] seed_q, element_base_q, row_stride_q;

  // Bits of the instruction that are not the result unit's.
  logic unused_inst;
  assign unused_inst = ^{inst_i[13:0], inst_i[44:27], inst_i[95:46], inst_i[159:128],
                         inst_i[1215:176], inst_i[1247:1240], inst_i[1471:1456],
                         inst_i[1535:1528], inst_i[1631:1617], inst_i[1663:1632]};

  logic clk_inst;
  bc_clock_gate #(.GATED(CLOCK_GATING)) u_gate_inst (.clk_i, .en_i(start_i), .clk_o(clk_inst));
  always_ff @(posedge clk_inst) begin
    if (CLOCK_GATING != 0 || start_i) begin
      ps_read_q      <= inst_i[14];
      ps_write_q     <= inst_i[15];
      raw_q          <= inst_i[16];
      column_q       <= inst_i[17];
      sums_q         <= inst_i[18];
      out_bits_q     <= inst_i[23:19];
      out_signed_q   <= inst_i[24];
      rounding_q     <= inst_i[26:25];
      raw32_q        <= inst_i[45];
      n_q            <= inst_i[1*64+32 +: 32];
      ob_base_q      <= inst_i[19*64 +: 24];
      or0_q          <= inst_i[19*64+32 +: 16];
      or1_q          <= inst_i[19*64+48 +: 16];
      o0_q           <= inst_i[20*64 +: 32];
      o1w_q          <= inst_i[20*64+32 +: 32];
      o2w_q          <= inst_i[21*64 +: 32];
      oc_q           <= inst_i[21*64+32 +: 32];
      sum_a_base_q   <= inst_i[22*64 +: 24];
      sum_w_base_q   <= inst_i[22*64+24 +: 24];
      mult_q         <= inst_i[23*64 +: 16];
      shift_q        <= inst_i[23*64+16 +: 6];
      za_q           <= inst_i[23*64+22 +: 17];
      zw_q           <= inst_i[23*64+39 +: 17];
      kzz_q          <= inst_i[24*64 +: 64];
      zout_q         <= inst_i[25*64 +: 17];
      seed_q         <= inst_i[25*64+32 +: 32];
      element_base_q <= inst_i[26*64 +: 32];
      row_stride_q   <= inst_i[26*64+32 +: 32];
    end
  end

  // ---------------------------------------------------------------- stage 1
  logic                 valid1, last1;
  logic [Q-1:0]         mask1;
  logic [Q*ACC_W-1:0]   data1;
  logic [RPB*ACC_W-1:0] sum_a1;
  logic [CPB*ACC_W-1:0] sum_w1;

  bc_psum #(.ACC_W(ACC_W), .Q(Q), .RPB(RPB), .CPB(CPB), .PS_D(PS_D)) u_psum (
      .clk_i, .rst_ni, .clear_i, .start_i, .base_i(inst_i[2*64+32 +: 16]),
      .read_i(ps_read_q), .write_i(ps_write_q),
      .res_valid_i, .res_last_i, .res_mask_i, .res_data_i, .res_sum_a_i, .res_sum_w_i,
      .res_overflow_i,
      .valid_o(valid1), .last_o(last1), .mask_o(mask1), .data_o(data1), .sum_a_o(sum_a1),
      .sum_w_o(sum_w1), .overflow_o
  );

  // ---------------------------------------------------------------- stages 2 to 4
  // A beat of an instruction that only saves partial sums passes without data.
  logic         s2_valid_q, s3_valid_q, s4_valid_q;  // with results
  logic         s2_last_q, s3_last_q, s4_last_q;
  logic [Q-1:0] s2_mask_q, s3_mask_q, s4_mask_q;
  logic [63:0]  min_q, max_q;
  logic         en1;
  assign en1 = valid1 & ~ps_write_q;

  logic [63:0] min_base, max_base;
  assign min_base = clear_i ? 64'h7FFF_FFFF_FFFF_FFFF : min_q;
  assign max_base = clear_i ? 64'h8000_0000_0000_0000 : max_q;

  // Extremes of v over the beat's lanes inside M and N.
  for (genvar l = 0; l <= Levels; l++) begin : g_extreme
    localparam int Count = Q >> l;
    logic [Count*64-1:0] low, high;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      s2_valid_q <= 1'b0;
      s3_valid_q <= 1'b0;
      s4_valid_q <= 1'b0;
      s2_last_q  <= 1'b0;
      s3_last_q  <= 1'b0;
      s4_last_q  <= 1'b0;
      min_q      <= 64'h7FFF_FFFF_FFFF_FFFF;
      max_q      <= 64'h8000_0000_0000_0000;
    end else begin
      s2_valid_q <= en1;
      s3_valid_q <= s2_valid_q;
      s4_valid_q <= s3_valid_q;
      s2_last_q  <= last1;
      s3_last_q  <= s2_last_q;
      s4_last_q  <= s3_last_q;
      min_q <= (s2_valid_q && $signed(g_extreme[Levels].low) < $signed(min_base)) ?
               g_extreme[Levels].low : min_base;
      max_q <= (s2_valid_q && $signed(g_extreme[Levels].high) > $signed(max_base)) ?
               g_extreme[Levels].high : max_base;
    end
  end

  always_ff @(posedge clk_i) begin
    if (en1) s2_mask_q <= mask1;
    if (s2_valid_q) s3_mask_q <= s2_mask_q;
    if (s3_valid_q) s4_mask_q <= s3_mask_q;
  end

  logic [Q*32-1:0] element1;
  logic [Q*48-1:0] out4;

  // Zero-point products, once a row and once a column.
  for (genvar i = 0; i < RPB; i++) begin : g_row
    logic [63:0] zero;
    assign zero = 64'($signed(zw_q)) * 64'($signed(sum_a1[i*ACC_W +: ACC_W])) - kzz_q;
  end
  for (genvar j = 0; j < CPB; j++) begin : g_col
    logic [63:0] zero;
    assign zero = 64'($signed(za_q)) * 64'($signed(sum_w1[j*ACC_W +: ACC_W]));
  end

  for (genvar q = 0; q < Q; q++) begin : g_lane
    logic [63:0] v;
    bc_requant #(.ACC_W(ACC_W), .CLOCK_GATING(CLOCK_GATING)) u_requant (
        .clk_i,
        .raw_i(raw_q), .rounding_i(rounding_q), .out_bits_i(out_bits_q),
        .out_signed_i(out_signed_q), .mult_i(mult_q), .shift_i(shift_q), .zout_i(zout_q),
        .seed_i(seed_q),
        .en1_i(en1), .acc_i(data1[q*ACC_W +: ACC_W]), .zero_row_i(g_row[q/CPB].zero),
        .zero_col_i(g_col[q%CPB].zero), .element_i(element1[q*32 +: 32]),
        .en2_i(s2_valid_q), .v_o(v), .en3_i(s3_valid_q), .mask3_i(s3_mask_q[q]),
        .out_o(out4[q*48 +: 48])
    );
    assign g_extreme[0].low[q*64 +: 64] = s2_mask_q[q] ? v : 64'h7FFF_FFFF_FFFF_FFFF;
    assign g_extreme[0].high[q*64 +: 64] = s2_mask_q[q] ? v : 64'h8000_0000_0000_0000;
  end
  for (genvar l = 1; l <= Levels; l++) begin : g_level
    for (genvar i = 0; i < (Q >> l); i++) begin : g_pair
      logic [63:0] low_a, low_b, high_a, high_b;
      assign low_a = g_extreme[l-1].low[2*i*64 +: 64];
      assign low_b = g_extreme[l-1].low[(2*i + 1)*64 +: 64];
      assign high_a = g_extreme[l-1].high[2*i*64 +: 64];
      assign high_b = g_extreme[l-1].high[(2*i + 1)*64 +: 64];
      assign g_extreme[l].low[i*64 +: 64] = ($signed(low_a) < $signed(low_b)) ? low_a : low_b;
      assign g_extreme[l].high[i*64 +: 64] = ($signed(high_a) > $signed(high_b)) ? high_a : high_b;
    end
  end

  // ---------------------------------------------------------------- packing and the buffer
  logic [SEG-1:0]       code_we;
  logic [SEG*AW-1:0]    code_addr;
  logic [SEG*16*GL-1:0] code_data;
  logic [LaneW-1:0]     lane;
  logic                 column;
  logic [WIDE-1:0]      wide_we;
  logic [WIDE*AW-1:0]   wide_addr;
  logic [WIDE*48-1:0]   wide_data;

  // The walk and the positions start in the start cycle, from the instruction itself.
  bc_pack #(
      .TM(TM), .TN(TN), .ACC_W(ACC_W), .Q(Q), .RPB(RPB), .CPB(CPB), .GL(GL), .AW(AW),
      .SEG(SEG), .LR(LR), .LC(LC)
  ) u_pack (
      .clk_i, .rst_ni, .start_i,
      .n_i(start_i ? inst_i[1*64+32 +: 32] : n_q),
      .column_i(column_q), .raw_i(raw_q), .raw32_i(raw32_q), .sums_i(sums_q),
      .write_i(~ps_write_q), .out_bits_i(out_bits_q),
      .or0_i(start_i ? inst_i[19*64+32 +: 16] : or0_q),
      .or1_i(start_i ? inst_i[19*64+48 +: 16] : or1_q),
      .o0_i(start_i ? inst_i[20*64 +: 32] : o0_q),
      .o1w_i(start_i ? inst_i[20*64+32 +: 32] : o1w_q),
      .o2w_i(start_i ? inst_i[21*64 +: 32] : o2w_q),
      .oc_i(oc_q), .ob_base_i(ob_base_q), .sum_a_base_i(sum_a_base_q),
      .sum_w_base_i(sum_w_base_q),
      .element_base_i(start_i ? inst_i[26*64 +: 32] : element_base_q),
      .row_stride_i(row_stride_q),
      .valid1_i(valid1), .mask1_i(mask1), .sum_a_i(sum_a1), .sum_w_i(sum_w1),
      .element_o(element1),
      .valid2_i(s2_valid_q), .valid3_i(s3_valid_q), .valid4_i(s4_valid_q),
      .mask4_i(s4_mask_q), .out_i(out4),
      .code_we_o(code_we), .code_addr_o(code_addr), .code_data_o(code_data), .lane_o(lane),
      .column_o(column), .wide_we_o(wide_we), .wide_addr_o(wide_addr), .wide_data_o(wide_data)
  );

  bc_ob #(
      .GL(GL), .DW(DW), .OB_D(OB_D), .SEG(SEG), .LR(LR), .LC(LC), .WIDE(WIDE)
  ) u_ob (
      .clk_i, .code_we_i(code_we), .code_addr_i(code_addr), .code_data_i(code_data),
      .planes_i(out_bits_q), .lane_i(lane), .column_i(column),
      .wide_we_i(wide_we), .wide_addr_i(wide_addr), .wide_data_i(wide_data), .short_i(raw32_q),
      .rd_beat_i, .rd_data_o
  );

  assign done_o = s4_last_q;
  assign min_o = min_q;
  assign max_o = max_q;

endmodule
