// A kernel whose text for the cube loads what its text for vector cores adds and stores.
#include <pto/pto-inst.hpp>
using namespace pto;

__global__ AICORE void both(__gm__ float *a, __gm__ float *c)
{
  using Line = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>>;
  Tile<TileType::Vec, float, 1, 64> x;
  TASSIGN(x, 0x0);
  Line from(a), to(c);
#if defined(__DAV_CUBE__)
  TLOAD(x, from);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0), wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
#endif
#if defined(__DAV_VEC__)
  TADDS(x, x, 1.0f);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0), wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, x);
#endif
}
