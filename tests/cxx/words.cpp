// Kernels whose calls a test reads word by word; `all` launches the one of a number.
#include <acl/acl.h>
#include <pto/pto-inst.hpp>
#include <runtime/rt.h>

#include <stdexcept>
using namespace pto;

using Plain = Tile<TileType::Vec, float, 16, 64>;
using Open = Tile<TileType::Vec, half, 16, 64, BLayout::RowMajor, DYNAMIC, DYNAMIC>;
using Wide = Tile<TileType::Vec, float, 16, 64, BLayout::RowMajor, 16, DYNAMIC>;

__global__ AICORE void tiles() {
  Plain a;
  Open b(3, 5);
  Wide c(7);
  TASSIGN(a, 0x100);
  TASSIGN<0x200>(b);
  TABS(a, b);
  b.SetValidShape(2, 4);
  b.SetValidRow(b.GetValidRow() + 1);
  static_assert(Plain::GetValidRow() == 16 && Plain::GetValidCol() == 64);
  TABS(c, b);
  TileLeft<half, 32, 16> l;
  TASSIGN(l, 0);
  TASSIGN(a, (uint64_t)a.data() + 32);
  TABS(a, l);
}

__global__ AICORE void views(__gm__ float *p, int n) {
  GlobalTensor<float, Shape<1, 1, 1, DYNAMIC, 8>, Stride<8, 8, 8, 8, 1>> a(p, {n});
  GlobalTensor<int8_t, Shape<>, Stride<>, Layout::DN> b((int8_t *)p, Shape(1, 2, 3, 4, n), {9, 8, 7, 6, 5});
  GlobalTensor<half, TileShape2D<half, 32, DYNAMIC, Layout::NZ>, BaseShape2D<half, 32, DYNAMIC, Layout::NZ>, Layout::NZ>
      c((half *)p + 4, {32, n}, {32, n});
  a.SetShape<3>(n + 1);
  static_assert(decltype(a)::GetShape<4>() == 8);
  TABS(a, b);
  TASSIGN(a, p + 16);
  TABS(a, c);
}

__global__ AICORE void numbers() {
  uint16_t small = 65535;
  TABS(int8_t(-1), small, true, 1.5f, half(0.5f), bfloat16_t(2.0f), 0.1, 'a');
  TRandomKey key{1, 2};
  MrgSortExecutedNumList counts{};
  float *none = nullptr;
  TABS(key, counts, none, RoundMode::CAST_ODD, PadValueCustom(-1.0f));
}

template <class T, bool Flag> AICORE void choose() {
  Plain a;
  TASSIGN(a, 0);
  TABS<T, Plain, STPhase::Final, Flag, 3>(a);
  TABS<AccPhase::Partial, Plain>(a);
  TABS<T>(2);
  TABS_IMPL<Plain, Plain>(a);
}
__global__ AICORE void templates() { choose<half, true>(); }

__global__ AICORE void events() {
  Plain a;
  TASSIGN(a, 0);
  Event<Op::TLOAD, Op::TADD> first = TABS(a), second = TABS(a);
  Event<Op::TLOAD, Op::TMUL, false, EVENT_ID5> third;
  third = TABS(a);
  TABS(a, first, second);
  TSYNC(third);
  Event<Op::TADD, Op::TMUL> same = TABS(a);
  same.Wait();
  Event<Op::TSTORE_VEC, Op::TSTORE_VEC> stored = TABS(a);
  stored.Wait();
  TSYNC<Op::TSTORE_VEC>();
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID3);
  pipe_barrier(PIPE_ALL);
  PtoSetWaitFlag<PIPE_V, PIPE_S>();
}

__global__ AICORE void scalars() {
  Plain a;
  TASSIGN(a, 0x40);
  a.SetValue(3, a.GetValue(2) + 1);
  Plain homeless;
  homeless.SetValue(0, 1);
  TABS(homeless);
}

__global__ AICORE void pipes(__gm__ float *p) {
  TPipe<2, DIR_C2V, 1024, 4, 2> pipe((__gm__ void *)p, 0x10, 0x20);
  Plain a;
  TPUSH<decltype(pipe), Plain, TILE_UP_DOWN>(pipe, a);
  TFREE<decltype(pipe), TILE_NO_SPLIT>(pipe);
}

__global__ AICORE void convolutions() {
  ConvTile<TileType::Mat, half, 4096, Layout::NC1HWC0, ConvTileShape<1, DYNAMIC, 4, 4, 16>> a(2);
  TASSIGN(a, 0x80);
  a.SetFmapH(4);
  a.SetPadValue(half(2));
  const uint8_t pads[4] = {1, 2, 3, 4};
  a.SetPadListArray(pads);
  TABS(a);
}

__global__ AICORE void signals() {
  ffts_cross_core_sync(PIPE_MTE3, getFFTSMsg(2, 7));
  wait_flag_dev(3);
  set_intra_block(PIPE_FIX, 17);
  wait_cross_block(PIPE_V, 4);
  dcci((__gm__ void *)nullptr, ENTIRE_DATA_CACHE);
  uint64_t messages;
  uint32_t size;
  rtGetC2cCtrlAddr(&messages, &size);
  st_dev(getFFTSMsg(2, 5), (__gm__ uint64_t *)messages, 0);
}

__global__ AICORE void throws() { throw std::runtime_error("a reason"); }
__global__ AICORE void traps() { trap(); }
__global__ AICORE void places() { TABS(get_block_idx(), block_num, get_subblockid()); }

void all(int which, float *p, int n) {
  if (which == 0) tiles<<<1, nullptr, nullptr>>>();
  if (which == 1) views<<<1, nullptr, nullptr>>>(p, n);
  if (which == 2) numbers<<<1, nullptr, nullptr>>>();
  if (which == 3) templates<<<1, nullptr, nullptr>>>();
  if (which == 4) events<<<1, nullptr, nullptr>>>();
  if (which == 5) scalars<<<1, nullptr, nullptr>>>();
  if (which == 6) pipes<<<1, nullptr, nullptr>>>(p);
  if (which == 7) convolutions<<<1, nullptr, nullptr>>>();
  if (which == 8) signals<<<1, nullptr, nullptr>>>();
  if (which == 9) throws<<<1, nullptr, nullptr>>>();
  if (which == 10) traps<<<1, nullptr, nullptr>>>();
  if (which == 11) places<<<3, nullptr, nullptr>>>();
  void *made = nullptr;
  if (which == 12 && aclrtMalloc(&made, 100, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS) aclrtFree(made);
}
