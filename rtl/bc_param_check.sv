// Stops elaboration with a message where the parameters of the array break a rule.
module bc_param_check #(
    parameter int RA = 1,
    parameter int RW = 1,
    parameter int KL = 64,
    parameter int TM = 16,
    parameter int TN = 16,
    parameter int S = 8,
    parameter int BA = 8,
    parameter int BW = 8,
    parameter int AC_W = 24,
    parameter int ACC_W = 48,
    parameter int P_MAX = 16,
    parameter int Q = 16
) ();

  if (RA != 1 && RA != 2 && RA != 4 && RA != 8) begin : g_ra
    $fatal(1, "RA = %0d: must be 1, 2, 4 or 8", RA);
  end
  if (RW != 1 && RW != 2 && RW != 4 && RW != 8) begin : g_rw
    $fatal(1, "RW = %0d: must be 1, 2, 4 or 8", RW);
  end
  if (KL < 1 || KL > 256) begin : g_kl
    $fatal(1, "KL = %0d: must be 1 to 256", KL);
  end
  if (TM < 1 || TM > 64) begin : g_tm
    $fatal(1, "TM = %0d: must be 1 to 64", TM);
  end
  if (TN < 1 || TN > 64) begin : g_tn
    $fatal(1, "TN = %0d: must be 1 to 64", TN);
  end
  if (S < 1 || TM % S != 0) begin : g_s
    $fatal(1, "S = %0d: must divide TM = %0d", S, TM);
  end
  if (BA < 1 || (TM % BA != 0 && BA % TM != 0) || BA > TM * P_MAX) begin : g_ba
    $fatal(1, "BA = %0d: must divide TM = %0d or be a multiple of it, at most TM*P_MAX", BA, TM);
  end
  if (BW < 1 || (TN % BW != 0 && BW % TN != 0) || BW > TN * P_MAX) begin : g_bw
    $fatal(1, "BW = %0d: must divide TN = %0d or be a multiple of it, at most TN*P_MAX", BW, TN);
  end
  if (P_MAX < 1 || P_MAX > 16) begin : g_p_max
    $fatal(1, "P_MAX = %0d: must be 1 to 16", P_MAX);
  end
  if (AC_W > 32 || (64'd1 << (AC_W - 1)) <= 64'd65025 * KL) begin : g_ac_w
    $fatal(1, "AC_W = %0d: must be at most 32 with 2^(AC_W-1) > 65025*KL, KL = %0d", AC_W, KL);
  end
  if (ACC_W > 64 || ACC_W < AC_W + ((P_MAX > 8) ? 16 : 0)) begin : g_acc_w
    $fatal(1, "ACC_W = %0d: must be AC_W (+ 16 if P_MAX > 8) to 64", ACC_W);
  end
  if (Q < 1 || (TN % Q != 0 && Q % TN != 0) || Q > TM * TN) begin : g_q
    $fatal(1, "Q = %0d: must divide TN = %0d or be a multiple of it, at most TM*TN", Q, TN);
  end

endmodule
