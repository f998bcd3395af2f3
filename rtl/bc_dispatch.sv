// Assembles instructions from 64-bit words, one word a cycle, and pushes each into the queue of the
// engine that its header names. The push follows the acceptance of the last word by one cycle, or
// waits for room; the push cycle can take the next header.
//
// Two sources: the stream, and pushes through the register block (mm_). All words of an instruction
// come from the source of its header; at a header the stream goes first. While flush_i is set,
// words are taken and discarded, and a started instruction is forgotten.
module bc_dispatch #(
    parameter int CLOCK_GATING = 0  // 0: enables, 1: clock gates
) (
    input  logic         clk_i,
    input  logic         rst_ni,
    input  logic         flush_i,
    input  logic         inst_valid_i,
    output logic         inst_ready_o,
    input  logic [63:0]  inst_data_i,
    input  logic         mm_valid_i,
    output logic         mm_ready_o,
    input  logic [63:0]  mm_data_i,
    output logic [2:0]   push_o,      // fetch, exec, store
    input  logic [2:0]   room_i,
    // Word 0 lowest; fetch and store take the first six.
    output logic [bc_machine_pkg::EXEC_WORDS*64-1:0] inst_o,
    output logic         busy_o,      // an instruction is partly here
    output logic         err_o        // illegal header, dropped
);

  logic       live_q;     // out of reset: words may come
  logic       pending_q;  // a whole instruction waits for room
  logic [1:0] kind_q;     // engine of the instruction
  logic [4:0] count_q;    // words here
  logic       src_q;      // they come from: 0 the stream, 1 the register block

  logic        border, open, push, accept, from_mm, last;
  logic [4:0]  words;
  logic [63:0] word;

  always_comb begin
    case (kind_q)
      2'(bc_machine_pkg::FETCH_OP): words = 5'(bc_machine_pkg::FETCH_WORDS);
      2'(bc_machine_pkg::EXEC_OP): words = 5'(bc_machine_pkg::EXEC_WORDS);
      default: words = 5'(bc_machine_pkg::STORE_WORDS);
    endcase
  end

  for (genvar e = 0; e < 3; e++) begin : g_push
    assign push_o[e] = pending_q & ~flush_i & (kind_q == e) & room_i[e];
  end
  assign push = |push_o;

  assign border = count_q == '0;
  assign open = live_q & (~pending_q | push);
  assign from_mm = border ? ~inst_valid_i : src_q;
  assign inst_ready_o = (live_q & flush_i) | (open & (border | ~src_q));
  assign mm_ready_o = (live_q & flush_i) | (open & from_mm);

  assign accept = ~flush_i & (from_mm ? mm_valid_i & mm_ready_o : inst_valid_i & inst_ready_o);
  assign word = from_mm ? mm_data_i : inst_data_i;
  assign last = ~border & (count_q == words - 5'd1);
  assign err_o = accept & border & (word[1:0] == 2'd3);
  assign busy_o = pending_q | ~border;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      live_q    <= 1'b0;
      pending_q <= 1'b0;
      kind_q    <= '0;
      count_q   <= '0;
      src_q     <= 1'b0;
    end else begin
      live_q <= 1'b1;
      if (flush_i) begin
        pending_q <= 1'b0;
        count_q   <= '0;
      end else begin
        if (accept & last) pending_q <= 1'b1;
        else if (push) pending_q <= 1'b0;
        if (accept & ~err_o) begin
          count_q <= last ? '0 : count_q + 5'd1;
          if (border) begin
            kind_q <= word[1:0];
            src_q  <= from_mm;
          end
        end
      end
    end
  end

  // Data registers are not reset.
  for (genvar w = 0; w < bc_machine_pkg::EXEC_WORDS; w++) begin : g_word
    logic [63:0] asm_q;
    logic        take, clk;
    assign take = accept & (count_q == w);
    bc_clock_gate #(.GATED(CLOCK_GATING)) u_gate (.clk_i, .en_i(take), .clk_o(clk));
    always_ff @(posedge clk) begin
      if (CLOCK_GATING != 0 || take) asm_q <= word;
    end
    assign inst_o[w*64+:64] = asm_q;
  end

endmodule
