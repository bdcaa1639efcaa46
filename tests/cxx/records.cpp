// What a record tells otherwise than C++: numbers above the signed ones, views without an element.
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
