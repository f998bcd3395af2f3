// Gather of one operand: walks a descriptor's tiles and chunks and says which words of the operand
// buffer make the beats that bc_fill expects, one per ready cycle. Implicit im2col: rows of a tile
// and elements of a chunk are positions of a tensor (bc_pos_outer, bc_pos_tap), two address
// generators whose sums bc_l1 reads; padding is generated there.
//
// Mode N: rows are outer positions, the granules of a chunk are tap positions (the tensor is read
// along the dimension that its words lie in). Mode T: rows are tap positions (one bit of a word
// each), lanes are outer positions.
// Side A repeats the chunks of its rows for each column tile; side W those of all its columns for
// each row tile.
module bc_gather #(
    parameter int T = 16,   // rows (columns) of a tile on this side
    parameter int TO = 16,  // those of the other side
    parameter int B = 8,    // words of a beat
    parameter int KL = 64,  // lanes of a word
    parameter int GL = 16,  // lanes of a stored word
    parameter int A = 1,    // 1: side A, whose tiles are outermost; 0: side W
    // Derived: rows and planes of a beat, row groups that share a plane.
    parameter int RB = (B < T) ? B : T,
    parameter int WPB = (B >= T) ? B / T : 1,
    parameter int GRP = (B >= T) ? 1 : T / B
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    // Instruction: its side descriptor in the start cycle, the set-up as in bc_pos_outer, its first
    // chunk from the cycle after load_i on.
    input  logic                      start_i,
    input  logic [511:0]              side_i,
    input  logic                      setup_i,
    input  logic [3:0]                setup_k_i,
    input  logic                      load_i,
    input  logic [bc_pkg::DIM_W-1:0]  own_i,      // M (N): held while the instruction runs
    input  logic [bc_pkg::DIM_W-1:0]  other_i,    // N (M)
    input  logic [bc_pkg::DIM_W-1:0]  k_i,
    input  logic [bc_pkg::BITS_W-1:0] bits_i,
    output logic                      illegal_o,  // of the latched descriptor
    // Beats to the array.
    output logic                      valid_o,
    input  logic                      ready_i,
    // Read of the operand buffer.
    output logic                      mode_o,
    output logic [15:0]               h_o,
    output logic [15:0]               w_o,
    output logic [bc_pkg::BITS_W-1:0] plane_o,
    output logic [RB-1:0]             row_en_o,
    output logic [RB*32-1:0]          row_addr_o,
    output logic [RB*32-1:0]          row_yx_o,
    output logic [RB*4-1:0]           row_bit_o,
    output logic [KL*32-1:0]          el_addr_o,
    output logic [KL*32-1:0]          el_yx_o,
    output logic [KL-1:0]             lane_en_o
);

  localparam int Granules = KL / GL;
  localparam int NOuter = (T > KL) ? T : KL;
  localparam int NTap = (T > Granules) ? T : Granules;
  localparam int GrpW = (GRP > 1) ? $clog2(GRP) : 1;

  // ---------------------------------------------------------------- descriptor
  logic        mode_q;
  logic [15:0] h_q, w_q;
  logic [7:0]  lo_q, hi_q;
  logic        br_bad_q;  // BR is 0 or over GL

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      mode_q   <= side_i[bc_machine_pkg::SIDE_TRANSPOSED_BIT];
      h_q      <= side_i[bc_machine_pkg::SIDE_H_BIT +: 16];
      w_q      <= side_i[bc_machine_pkg::SIDE_WD_BIT +: 16];
      lo_q     <= side_i[bc_machine_pkg::SIDE_LO_BIT +: 8];
      hi_q     <= side_i[bc_machine_pkg::SIDE_HI_BIT +: 8];
      br_bad_q <= (side_i[bc_machine_pkg::SIDE_BR_BIT +: 8] == 8'd0)
                | (side_i[bc_machine_pkg::SIDE_BR_BIT +: 8] > 8'(GL));
    end
  end

  logic unused_reserved;
  assign unused_reserved = ^side_i;

  // ---------------------------------------------------------------- walk
  logic                      valid_q;
  logic [bc_pkg::BITS_W-1:0] plane_q;
  logic [GrpW-1:0]           grp_q;
  logic [bc_pkg::DIM_W-1:0]  own_rem_q, other_rem_q, k_rem_q;  // from the current tile, chunk on

  logic beat, last_grp, last_beat, last_k, last_own, last_other;
  logic chunk, tile, next_row, restart_row;

  assign beat = valid_q & ready_i;
  assign last_grp = grp_q == GrpW'(GRP - 1);
  assign last_beat = last_grp & (32'(plane_q) + WPB >= 32'(bits_i));
  assign last_k = k_rem_q <= KL;
  assign last_own = own_rem_q <= T;
  assign last_other = other_rem_q <= TO;
  assign chunk = beat & last_beat;
  assign tile = chunk & last_k;
  if (A == 1) begin : g_outermost
    assign next_row = tile & last_other;
    assign restart_row = 1'b0;
  end else begin : g_innermost
    assign next_row = tile & ~last_own;
    assign restart_row = tile & last_own;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q     <= 1'b0;
      plane_q     <= '0;
      grp_q       <= '0;
      own_rem_q   <= '0;
      other_rem_q <= '0;
      k_rem_q     <= '0;
    end else if (load_i) begin
      valid_q     <= 1'b1;
      plane_q     <= '0;
      grp_q       <= '0;
      own_rem_q   <= own_i;
      other_rem_q <= other_i;
      k_rem_q     <= k_i;
    end else if (beat) begin
      grp_q <= last_grp ? '0 : grp_q + 1'b1;
      if (last_grp) plane_q <= last_beat ? '0 : plane_q + bc_pkg::BITS_W'(WPB);
      if (chunk) k_rem_q <= last_k ? k_i : k_rem_q - KL;
      if (tile) begin
        if (next_row) own_rem_q <= own_rem_q - T;
        else if (restart_row) own_rem_q <= own_i;
        if (A == 1) other_rem_q <= last_other ? other_i : other_rem_q - TO;
        else if (last_own) other_rem_q <= other_rem_q - TO;
        if (last_own & last_other) valid_q <= 1'b0;
      end
    end
  end

  // ---------------------------------------------------------------- positions
  logic [NOuter*32-1:0] outer_addr, outer_yx;
  logic [NTap*32-1:0]   tap_addr, tap_yx;
  logic [NTap*8-1:0]    tap_bit;
  logic [NTap-1:0]      tap_first, tap_last;
  logic                 outer_illegal, tap_illegal;
  logic                 next_el, restart_el;

  assign next_el = chunk & ~last_k;
  assign restart_el = tile;
  assign illegal_o = outer_illegal | tap_illegal | br_bad_q;

  bc_pos_outer #(.N(NOuter)) u_outer (
      .clk_i, .start_i,
      .r0_i(side_i[bc_machine_pkg::SIDE_R0_BIT +: 16]),
      .r1_i(side_i[bc_machine_pkg::SIDE_R1_BIT +: 16]),
      .a0_i(side_i[bc_machine_pkg::SIDE_A0_BIT +: 32]),
      .a1w_i(side_i[bc_machine_pkg::SIDE_A1W_BIT +: 32]),
      .a2w_i(side_i[bc_machine_pkg::SIDE_A2W_BIT +: 32]),
      .sy_i(side_i[bc_machine_pkg::SIDE_SY_BIT +: 16]),
      .sx_i(side_i[bc_machine_pkg::SIDE_SX_BIT +: 16]),
      .xw_i(side_i[bc_machine_pkg::SIDE_XW_BIT +: 16]),
      .yw_i(side_i[bc_machine_pkg::SIDE_YW_BIT +: 16]),
      .base_i({8'd0, side_i[bc_machine_pkg::SIDE_BASE_BIT +: 24]}),
      .y0_i(side_i[bc_machine_pkg::SIDE_Y0_BIT +: 16]),
      .x0_i(side_i[bc_machine_pkg::SIDE_X0_BIT +: 16]),
      .setup_i, .setup_k_i, .at_i(mode_q ? 4'($clog2(KL)) : 4'($clog2(T))), .load_i,
      .next_i(mode_q ? next_el : next_row), .restart_i(mode_q ? restart_el : restart_row),
      .addr_o(outer_addr), .yx_o(outer_yx), .illegal_o(outer_illegal)
  );
  // Granules of mode N have no bit digit.
  bc_pos_tap #(.N(NTap)) u_tap (
      .clk_i, .start_i,
      .br_i(side_i[bc_machine_pkg::SIDE_TRANSPOSED_BIT]
            ? side_i[bc_machine_pkg::SIDE_BR_BIT +: 8] : 8'd1),
      .cg_i(side_i[bc_machine_pkg::SIDE_CG_BIT +: 16]),
      .kb0_i(side_i[bc_machine_pkg::SIDE_KB0_BIT +: 16]),
      .sc_i(side_i[bc_machine_pkg::SIDE_SC_BIT +: 32]),
      .b0w_i(side_i[bc_machine_pkg::SIDE_B0W_BIT +: 32]),
      .b1w_i(side_i[bc_machine_pkg::SIDE_B1W_BIT +: 32]),
      .dx_i(side_i[bc_machine_pkg::SIDE_DX_BIT +: 16]),
      .dy_i(side_i[bc_machine_pkg::SIDE_DY_BIT +: 16]),
      .dxw_i(side_i[bc_machine_pkg::SIDE_DXW_BIT +: 16]),
      .setup_i, .setup_k_i, .at_i(mode_q ? 4'($clog2(T)) : 4'($clog2(Granules))), .load_i,
      .next_i(mode_q ? next_row : next_el), .restart_i(mode_q ? restart_row : restart_el),
      .addr_o(tap_addr), .yx_o(tap_yx), .bit_o(tap_bit),
      .first_cg_o(tap_first), .last_cg_o(tap_last), .illegal_o(tap_illegal)
  );

  // ---------------------------------------------------------------- beat
  assign valid_o = valid_q;
  assign mode_o = mode_q;
  assign h_o = h_q;
  assign w_o = w_q;
  assign plane_o = plane_q;

  logic [31:0] row;
  logic [8:0]  row_bit;

  always_comb begin
    row_en_o = '0;
    row_addr_o = '0;
    row_yx_o = '0;
    row_bit_o = '0;
    el_addr_o = '0;
    el_yx_o = '0;
    lane_en_o = '0;
    row = '0;
    row_bit = '0;
    if (mode_q) begin
      for (int r = 0; r < RB; r++) begin
        row = (GRP > 1) ? 32'(grp_q) * B + r : r;
        row_bit = 9'(tap_bit[row*8 +: 8]) + 9'(lo_q);
        row_en_o[r] = (row < own_rem_q) & (row_bit < 9'(GL));
        row_bit_o[r*4 +: 4] = row_bit[3:0];
        row_addr_o[r*32 +: 32] = tap_addr[row*32 +: 32];
        row_yx_o[r*32 +: 32] = tap_yx[row*32 +: 32];
      end
      el_addr_o = outer_addr[KL*32-1:0];
      el_yx_o = outer_yx[KL*32-1:0];
      for (int l = 0; l < KL; l++) lane_en_o[l] = 32'(l) < k_rem_q;
    end else begin
      for (int r = 0; r < RB; r++) begin
        row = (GRP > 1) ? 32'(grp_q) * B + r : r;
        row_en_o[r] = row < own_rem_q;
        row_addr_o[r*32 +: 32] = outer_addr[row*32 +: 32];
        row_yx_o[r*32 +: 32] = outer_yx[row*32 +: 32];
      end
      el_addr_o[Granules*32-1:0] = tap_addr[Granules*32-1:0];
      el_yx_o[Granules*32-1:0] = tap_yx[Granules*32-1:0];
      for (int l = 0; l < KL; l++) begin
        lane_en_o[l] = (32'(l) < k_rem_q)
                     & ~(tap_first[l/GL] & (8'(l % GL) < lo_q))
                     & ~(tap_last[l/GL] & (8'(l % GL) >= hi_q));
      end
    end
  end

endmodule
