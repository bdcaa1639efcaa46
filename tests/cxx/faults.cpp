// Kernels that go wrong, launched by `faults` by their numbers.
#include <pto/pto-inst.hpp>
using namespace pto;

using View = GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>>;
using Vec = Tile<TileType::Vec, float, 16, 64>;

template <int Which> __global__ AICORE void wrong(__gm__ float *a, __gm__ float *c, int zero)
{
  Vec x;
  TASSIGN(x, 0x0);
  View ga(a), gc(c);
  if (Which == 0) {  // an element that nothing wrote
    c[0] = 1;
    a[1] = x.GetValue(3);
  }
  TLOAD(x, ga);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0), wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  TSTORE(gc, x);
  if (Which == 1) *reinterpret_cast<volatile int *>(zero) = 1;
  if (Which == 2) c[0] = 7 / zero;
  if (Which == 3) std::abort();
  if (Which == 4) for (volatile int i = 0;; i = i + 1) {}
  if (Which == 5) throw 1;
  if (Which == 6) {
    View outside(c + 1000);
    TSTORE(outside, x);
  }
  if (Which == 7) {
    Tile<TileType::Vec, int32_t, 16, 64> n;
    TASSIGN(n, 0x4000);
    TADD(x, x, n);
  }
  if (Which == 8) std::exit(3);
  if (Which == 9) {  // no flag orders the load and the store
    Vec y;
    TASSIGN(y, 0x8000);
    TLOAD(y, ga);
    TSTORE(gc, y);
  }
  if (Which == 10) set_atomic_add();
  if (Which == 11 || Which == 12) {  // declared larger than UB, which boards take; 12: no flag
    Tile<TileType::Vec, float, 1024, 64, BLayout::RowMajor, 16, 64> large;
    TASSIGN(large, 0x8000);
    TLOAD(large, ga);
    if (Which == 11) PtoSetWaitFlag<PIPE_MTE2, PIPE_MTE3>();
    pipe_barrier(PIPE_MTE3);
    TSTORE(gc, large);
  }
  if (Which == 13) for (;;) TADD(x, x, x);
  if (Which == 14) c[0] = x.GetValue(1 << 18);
  if (Which == 15) x.SetValue(-1, 1.0f);
}

void faults(int which, float *a, float *c, int zero)
{
  constexpr auto stream = nullptr;
  switch (which) {
    case 0: wrong<0><<<1, nullptr, stream>>>(a, c, zero); break;
    case 1: wrong<1><<<1, nullptr, stream>>>(a, c, zero); break;
    case 2: wrong<2><<<1, nullptr, stream>>>(a, c, zero); break;
    case 3: wrong<3><<<1, nullptr, stream>>>(a, c, zero); break;
    case 4: wrong<4><<<1, nullptr, stream>>>(a, c, zero); break;
    case 5: wrong<5><<<1, nullptr, stream>>>(a, c, zero); break;
    case 6: wrong<6><<<1, nullptr, stream>>>(a, c, zero); break;
    case 7: wrong<7><<<1, nullptr, stream>>>(a, c, zero); break;
    case 8: wrong<8><<<1, nullptr, stream>>>(a, c, zero); break;
    case 9: wrong<9><<<1, nullptr, stream>>>(a, c, zero); break;
    case 10: wrong<10><<<1, nullptr, stream>>>(a, c, zero); break;
    case 11: wrong<11><<<1, nullptr, stream>>>(a, c, zero); break;
    case 12: wrong<12><<<1, nullptr, stream>>>(a, c, zero); break;
    case 13: wrong<13><<<1, nullptr, stream>>>(a, c, zero); break;
    case 14: wrong<14><<<1, nullptr, stream>>>(a, c, zero); break;
    case 15: wrong<15><<<1, nullptr, stream>>>(a, c, zero); break;
  }
}
