// c = a + b, a block of rows x cols for each core.
#include <pto/pto-inst.hpp>
using namespace pto;

template <typename T, int rows, int cols>
__global__ AICORE void add(__gm__ T *a, __gm__ T *b, __gm__ T *c)
{
  using View = GlobalTensor<T, Shape<1, 1, 1, rows, cols>, Stride<1, 1, 1, cols, 1>>;
  using Block = Tile<TileType::Vec, T, rows, cols>;
  const int64_t first = get_block_idx() * rows * cols;
  View from_a(a + first), from_b(b + first), to_c(c + first);
  Block x, y, z;
  TASSIGN(x, 0x0);
  TASSIGN(y, 0x4000);
  TASSIGN(z, 0x8000);
  TLOAD(x, from_a);
  TLOAD(y, from_b);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TADD(z, x, y);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(to_c, z);
}
