// Where results go: walks over the array's beats (tiles rows outermost, rows, column groups), keeps
// the positions of rows and columns in the output, and turns stage 4 into writes of bit planes or
// integers of the output buffer. The walk runs beside stage 1, the addresses follow in stages 2..4;
// the sums of operands are written from stage 1.
module bc_pack #(
    parameter int TM = 16,
    parameter int TN = 16,
    parameter int ACC_W = 48,
    parameter int Q = 16,     // a power of two
    parameter int RPB = 1,
    parameter int CPB = 16,
    parameter int GL = 16,
    parameter int AW = 14,    // address of a word in the output buffer
    parameter int SEG = 16,
    parameter int LR = 16,    // lanes of a segment in row orientation: min(GL, CPB)
    parameter int LC = 1,     // and in column orientation: min(GL, RPB)
    // Derived.
    parameter int WIDE = Q + RPB + CPB,
    parameter int LaneW = (GL > 1) ? $clog2(GL) : 1
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic                  start_i,
    // Instruction: valid in the start cycle and while it runs.
    input  logic [31:0]           n_i,
    input  logic                  column_i,
    input  logic                  raw_i,
    input  logic                  raw32_i,
    input  logic                  sums_i,
    input  logic                  write_i,      // results leave (no ps_write)
    input  logic [4:0]            out_bits_i,
    input  logic [15:0]           or0_i,
    input  logic [15:0]           or1_i,
    input  logic [31:0]           o0_i,
    input  logic [31:0]           o1w_i,
    input  logic [31:0]           o2w_i,
    input  logic [31:0]           oc_i,
    input  logic [23:0]           ob_base_i,
    input  logic [23:0]           sum_a_base_i,
    input  logic [23:0]           sum_w_base_i,
    input  logic [31:0]           element_base_i,
    input  logic [31:0]           row_stride_i,
    // Stage 1.
    input  logic                  valid1_i,
    input  logic [Q-1:0]          mask1_i,
    input  logic [RPB*ACC_W-1:0]  sum_a_i,
    input  logic [CPB*ACC_W-1:0]  sum_w_i,
    output logic [Q*32-1:0]       element_o,    // numbers of the beat's elements
    // Stages 2 to 4.
    input  logic                  valid2_i,
    input  logic                  valid3_i,
    input  logic                  valid4_i,
    input  logic [Q-1:0]          mask4_i,
    input  logic [Q*48-1:0]       out_i,
    // To the output buffer.
    output logic [SEG-1:0]        code_we_o,
    output logic [SEG*AW-1:0]     code_addr_o,
    output logic [SEG*16*GL-1:0]  code_data_o,
    output logic [LaneW-1:0]      lane_o,
    output logic                  column_o,
    output logic [WIDE-1:0]       wide_we_o,
    output logic [WIDE*AW-1:0]    wide_addr_o,
    output logic [WIDE*48-1:0]    wide_data_o
);

  localparam int Groups = TN / CPB;
  localparam int RowW = $clog2(TM + 1);
  localparam int GrpW = (Groups > 1) ? $clog2(Groups) : 1;
  localparam int N = (TM > TN) ? TM : TN;
  localparam int P = (RPB > CPB) ? RPB : CPB;
  localparam int IdxW = (N > 1) ? $clog2(N) : 1;
  localparam int Rw48 = 48 / GL;
  localparam int Rw32 = 32 / GL;

  logic column;
  assign column = column_i & ~raw_i;
  assign column_o = column;

  // ---------------------------------------------------------------- walk (stage 1)
  // Of the beat in stage 1: first row m, first column n, their granules' distances *_oc from the
  // output base, and of the tile: where it started.
  logic [RowW-1:0] row_q;   // inside the tile
  logic [GrpW-1:0] grp_q;
  logic [31:0]     left_q;  // columns from this tile on
  logic            first_row_tile_q, first_col_tile_q;
  logic [31:0]     n_q, n_tile_q, n_oc_q, n_oc_tile_q;
  logic [31:0]     m_q, m_tile_q, m_oc_q, m_oc_tile_q;
  logic [31:0]     element_q, element_tile_q;  // base + m * stride

  logic last_grp, last_row, last_col_tile, tile_end;
  assign last_grp = grp_q == GrpW'(Groups - 1);
  assign last_row = row_q == RowW'(TM - RPB);
  assign last_col_tile = left_q <= 32'(TN);
  assign tile_end = last_grp & last_row;

  logic [31:0] n_next, n_oc_next, m_next, m_oc_next, element_next;
  assign n_next = n_q + CPB;
  assign m_next = m_q + RPB;
  assign element_next = element_q + row_stride_i * RPB;
  if (CPB >= GL) begin : g_wide_n
    assign n_oc_next = n_oc_q + oc_i * (CPB / GL);
  end else begin : g_narrow_n
    assign n_oc_next = n_oc_q + ((n_next[LaneW-1:0] == '0) ? oc_i : 32'd0);
  end
  if (RPB >= GL) begin : g_wide_m
    assign m_oc_next = m_oc_q + oc_i * (RPB / GL);
  end else begin : g_narrow_m
    assign m_oc_next = m_oc_q + ((m_next[LaneW-1:0] == '0) ? oc_i : 32'd0);
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      row_q            <= '0;
      grp_q            <= '0;
      left_q           <= n_i;
      first_row_tile_q <= 1'b1;
      first_col_tile_q <= 1'b1;
      n_q              <= '0;
      n_tile_q         <= '0;
      n_oc_q           <= '0;
      n_oc_tile_q      <= '0;
      m_q              <= '0;
      m_tile_q         <= '0;
      m_oc_q           <= '0;
      m_oc_tile_q      <= '0;
      element_q        <= element_base_i;
      element_tile_q   <= element_base_i;
    end else if (valid1_i) begin
      grp_q <= last_grp ? '0 : grp_q + GrpW'(1);
      if (last_grp) row_q <= last_row ? '0 : row_q + RowW'(RPB);
      if (~last_grp) begin
        n_q    <= n_next;
        n_oc_q <= n_oc_next;
      end else if (~last_row) begin
        n_q       <= n_tile_q;
        n_oc_q    <= n_oc_tile_q;
        m_q       <= m_next;
        m_oc_q    <= m_oc_next;
        element_q <= element_next;
      end else if (~last_col_tile) begin
        left_q           <= left_q - 32'(TN);
        first_col_tile_q <= 1'b0;
        n_q              <= n_next;
        n_oc_q           <= n_oc_next;
        n_tile_q         <= n_next;
        n_oc_tile_q      <= n_oc_next;
        m_q              <= m_tile_q;
        m_oc_q           <= m_oc_tile_q;
        element_q        <= element_tile_q;
      end else begin
        left_q           <= n_i;
        first_row_tile_q <= 1'b0;
        first_col_tile_q <= 1'b1;
        n_q              <= '0;
        n_oc_q           <= '0;
        n_tile_q         <= '0;
        n_oc_tile_q      <= '0;
        m_q              <= m_next;
        m_oc_q           <= m_oc_next;
        m_tile_q         <= m_next;
        m_oc_tile_q      <= m_oc_next;
        element_q        <= element_next;
        element_tile_q   <= element_next;
      end
    end
  end

  for (genvar i = 0; i < RPB; i++) begin : g_element_row
    logic [31:0] row;
    assign row = element_q + row_stride_i * i + n_q;
    for (genvar j = 0; j < CPB; j++) begin : g_element
      assign element_o[(i*CPB + j)*32 +: 32] = row + j;
    end
  end

  // ---------------------------------------------------------------- positions (stage 1 to 2)
  logic [P*32-1:0] position;
  logic [IdxW-1:0] first;
  assign first = column ? IdxW'(32'(grp_q) * CPB) : IdxW'(row_q);

  bc_out_pos #(.N(N), .P(P)) u_pos (
      .clk_i, .rst_ni, .start_i,
      .r0_i(or0_i), .r1_i(or1_i), .o0_i, .o1w_i, .o2w_i,
      .at_i(column ? 4'($clog2(TN)) : 4'($clog2(TM))),
      .next_i(valid1_i & tile_end & (column | last_col_tile)),
      .restart_i(valid1_i & tile_end & column & last_col_tile),
      .first_i(first), .addr_o(position)
  );

  logic [31:0]      base2_q;
  logic [LaneW-1:0] lane2_q, lane3_q, lane4_q;
  logic             en1;
  assign en1 = valid1_i & write_i;

  always_ff @(posedge clk_i) begin
    if (en1) begin
      base2_q <= 32'(ob_base_i) +
                 (raw_i ? n_q * (raw32_i ? 32'(Rw32) : 32'(Rw48)) : column ? m_oc_q : n_oc_q);
      lane2_q <= (GL == 1) ? '0 : column ? m_q[LaneW-1:0] : n_q[LaneW-1:0];
    end
    if (valid2_i) lane3_q <= lane2_q;
    if (valid3_i) lane4_q <= lane3_q;
  end
  assign lane_o = lane4_q;

  logic [P*AW-1:0] addr4;
  for (genvar p = 0; p < P; p++) begin : g_position
    logic [31:0]   pos2_q;
    logic [AW-1:0] addr3_q, addr4_q;
    logic          used;  // in this orientation
    assign used = column ? (p < CPB) : (p < RPB);
    always_ff @(posedge clk_i) begin
      if (en1 & used) pos2_q <= position[p*32 +: 32];
      if (valid2_i & used) addr3_q <= AW'(pos2_q + base2_q);
      if (valid3_i & used) addr4_q <= addr3_q;
    end
    assign addr4[p*AW +: AW] = addr4_q;
  end

  // ---------------------------------------------------------------- stage 4: codes
  logic [Q*16-1:0] just;  // codes, their top bit at bit 15: plane p is bit 15 - p
  for (genvar q = 0; q < Q; q++) begin : g_just
    assign just[q*16 +: 16] = out_i[q*48 +: 16] << (5'd16 - out_bits_i);
  end

  for (genvar s = 0; s < SEG; s++) begin : g_seg
    // Row orientation: row RI, granule RG of the beat's columns; column orientation alike.
    localparam int RG = s % (CPB / LR);
    localparam int RI = (s / (CPB / LR)) % RPB;
    localparam int CG = s % (RPB / LC);
    localparam int CJ = (s / (RPB / LC)) % CPB;
    localparam bit InRow = s < Q / LR;
    localparam bit InCol = s < Q / LC;
    assign code_we_o[s] = valid4_i & ~raw_i &
        (column ? InCol & mask4_i[CG*LC*CPB + CJ] : InRow & mask4_i[RI*CPB + RG*LR]);
    assign code_addr_o[s*AW +: AW] =
        column ? addr4[CJ*AW +: AW] + AW'(oc_i * CG) : addr4[RI*AW +: AW] + AW'(oc_i * RG);
    for (genvar p = 0; p < 16; p++) begin : g_plane
      for (genvar l = 0; l < GL; l++) begin : g_lane
        logic row_bit, col_bit;
        if (InRow && l < LR) begin : g_row
          assign row_bit = just[(RI*CPB + RG*LR + l)*16 + 15 - p];
        end else begin : g_no_row
          assign row_bit = 1'b0;
        end
        if (InCol && l < LC) begin : g_col
          assign col_bit = just[((CG*LC + l)*CPB + CJ)*16 + 15 - p];
        end else begin : g_no_col
          assign col_bit = 1'b0;
        end
        assign code_data_o[(s*16 + p)*GL + l] = column ? col_bit : row_bit;
      end
    end
  end

  // ---------------------------------------------------------------- integers
  logic [31:0] words;  // of an integer
  assign words = raw32_i ? 32'(Rw32) : 32'(Rw48);

  for (genvar q = 0; q < Q; q++) begin : g_raw
    assign wide_we_o[q] = valid4_i & raw_i & mask4_i[q];
    assign wide_addr_o[q*AW +: AW] = addr4[(q/CPB)*AW +: AW] + AW'(words * (q % CPB));
    assign wide_data_o[q*48 +: 48] = out_i[q*48 +: 48];
  end
  for (genvar i = 0; i < RPB; i++) begin : g_sum_a
    localparam int W = Q + i;
    assign wide_we_o[W] = en1 & sums_i & first_col_tile_q & (grp_q == '0) & mask1_i[i*CPB];
    assign wide_addr_o[W*AW +: AW] = AW'(32'(sum_a_base_i) + (m_q + i) * words);
    assign wide_data_o[W*48 +: 48] =
        48'($signed(sum_a_i[i*ACC_W +: ACC_W]));
  end
  for (genvar j = 0; j < CPB; j++) begin : g_sum_w
    localparam int W = Q + RPB + j;
    assign wide_we_o[W] = en1 & sums_i & first_row_tile_q & (row_q == '0) & mask1_i[j];
    assign wide_addr_o[W*AW +: AW] = AW'(32'(sum_w_base_i) + (n_q + j) * words);
    assign wide_data_o[W*48 +: 48] =
        48'($signed(sum_w_i[j*ACC_W +: ACC_W]));
  end

endmodule
