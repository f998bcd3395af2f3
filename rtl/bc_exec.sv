// Exec engine up to the array's ports: latches an instruction, sets the position generators up,
// hands the descriptor to the array and feeds it from the operand buffers. The result unit takes
// its part of the instruction itself and says when the last result is through.
//
// start_i in t0; set-up t0+1 .. t0+SU; the array takes the descriptor in t0+SU+1; beats from the
// next cycle on. An illegal instruction ends in t0+1 with err_o; the array never sees it.
module bc_exec #(
    parameter int KL = 16,
    parameter int TM = 4,
    parameter int TN = 4,
    parameter int BA = 4,
    parameter int BW = 4,
    parameter int P_MAX = 16,
    parameter int GL = 16,
    parameter int DW = 64,
    parameter int L1A_D = 512,
    parameter int L1W_D = 512,
    // Derived.
    parameter int L1A_AW = (L1A_D > 1) ? $clog2(L1A_D) : 1,
    parameter int L1W_AW = (L1W_D > 1) ? $clog2(L1W_D) : 1
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    // Engine: word w of the instruction at w*64, read in the start cycle.
    input  logic                      start_i,
    input  logic [27*64-1:0]          inst_i,
    output logic                      done_o,
    output logic                      err_o,     // with done_o: the instruction is illegal
    output logic [3:0]                cause_o,   // bc_machine_pkg::CAUSE_*, with err_o
    // Operand buffers, written by the fetch engine.
    input  logic                      l1a_we_i,
    input  logic [L1A_AW-1:0]         l1a_addr_i,
    input  logic                      l1w_we_i,
    input  logic [L1W_AW-1:0]         l1w_addr_i,
    input  logic [DW-1:0]             l1_data_i,
    // Array.
    output logic                      desc_valid_o,
    input  logic                      desc_ready_i,
    output logic [bc_pkg::DIM_W-1:0]  desc_m_o,
    output logic [bc_pkg::DIM_W-1:0]  desc_n_o,
    output logic [bc_pkg::DIM_W-1:0]  desc_k_o,
    output logic [bc_pkg::BITS_W-1:0] desc_pa_o,
    output logic [bc_pkg::BITS_W-1:0] desc_pw_o,
    output logic                      desc_a_signed_o,
    output logic                      desc_w_signed_o,
    output logic                      a_valid_o,
    input  logic                      a_ready_i,
    output logic [BA*KL-1:0]          a_data_o,
    output logic                      w_valid_o,
    input  logic                      w_ready_i,
    output logic [BW*KL-1:0]          w_data_o,
    // Result unit.
    input  logic                      res_done_i  // the last result is through
);

  localparam int Rows = (TM > TN) ? TM : TN;
  localparam int SetUp = $clog2((Rows > KL) ? Rows : KL);
  localparam int RowsA = (BA < TM) ? BA : TM;
  localparam int RowsW = (BW < TN) ? BW : TN;

  // ---------------------------------------------------------------- instruction
  logic                      a_signed_q, w_signed_q;
  logic [bc_pkg::BITS_W-1:0] pa_q, pw_q;
  logic [bc_pkg::DIM_W-1:0]  m_q, n_q, k_q;
  logic                      out_bits_bad_q, out_radix_bad_q;  // results leave, and are illegal

  logic       results, raw, out_radix_zero;
  logic [4:0] out_bits;
  assign results = ~inst_i[bc_machine_pkg::EXEC_PS_WRITE_BIT];
  assign raw = inst_i[bc_machine_pkg::EXEC_RAW_BIT];
  assign out_bits = inst_i[bc_machine_pkg::EXEC_OUT_BITS_BIT +: 5];
  assign out_radix_zero = (inst_i[bc_machine_pkg::EXEC_OR0_BIT +: 16] == 16'd0)
                        | (inst_i[bc_machine_pkg::EXEC_OR1_BIT +: 16] == 16'd0);

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      a_signed_q      <= inst_i[bc_machine_pkg::EXEC_A_SIGNED_BIT];
      w_signed_q      <= inst_i[bc_machine_pkg::EXEC_W_SIGNED_BIT];
      pa_q            <= inst_i[bc_machine_pkg::EXEC_PA_BIT +: 5];
      pw_q            <= inst_i[bc_machine_pkg::EXEC_PW_BIT +: 5];
      m_q             <= inst_i[bc_machine_pkg::EXEC_M_BIT +: 32];
      n_q             <= inst_i[bc_machine_pkg::EXEC_N_BIT +: 32];
      k_q             <= inst_i[bc_machine_pkg::EXEC_K_BIT +: 32];
      out_bits_bad_q  <= results & ~raw & (out_bits == 5'd0 || out_bits > 5'd16);
      out_radix_bad_q <= results & out_radix_zero;
    end
  end

  // Fields of the dispatcher and of the result unit, and reserved bits.
  logic unused_fields;
  assign unused_fields = ^inst_i;

  assign desc_m_o = m_q;
  assign desc_n_o = n_q;
  assign desc_k_o = k_q;
  assign desc_pa_o = pa_q;
  assign desc_pw_o = pw_q;
  assign desc_a_signed_o = a_signed_q;
  assign desc_w_signed_o = w_signed_q;

  // ---------------------------------------------------------------- set-up
  logic       run_q;      // from the cycle after the start until the array has the descriptor
  logic [3:0] setup_k_q;
  logic       setup, load, last, a_illegal, w_illegal;
  logic [3:0] cause;

  always_comb begin
    cause = bc_machine_pkg::CAUSE_NONE;
    if (m_q == '0 || n_q == '0 || k_q == '0) cause = bc_machine_pkg::CAUSE_DIM_ZERO;
    else if (pa_q == '0 || pw_q == '0) cause = bc_machine_pkg::CAUSE_WIDTH_ZERO;
    else if (pa_q > bc_pkg::BITS_W'(P_MAX) || pw_q > bc_pkg::BITS_W'(P_MAX))
      cause = bc_machine_pkg::CAUSE_WIDTH_OVER;
    else if (out_bits_bad_q) cause = bc_machine_pkg::CAUSE_OUT_BITS;
    else if (a_illegal | w_illegal | out_radix_bad_q) cause = bc_machine_pkg::CAUSE_RADIX;
  end

  assign last = setup_k_q == 4'(SetUp);
  assign setup = run_q & ~last;
  assign err_o = run_q & (setup_k_q == 4'd0) & (cause != bc_machine_pkg::CAUSE_NONE);
  assign cause_o = cause;
  assign desc_valid_o = run_q & last & ~err_o;
  assign load = desc_valid_o & desc_ready_i;
  assign done_o = res_done_i | err_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      run_q     <= 1'b0;
      setup_k_q <= '0;
    end else if (start_i) begin
      run_q     <= 1'b1;
      setup_k_q <= '0;
    end else begin
      if (err_o | load) run_q <= 1'b0;
      if (setup) setup_k_q <= setup_k_q + 1'b1;
    end
  end

  // ---------------------------------------------------------------- operands
  logic                      a_mode, w_mode;
  logic [15:0]               a_h, a_w, w_h, w_w;
  logic [bc_pkg::BITS_W-1:0] a_plane, w_plane;
  logic [RowsA-1:0]          a_row_en;
  logic [RowsA*32-1:0]       a_row_addr, a_row_yx;
  logic [RowsA*4-1:0]        a_row_bit;
  logic [RowsW-1:0]          w_row_en;
  logic [RowsW*32-1:0]       w_row_addr, w_row_yx;
  logic [RowsW*4-1:0]        w_row_bit;
  logic [KL*32-1:0]          a_el_addr, a_el_yx, w_el_addr, w_el_yx;
  logic [KL-1:0]             a_lane_en, w_lane_en;

  bc_gather #(.T(TM), .TO(TN), .B(BA), .KL(KL), .GL(GL), .A(1)) u_gather_a (
      .clk_i, .rst_ni, .start_i, .side_i(inst_i[bc_machine_pkg::EXEC_A_BASE_BIT +: 512]),
      .setup_i(setup), .setup_k_i(setup_k_q), .load_i(load),
      .own_i(m_q), .other_i(n_q), .k_i(k_q), .bits_i(pa_q), .illegal_o(a_illegal),
      .valid_o(a_valid_o), .ready_i(a_ready_i),
      .mode_o(a_mode), .h_o(a_h), .w_o(a_w), .plane_o(a_plane),
      .row_en_o(a_row_en), .row_addr_o(a_row_addr), .row_yx_o(a_row_yx), .row_bit_o(a_row_bit),
      .el_addr_o(a_el_addr), .el_yx_o(a_el_yx), .lane_en_o(a_lane_en)
  );
  bc_l1 #(.D(L1A_D), .DW(DW), .GL(GL), .KL(KL), .T(TM), .B(BA)) u_l1a (
      .clk_i, .we_i(l1a_we_i), .addr_i(l1a_addr_i), .data_i(l1_data_i),
      .mode_i(a_mode), .h_i(a_h), .w_i(a_w), .bits_i(pa_q), .plane_i(a_plane),
      .row_en_i(a_row_en), .row_addr_i(a_row_addr), .row_yx_i(a_row_yx), .row_bit_i(a_row_bit),
      .el_addr_i(a_el_addr), .el_yx_i(a_el_yx), .lane_en_i(a_lane_en), .data_o(a_data_o)
  );

  bc_gather #(.T(TN), .TO(TM), .B(BW), .KL(KL), .GL(GL), .A(0)) u_gather_w (
      .clk_i, .rst_ni, .start_i, .side_i(inst_i[bc_machine_pkg::EXEC_W_BASE_BIT +: 512]),
      .setup_i(setup), .setup_k_i(setup_k_q), .load_i(load),
      .own_i(n_q), .other_i(m_q), .k_i(k_q), .bits_i(pw_q), .illegal_o(w_illegal),
      .valid_o(w_valid_o), .ready_i(w_ready_i),
      .mode_o(w_mode), .h_o(w_h), .w_o(w_w), .plane_o(w_plane),
      .row_en_o(w_row_en), .row_addr_o(w_row_addr), .row_yx_o(w_row_yx), .row_bit_o(w_row_bit),
      .el_addr_o(w_el_addr), .el_yx_o(w_el_yx), .lane_en_o(w_lane_en)
  );
  bc_l1 #(.D(L1W_D), .DW(DW), .GL(GL), .KL(KL), .T(TN), .B(BW)) u_l1w (
      .clk_i, .we_i(l1w_we_i), .addr_i(l1w_addr_i), .data_i(l1_data_i),
      .mode_i(w_mode), .h_i(w_h), .w_i(w_w), .bits_i(pw_q), .plane_i(w_plane),
      .row_en_i(w_row_en), .row_addr_i(w_row_addr), .row_yx_i(w_row_yx), .row_bit_i(w_row_bit),
      .el_addr_i(w_el_addr), .el_yx_i(w_el_yx), .lane_en_i(w_lane_en), .data_o(w_data_o)
  );

endmodule
