// Refuses parameters of the machine that the design cannot be built with. Simulation only; the array
// checks its own.
module bc_machine_check #(
    parameter int KL = 64,
    parameter int TM = 16,
    parameter int TN = 16,
    parameter int ACC_W = 48,
    parameter int GL = 16,
    parameter int DW = 512,
    parameter int L1A_D = 2048,
    parameter int L1W_D = 2048,
    parameter int OB_D = 2048,
    parameter int PS_D = 1024,
    parameter int QD = 4,
    parameter int OUT = 16,
    parameter int BURST = 64
) ();

  if (KL != 2 ** $clog2(KL)) $error("KL must be a power of two in a machine");
  if (TM != 2 ** $clog2(TM)) $error("TM must be a power of two in a machine");
  if (TN != 2 ** $clog2(TN)) $error("TN must be a power of two in a machine");
  if (GL != ((KL < 16) ? KL : 16)) $error("GL must be min(16, KL)");
  if (ACC_W > 48) $error("ACC_W must be at most 48 in a machine");
  if (DW < 8 || DW > 1024 || DW != 2 ** $clog2(DW) || DW < GL)
    $error("DW must be a power of two from max(8, GL) to 1024");
  if (L1A_D < 2 || L1A_D != 2 ** $clog2(L1A_D)) $error("L1A_D must be a power of two, at least 2");
  if (L1W_D < 2 || L1W_D != 2 ** $clog2(L1W_D)) $error("L1W_D must be a power of two, at least 2");
  if (OB_D < 2 || OB_D != 2 ** $clog2(OB_D)) $error("OB_D must be a power of two, at least 2");
  if (PS_D < 2 || PS_D != 2 ** $clog2(PS_D)) $error("PS_D must be a power of two, at least 2");
  if (QD < 1 || QD != 2 ** $clog2(QD)) $error("QD must be a power of two");
  if (OUT < 1 || OUT != 2 ** $clog2(OUT)) $error("OUT must be a power of two");
  if (BURST < 1 || BURST > 256 || BURST != 2 ** $clog2(BURST))
    $error("BURST must be a power of two, at most 256");

endmodule
