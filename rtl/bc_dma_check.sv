// Says whether a fetch or store instruction is legal: no count of 0, a beat-aligned address.
module bc_dma_check #(
    parameter int DW = 64  // bits of a beat
) (
    input  logic [11:0] addr_i,  // low bits of the byte address
    input  logic [31:0] line_i,
    input  logic [15:0] n0_i,
    input  logic [15:0] n1_i,
    input  logic [15:0] n2_i,
    output logic        illegal_o,
    output logic [3:0]  cause_o
);

  localparam int Bytes = DW / 8;

  always_comb begin
    cause_o = bc_machine_pkg::CAUSE_NONE;
    if (line_i == '0 || n0_i == '0 || n1_i == '0 || n2_i == '0) begin
      cause_o = bc_machine_pkg::CAUSE_COUNT_ZERO;
    end else if ((addr_i & 12'(Bytes - 1)) != '0) begin
      cause_o = bc_machine_pkg::CAUSE_UNALIGNED;
    end
  end
  assign illegal_o = cause_o != bc_machine_pkg::CAUSE_NONE;

endmodule
