// Clock gate: a latch holds the enable while the clock is high, so that a pulse is whole or absent.
// Synthesis for a cell library puts that library's gate in its place. With GATED 0 the clock passes,
// and the registers behind it need enables of their own (FPGAs).
module bc_clock_gate #(
    parameter int GATED = 1
) (
    input  logic clk_i,
    input  logic en_i,   // stable before the rising edge, as the input of a register
    output logic clk_o
);

  if (GATED != 0) begin : g_gate
    logic en_q;
    always_latch begin
      if (!clk_i) en_q = en_i;
    end
    assign clk_o = clk_i & en_q;
  end else begin : g_pass
    logic unused_en;
    assign unused_en = en_i;
    assign clk_o = clk_i;
  end

endmodule
