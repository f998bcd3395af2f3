// Constants shared by the array's modules and by whoever drives its ports.
package bc_pkg;

  // Width of the descriptor's M, N and K.
  parameter int DIM_W = 32;
  // Width of the descriptor's operand widths (1 to 16 bits).
  parameter int BITS_W = 5;
  // Operands wider than this run as super-digits of this many bits, the top one shorter.
  parameter int SUPER = 8;

  // Why a descriptor was refused.
  typedef enum logic [1:0] {
    CauseNone      = 2'd0,
    CauseDimZero   = 2'd1,  // M, N or K is 0
    CauseWidthZero = 2'd2,  // a width is 0
    CauseWidthOver = 2'd3   // a width is over P_MAX
  } cause_e;

endpackage
