// Kernels that go wrong, launched by `faults` by their numbers.
#include <pto/pto-inst.hpp>
using namespace pto;

using View = GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>>;
using Vec = Tile<TileType::Vec, float, 16, 64>;

struct Own {
  double first, second;
};
enum class Unplaced { Tile, View, Object, Layout, Text, Event, Extent, Pointer, Buffer, Below };

// Kernels of types and numbers that no instruction takes.
template <Unplaced Which> __global__ AICORE void unplaced(__gm__ float *a, __gm__ float *c, int zero)
{
  Vec x;
  TASSIGN(x, 0x0);
  View ga(a), gc(c);
  TLOAD(x, ga);
  if constexpr (Which == Unplaced::Tile) {
    Tile<TileType::Vec, double, 16, 64> wide;
    TASSIGN(wide, 0x4000);
    TADD(wide, wide, wide);
  } else if constexpr (Which == Unplaced::View) {
    GlobalTensor<long double, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>> ld((long double *)a);
    TLOAD(x, ld);
  } else if constexpr (Which == Unplaced::Object) {
    Own own{};
    TADDS(x, x, own);
  } else if constexpr (Which == Unplaced::Layout) {
    ConvTile<TileType::Mat, half, 1024, Layout::NHWC, ConvTileShape<1, 4, 4, 16>> images;
    images.data()[0] = 0;
    TASSIGN(images, 0x0);
    TLOAD(images, ga);
  } else if constexpr (Which == Unplaced::Text) {
    Tile<TileType::Vec, Own, 16, 64> owns;
    owns.data();
  } else if constexpr (Which == Unplaced::Event) {
    set_flag(PIPE_MTE2, PIPE_MTE3, static_cast<event_t>(9 + zero));
  } else if constexpr (Which == Unplaced::Extent) {
    Vec other(63 + zero);
  } else if constexpr (Which == Unplaced::Pointer) {
    View odd((float *)((char *)c + 2));
    TSTORE(odd, x);
  } else if constexpr (Which == Unplaced::Buffer) {
    get_buf(PIPE_MTE2, c);
  } else if constexpr (Which == Unplaced::Below) {
    TMovToVecNd2Nz<float, Vec, Vec>(x.data());
  }
}

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
    case 16: unplaced<Unplaced::Tile><<<1, nullptr, stream>>>(a, c, zero); break;
    case 17: unplaced<Unplaced::View><<<1, nullptr, stream>>>(a, c, zero); break;
    case 18: unplaced<Unplaced::Object><<<1, nullptr, stream>>>(a, c, zero); break;
    case 19: unplaced<Unplaced::Layout><<<1, nullptr, stream>>>(a, c, zero); break;
    case 20: unplaced<Unplaced::Text><<<1, nullptr, stream>>>(a, c, zero); break;
    case 21: unplaced<Unplaced::Event><<<1, nullptr, stream>>>(a, c, zero); break;
    case 22: unplaced<Unplaced::Extent><<<1, nullptr, stream>>>(a, c, zero); break;
    case 23: unplaced<Unplaced::Pointer><<<1, nullptr, stream>>>(a, c, zero); break;
    case 25: unplaced<Unplaced::Buffer><<<1, nullptr, stream>>>(a, c, zero); break;
    case 26: unplaced<Unplaced::Below><<<1, nullptr, stream>>>(a, c, zero); break;
    case 24: Vec().SetValue(0, 1.0f); break;  // the host has no tiles
  }
}
