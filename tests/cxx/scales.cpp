// Scales in boxes of 32 bytes go from a vector core to L1 and back below the instructions.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int R = 32, C = 4, IN = 16;
template <TileType L, int Rows, int Cols> using Boxes =
    Tile<L, float8_e8m0_t, Rows, Cols, BLayout::RowMajor, Rows, Cols, SLayout::RowMajor, 32>;

// The boxes of `b` come into those of `a`, from row `row` on.
template <int Cols> __global__ AICORE void inserted(__gm__ int8_t *a, __gm__ int8_t *b, __gm__ int8_t *c, int row)
{
  Tile<TileType::Vec, int8_t, 1, R * C> x, y;
  Tile<TileType::Vec, int8_t, 1, IN * C> z;
  Boxes<TileType::Vec, R, C> all;
  Boxes<TileType::Vec, IN, Cols> some;
  Boxes<TileType::Mat, R, C> whole;
  TASSIGN(x, 0x0), TASSIGN(all, 0x0);
  TASSIGN(z, 0x1000), TASSIGN(some, 0x1000);
  TASSIGN(y, 0x2000), TASSIGN(whole, 0x0);
#if defined(__DAV_VEC__)
  if (get_subblockid() == 0) {
    GlobalTensor<int8_t, Shape<1, 1, 1, 1, R * C>, Stride<R * C, R * C, R * C, R * C, 1>> from(a);
    GlobalTensor<int8_t, Shape<1, 1, 1, 1, IN * C>, Stride<IN * C, IN * C, IN * C, IN * C, 1>> part(b);
    TLOAD(x, from);
    TLOAD(z, part);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0), wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TINSERT(whole, all, 0, 0);
    pipe_barrier(PIPE_ALL);
    TINSERT(whole, some, row, 0);
    pipe_barrier(PIPE_ALL);
    set_intra_block(PIPE_MTE3, 0);
    wait_intra_block(PIPE_MTE3, 1);
    GlobalTensor<int8_t, Shape<1, 1, 1, 1, R * C>, Stride<R * C, R * C, R * C, R * C, 1>> to(c);
    TSTORE(to, y);
  }
#endif
#if defined(__DAV_CUBE__)
  wait_intra_block(PIPE_MTE1, 0);
  copy_cbuf_to_ubuf((__ubuf__ void *)y.data(), (__cbuf__ void *)whole.data(), 0, 1, R * C / 32, 0, 0);
  set_intra_block(PIPE_MTE1, 1);
#endif
}
