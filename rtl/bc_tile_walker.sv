// Walks the chunks of all tiles of one descriptor: rows outermost, then columns, chunks innermost.
// Holds what REMAINS from the current position on, so that no division is needed.
module bc_tile_walker #(
    parameter int TM = 16,  // rows of a tile
    parameter int TN = 16,  // columns of a tile
    parameter int KL = 64   // elements of a chunk
) (
    input  logic                     clk_i,
    input  logic                     rst_ni,
    input  logic                     load_i,      // start a descriptor: take m_i, n_i, k_i
    input  logic                     step_i,      // go to the next chunk
    input  logic [bc_pkg::DIM_W-1:0] m_i,         // held while the descriptor runs
    input  logic [bc_pkg::DIM_W-1:0] n_i,
    input  logic [bc_pkg::DIM_W-1:0] k_i,
    output logic [TM-1:0]            row_en_o,    // rows of this tile below M
    output logic [TN-1:0]            col_en_o,    // columns of this tile below N
    output logic [KL-1:0]            lane_en_o,   // lanes of this chunk below K
    output logic                     first_k_o,   // first chunk of a tile
    output logic                     last_k_o,    // last chunk of a tile
    output logic                     last_tile_o  // last tile of the descriptor
);

  logic [bc_pkg::DIM_W-1:0] m_rem_q, n_rem_q, k_rem_q;
  logic first_k_q;
  logic last_m, last_n;

  assign last_m = m_rem_q <= TM;
  assign last_n = n_rem_q <= TN;
  assign last_k_o = k_rem_q <= KL;
  assign last_tile_o = last_m & last_n;
  assign first_k_o = first_k_q;

  for (genvar r = 0; r < TM; r++) begin : g_row_en
    assign row_en_o[r] = m_rem_q > r;
  end
  for (genvar c = 0; c < TN; c++) begin : g_col_en
    assign col_en_o[c] = n_rem_q > c;
  end
  for (genvar l = 0; l < KL; l++) begin : g_lane_en
    assign lane_en_o[l] = k_rem_q > l;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      m_rem_q   <= '0;
      n_rem_q   <= '0;
      k_rem_q   <= '0;
      first_k_q <= 1'b1;
    end else if (load_i) begin
      m_rem_q   <= m_i;
      n_rem_q   <= n_i;
      k_rem_q   <= k_i;
      first_k_q <= 1'b1;
    end else if (step_i) begin
      first_k_q <= last_k_o;
      if (!last_k_o) begin
        k_rem_q <= k_rem_q - KL;
      end else begin
        k_rem_q <= k_i;
        if (!last_n) begin
          n_rem_q <= n_rem_q - TN;
        end else begin
          n_rem_q <= n_i;
          if (!last_m) m_rem_q <= m_rem_q - TM;
        end
      end
    end
  end

endmodule
