// C = A x B over two halves of L1: one is loaded while the other one is multiplied.
// With -DFORGOTTEN nothing says when a half is free again.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int M = 64, N = 64, K = 256, STEP = 64;

extern "C" __global__ AICORE void gemm(__gm__ half *a, __gm__ half *b, __gm__ float *c)
{
  using Panel = Tile<TileType::Mat, half, 64, 64, BLayout::ColMajor, 64, 64, SLayout::RowMajor>;
  Panel pa[2], pb[2];
  TileLeft<half, 64, 64> left;
  TileRight<half, 64, 64> right;
  TileAcc<float, 64, 64> acc;
  for (int n = 0; n < 2; ++n) {
    TASSIGN(pa[n], n * 0x2000);
    TASSIGN(pb[n], 0x8000 + n * 0x2000);
  }
  TASSIGN(left, 0x0);
  TASSIGN(right, 0x0);
  TASSIGN(acc, 0x0);

  for (int n = 0; n < 2; ++n)
    set_flag(PIPE_MTE1, PIPE_MTE2, (event_t)n);  // both halves are free
  set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  for (int k = 0, n = 0; k < K; k += STEP, n ^= 1) {
    GlobalTensor<half, Shape<1, 1, 1, M, STEP>, Stride<1, 1, 1, K, 1>> from_a(a + k);
    GlobalTensor<half, Shape<1, 1, 1, STEP, N>, Stride<1, 1, 1, N, 1>> from_b(b + k * N);
#ifndef FORGOTTEN
    wait_flag(PIPE_MTE1, PIPE_MTE2, (event_t)n);
#endif
    TLOAD(pa[n], from_a);
    TLOAD(pb[n], from_b);
    set_flag(PIPE_MTE2, PIPE_MTE1, (event_t)n);
    wait_flag(PIPE_MTE2, PIPE_MTE1, (event_t)n);
    wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
    TMOV(left, pa[n]);
    TMOV(right, pb[n]);
#ifndef FORGOTTEN
    set_flag(PIPE_MTE1, PIPE_MTE2, (event_t)n);
#endif
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    if (k == 0)
      TMATMUL(acc, left, right);
    else
      TMATMUL_ACC(acc, acc, left, right);
    set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  }
  wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  for (int n = 0; n < 2; ++n)
    wait_flag(PIPE_MTE1, PIPE_MTE2, (event_t)n);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  GlobalTensor<float, Shape<1, 1, 1, M, N>, Stride<1, 1, 1, N, 1>> to_c(c);
  TSTORE(to_c, acc);
}
