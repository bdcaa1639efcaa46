// Vector cores of one block do different things.
#include <pto/pto-inst.hpp>
using namespace pto;

__global__ AICORE void lanes(__gm__ float *a, __gm__ float *c)
{
#if defined(__DAV_CUBE__)
  pipe_barrier(PIPE_ALL);
#endif
#if defined(__DAV_VEC__)
  using View = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>>;
  const int at = 64 * get_subblockid();
  Tile<TileType::Vec, float, 1, 64> x;
  TASSIGN(x, 0x0);
  View in(a + at), out(c + at);
  TLOAD(x, in);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0), wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  if (get_subblockid()) TMULS(x, x, 3.0f);
  else TADDS(x, x, 1.0f);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0), wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(out, x);
#endif
}

// Block 0 starts elsewhere: the addresses of the others, continued to it, lie before the array.
__global__ AICORE void rotated(__gm__ float *a, __gm__ float *c)
{
#if defined(__DAV_VEC__)
  using View = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>>;
  const int block = get_block_idx();
  Tile<TileType::Vec, float, 1, 64> x;
  TASSIGN(x, 0x0);
  View in(a + 64 * (block ? block - 1 : 2)), out(c + 64 * block);
  if (!block) set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1), wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
  TLOAD(x, in);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0), wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  if (!get_subblockid()) TSTORE(out, x);
#endif
}
