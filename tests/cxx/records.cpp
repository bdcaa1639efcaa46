// What a record tells otherwise than C++: numbers above the signed ones, views without an element,
// half bytes; and what the headers refuse but hardware takes.
#include <pto/pto-inst.hpp>
using namespace pto;

__global__ AICORE void bits(__gm__ uint16_t *a, __gm__ uint16_t *c, int rows)
{
  using Rows = Tile<TileType::Vec, uint16_t, 8, 64, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
  using View = GlobalTensor<uint16_t, Shape<1, 1, 1, DYNAMIC, 64>, Stride<512, 512, 512, 64, 1>>;
  Rows x(8, 64), none(rows, 64), z(8, 64);
  TASSIGN(x, 0x0);
  TASSIGN(none, 0x400);
  TASSIGN(z, 0x800);
  View whole(a, {8}), nothing(a, {rows}), out(c, {8});
  TLOAD(x, whole);
  TLOAD(none, nothing);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0), wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TORS(z, x, uint16_t(40000));
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0), wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(out, z);
}

using F4 = float4_e2m1x2_t;
template <int Count> __global__ AICORE void packed(__gm__ F4 *x, __gm__ F4 *y)
{
  using View = GlobalTensor<F4, Shape<1, 1, 1, 2, Count>, Stride<1, 1, 1, Count, 1>>;
  View from(x), to(y);
  Tile<TileType::Vec, F4, 2, 64, BLayout::RowMajor, 2, Count> t;
  TASSIGN(t, 0x0);
  TLOAD(t, from);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0), wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, t);
}

__global__ AICORE void boxed(__gm__ half *x)
{
  GlobalTensor<half, Shape<1, 1, 1, 32, 32>, Stride<1024, 1024, 1024, 32, 1>> rows(x);
  Tile<TileType::Vec, half, 32, 32, BLayout::ColMajor, 32, 32, SLayout::RowMajor> boxes;
  TASSIGN(boxes, 0x0);
  TLOAD(boxes, rows);
}

__global__ AICORE void nearer(__gm__ float *x, __gm__ uint8_t *room, __gm__ float *done)
{
  GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>> line(x);
  PrefetchAsyncContext context(room);
  auto event = TPREFETCH_ASYNC(line, context);
  done[0] = event.Wait(context.GetSession()) && event.Test(context.GetSession());
  Tile<TileType::Vec, float, 1, 64> t;
  TASSIGN(t, 0x0);
  TLOAD(t, line);
}
