// Fill control of one operand: takes beats of B words (KL lanes each) from the buffer and says
// where they go in the chunk registers. Two banks; a bank is filled only while it is free.
//
// Order of the words of a chunk: planes from the most significant down; with B < T the rows of a
// plane take T/B beats, with B >= T a beat carries B/T planes of every row.
module bc_fill #(
    parameter int T = 16,   // rows (columns) that the chunk registers hold
    parameter int B = 8,    // words per beat
    parameter int KL = 64,  // lanes of a word
    parameter int CLOCK_GATING = 0,  // 0: enables, 1: clock gates
    // Derived: planes of a row that one beat carries, and row groups that share a plane.
    parameter int WPB = (B >= T) ? B / T : 1,
    parameter int GRP = (B >= T) ? 1 : T / B
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    input  logic                      start_i,     // descriptor accepted
    input  logic [bc_pkg::BITS_W-1:0] bits_i,      // planes of this operand
    // Operand words.
    input  logic                      valid_i,
    output logic                      ready_o,
    input  logic [B*KL-1:0]           data_i,
    // Position, from the walker of this operand.
    input  logic                      last_chunk_i,  // last chunk of the last tile
    output logic                      chunk_done_o,  // a chunk is complete: walk on
    // Chunk registers.
    output logic                      we_o,
    output logic                      bank_o,
    output logic [bc_pkg::BITS_W-1:0] plane_o,     // first plane of the beat, 0 = most significant
    output logic [T-1:0]              row_sel_o,   // rows that the beat carries
    output logic [B*KL-1:0]           data_o,
    // To and from the sequencer.
    output logic [1:0]                full_o,
    input  logic [1:0]                free_i       // the sequencer has used a bank up
);

  localparam int GrpW = (GRP > 1) ? $clog2(GRP) : 1;

  logic [B*KL-1:0]           in_data_q;
  logic                      in_valid_q;
  logic                      filling_q;
  logic                      bank_q;
  logic [1:0]                full_q;
  logic [bc_pkg::BITS_W-1:0] plane_q;
  logic [GrpW-1:0]           grp_q;

  logic write, last_beat, last_grp, done;

  assign write = in_valid_q & ~full_q[bank_q];
  assign last_grp = grp_q == GrpW'(GRP - 1);
  assign last_beat = last_grp & (32'(plane_q) + WPB >= 32'(bits_i));
  assign done = write & last_beat;

  assign ready_o = filling_q & (~in_valid_q | (write & ~(last_beat & last_chunk_i)));
  assign chunk_done_o = done;
  assign we_o = write;
  assign bank_o = bank_q;
  assign plane_o = plane_q;
  assign data_o = in_data_q;
  assign full_o = full_q;

  for (genvar r = 0; r < T; r++) begin : g_row_sel
    if (GRP == 1) begin : g_all
      assign row_sel_o[r] = write;
    end else begin : g_group
      assign row_sel_o[r] = write & (grp_q == GrpW'(r / B));
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      in_valid_q <= 1'b0;
      filling_q  <= 1'b0;
      bank_q     <= 1'b0;
      full_q     <= 2'b00;
      plane_q    <= '0;
      grp_q      <= '0;
    end else begin
      full_q <= full_q & ~free_i;
      if (start_i) begin
        filling_q <= 1'b1;
      end
      if (ready_o & valid_i) begin
        in_valid_q <= 1'b1;
      end else if (write) begin
        in_valid_q <= 1'b0;
      end
      if (write) begin
        grp_q <= last_grp ? '0 : grp_q + 1'b1;
        if (last_grp) plane_q <= last_beat ? '0 : plane_q + bc_pkg::BITS_W'(WPB);
      end
      if (done) begin
        full_q[bank_q] <= 1'b1;
        bank_q <= ~bank_q;
        if (last_chunk_i) filling_q <= 1'b0;
      end
    end
  end

  // Data registers are not reset.
  logic take, clk_data;
  assign take = ready_o & valid_i;
  bc_clock_gate #(.GATED(CLOCK_GATING)) u_gate_data (.clk_i, .en_i(take), .clk_o(clk_data));
  always_ff @(posedge clk_data) begin
    if (CLOCK_GATING != 0 || take) in_data_q <= data_i;
  end

endmodule
