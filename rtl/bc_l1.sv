// Operand buffer of one side and its read crossbar: D beats of DW bits, a beat is DW/GL words of GL
// bits. Written by the fetch engine, a beat a cycle; read combinationally into the array's beat
// register (both together are a synchronous memory). The crossbar is free of conflicts.
//
// A beat of B words (KL lanes each) is read: RB rows x WPB planes. Row r and column element j
// (mode N: granule j of the chunk; mode T: lane j) meet at the word of row.addr + element.addr +
// plane and at the pixel row.(y,x) + element.(y,x). Outside the tensor: zero.
module bc_l1 #(
    parameter int D = 512,   // beats, a power of two
    parameter int DW = 64,
    parameter int GL = 16,
    parameter int KL = 16,
    parameter int T = 4,     // rows of a chunk
    parameter int B = 4,     // words that the array takes at once
    // Derived.
    parameter int RB = (B < T) ? B : T,
    parameter int WPB = (B >= T) ? B / T : 1,
    parameter int AW = (D > 1) ? $clog2(D) : 1
) (
    input  logic                      clk_i,
    // Write.
    input  logic                      we_i,
    input  logic [AW-1:0]             addr_i,
    input  logic [DW-1:0]             data_i,
    // Read.
    input  logic                      mode_i,     // 0: words are granules (N), 1: gathered bits (T)
    input  logic [15:0]               h_i,
    input  logic [15:0]               w_i,
    input  logic [bc_pkg::BITS_W-1:0] bits_i,     // planes of the operand
    input  logic [bc_pkg::BITS_W-1:0] plane_i,    // first plane of the beat
    input  logic [RB-1:0]             row_en_i,
    input  logic [RB*32-1:0]          row_addr_i,
    input  logic [RB*32-1:0]          row_yx_i,   // {y, x}
    input  logic [RB*4-1:0]           row_bit_i,  // mode T: bit of the word
    input  logic [KL*32-1:0]          el_addr_i,
    input  logic [KL*32-1:0]          el_yx_i,
    input  logic [KL-1:0]             lane_en_i,
    output logic [B*KL-1:0]           data_o
);

  localparam int Words = DW / GL;
  localparam int WordW = (Words > 1) ? $clog2(Words) : 0;
  localparam int BitW = $clog2(DW);
  localparam int Granules = KL / GL;

  logic [DW-1:0] l1_mem[D];

  always_ff @(posedge clk_i) begin
    if (we_i) l1_mem[addr_i] <= data_i;
  end

  // Addresses are truncated: the memory wraps.
  logic [31:0]     word, row_addr;
  logic [15:0]     y, x, row_y, row_x;
  logic [BitW-1:0] at;
  logic [3:0]      row_bit;
  logic            plane_en;

  always_comb begin
    data_o = '0;
    word = '0;
    row_addr = '0;
    y = '0;
    x = '0;
    row_y = '0;
    row_x = '0;
    at = '0;
    row_bit = '0;
    plane_en = 1'b0;
    for (int r = 0; r < RB; r++) begin
      row_y = row_yx_i[r*32 + 16 +: 16];
      row_x = row_yx_i[r*32 +: 16];
      row_bit = row_bit_i[r*4 +: 4];
      for (int p = 0; p < WPB; p++) begin
        plane_en = row_en_i[r] & (32'(plane_i) + 32'(p) < 32'(bits_i));
        row_addr = row_addr_i[r*32 +: 32] + 32'(plane_i) + 32'(p);
        if (mode_i) begin
          for (int j = 0; j < KL; j++) begin
            y = row_y + el_yx_i[j*32 + 16 +: 16];
            x = row_x + el_yx_i[j*32 +: 16];
            word = row_addr + el_addr_i[j*32 +: 32];
            at = BitW'((word & 32'(Words - 1)) * GL + 32'(row_bit));
            data_o[(r*WPB + p)*KL + j] = plane_en & ~y[15] & ~x[15] & (y < h_i) & (x < w_i)
                                       & lane_en_i[j] & l1_mem[AW'(word >> WordW)][at];
          end
        end else begin
          for (int j = 0; j < Granules; j++) begin
            y = row_y + el_yx_i[j*32 + 16 +: 16];
            x = row_x + el_yx_i[j*32 +: 16];
            word = row_addr + el_addr_i[j*32 +: 32];
            at = BitW'((word & 32'(Words - 1)) * GL);
            data_o[(r*WPB + p)*KL + j*GL +: GL] =
                l1_mem[AW'(word >> WordW)][at +: GL] & lane_en_i[j*GL +: GL]
                & {GL{plane_en & ~y[15] & ~x[15] & (y < h_i) & (x < w_i)}};
          end
        end
      end
    end
  end

endmodule
