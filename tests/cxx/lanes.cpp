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
