// A kernel for automatic mode: tiles without addresses, events that order nothing.
#include <pto/pto-inst.hpp>
using namespace pto;
__global__ AICORE void add(__gm__ float *c, __gm__ float *a, __gm__ float *b, int n) {
  using G = GlobalTensor<float, Shape<1, 1, 1, DYNAMIC, 64>, Stride<1, 1, 1, 64, 1>>;
  using D = Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, DYNAMIC, 64>;
  G ga(a, {n}), gb(b, {n}), gc(c, {n});
  D x(n), y(n), z(n);
  Event<Op::TLOAD, Op::TADD> e, f;
  e = TLOAD(x, ga);
  f = TLOAD(y, gb);
  Event<Op::TADD, Op::TSTORE_VEC> g = TADD(z, x, y, e, f);
  z.SetValue(0, z.GetValue(1) + 5);
  TSTORE(gc, z, g);
}
