// Chunk registers of one row (or column) and its operand register: two banks of P_MAX bit planes
// of KL lanes; a digit of R planes is selected and registered, lane by lane, for broadcast.
module bc_chunk #(
    parameter int KL = 64,
    parameter int P_MAX = 16,
    parameter int R = 1,    // digit width
    parameter int WPB = 1   // planes written per beat
) (
    input  logic                      clk_i,
    // Write: WPB planes, the first is plane_i counted from the most significant one.
    input  logic                      we_i,
    input  logic                      wr_bank_i,
    input  logic [bc_pkg::BITS_W-1:0] plane_i,
    input  logic [WPB*KL-1:0]         data_i,
    input  logic [KL-1:0]             lane_en_i,  // lanes at or beyond K are written as 0
    // Select: digit `digit_i` of the operand in bank `bank_i`.
    input  logic                      sel_i,
    input  logic                      bank_i,
    input  logic [3:0]                digit_i,
    input  logic [bc_pkg::BITS_W-1:0] bits_i,
    input  logic                      signed_i,
    output logic [KL*R-1:0]           digit_o     // lane l: bits l*R +: R
);

  localparam int AddrW = $clog2(2 * P_MAX);
  localparam int PlaneW = bc_pkg::BITS_W + 1;

  logic [KL-1:0]   chunk_q[2*P_MAX];
  logic [KL*R-1:0] digit_q;
  logic [KL*R-1:0] digit_d;

  // Register index of plane p counted from the least significant one.
  function automatic logic [AddrW-1:0] index(input logic bank, input logic [PlaneW-1:0] p);
    index = AddrW'((bank ? P_MAX : 0) + 32'(p));
  endfunction

  for (genvar w = 0; w < WPB; w++) begin : g_write
    logic [PlaneW-1:0] from_top;
    assign from_top = PlaneW'(plane_i) + PlaneW'(w);
    always_ff @(posedge clk_i) begin
      if (we_i && from_top < PlaneW'(bits_i)) begin
        chunk_q[index(wr_bank_i, PlaneW'(bits_i) - PlaneW'(1) - from_top)] <=
            data_i[w*KL +: KL] & lane_en_i;
      end
    end
  end

  for (genvar x = 0; x < R; x++) begin : g_select
    logic [PlaneW-1:0] plane;
    logic [KL-1:0]     bits;
    assign plane = PlaneW'(digit_i) * PlaneW'(R) + PlaneW'(x);
    // Above the top plane a signed operand repeats its sign, an unsigned one is zero.
    assign bits = (plane < PlaneW'(bits_i)) ? chunk_q[index(bank_i, plane)]
                : signed_i ? chunk_q[index(bank_i, PlaneW'(bits_i) - PlaneW'(1))] : '0;
    for (genvar l = 0; l < KL; l++) begin : g_lane
      assign digit_d[l*R + x] = bits[l];
    end
  end

  always_ff @(posedge clk_i) begin
    if (sel_i) digit_q <= digit_d;
  end

  assign digit_o = digit_q;

endmodule
