// Tiles that get their place by an assignment to `data()`, as kernels for the CPU simulator have it.
#include <pto/pto-inst.hpp>
using namespace pto;

using View = GlobalTensor<float, Shape<1, 1, 1, 8, 64>, Stride<512, 512, 512, 64, 1>>;
using Rows = Tile<TileType::Vec, float, 8, 64>;

// c = a + a by way of other names of the tile, one of which is moved elsewhere afterwards.
__global__ AICORE void assigned(__gm__ float *a, __gm__ float *c)
{
  Rows x, y, same, moved;
  TASSIGN(x, 0x2000), TASSIGN(y, 0x4000);
  same.data() = x.data();
  moved.data() = x.data();
  TASSIGN(moved, 0x4000);
  View from(a), to(c);
  TLOAD(same, from);
  PtoSetWaitFlag<PIPE_MTE2, PIPE_V>();
  TADD(y, x, same);
  PtoSetWaitFlag<PIPE_V, PIPE_MTE3>();
  TSTORE(to, moved);
}
