// The bit-serial, precision-scalable MAC array: C[m][n] = sum over k of A[m][k] * W[n][k] for
// operands of 1 to P_MAX bits, signed or unsigned each, RA x RW bits of every lane per cycle.
//
// One descriptor at a time (rule R5). Operand words come as two streams in a fixed order: for
// every tile (rows outermost) and every chunk of KL elements the beats that bc_fill describes.
// Results leave as a stream of Q per beat, tile by tile, row by row, with sum(A) of their rows and
// sum(W) of their columns (ones column and ones row).
//
// Pipeline: beat register -> chunk registers -> operand registers -> AC -> (AH ->) ACC -> result
// register. The whole compute pipeline freezes while the first flush of a tile would hit an ACC
// bank that is still being drained (rule R3).
module bc_array #(
    parameter int RA = 1,      // digit width of A: 1, 2, 4, 8
    parameter int RW = 1,      // digit width of W: 1, 2, 4, 8
    parameter int KL = 64,     // lanes
    parameter int TM = 16,     // rows of PEs
    parameter int TN = 16,     // columns of PEs
    parameter int S = 8,       // PEs of a column that share a wide accumulator
    parameter int BA = 8,      // A words per beat
    parameter int BW = 8,      // W words per beat
    parameter int AC_W = 24,   // chunk accumulator
    parameter int ACC_W = 48,  // wide accumulator
    parameter int P_MAX = 16,  // widest operand
    parameter int Q = 16,      // results per beat
    // 0: registers have enables (simulation, FPGAs), 1: clock gates (synthesis for a cell library).
    parameter int CLOCK_GATING = 0,
    // Derived: rows and columns of a result beat.
    parameter int RPB = (Q > TN) ? Q / TN : 1,
    parameter int CPB = (Q > TN) ? TN : Q
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    // Descriptor. A refused one raises err_o for a cycle; cause_o keeps why.
    input  logic                      desc_valid_i,
    output logic                      desc_ready_o,
    input  logic [bc_pkg::DIM_W-1:0]  desc_m_i,
    input  logic [bc_pkg::DIM_W-1:0]  desc_n_i,
    input  logic [bc_pkg::DIM_W-1:0]  desc_k_i,
    input  logic [bc_pkg::BITS_W-1:0] desc_pa_i,
    input  logic [bc_pkg::BITS_W-1:0] desc_pw_i,
    input  logic                      desc_a_signed_i,
    input  logic                      desc_w_signed_i,
    output logic                      err_o,
    output logic [1:0]                cause_o,
    // Operand words.
    input  logic                      a_valid_i,
    output logic                      a_ready_o,
    input  logic [BA*KL-1:0]          a_data_i,
    input  logic                      w_valid_i,
    output logic                      w_ready_o,
    input  logic [BW*KL-1:0]          w_data_i,
    // Results.
    output logic                      res_valid_o,
    input  logic                      res_ready_i,
    output logic                      res_last_o,
    output logic [Q-1:0]              res_mask_o,
    output logic [Q*ACC_W-1:0]        res_data_o,
    output logic [RPB*ACC_W-1:0]      res_sum_a_o,
    output logic [CPB*ACC_W-1:0]      res_sum_w_o,
    output logic                      overflow_o,   // sticky, cleared by the next descriptor
    // Events of this cycle, for counters: see the assignments below.
    output logic                      ev_digit_o,
    output logic                      ev_idle_o,
    output logic                      ev_freeze_o,
    output logic                      ev_add_o,
    output logic                      ev_flush_o,
    output logic [6:0]                ev_rows_o,
    output logic [6:0]                ev_cols_o,
    output logic [6:0]                ev_flush_rows_o,
    output logic [6:0]                ev_flush_ones_o,
    output logic [6:0]                ev_flush_cols_o,
    output logic [10:0]               ev_a_words_o,
    output logic [10:0]               ev_w_words_o
);

  localparam int IdxW = (S > 1) ? $clog2(S) : 1;
  localparam int WpbA = (BA >= TM) ? BA / TM : 1;
  localparam int WpbW = (BW >= TN) ? BW / TN : 1;
  localparam int Hold = (S > 1) ? 1 : 0;
  localparam int Groups = TM / S;
  // The ones row shares accumulators like a column where S divides TN, else each has its own.
  localparam int SO = (TN % S == 0) ? S : 1;
  // Rows that the drain sees at once: one, or with more than a row per beat the whole tile.
  localparam int RD = (RPB > 1) ? TM : 1;
  localparam int RdGroup = (RPB > 1) ? S : 1;

`ifndef SYNTHESIS
  bc_param_check #(
      .RA(RA), .RW(RW), .KL(KL), .TM(TM), .TN(TN), .S(S), .BA(BA), .BW(BW),
      .AC_W(AC_W), .ACC_W(ACC_W), .P_MAX(P_MAX), .Q(Q)
  ) u_param_check ();
`endif

  // ---------------------------------------------------------------- descriptor
  logic                      busy_q;
  logic [bc_pkg::DIM_W-1:0]  m_q, n_q, k_q;
  logic [bc_pkg::BITS_W-1:0] pa_q, pw_q;
  logic                      a_signed_q, w_signed_q;
  logic                      err_q;
  bc_pkg::cause_e            cause_q, cause;
  logic                      overflow_q;

  logic handshake, start, finish;

  always_comb begin
    cause = bc_pkg::CauseNone;
    if (desc_m_i == '0 || desc_n_i == '0 || desc_k_i == '0) cause = bc_pkg::CauseDimZero;
    else if (desc_pa_i == '0 || desc_pw_i == '0) cause = bc_pkg::CauseWidthZero;
    else if (desc_pa_i > bc_pkg::BITS_W'(P_MAX) || desc_pw_i > bc_pkg::BITS_W'(P_MAX))
      cause = bc_pkg::CauseWidthOver;
  end

  assign desc_ready_o = ~busy_q;
  assign handshake = desc_valid_i & ~busy_q;
  assign start = handshake & (cause == bc_pkg::CauseNone);
  assign finish = res_valid_o & res_ready_i & res_last_o;

  // ---------------------------------------------------------------- fill
  logic        a_we, w_we, a_wbank, w_wbank, a_chunk, w_chunk, a_last, w_last;
  logic [bc_pkg::BITS_W-1:0] a_plane, w_plane;
  logic [TM-1:0]    a_sel, a_row_en;
  logic [TN-1:0]    w_sel, w_col_en;
  logic [KL-1:0]    a_lane_en, w_lane_en;
  logic [BA*KL-1:0] a_data;
  logic [BW*KL-1:0] w_data;
  logic [1:0]       a_full, w_full, bank_free;
  logic             a_last_k, a_last_tile, w_last_k, w_last_tile;
  logic [TN-1:0]    unused_a_col;
  logic [TM-1:0]    unused_w_row;
  logic             unused_a_first, unused_w_first;

  bc_tile_walker #(.TM(TM), .TN(TN), .KL(KL)) u_walk_a (
      .clk_i, .rst_ni, .load_i(start), .step_i(a_chunk),
      .m_i(start ? desc_m_i : m_q), .n_i(start ? desc_n_i : n_q), .k_i(start ? desc_k_i : k_q),
      .row_en_o(a_row_en), .col_en_o(unused_a_col), .lane_en_o(a_lane_en),
      .first_k_o(unused_a_first), .last_k_o(a_last_k), .last_tile_o(a_last_tile)
  );
  bc_tile_walker #(.TM(TM), .TN(TN), .KL(KL)) u_walk_w (
      .clk_i, .rst_ni, .load_i(start), .step_i(w_chunk),
      .m_i(start ? desc_m_i : m_q), .n_i(start ? desc_n_i : n_q), .k_i(start ? desc_k_i : k_q),
      .row_en_o(unused_w_row), .col_en_o(w_col_en), .lane_en_o(w_lane_en),
      .first_k_o(unused_w_first), .last_k_o(w_last_k), .last_tile_o(w_last_tile)
  );
  assign a_last = a_last_k & a_last_tile;
  assign w_last = w_last_k & w_last_tile;

  bc_fill #(.T(TM), .B(BA), .KL(KL), .CLOCK_GATING(CLOCK_GATING)) u_fill_a (
      .clk_i, .rst_ni, .start_i(start), .bits_i(pa_q),
      .valid_i(a_valid_i), .ready_o(a_ready_o), .data_i(a_data_i),
      .last_chunk_i(a_last), .chunk_done_o(a_chunk),
      .we_o(a_we), .bank_o(a_wbank), .plane_o(a_plane), .row_sel_o(a_sel), .data_o(a_data),
      .full_o(a_full), .free_i(bank_free)
  );
  bc_fill #(.T(TN), .B(BW), .KL(KL), .CLOCK_GATING(CLOCK_GATING)) u_fill_w (
      .clk_i, .rst_ni, .start_i(start), .bits_i(pw_q),
      .valid_i(w_valid_i), .ready_o(w_ready_o), .data_i(w_data_i),
      .last_chunk_i(w_last), .chunk_done_o(w_chunk),
      .we_o(w_we), .bank_o(w_wbank), .plane_o(w_plane), .row_sel_o(w_sel), .data_o(w_data),
      .full_o(w_full), .free_i(bank_free)
  );

  // ---------------------------------------------------------------- sequencer
  logic          en;  // the compute pipeline moves
  logic          sq_digit, sq_idle, sq_chunk, sq_bank, sq_a_neg, sq_w_neg, sq_first, sq_last;
  logic [3:0]    sq_a_digit, sq_w_digit;
  logic [2:0]    sq_d;
  logic [1:0]    sq_shift;
  logic          sq_load, sq_tile_last, sq_acc_bank, sq_first_k, sq_last_k, sq_last_tile;
  logic [TM-1:0] sq_row_en;
  logic [TN-1:0] sq_col_en;
  logic [KL-1:0] unused_sq_lane;

  bc_tile_walker #(.TM(TM), .TN(TN), .KL(KL)) u_walk_seq (
      .clk_i, .rst_ni, .load_i(start), .step_i(sq_chunk),
      .m_i(start ? desc_m_i : m_q), .n_i(start ? desc_n_i : n_q), .k_i(start ? desc_k_i : k_q),
      .row_en_o(sq_row_en), .col_en_o(sq_col_en), .lane_en_o(unused_sq_lane),
      .first_k_o(sq_first_k), .last_k_o(sq_last_k), .last_tile_o(sq_last_tile)
  );

  bc_seq #(.RA(RA), .RW(RW), .S(S)) u_seq (
      .clk_i, .rst_ni, .start_i(start), .en_i(en),
      .a_bits_i(pa_q), .w_bits_i(pw_q), .a_signed_i(a_signed_q), .w_signed_i(w_signed_q),
      .a_full_i(a_full), .w_full_i(w_full), .free_o(bank_free),
      .first_k_i(sq_first_k), .last_k_i(sq_last_k), .last_tile_i(sq_last_tile),
      .chunk_done_o(sq_chunk), .digit_o(sq_digit), .idle_o(sq_idle), .bank_o(sq_bank),
      .a_digit_o(sq_a_digit), .w_digit_o(sq_w_digit), .a_neg_o(sq_a_neg), .w_neg_o(sq_w_neg),
      .first_o(sq_first), .d_o(sq_d), .last_o(sq_last), .shift_o(sq_shift), .load_o(sq_load),
      .tile_last_o(sq_tile_last), .acc_bank_o(sq_acc_bank)
  );

  // ---------------------------------------------------------------- operand stage
  // Clock enables per row and column: rows at or beyond M and columns at or beyond N stand still.
  logic [KL*RA-1:0] a_dig[TM+1];
  logic [KL*RW-1:0] w_dig[TN+1];

  for (genvar r = 0; r < TM; r++) begin : g_a
    localparam int First = (BA >= TM) ? r * WpbA : r % BA;
    bc_chunk #(
        .KL(KL), .P_MAX(P_MAX), .R(RA), .WPB(WpbA), .CLOCK_GATING(CLOCK_GATING)
    ) u_chunk (
        .clk_i,
        .we_i(a_sel[r] & a_row_en[r]), .wr_bank_i(a_wbank), .plane_i(a_plane),
        .data_i(a_data[First*KL +: WpbA*KL]), .lane_en_i(a_lane_en),
        .sel_i(sq_digit & sq_row_en[r]), .bank_i(sq_bank), .digit_i(sq_a_digit),
        .bits_i(pa_q), .signed_i(a_signed_q), .digit_o(a_dig[r])
    );
  end
  for (genvar c = 0; c < TN; c++) begin : g_w
    localparam int First = (BW >= TN) ? c * WpbW : c % BW;
    bc_chunk #(
        .KL(KL), .P_MAX(P_MAX), .R(RW), .WPB(WpbW), .CLOCK_GATING(CLOCK_GATING)
    ) u_chunk (
        .clk_i,
        .we_i(w_sel[c] & w_col_en[c]), .wr_bank_i(w_wbank), .plane_i(w_plane),
        .data_i(w_data[First*KL +: WpbW*KL]), .lane_en_i(w_lane_en),
        .sel_i(sq_digit & sq_col_en[c]), .bank_i(sq_bank), .digit_i(sq_w_digit),
        .bits_i(pw_q), .signed_i(w_signed_q), .digit_o(w_dig[c])
    );
  end

  logic          op_valid_q, op_first_q, op_last_q, op_a_neg_q, op_w_neg_q;
  logic          op_a_one_q, op_w_one_q;  // digit 0 of the constant 1 of the ones row and column
  logic [2:0]    op_d_q;
  logic [1:0]    op_shift_q;
  logic          op_load_q, op_tile_last_q, op_bank_q;
  logic [TM-1:0] op_row_en_q;
  logic [TN-1:0] op_col_en_q;

  for (genvar l = 0; l < KL; l++) begin : g_one
    assign a_dig[TM][l*RA +: RA] = RA'(op_a_one_q);
    assign w_dig[TN][l*RW +: RW] = RW'(op_w_one_q);
  end

  // ---------------------------------------------------------------- AC stage and flush stage
  logic          ac_valid_q;  // AC holds a finished pass
  logic [1:0]    ac_shift_q;
  logic          ac_load_q, ac_tile_last_q, ac_bank_q;
  logic [TM-1:0] ac_row_en_q;
  logic [TN-1:0] ac_col_en_q;

  logic            fl_valid, fl_load, fl_tile_last, fl_bank;
  logic [IdxW-1:0] fl_index;
  logic [1:0]      fl_shift;
  logic [TM-1:0]   fl_row_en;
  logic [TN-1:0]   fl_col_en;
  logic            fl_end;  // last flush of a pass
  logic [1:0]      acc_busy;

  if (S > 1) begin : g_hold
    logic            valid_q, load_q, tile_last_q, bank_q;
    logic [IdxW-1:0] index_q;
    logic [1:0]      shift_q;
    logic [TM-1:0]   row_en_q;
    logic [TN-1:0]   col_en_q;
    assign fl_valid = valid_q;
    assign fl_load = load_q;
    assign fl_tile_last = tile_last_q;
    assign fl_bank = bank_q;
    assign fl_index = index_q;
    assign fl_shift = shift_q;
    assign fl_row_en = row_en_q;
    assign fl_col_en = col_en_q;
    assign fl_end = index_q == IdxW'(S - 1);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        valid_q <= 1'b0;
        index_q <= '0;
      end else if (en) begin
        if (ac_valid_q) begin
          valid_q <= 1'b1;
          index_q <= '0;
        end else if (valid_q) begin
          valid_q <= ~fl_end;
          index_q <= fl_end ? '0 : index_q + 1'b1;
        end
      end
    end
    logic fl_move, clk_fl;
    assign fl_move = en & ac_valid_q;
    bc_clock_gate #(.GATED(CLOCK_GATING)) u_gate_fl (.clk_i, .en_i(fl_move), .clk_o(clk_fl));
    always_ff @(posedge clk_fl or negedge rst_ni) begin
      if (!rst_ni) begin
        load_q      <= 1'b0;
        tile_last_q <= 1'b0;
        bank_q      <= 1'b0;
        shift_q     <= 2'd0;
        row_en_q    <= '0;
        col_en_q    <= '0;
      end else if (CLOCK_GATING != 0 || fl_move) begin
        load_q      <= ac_load_q;
        tile_last_q <= ac_tile_last_q;
        bank_q      <= ac_bank_q;
        shift_q     <= ac_shift_q;
        row_en_q    <= ac_row_en_q;
        col_en_q    <= ac_col_en_q;
      end
    end
  end else begin : g_direct
    assign fl_valid = ac_valid_q;
    assign fl_load = ac_load_q;
    assign fl_tile_last = ac_tile_last_q;
    assign fl_bank = ac_bank_q;
    assign fl_index = '0;
    assign fl_shift = ac_shift_q;
    assign fl_row_en = ac_row_en_q;
    assign fl_col_en = ac_col_en_q;
    assign fl_end = 1'b1;
  end

  assign en = ~(fl_valid & fl_load & (fl_index == '0) & acc_busy[fl_bank]);

  logic [1:0] tile_done;
  assign tile_done[0] = fl_valid & en & fl_tile_last & fl_end & ~fl_bank;
  assign tile_done[1] = fl_valid & en & fl_tile_last & fl_end & fl_bank;

  logic op_move, ac_move, clk_op, clk_ac;
  assign op_move = en & sq_digit;
  assign ac_move = en & op_valid_q & op_last_q;
  bc_clock_gate #(.GATED(CLOCK_GATING)) u_gate_op (.clk_i, .en_i(op_move), .clk_o(clk_op));
  bc_clock_gate #(.GATED(CLOCK_GATING)) u_gate_ac (.clk_i, .en_i(ac_move), .clk_o(clk_ac));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      op_valid_q <= 1'b0;
      ac_valid_q <= 1'b0;
    end else if (en) begin
      op_valid_q <= sq_digit;
      ac_valid_q <= op_valid_q & op_last_q;
    end
  end

  always_ff @(posedge clk_op or negedge rst_ni) begin
    if (!rst_ni) begin
      op_first_q     <= 1'b0;
      op_last_q      <= 1'b0;
      op_a_neg_q     <= 1'b0;
      op_w_neg_q     <= 1'b0;
      op_a_one_q     <= 1'b0;
      op_w_one_q     <= 1'b0;
      op_d_q         <= 3'd0;
      op_shift_q     <= 2'd0;
      op_load_q      <= 1'b0;
      op_tile_last_q <= 1'b0;
      op_bank_q      <= 1'b0;
      op_row_en_q    <= '0;
      op_col_en_q    <= '0;
    end else if (CLOCK_GATING != 0 || op_move) begin
      op_first_q     <= sq_first;
      op_last_q      <= sq_last;
      op_a_neg_q     <= sq_a_neg;
      op_w_neg_q     <= sq_w_neg;
      op_a_one_q     <= sq_a_digit == 4'd0;
      op_w_one_q     <= sq_w_digit == 4'd0;
      op_d_q         <= sq_d;
      op_shift_q     <= sq_shift;
      op_load_q      <= sq_load;
      op_tile_last_q <= sq_tile_last;
      op_bank_q      <= sq_acc_bank;
      op_row_en_q    <= sq_row_en;
      op_col_en_q    <= sq_col_en;
    end
  end

  always_ff @(posedge clk_ac or negedge rst_ni) begin
    if (!rst_ni) begin
      ac_shift_q     <= 2'd0;
      ac_load_q      <= 1'b0;
      ac_tile_last_q <= 1'b0;
      ac_bank_q      <= 1'b0;
      ac_row_en_q    <= '0;
      ac_col_en_q    <= '0;
    end else if (CLOCK_GATING != 0 || ac_move) begin
      ac_shift_q     <= op_shift_q;
      ac_load_q      <= op_load_q;
      ac_tile_last_q <= op_tile_last_q;
      ac_bank_q      <= op_bank_q;
      ac_row_en_q    <= op_row_en_q;
      ac_col_en_q    <= op_col_en_q;
    end
  end

  // ---------------------------------------------------------------- PEs and accumulators
  // Column TN is the ones column (sum of A per row), row TM the ones row (sum of W per column).
  logic [TN*RD*ACC_W-1:0] acc;
  logic [RD*ACC_W-1:0]    acc_sum_a;
  logic [TN*ACC_W-1:0]    acc_sum_w;
  logic [TN:0]            col_overflow;
  logic                   rd_bank, add, hold;
  logic [5:0]             rd_row, rd_index;

  assign add = op_valid_q & en;
  assign hold = ac_valid_q & en;
  assign rd_index = 6'(32'(rd_row) % S);

  for (genvar c = 0; c <= TN; c++) begin : g_col
    logic [TM*AC_W-1:0]  sum;
    logic [Groups*RdGroup*ACC_W-1:0] rd_groups;
    logic [RD*ACC_W-1:0] rd;
    logic [Groups-1:0]   overflow;
    logic                op_col_en, ac_col_en, fl_col;
    assign op_col_en = (c == TN) ? 1'b1 : op_col_en_q[c % TN];
    assign ac_col_en = (c == TN) ? 1'b1 : ac_col_en_q[c % TN];
    assign fl_col = (c == TN) ? 1'b1 : fl_col_en[c % TN];
    for (genvar r = 0; r < TM; r++) begin : g_pe
      bc_pe #(
          .RA(RA), .RW(RW), .KL(KL), .AC_W(AC_W), .HOLD(Hold), .CLOCK_GATING(CLOCK_GATING)
      ) u_pe (
          .clk_i, .add_i(add & op_row_en_q[r] & op_col_en),
          .first_i(op_first_q), .d_i(op_d_q),
          .a_i(a_dig[r]), .a_neg_i(op_a_neg_q),
          .w_i(w_dig[c]), .w_neg_i((c == TN) ? 1'b0 : op_w_neg_q),
          .hold_i(hold & ac_row_en_q[r] & ac_col_en), .sum_o(sum[r*AC_W +: AC_W])
      );
    end
    for (genvar g = 0; g < Groups; g++) begin : g_acc
      bc_acc #(
          .G(S), .AC_W(AC_W), .ACC_W(ACC_W), .IDX_W(IdxW), .RD(RdGroup), .CLOCK_GATING(CLOCK_GATING)
      ) u_acc (
          .clk_i, .flush_i(fl_valid & en), .index_i(fl_index),
          .en_i(fl_row_en[g*S +: S] & {S{fl_col}}),
          .load_i(fl_load), .bank_i(fl_bank), .shift_i(fl_shift),
          .sum_i(sum[g*S*AC_W +: S*AC_W]), .overflow_o(overflow[g]),
          .rd_bank_i(rd_bank), .rd_index_i(rd_index),
          .rd_o(rd_groups[g*RdGroup*ACC_W +: RdGroup*ACC_W])
      );
    end
    if (RPB > 1) begin : g_rd_all
      assign rd = rd_groups;
    end else begin : g_rd_row
      assign rd = rd_groups[(32'(rd_row) / S)*ACC_W +: ACC_W];
    end
    assign col_overflow[c] = |overflow;
    if (c == TN) begin : g_sum_a
      assign acc_sum_a = rd;
    end else begin : g_result
      assign acc[c*RD*ACC_W +: RD*ACC_W] = rd;
    end
  end

  logic [TN*AC_W-1:0] ones_sum;
  logic [TN/SO-1:0]   ones_overflow;
  for (genvar c = 0; c < TN; c++) begin : g_ones
    bc_pe #(
        .RA(RA), .RW(RW), .KL(KL), .AC_W(AC_W), .HOLD(Hold), .CLOCK_GATING(CLOCK_GATING)
    ) u_pe (
        .clk_i, .add_i(add & op_col_en_q[c]),
        .first_i(op_first_q), .d_i(op_d_q),
        .a_i(a_dig[TM]), .a_neg_i(1'b0),
        .w_i(w_dig[c]), .w_neg_i(op_w_neg_q),
        .hold_i(hold & ac_col_en_q[c]), .sum_o(ones_sum[c*AC_W +: AC_W])
    );
  end
  for (genvar g = 0; g < TN / SO; g++) begin : g_ones_acc
    bc_acc #(
        .G(SO), .AC_W(AC_W), .ACC_W(ACC_W), .IDX_W(IdxW), .RD(SO), .CLOCK_GATING(CLOCK_GATING)
    ) u_acc (
        .clk_i, .flush_i(fl_valid & en), .index_i(fl_index), .en_i(fl_col_en[g*SO +: SO]),
        .load_i(fl_load), .bank_i(fl_bank), .shift_i(fl_shift),
        .sum_i(ones_sum[g*SO*AC_W +: SO*AC_W]), .overflow_o(ones_overflow[g]),
        .rd_bank_i(rd_bank), .rd_index_i(6'd0), .rd_o(acc_sum_w[g*SO*ACC_W +: SO*ACC_W])
    );
  end

  // ---------------------------------------------------------------- drain
  logic [TM-1:0] dr_row_en;
  logic [TN-1:0] dr_col_en;
  logic [0:0]    unused_dr_lane;
  logic          dr_tile, dr_last_tile, unused_dr_first, unused_dr_last_k;

  bc_tile_walker #(.TM(TM), .TN(TN), .KL(1)) u_walk_drain (
      .clk_i, .rst_ni, .load_i(start), .step_i(dr_tile),
      .m_i(start ? desc_m_i : m_q), .n_i(start ? desc_n_i : n_q), .k_i(bc_pkg::DIM_W'(1)),
      .row_en_o(dr_row_en), .col_en_o(dr_col_en), .lane_en_o(unused_dr_lane),
      .first_k_o(unused_dr_first), .last_k_o(unused_dr_last_k), .last_tile_o(dr_last_tile)
  );

  bc_drain #(
      .TM(TM), .TN(TN), .ACC_W(ACC_W), .Q(Q), .CLOCK_GATING(CLOCK_GATING)
  ) u_drain (
      .clk_i, .rst_ni, .tile_done_i(tile_done), .busy_o(acc_busy),
      .rd_bank_o(rd_bank), .rd_row_o(rd_row),
      .acc_i(acc), .sum_a_i(acc_sum_a), .sum_w_i(acc_sum_w),
      .row_en_i(dr_row_en), .col_en_i(dr_col_en), .last_tile_i(dr_last_tile),
      .tile_read_o(dr_tile),
      .valid_o(res_valid_o), .ready_i(res_ready_i), .last_o(res_last_o), .mask_o(res_mask_o),
      .data_o(res_data_o), .sum_a_o(res_sum_a_o), .sum_w_o(res_sum_w_o)
  );

  // ---------------------------------------------------------------- control registers
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q     <= 1'b0;
      err_q      <= 1'b0;
      cause_q    <= bc_pkg::CauseNone;
      overflow_q <= 1'b0;
    end else begin
      err_q <= handshake & ~start;
      if (handshake) cause_q <= cause;
      if (start) begin
        busy_q     <= 1'b1;
        overflow_q <= 1'b0;
      end else begin
        if (finish) busy_q <= 1'b0;
        if ((|col_overflow) | (|ones_overflow)) overflow_q <= 1'b1;
      end
    end
  end

  logic clk_desc;
  bc_clock_gate #(.GATED(CLOCK_GATING)) u_gate_desc (.clk_i, .en_i(start), .clk_o(clk_desc));
  always_ff @(posedge clk_desc or negedge rst_ni) begin
    if (!rst_ni) begin
      m_q        <= '0;
      n_q        <= '0;
      k_q        <= '0;
      pa_q       <= '0;
      pw_q       <= '0;
      a_signed_q <= 1'b0;
      w_signed_q <= 1'b0;
    end else if (CLOCK_GATING != 0 || start) begin
      m_q        <= desc_m_i;
      n_q        <= desc_n_i;
      k_q        <= desc_k_i;
      pa_q       <= desc_pa_i;
      pw_q       <= desc_pw_i;
      a_signed_q <= desc_a_signed_i;
      w_signed_q <= desc_w_signed_i;
    end
  end

  assign err_o = err_q;
  assign cause_o = cause_q;
  assign overflow_o = overflow_q;

  // ---------------------------------------------------------------- events
  assign ev_digit_o = sq_digit;                                    // a digit pair is issued
  assign ev_idle_o = sq_idle;                                      // idle cycle of a pass
  assign ev_freeze_o = ~en;                                        // stalled by the drain
  assign ev_add_o = add;                                           // rows x cols PEs add
  assign ev_rows_o = add ? 7'($countones(op_row_en_q)) : 7'd0;     // also: ones-column PEs
  assign ev_cols_o = add ? 7'($countones(op_col_en_q)) : 7'd0;     // also: ones-row PEs
  assign ev_a_words_o = a_we ? 11'($countones(a_sel & a_row_en)) * a_beat_planes : 11'd0;
  assign ev_w_words_o = w_we ? 11'($countones(w_sel & w_col_en)) * w_beat_planes : 11'd0;

  // Planes that a beat really carries: fewer in the last beat of a chunk.
  logic [10:0] a_beat_planes, w_beat_planes, a_left, w_left;
  assign a_left = 11'(pa_q) - 11'(a_plane);
  assign w_left = 11'(pw_q) - 11'(w_plane);
  assign a_beat_planes = (a_left < 11'(WpbA)) ? a_left : 11'(WpbA);
  assign w_beat_planes = (w_left < 11'(WpbW)) ? w_left : 11'(WpbW);

  // Flushes of this cycle: rows (one per group) x columns, and those of the ones row and column.
  logic [Groups-1:0] fl_row_hit;
  logic [TN/SO-1:0]  fl_ones_hit;
  for (genvar g = 0; g < Groups; g++) begin : g_row_hit
    assign fl_row_hit[g] = fl_row_en[g*S + 32'(fl_index)];
  end
  for (genvar g = 0; g < TN / SO; g++) begin : g_ones_hit
    assign fl_ones_hit[g] = fl_col_en[g*SO + 32'(fl_index) % SO] & (32'(fl_index) < SO);
  end
  assign ev_flush_o = fl_valid & en;
  assign ev_flush_rows_o = (fl_valid & en) ? 7'($countones(fl_row_hit)) : 7'd0;
  assign ev_flush_cols_o = (fl_valid & en) ? 7'($countones(fl_col_en)) : 7'd0;
  assign ev_flush_ones_o = (fl_valid & en) ? 7'($countones(fl_ones_hit)) : 7'd0;

endmodule
