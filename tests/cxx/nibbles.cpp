// Windows of packed pairs between vector tiles.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int R = 16, C = 64;
template <class T, int Rows, int Cols> using Plain = Tile<TileType::Vec, T, Rows, Cols>;
template <class T, int Rows, int Cols>
using Boxes = Tile<TileType::Vec, T, Rows, Cols, BLayout::ColMajor, Rows, Cols, SLayout::RowMajor>;
using Pair = float4_e2m1x2_t;

// All of `a` lies in `x`; `c` begins as a copy of `b`, of which a window of `x` replaces a part.
template <class Src, class Dst> __global__ AICORE void window(
    __gm__ int8_t *a, __gm__ int8_t *b, __gm__ int8_t *c, int row, int col)
{
  constexpr int N = R * C;
  using All = GlobalTensor<int8_t, Shape<1, 1, 1, 1, N>, Stride<N, N, N, N, 1>>;
  Plain<int8_t, 1, N> x, y;
  Src src;
  Dst dst;
  TASSIGN(x, 0x0), TASSIGN(src, 0x0);
  TASSIGN(y, 0x1000), TASSIGN(dst, 0x1000);
  All from(a), start(b), to(c);
  TLOAD(x, from);
  TLOAD(y, start);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0), wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TEXTRACT(dst, src, row, col);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0), wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, y);
}

using Lines = Plain<Pair, 8, 32>;
using LineOne = Tile<TileType::Vec, Pair, 1, 32, BLayout::RowMajor, 1, 1>;
using BoxOne = Tile<TileType::Vec, Pair, R, C, BLayout::ColMajor, 1, 1, SLayout::RowMajor>;

void nibbles(int which, int8_t *a, int8_t *b, int8_t *c, int row, int col)
{
  switch (which) {
    case 0: window<Plain<Pair, R, C>, Lines><<<1, nullptr, nullptr>>>(a, b, c, row, col); break;
    case 1: window<Plain<Pair, R, C>, LineOne><<<1, nullptr, nullptr>>>(a, b, c, row, col); break;
    case 2: window<Boxes<Pair, R, C>, BoxOne><<<1, nullptr, nullptr>>>(a, b, c, row, col); break;
  }
}
