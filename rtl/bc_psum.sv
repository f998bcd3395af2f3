// Partial sums. A result beat of the array meets the saved entry of the same number (read_i) and the
// sum is kept in the stage register, from which it is saved again (write_i) a cycle later. An entry
// is a whole beat: Q results and the sums of A and of W.
//
// Stage: array's beat in cycle c -> valid_o, data_o ... in c + 1. Data registers are not reset.
module bc_psum #(
    parameter int ACC_W = 48,
    parameter int Q = 16,
    parameter int RPB = 1,    // rows of a beat
    parameter int CPB = 16,   // columns of a beat
    parameter int PS_D = 64   // entries, a power of two of at least 2
) (
    input  logic                 clk_i,
    input  logic                 rst_ni,
    input  logic                 clear_i,     // forget an overflow
    input  logic                 start_i,     // an instruction starts: entry base_i is next
    input  logic [15:0]          base_i,
    input  logic                 read_i,
    input  logic                 write_i,
    // Result stream of the array; always taken.
    input  logic                 res_valid_i,
    input  logic                 res_last_i,
    input  logic [Q-1:0]         res_mask_i,
    input  logic [Q*ACC_W-1:0]   res_data_i,
    input  logic [RPB*ACC_W-1:0] res_sum_a_i,
    input  logic [CPB*ACC_W-1:0] res_sum_w_i,
    input  logic                 res_overflow_i,
    // Stage 1.
    output logic                 valid_o,
    output logic                 last_o,
    output logic [Q-1:0]         mask_o,
    output logic [Q*ACC_W-1:0]   data_o,
    output logic [RPB*ACC_W-1:0] sum_a_o,
    output logic [CPB*ACC_W-1:0] sum_w_o,
    output logic                 overflow_o   // sticky: a sum of the array or of this adder wrapped
);

  localparam int PsW = $clog2(PS_D);

  logic           valid_q, last_q, overflow_q;
  logic [Q-1:0]   mask_q;
  logic [PsW-1:0] entry_q;  // of the next beat
  logic [PsW-1:0] saved_q;  // of the beat in the stage register
  logic           save;

  logic [Q-1:0]   lane_overflow;
  logic [RPB-1:0] row_overflow;
  logic [CPB-1:0] col_overflow;
  logic           overflow;

  if (PsW < 16) begin : g_unused
    logic unused_base;
    assign unused_base = ^base_i[15:PsW];
  end

  assign save = valid_q & write_i;
  assign overflow = res_valid_i & (res_overflow_i | (read_i & ((|lane_overflow) |
                    (|row_overflow) | (|col_overflow))));

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q    <= 1'b0;
      last_q     <= 1'b0;
      overflow_q <= 1'b0;
    end else begin
      valid_q <= res_valid_i;
      last_q  <= res_valid_i & res_last_i;
      if (overflow) overflow_q <= 1'b1;
      else if (clear_i) overflow_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) entry_q <= PsW'(base_i);
    else if (res_valid_i) entry_q <= entry_q + PsW'(1);
    if (res_valid_i) begin
      mask_q  <= res_mask_i;
      saved_q <= entry_q;
    end
  end

  // What lies outside M and N is 0 from the array: it never wraps, and nobody reads the sum.
  for (genvar i = 0; i < Q; i++) begin : g_lane
    logic [ACC_W-1:0] ps_mem[PS_D];
    logic [ACC_W-1:0] acc_q, in, prev, total;
    assign in = res_data_i[i*ACC_W +: ACC_W];
    assign prev = read_i ? ps_mem[entry_q] : '0;
    assign total = in + prev;
    assign lane_overflow[i] = (in[ACC_W-1] == prev[ACC_W-1]) & (total[ACC_W-1] != in[ACC_W-1]);
    always_ff @(posedge clk_i) begin
      if (res_valid_i) acc_q <= total;
      if (save) ps_mem[saved_q] <= acc_q;
    end
    assign data_o[i*ACC_W +: ACC_W] = acc_q;
  end

  for (genvar i = 0; i < RPB; i++) begin : g_row
    logic [ACC_W-1:0] ps_mem[PS_D];
    logic [ACC_W-1:0] sum_q, in, prev, total;
    assign in = res_sum_a_i[i*ACC_W +: ACC_W];
    assign prev = read_i ? ps_mem[entry_q] : '0;
    assign total = in + prev;
    assign row_overflow[i] = (in[ACC_W-1] == prev[ACC_W-1]) & (total[ACC_W-1] != in[ACC_W-1]);
    always_ff @(posedge clk_i) begin
      if (res_valid_i) sum_q <= total;
      if (save) ps_mem[saved_q] <= sum_q;
    end
    assign sum_a_o[i*ACC_W +: ACC_W] = sum_q;
  end
  for (genvar j = 0; j < CPB; j++) begin : g_col
    logic [ACC_W-1:0] ps_mem[PS_D];
    logic [ACC_W-1:0] sum_q, in, prev, total;
    assign in = res_sum_w_i[j*ACC_W +: ACC_W];
    assign prev = read_i ? ps_mem[entry_q] : '0;
    assign total = in + prev;
    assign col_overflow[j] = (in[ACC_W-1] == prev[ACC_W-1]) & (total[ACC_W-1] != in[ACC_W-1]);
    always_ff @(posedge clk_i) begin
      if (res_valid_i) sum_q <= total;
      if (save) ps_mem[saved_q] <= sum_q;
    end
    assign sum_w_o[j*ACC_W +: ACC_W] = sum_q;
  end

  assign valid_o = valid_q;
  assign last_o = last_q;
  assign mask_o = mask_q;
  assign overflow_o = overflow_q;

endmodule
