// Digit sequencer: for every chunk walks the passes (pairs of super-digits) and, inside a pass, the
// digit pairs by DESCENDING weight i*RA + j*RW. Emits with each pair the drop `d` in weight since
// the previous one: where RA != RW the weights have holes (3 b x 8 b at RA=1, RW=4: 6 5 4 2 1 0),
// so a fixed shift would be wrong. A pass of fewer than S pairs begins with idle cycles (rule R2).
module bc_seq #(
    parameter int RA = 1,
    parameter int RW = 1,
    parameter int S = 1
) (
    input  logic                      clk_i,
    input  logic                      rst_ni,
    input  logic                      start_i,       // descriptor accepted (its registers load now)
    input  logic                      en_i,          // the pipeline moves
    input  logic [bc_pkg::BITS_W-1:0] a_bits_i,
    input  logic [bc_pkg::BITS_W-1:0] w_bits_i,
    input  logic                      a_signed_i,
    input  logic                      w_signed_i,
    // Chunk banks.
    input  logic [1:0]                a_full_i,
    input  logic [1:0]                w_full_i,
    output logic [1:0]                free_o,
    // Position, from the walker of the sequencer.
    input  logic                      first_k_i,
    input  logic                      last_k_i,
    input  logic                      last_tile_i,
    output logic                      chunk_done_o,
    // Select stage.
    output logic                      digit_o,       // a digit pair is issued
    output logic                      idle_o,        // an idle cycle of a pass
    output logic                      bank_o,        // chunk bank
    output logic [3:0]                a_digit_o,     // digit numbers inside the whole operand
    output logic [3:0]                w_digit_o,
    output logic                      a_neg_o,       // the digit is two's complement
    output logic                      w_neg_o,
    output logic                      first_o,       // first pair of a pass: AC is loaded
    output logic [2:0]                d_o,           // drop in weight, 0..4
    output logic                      last_o,        // last pair of a pass: AC is complete
    output logic [1:0]                shift_o,       // flush shift in super-digits, 0..2
    output logic                      load_o,        // first pass of a tile: ACC is loaded
    output logic                      tile_last_o,   // last pass of a tile
    output logic                      acc_bank_o
);

  // The operand with the smaller radix is the fast one: weight u = f + QR*s in units of RMIN bits.
  localparam bit AFast = RA <= RW;
  localparam int RMin = AFast ? RA : RW;
  localparam int RMax = AFast ? RW : RA;
  localparam int QR = RMax / RMin;
  localparam int LgQR = $clog2(QR);
  localparam int DigitsA = bc_pkg::SUPER / RA;
  localparam int DigitsW = bc_pkg::SUPER / RW;
  localparam int IdleW = $clog2(S + 1);

  logic             run_q, init_q, bank_q, acc_bank_q;
  logic             si_q, sj_q;        // super-digits of A and W
  logic [2:0]       f_q, s_q;          // fast and slow digit inside the super-digits
  logic [2:0]       d_q;
  logic             first_q;
  logic [IdleW-1:0] idle_q;

  logic a_two, w_two, last_pass, last_pair, chunk_ready, step, pass_end;

  assign a_two = a_bits_i > bc_pkg::BITS_W'(bc_pkg::SUPER);
  assign w_two = w_bits_i > bc_pkg::BITS_W'(bc_pkg::SUPER);
  assign last_pass = (si_q == a_two) & (sj_q == w_two);
  assign last_pair = (f_q == 3'd0) & (s_q == 3'd0);  // weight 0 is reached by no other pair
  assign chunk_ready = a_full_i[bank_q] & w_full_i[bank_q];
  assign step = run_q & ~init_q & chunk_ready & en_i;
  assign digit_o = step & (idle_q == '0);
  assign idle_o = step & (idle_q != '0);
  assign pass_end = digit_o & last_pair;
  assign chunk_done_o = pass_end & last_pass;
  assign free_o[0] = chunk_done_o & ~bank_q;
  assign free_o[1] = chunk_done_o & bank_q;

  // Digits of super-digit `second` of an operand of `bits` bits at radix `radix`: ceil(width/radix).
  function automatic logic [3:0] digits(input logic [bc_pkg::BITS_W-1:0] bits, input logic second,
                                        input int radix);
    if (second) digits = 4'((32'(bits) - bc_pkg::SUPER + radix - 1) / radix);
    else if (bits > bc_pkg::BITS_W'(bc_pkg::SUPER)) digits = 4'(bc_pkg::SUPER / radix);
    else digits = 4'((32'(bits) + radix - 1) / radix);
  endfunction

  // Current pass.
  logic [3:0] na, nw, nf, ns;
  assign na = digits(a_bits_i, si_q, RA);
  assign nw = digits(w_bits_i, sj_q, RW);
  assign nf = AFast ? na : nw;
  assign ns = AFast ? nw : na;

  // Next pair: along the same weight while it lasts, else the largest f of the next lower weight
  // that has a pair. At most four weights are looked at: a hole is never wider.
  logic [2:0] f_next, s_next, d_next;
  logic [5:0] u_now;
  assign u_now = 6'(f_q) + (6'(s_q) << LgQR);

  always_comb begin
    logic       found;
    logic [5:0] u, f, s, top;
    f_next = f_q;
    s_next = s_q;
    d_next = 3'd0;
    found = 1'b0;
    u = '0;
    f = '0;
    s = '0;
    top = 6'(nf) - 6'd1;
    if (6'(f_q) >= 6'(QR) && 4'(s_q) + 4'd1 < ns) begin
      f_next = 3'(6'(f_q) - 6'(QR));
      s_next = s_q + 3'd1;
      found = 1'b1;
    end
    for (int drop = 1; drop <= 4; drop++) begin
      if (!found && u_now >= 6'(drop)) begin
        u = u_now - 6'(drop);
        // Largest f <= nf-1 with the residue of u; if there is none, the weight is a hole.
        f = (top & 6'(64 - QR)) | (u & 6'(QR - 1));
        if (f > top) f = f - 6'(QR);
        if (!f[5]) begin
          if (f > u) f = u;
          s = (u - f) >> LgQR;
          if (s < 6'(ns)) begin
            f_next = f[2:0];
            s_next = s[2:0];
            d_next = 3'(drop * RMin);
            found = 1'b1;
          end
        end
      end
    end
  end

  // First pair and idle cycles of the pass that comes next (or of the first one, from init).
  logic       si_next, sj_next;
  logic [3:0] na_next, nw_next;
  logic [6:0] pairs_next;
  assign sj_next = (init_q | last_pass | (sj_q == w_two)) ? 1'b0 : 1'b1;
  assign si_next = (init_q | last_pass) ? 1'b0 : (sj_q == w_two) ? 1'b1 : si_q;
  assign na_next = digits(a_bits_i, si_next, RA);
  assign nw_next = digits(w_bits_i, sj_next, RW);
  assign pairs_next = 7'(na_next) * 7'(nw_next);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      run_q      <= 1'b0;
      init_q     <= 1'b0;
      bank_q     <= 1'b0;
      acc_bank_q <= 1'b0;
      si_q       <= 1'b0;
      sj_q       <= 1'b0;
      f_q        <= 3'd0;
      s_q        <= 3'd0;
      d_q        <= 3'd0;
      first_q    <= 1'b0;
      idle_q     <= '0;
    end else begin
      init_q <= start_i;
      if (start_i) run_q <= 1'b1;
      if (init_q | pass_end) begin
        si_q    <= si_next;
        sj_q    <= sj_next;
        f_q     <= AFast ? 3'(na_next - 4'd1) : 3'(nw_next - 4'd1);
        s_q     <= AFast ? 3'(nw_next - 4'd1) : 3'(na_next - 4'd1);
        d_q     <= 3'd0;
        first_q <= 1'b1;
        idle_q  <= (pairs_next < 7'(S)) ? IdleW'(7'(S) - pairs_next) : '0;
      end else if (digit_o) begin
        f_q     <= f_next;
        s_q     <= s_next;
        d_q     <= d_next;
        first_q <= 1'b0;
      end else if (idle_o) begin
        idle_q <= idle_q - 1'b1;
      end
      if (chunk_done_o) begin
        bank_q <= ~bank_q;
        if (last_k_i) begin
          acc_bank_q <= ~acc_bank_q;
          if (last_tile_i) run_q <= 1'b0;
        end
      end
    end
  end

  logic [2:0] ia, jw;
  assign ia = AFast ? f_q : s_q;
  assign jw = AFast ? s_q : f_q;

  assign bank_o = bank_q;
  assign a_digit_o = (si_q ? 4'(DigitsA) : 4'd0) + 4'(ia);
  assign w_digit_o = (sj_q ? 4'(DigitsW) : 4'd0) + 4'(jw);
  assign a_neg_o = a_signed_i & (si_q == a_two) & (4'(ia) + 4'd1 == na);
  assign w_neg_o = w_signed_i & (sj_q == w_two) & (4'(jw) + 4'd1 == nw);
  assign first_o = first_q;
  assign d_o = d_q;
  assign last_o = last_pair;
  assign shift_o = {1'b0, si_q} + {1'b0, sj_q};
  assign load_o = first_k_i & ~si_q & ~sj_q;
  assign tile_last_o = last_k_i & last_pass;
  assign acc_bank_o = acc_bank_q;

endmodule
