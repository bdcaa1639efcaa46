// Products of f32 whose factors the cube shortens.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int M = 16, K = 32, N = 16;
template <class T, int R, int C>
using View = GlobalTensor<T, Shape<1, 1, 1, R, C>, Stride<R * C, R * C, R * C, C, 1>>;
template <int R, int C>
using Mat = Tile<TileType::Mat, float, R, C, BLayout::ColMajor, R, C, SLayout::RowMajor, 512>;
template <pipe_t A, pipe_t B> inline void order() { set_flag(A, B, EVENT_ID0), wait_flag(A, B, EVENT_ID0); }

// c holds the product in the mode, then that of whole f32.
__global__ AICORE void shortened(__gm__ float *a, __gm__ float *b, __gm__ float *c, int even)
{
#if defined(__DAV_CUBE__)
  Mat<M, K> la;
  Mat<K, N> lb;
  TileLeft<float, M, K> left;
  TileRight<float, K, N> right;
  TileAcc<float, M, N> sum;
  TASSIGN(la, 0x0);
  TASSIGN(lb, 0x4000);
  TASSIGN(left, 0x0);
  TASSIGN(right, 0x0);
  TASSIGN(sum, 0x0);
  View<float, M, K> ga(a);
  View<float, K, N> gb(b);
  View<float, M, N> first(c), second(c + M * N);
  TLOAD(la, ga);
  TLOAD(lb, gb);
  order<PIPE_MTE2, PIPE_MTE1>();
  TMOV(left, la);
  TMOV(right, lb);
  order<PIPE_MTE1, PIPE_M>();
  left.SetMadTF32Mode(even ? RoundMode::CAST_RINT : RoundMode::CAST_ROUND);
  TMATMUL(sum, left, right);
  left.ResetMadMode();
  order<PIPE_M, PIPE_FIX>();
  TSTORE(first, sum);
  order<PIPE_FIX, PIPE_M>();
  TMATMUL(sum, left, right);
  order<PIPE_M, PIPE_FIX>();
  TSTORE(second, sum);
#endif
}
