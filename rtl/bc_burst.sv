// Walks the lines of a strided 3-D transfer and splits them into bursts that neither cross 4 KB nor
// exceed BURST beats. The burst stands at the outputs until next_i; one a cycle can be taken.
// Lines: n2 outermost, n0 innermost. Addresses are kept by adding strides.
module bc_burst #(
    parameter int DW = 64,     // bits of a beat
    parameter int BURST = 16   // most beats of a burst, a power of two
) (
    input  logic        clk_i,
    input  logic        rst_ni,
    input  logic        load_i,     // start: take what follows
    input  logic [39:0] base_i,     // byte address of the first line, beat aligned
    input  logic [31:0] line_i,     // beats of a line
    input  logic [15:0] n0_i,
    input  logic [15:0] n1_i,
    input  logic [15:0] n2_i,
    input  logic [31:0] stride0_i,  // signed, beats
    input  logic [31:0] stride1_i,
    input  logic [31:0] stride2_i,
    input  logic        next_i,     // the burst is taken
    output logic        valid_o,
    output logic [39:0] addr_o,
    output logic [7:0]  len_o       // beats - 1
);

  localparam int Shift = $clog2(DW / 8);
  localparam int PageBeats = 4096 / (DW / 8);
  localparam int PageW = 12 - Shift;

  logic        valid_q;
  logic [39:0] addr_q;                                // next burst
  logic [31:0] rem_q;                                 // beats that remain of the line
  logic [39:0] line0_q, line1_q, line2_q;             // first address at each level
  logic [15:0] left0_q, left1_q, left2_q;             // lines left at each level, with this one
  logic [31:0] line_q, stride0_q, stride1_q, stride2_q;
  logic [15:0] n0_q, n1_q;

  logic [PageW:0] page_left;
  logic [8:0]     cap, beats;
  logic           line_end, end0, end1, end2;
  logic [39:0]    next0, next1, next2;

  assign page_left = (PageW + 1)'(PageBeats) - {1'b0, addr_q[11:Shift]};
  assign cap = (32'(page_left) < BURST) ? 9'(page_left) : 9'(BURST);
  assign line_end = rem_q <= 32'(cap);
  assign beats = line_end ? rem_q[8:0] : cap;

  assign end0 = left0_q == 16'd1;
  assign end1 = left1_q == 16'd1;
  assign end2 = left2_q == 16'd1;
  assign next0 = line0_q + ({{8{stride0_q[31]}}, stride0_q} << Shift);
  assign next1 = line1_q + ({{8{stride1_q[31]}}, stride1_q} << Shift);
  assign next2 = line2_q + ({{8{stride2_q[31]}}, stride2_q} << Shift);

  assign valid_o = valid_q;
  assign addr_o = addr_q;
  assign len_o = 8'(beats - 9'd1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_q <= 1'b0;
    else if (load_i) valid_q <= 1'b1;
    else if (next_i & line_end & end0 & end1 & end2) valid_q <= 1'b0;
  end

  // Data registers are not reset.
  always_ff @(posedge clk_i) begin
    if (load_i) begin
      addr_q    <= base_i;
      line0_q   <= base_i;
      line1_q   <= base_i;
      line2_q   <= base_i;
      rem_q     <= line_i;
      line_q    <= line_i;
      left0_q   <= n0_i;
      left1_q   <= n1_i;
      left2_q   <= n2_i;
      n0_q      <= n0_i;
      n1_q      <= n1_i;
      stride0_q <= stride0_i;
      stride1_q <= stride1_i;
      stride2_q <= stride2_i;
    end else if (next_i) begin
      if (!line_end) begin
        addr_q <= addr_q + (40'(beats) << Shift);
        rem_q  <= rem_q - 32'(beats);
      end else begin
        rem_q <= line_q;
        if (!end0) begin
          addr_q  <= next0;
          line0_q <= next0;
          left0_q <= left0_q - 16'd1;
        end else begin
          left0_q <= n0_q;
          if (!end1) begin
            addr_q  <= next1;
            line0_q <= next1;
            line1_q <= next1;
            left1_q <= left1_q - 16'd1;
          end else begin
            left1_q <= n1_q;
            addr_q  <= next2;
            line0_q <= next2;
            line1_q <= next2;
            line2_q <= next2;
            left2_q <= left2_q - 16'd1;
          end
        end
      end
    end
  end

endmodule
