// Drain: reads finished tiles out of the wide accumulators, Q results per beat, row by row, with
// the sums of A of the beat's rows and of W of its columns. Tiles leave in order; a beat that is
// not taken stops the drain, never the array (until both ACC banks are full).
module bc_drain #(
    parameter int TM = 16,
    parameter int TN = 16,
    parameter int ACC_W = 48,
    parameter int Q = 16,
    parameter int CLOCK_GATING = 0,  // 0: enables, 1: clock gates
    // Derived: rows and columns of a beat, and rows that the read port delivers: the beat's only
    // one, or the whole tile.
    parameter int RPB = (Q > TN) ? Q / TN : 1,
    parameter int CPB = (Q > TN) ? TN : Q,
    parameter int RD = (RPB > 1) ? TM : 1
) (
    input  logic                         clk_i,
    input  logic                         rst_ni,
    // ACC banks: set by the last flush of a tile, cleared by the last read.
    input  logic [1:0]                   tile_done_i,
    output logic [1:0]                   busy_o,
    output logic                         rd_bank_o,
    output logic [5:0]                   rd_row_o,   // row that is read where RD is 1
    input  logic [TN*RD*ACC_W-1:0]       acc_i,      // column c, row r: (c*RD + r)*ACC_W
    input  logic [RD*ACC_W-1:0]          sum_a_i,    // ones column
    input  logic [TN*ACC_W-1:0]          sum_w_i,    // ones row
    // Position, from the walker of the drain.
    input  logic [TM-1:0]                row_en_i,
    input  logic [TN-1:0]                col_en_i,
    input  logic                         last_tile_i,
    output logic                         tile_read_o,  // walk on
    // Results.
    output logic                         valid_o,
    input  logic                         ready_i,
    output logic                         last_o,       // last beat of the descriptor
    output logic [Q-1:0]                 mask_o,       // results inside M and N
    output logic [Q*ACC_W-1:0]           data_o,       // row-major inside the beat; 0 where masked
    output logic [RPB*ACC_W-1:0]         sum_a_o,
    output logic [CPB*ACC_W-1:0]         sum_w_o
);

  localparam int GroupsPerRow = TN / CPB;
  localparam int RowW = $clog2(TM + RPB);
  localparam int GrpW = (GroupsPerRow > 1) ? $clog2(GroupsPerRow) : 1;

  logic [1:0]      busy_q;
  logic            bank_q;
  logic [RowW-1:0] row_q;    // first row of the beat
  logic [GrpW-1:0] grp_q;    // column group of the beat
  logic            valid_q, last_q;
  logic [Q-1:0]            mask_q;
  logic [Q*ACC_W-1:0]      data_q;
  logic [RPB*ACC_W-1:0]    sum_a_q;
  logic [CPB*ACC_W-1:0]    sum_w_q;

  logic step, last_grp, last_beat;

  assign step = busy_q[bank_q] & (~valid_q | ready_i);
  assign last_grp = grp_q == GrpW'(GroupsPerRow - 1);
  assign last_beat = last_grp & (32'(row_q) + RPB >= TM);
  assign tile_read_o = step & last_beat;
  assign busy_o = busy_q;
  assign rd_bank_o = bank_q;
  assign rd_row_o = 6'(row_q);

  logic [Q-1:0]         mask;
  logic [Q*ACC_W-1:0]   data;
  logic [RPB*ACC_W-1:0] sum_a;
  logic [CPB*ACC_W-1:0] sum_w;

  for (genvar i = 0; i < RPB; i++) begin : g_row
    // The last beat may reach past the tile where Q/TN does not divide TM.
    logic        in_tile, row_ok;
    logic [31:0] row, rd;
    assign in_tile = 32'(row_q) + i < TM;
    assign row = in_tile ? 32'(row_q) + i : 32'd0;
    assign rd = (RD == 1) ? 32'd0 : row;
    assign row_ok = in_tile & row_en_i[row];
    assign sum_a[i*ACC_W +: ACC_W] = row_ok ? sum_a_i[rd*ACC_W +: ACC_W] : '0;
    for (genvar j = 0; j < CPB; j++) begin : g_col
      if (GroupsPerRow == 1) begin : g_fixed
        assign mask[i*CPB + j] = row_ok & col_en_i[j];
        assign data[(i*CPB + j)*ACC_W +: ACC_W] =
            mask[i*CPB + j] ? acc_i[(j*RD + rd)*ACC_W +: ACC_W] : '0;
      end else begin : g_select
        logic [31:0] col;
        assign col = 32'(grp_q) * CPB + j;
        assign mask[i*CPB + j] = row_ok & col_en_i[col];
        assign data[(i*CPB + j)*ACC_W +: ACC_W] =
            mask[i*CPB + j] ? acc_i[(col*RD + rd)*ACC_W +: ACC_W] : '0;
      end
    end
  end
  for (genvar j = 0; j < CPB; j++) begin : g_sum_w
    logic [31:0] col;
    assign col = 32'(grp_q) * CPB + j;
    assign sum_w[j*ACC_W +: ACC_W] = col_en_i[col] ? sum_w_i[col*ACC_W +: ACC_W] : '0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q  <= 2'b00;
      bank_q  <= 1'b0;
      row_q   <= '0;
      grp_q   <= '0;
      valid_q <= 1'b0;
      last_q  <= 1'b0;
    end else begin
      busy_q <= busy_q | tile_done_i;
      if (step) begin
        valid_q <= 1'b1;
        last_q  <= last_beat & last_tile_i;
        grp_q   <= last_grp ? '0 : grp_q + 1'b1;
        if (last_grp) row_q <= last_beat ? '0 : row_q + RowW'(RPB);
        if (last_beat) begin
          busy_q[bank_q] <= 1'b0;
          bank_q <= ~bank_q;
        end
      end else if (ready_i) begin
        valid_q <= 1'b0;
        last_q  <= 1'b0;
      end
    end
  end

  logic clk_data;
  bc_clock_gate #(.GATED(CLOCK_GATING)) u_gate_data (.clk_i, .en_i(step), .clk_o(clk_data));
  always_ff @(posedge clk_data) begin
    if (CLOCK_GATING != 0 || step) begin
      mask_q  <= mask;
      data_q  <= data;
      sum_a_q <= sum_a;
      sum_w_q <= sum_w;
    end
  end

  assign valid_o = valid_q;
  assign last_o = last_q;
  assign mask_o = mask_q;
  assign data_o = data_q;
  assign sum_a_o = sum_a_q;
  assign sum_w_o = sum_w_q;

endmodule
