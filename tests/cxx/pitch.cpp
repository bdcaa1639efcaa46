// Views whose lines are not contiguous: the strides along a line are not 1.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int N = 8, STEP = 3;
using Places = Stride<64, 64, 64, STEP, STEP>;

// A line of N elements with a step between them, from `a` by the tile to `c`.
template <Layout How> __global__ AICORE void lines(__gm__ float *a, __gm__ float *c)
{
  constexpr bool down = How == Layout::DN;
  constexpr int R = down ? N : 1, C = down ? 1 : N;
  using View = GlobalTensor<float, Shape<1, 1, 1, R, C>, Places, How>;
  using Plain = GlobalTensor<float, Shape<1, 1, 1, R, C>, Stride<N, N, N, down ? 1 : N, down ? N : 1>, How>;
  Tile<TileType::Vec, float, R, C, down ? BLayout::ColMajor : BLayout::RowMajor> x;
  TASSIGN(x, 0x0);
  View from(a), to(c);
  Plain whole(c + 64);
  TLOAD(x, from);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0), wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, x);
  TSTORE(whole, x);
}

// Of `R` rows in boxes the tile has the first `Valid` ones; what is around them stays.
template <int Valid> __global__ AICORE void boxes(__gm__ float *a, __gm__ float *c)
{
  constexpr int R = 64, C = 16, C0 = 8, COUNT = R * C;
  using View = GlobalTensor<
      float, Shape<1, C / C0, R / 16, 16, C0>, Stride<COUNT, R * C0, 16 * C0, C0, 1>, Layout::NZ>;
  using All = GlobalTensor<float, Shape<1, 1, 1, 1, COUNT>, Stride<COUNT, COUNT, COUNT, COUNT, 1>>;
  Tile<TileType::Vec, float, R, C, BLayout::ColMajor, Valid, C, SLayout::RowMajor, 512> x;
  Tile<TileType::Vec, float, 1, COUNT> whole;
  TASSIGN(x, 0x0);
  TASSIGN(whole, 0x0);
  View from(a);
  All to(c);
  TEXPANDS(whole, -1.0f);
  set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0), wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  TLOAD(x, from);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0), wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, whole);
}
