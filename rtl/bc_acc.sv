// Wide accumulators of a group of G PEs: two banks of G registers and ONE adder that takes the
// finished chunk sums one per cycle. The first flush of a tile loads (rule R3).
module bc_acc #(
    parameter int G = 8,        // PEs of the group
    parameter int AC_W = 24,
    parameter int ACC_W = 48,
    parameter int IDX_W = 3,    // width of the flush index
    parameter int RD = 1,       // registers that the read port delivers: 1 or G
    parameter int CLOCK_GATING = 0  // 0: enables, 1: clock gates
) (
    input  logic                   clk_i,
    input  logic                   flush_i,     // the pipeline moves and a flush is due
    input  logic [IDX_W-1:0]       index_i,     // which PE's sum: 0..G-1, others are not ours
    input  logic [G-1:0]           en_i,        // PEs inside M and N
    input  logic                   load_i,
    input  logic                   bank_i,
    input  logic [1:0]             shift_i,     // in super-digits
    input  logic [G*AC_W-1:0]      sum_i,
    output logic                   overflow_o,  // this flush left the range of ACC_W bits
    // Read port of the drain: register rd_index_i of a bank (RD = 1), or all of them (RD = G).
    input  logic                   rd_bank_i,
    input  logic [5:0]             rd_index_i,
    output logic [RD*ACC_W-1:0]    rd_o
);

  localparam int AddrW = $clog2(2 * G);

  // Registers of one array may have clocks of their own.
  /* verilator lint_off MULTIDRIVEN */
  (* mem2reg *) logic [ACC_W-1:0] acc_q[2*G];
  /* verilator lint_on MULTIDRIVEN */

  logic               ours;
  logic [AC_W-1:0]    sum;
  logic [ACC_W-1:0]   addend, base, total;
  logic [AddrW-1:0]   addr;

  if (G == 1) begin : g_one
    assign ours = flush_i & en_i[0] & (index_i == '0);
    assign sum = sum_i;
    assign addr = bank_i;
  end else begin : g_many
    localparam int SelW = $clog2(G);
    logic [SelW-1:0] sel;
    assign sel = SelW'(index_i);
    assign ours = flush_i & en_i[sel];
    assign sum = sum_i[sel*AC_W +: AC_W];
    assign addr = AddrW'((bank_i ? G : 0) + 32'(sel));
  end

  assign addend = {{(ACC_W - AC_W){sum[AC_W-1]}}, sum} << {shift_i, 3'b000};
  assign base = load_i ? '0 : acc_q[addr];
  assign total = base + addend;
  assign overflow_o = ours & (base[ACC_W-1] == addend[ACC_W-1]) &
                      (total[ACC_W-1] != base[ACC_W-1]);

  if (CLOCK_GATING == 0) begin : g_enable
    always_ff @(posedge clk_i) begin
      if (ours) acc_q[addr] <= total;
    end
  end else begin : g_gated
    for (genvar i = 0; i < 2 * G; i++) begin : g_register
      logic clk;
      bc_clock_gate u_gate (.clk_i, .en_i(ours & (addr == AddrW'(i))), .clk_o(clk));
      always_ff @(posedge clk) acc_q[i] <= total;
    end
  end

  if (RD == 1) begin : g_read_one
    assign rd_o = acc_q[AddrW'((rd_bank_i ? G : 0) + 32'(rd_index_i))];
  end else begin : g_read_all
    logic unused_index;
    assign unused_index = ^rd_index_i;
    for (genvar g = 0; g < G; g++) begin : g_read
      assign rd_o[g*ACC_W +: ACC_W] = rd_bank_i ? acc_q[G+g] : acc_q[g];
    end
  end

endmodule
