// Output buffer: OB_D beats of DW bits. The result unit writes bits and words anywhere in it (its
// crossbar is free of conflicts: nobody may write a word twice in a cycle), the store engine reads
// whole beats. Addresses are those of words of GL bits.
module bc_ob #(
    parameter int GL = 16,    // lanes of a word
    parameter int DW = 64,    // bits of a beat
    parameter int OB_D = 512, // beats, a power of two
    parameter int SEG = 4,    // code ports: a granule, or part of one, of up to 16 planes
    parameter int LR = 4,     // lanes of a code port in row orientation
    parameter int LC = 1,     // and in column orientation
    parameter int WIDE = 9,   // ports of 48-bit integers
    // Derived.
    parameter int AW = $clog2(OB_D * (DW / GL)),
    parameter int BeatW = $clog2(OB_D),
    parameter int LaneW = (GL > 1) ? $clog2(GL) : 1
) (
    input  logic                  clk_i,
    // Codes. Plane p of port s goes to word addr + p: all GL lanes (whole), or the port's lanes
    // from lane_i on.
    input  logic [SEG-1:0]        code_we_i,
    input  logic [SEG*AW-1:0]     code_addr_i,
    input  logic [SEG*16*GL-1:0]  code_data_i,   // plane p: port's lanes from bit (s*16 + p)*GL on
    input  logic [4:0]            planes_i,
    input  logic [LaneW-1:0]      lane_i,
    input  logic                  column_i,
    // 48-bit (or 32-bit) integers, GL bits a word, low word first.
    input  logic [WIDE-1:0]       wide_we_i,
    input  logic [WIDE*AW-1:0]    wide_addr_i,
    input  logic [WIDE*48-1:0]    wide_data_i,
    input  logic                  short_i,       // 32 bits
    // Store engine.
    input  logic [BeatW-1:0]      rd_beat_i,
    output logic [DW-1:0]         rd_data_o
);

  localparam int Wpb = DW / GL;
  localparam int WordW = (Wpb > 1) ? $clog2(Wpb) : 0;
  localparam int BitW = (DW > 1) ? $clog2(DW) : 1;

  logic [DW-1:0] ob_mem[OB_D];

  assign rd_data_o = ob_mem[rd_beat_i];

  // `always`, not `always_ff`: the memory has many write ports.
  for (genvar s = 0; s < SEG; s++) begin : g_code
    logic [AW-1:0] addr;
    logic          whole_row, whole_column;
    assign addr = code_addr_i[s*AW +: AW];
    assign whole_row = (LR == GL) | (lane_i == '0);
    assign whole_column = (LC == GL) | (lane_i == '0);
    always @(posedge clk_i) begin
      if (code_we_i[s]) begin
        for (int p = 0; p < 16; p++) begin
          if (5'(p) < planes_i) begin
            if (column_i ? whole_column : whole_row) begin
              ob_mem[BeatW'((addr + AW'(p)) >> WordW)][BitW'((32'(addr) + p) * GL) +: GL] <=
                  code_data_i[(s*16 + p)*GL +: GL];
            end else if (column_i) begin
              ob_mem[BeatW'((addr + AW'(p)) >> WordW)]
                  [BitW'((32'(addr) + p) * GL + 32'(lane_i)) +: LC] <=
                  code_data_i[(s*16 + p)*GL +: LC];
            end else begin
              ob_mem[BeatW'((addr + AW'(p)) >> WordW)]
                  [BitW'((32'(addr) + p) * GL + 32'(lane_i)) +: LR] <=
                  code_data_i[(s*16 + p)*GL +: LR];
            end
          end
        end
      end
    end
  end

  for (genvar i = 0; i < WIDE; i++) begin : g_wide
    logic [AW-1:0] addr;
    assign addr = wide_addr_i[i*AW +: AW];
    always @(posedge clk_i) begin
      if (wide_we_i[i]) begin
        for (int w = 0; w < 48 / GL; w++) begin
          if (~short_i | (w < 32 / GL)) begin
            ob_mem[BeatW'((addr + AW'(w)) >> WordW)][BitW'((32'(addr) + w) * GL) +: GL] <=
                wide_data_i[i*48 + w*GL +: GL];
          end
        end
      end
    end
  end

endmodule
