// Kernels with a text for each kind of core, launched by `mixed` by their numbers.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int M = 32, K = 64, N = 32;
template <class T, int R, int C>
using View = GlobalTensor<T, Shape<1, 1, 1, R, C>, Stride<R * C, R * C, R * C, C, 1>>;
template <class T, int R, int C>
using Mat = Tile<TileType::Mat, T, R, C, BLayout::ColMajor, R, C, SLayout::RowMajor, 512>;
template <class T, int R, int C> using Vec = Tile<TileType::Vec, T, R, C>;

template <pipe_t A, pipe_t B> inline void order(event_t id = EVENT_ID0) { set_flag(A, B, id), wait_flag(A, B, id); }

// The cube hands its product to the vector cores, each of which doubles half of the rows.
__global__ AICORE void handed(__gm__ half *a, __gm__ half *b, __gm__ float *c, __gm__ float *slots)
{
  using Pipe = TPipe<0, Direction::DIR_C2V, M * N * 4, 2>;
  Pipe pipe((__gm__ void *)slots, 0x0, 0x0);
#if defined(__DAV_CUBE__)
  TileAcc<float, M, N> sum;
  TASSIGN(sum, 0x0);
  Mat<half, M, K> la;
  Mat<half, K, N> lb;
  TASSIGN(la, 0x0);
  TASSIGN(lb, 0x4000);
  View<half, M, K> ga(a);
  View<half, K, N> gb(b);
  TLOAD(la, ga);
  TLOAD(lb, gb);
  order<PIPE_MTE2, PIPE_MTE1>();
  TileLeft<half, M, K> left;
  TileRight<half, K, N> right;
  TASSIGN(left, 0x0);
  TASSIGN(right, 0x0);
  TMOV(left, la);
  TMOV(right, lb);
  order<PIPE_MTE1, PIPE_M>();
  TMATMUL(sum, left, right);
  order<PIPE_M, PIPE_FIX>();
  TPUSH<Pipe, TileAcc<float, M, N>, TileSplitAxis::TILE_UP_DOWN>(pipe, sum);
#endif
#if defined(__DAV_VEC__)
  using Half = Vec<float, M / 2, N>;
  Half x, z;
  TASSIGN(z, 0x8000);
  TPOP<Pipe, Half, TileSplitAxis::TILE_UP_DOWN>(pipe, x);
  order<PIPE_MTE2, PIPE_V>();
  TMULS(z, x, 2.0f);
  order<PIPE_V, PIPE_MTE3>();
  View<float, M / 2, N> gc(c + get_subblockid() * (M / 2) * N);
  TSTORE(gc, z);
  TFREE<Pipe, TileSplitAxis::TILE_UP_DOWN>(pipe);
#endif
}

// The fix-pipe converts what the cube pushes.
template <class Out, QuantMode_t How, ReluPreMode Relu>
__global__ AICORE void converted(__gm__ half *a, __gm__ half *b, __gm__ Out *c, __gm__ float *slots)
{
  using Pipe = TPipe<0, Direction::DIR_C2V, M * N * 4, 2>;
  Pipe pipe((__gm__ void *)slots, 0x0, 0x0);
#if defined(__DAV_CUBE__)
  TileAcc<float, M, N> sum;
  TASSIGN(sum, 0x0);
  Mat<half, M, K> la;
  Mat<half, K, N> lb;
  TASSIGN(la, 0x0);
  TASSIGN(lb, 0x4000);
  View<half, M, K> ga(a);
  View<half, K, N> gb(b);
  TLOAD(la, ga);
  TLOAD(lb, gb);
  order<PIPE_MTE2, PIPE_MTE1>();
  TileLeft<half, M, K> left;
  TileRight<half, K, N> right;
  TASSIGN(left, 0x0);
  TASSIGN(right, 0x0);
  TMOV(left, la);
  TMOV(right, lb);
  order<PIPE_MTE1, PIPE_M>();
  TMATMUL(sum, left, right);
  order<PIPE_M, PIPE_FIX>();
  if constexpr (sizeof(Out) == 1) SET_QUANT_SCALAR<Out>(0.25f);
  TPUSH<Pipe, TileAcc<float, M, N>, FixpipeParams<LayoutMode_t::NZ2ND, How, Relu>>(pipe, sum);
#endif
#if defined(__DAV_VEC__)
  if (get_subblockid() != 0) return;
  Vec<Out, M, N> x;
  TPOP<Pipe, Vec<Out, M, N>, TileSplitAxis::TILE_NO_SPLIT>(pipe, x);
  order<PIPE_MTE2, PIPE_MTE3>();
  View<Out, M, N> gc(c);
  TSTORE(gc, x);
  TFREE<Pipe, TileSplitAxis::TILE_NO_SPLIT>(pipe);
#endif
}

// Each vector core receives half of the rows that are valid in an accumulator.
__global__ AICORE void halves(__gm__ half *a, __gm__ half *b, __gm__ float *c)
{
  using Half = Tile<TileType::Vec, float, M / 2, N>;
  Half x;
  TASSIGN(x, 0x0);
#if defined(__DAV_CUBE__)
  TileAcc<float, M, N, M - 4, N> sum;
  TASSIGN(sum, 0x0);
  Mat<half, M, K> la;
  Mat<half, K, N> lb;
  TASSIGN(la, 0x0);
  TASSIGN(lb, 0x4000);
  View<half, M, K> ga(a);
  View<half, K, N> gb(b);
  TLOAD(la, ga);
  TLOAD(lb, gb);
  order<PIPE_MTE2, PIPE_MTE1>();
  TileLeft<half, M, K, M - 4, K> left;
  TileRight<half, K, N> right;
  TASSIGN(left, 0x0);
  TASSIGN(right, 0x0);
  TMOV(left, la);
  TMOV(right, lb);
  order<PIPE_MTE1, PIPE_M>();
  TMATMUL(sum, left, right);
  order<PIPE_M, PIPE_FIX>();
  TMOV<Half, TileAcc<float, M, N, M - 4, N>, AccToVecMode::DualModeSplitM>(x, sum);
  set_intra_block(PIPE_FIX, 0);
  set_intra_block(PIPE_FIX, 16);
#endif
#if defined(__DAV_VEC__)
  wait_intra_block(PIPE_MTE3, 0);
  View<float, M / 2 - 2, N> gc(c + get_subblockid() * (M / 2 - 2) * N);
  Tile<TileType::Vec, float, M / 2, N, BLayout::RowMajor, M / 2 - 2, N> y;
  TASSIGN(y, 0x0);
  TSTORE(gc, y);
#endif
}

// Lines of blocks from global memory to L1, to both vector cores, and back: below the instructions.
__global__ AICORE void bursts(__gm__ half *a, __gm__ float *c)
{
  Tile<TileType::Mat, half, 8, 64> l1;
  Tile<TileType::Vec, half, 8, 64> x;
  TASSIGN(l1, 0x200);
  TASSIGN(x, 0x400);
#if defined(__DAV_CUBE__)
  create_cbuf_matrix((__cbuf__ uint16_t *)l1.data(), (4LL << 32) | (4LL << 16) | 8, 0x3c00);
  pipe_barrier(PIPE_MTE2);
  copy_gm_to_cbuf((__cbuf__ void *)(l1.data() + 64), (__gm__ void *)a, 0, 7, 1, 3, 3);
  order<PIPE_MTE2, PIPE_MTE1>();
  for (int core = 0; core < 2; ++core)
    copy_cbuf_to_ubuf((__ubuf__ void *)x.data(), (__cbuf__ void *)l1.data(), core, 8, 2, 2, 0);
  set_intra_block(PIPE_MTE1, 0);
  set_intra_block(PIPE_MTE1, 16);
#endif
#if defined(__DAV_VEC__)
  wait_intra_block(PIPE_MTE3, 0);
  if (get_subblockid() == 1)
    copy_ubuf_to_gm_align_v2((__gm__ void *)c, (__ubuf__ void *)x.data(), 0, 4, 36, 0, 64, 128);
#endif
}

// Vector cores exchange lines once the cube has heard both of them; scalar pipes wait and signal.
__global__ AICORE void scalar_pipes(__gm__ float *a, __gm__ float *c)
{
#if defined(__DAV_CUBE__)
  wait_intra_block(PIPE_S, 12);
  wait_intra_block(PIPE_S, 12 + 16);
  set_intra_block(PIPE_S, 13);
  set_intra_block(PIPE_S, 13 + 16);
#endif
#if defined(__DAV_VEC__)
  const int mine = get_subblockid() * 64, other = 64 - mine;
  using Line = View<float, 1, 64>;
  Tile<TileType::Vec, float, 1, 64> x;
  TASSIGN(x, 0x0);
  Line from(a + mine), to(c + mine), there(c + other), out(c + 128 + mine);
  TLOAD(x, from);
  order<PIPE_MTE2, PIPE_MTE3>();
  TSTORE(to, x);
  pipe_barrier(PIPE_ALL);
  set_intra_block(PIPE_S, 12);
  wait_intra_block(PIPE_S, 13);
  TLOAD(x, there);
  order<PIPE_MTE2, PIPE_MTE3>();
  TSTORE(out, x);
#endif
}

// A vector core that waits for what nobody sends.
__global__ AICORE void stuck(__gm__ half *a, __gm__ half *b, __gm__ float *c)
{
#if defined(__DAV_CUBE__)
  pipe_barrier(PIPE_ALL);
#endif
#if defined(__DAV_VEC__)
  using Pipe = TPipe<0, Direction::DIR_C2V, M * N * 4, 2>;
  Pipe pipe((__gm__ void *)c, 0x0, 0x0);
  Vec<float, M, N> x;
  TPOP<Pipe, Vec<float, M, N>, TileSplitAxis::TILE_NO_SPLIT>(pipe, x);
#endif
}

// The cube signals its vector cores, and they answer.
__global__ AICORE void signals(__gm__ half *a, __gm__ half *b, __gm__ float *c, __gm__ float *slots)
{
  using Line = View<float, 1, N>;
#if defined(__DAV_CUBE__)
  ffts_cross_core_sync(PIPE_FIX, getFFTSMsg(2, 3));
  wait_flag_dev(4);
#endif
#if defined(__DAV_VEC__)
  Vec<float, 1, N> x;
  TASSIGN(x, 0x0);
  Line gc(c + get_subblockid() * N);
  wait_flag_dev(3);
  TEXPANDS(x, float(get_subblockid() + 1));
  order<PIPE_V, PIPE_MTE3>();
  TSTORE(gc, x);
  ffts_cross_core_sync(PIPE_MTE3, getFFTSMsg(2, 4));
#endif
}

void mixed(int which, half *a, half *b, float *c, float *slots)
{
  constexpr auto stream = nullptr;
  switch (which) {
    case 0: handed<<<1, nullptr, stream>>>(a, b, c, slots); break;
    case 1: stuck<<<1, nullptr, stream>>>(a, b, c); break;
    case 2: signals<<<2, nullptr, stream>>>(a, b, c, slots); break;
    case 3:
      converted<half, QuantMode_t::F322F16, ReluPreMode::NormalRelu>
          <<<1, nullptr, stream>>>(a, b, (half *)c, slots);
      break;
    case 4:
      converted<int8_t, QuantMode_t::QF322B8_PRE, ReluPreMode::NoRelu>
          <<<1, nullptr, stream>>>(a, b, (int8_t *)c, slots);
      break;
    case 5: halves<<<1, nullptr, stream>>>(a, b, c); break;
    case 6: bursts<<<1, nullptr, stream>>>(a, c); break;
  }
}

// The cube writes slots of global memory, and each vector core reads its part of them.
template <TileSplitAxis How>
__global__ AICORE void slots(__gm__ half *a, __gm__ half *b, __gm__ float *c, __gm__ float *room)
{
  using Pipe = TPipe<0, Direction::DIR_C2V, M * N * 4, 2>;
  Pipe pipe((__gm__ void *)room, 0x0, 0x0);
#if defined(__DAV_CUBE__)
  TileAcc<float, M, N> sum;
  TASSIGN(sum, 0x0);
  Mat<half, M, K> la;
  Mat<half, K, N> lb;
  TASSIGN(la, 0x0);
  TASSIGN(lb, 0x4000);
  View<half, M, K> ga(a);
  View<half, K, N> gb(b);
  TLOAD(la, ga);
  TLOAD(lb, gb);
  order<PIPE_MTE2, PIPE_MTE1>();
  TileLeft<half, M, K> left;
  TileRight<half, K, N> right;
  TASSIGN(left, 0x0);
  TASSIGN(right, 0x0);
  TMOV(left, la);
  TMOV(right, lb);
  order<PIPE_MTE1, PIPE_M>();
  TMATMUL(sum, left, right);
  order<PIPE_M, PIPE_FIX>();
  for (int i = 0; i < 3; ++i) {
    using Slot = View<float, M, N>;
    Slot slot;
    TALLOC<Pipe, Slot, How>(pipe, slot);
    TSTORE(slot, sum);
    TPUSH<Pipe, Slot, How>(pipe, slot);
  }
#endif
#if defined(__DAV_VEC__)
  constexpr bool rows = How == TileSplitAxis::TILE_UP_DOWN;
  constexpr bool cols = How == TileSplitAxis::TILE_LEFT_RIGHT;
  constexpr int R = rows ? M / 2 : M, C = cols ? N / 2 : N;
  using Part = GlobalTensor<float, Shape<1, 1, 1, R, C>, Stride<M * N, M * N, M * N, N, 1>>;
  Vec<float, R, C> x;
  TASSIGN(x, 0x0);
  const int first = get_subblockid() * (rows ? R * N : cols ? C : 0);
  for (int i = 0; i < 3; ++i) {
    Part part;
    TPOP<Pipe, Part, How>(pipe, part);
    TLOAD(x, part);
    order<PIPE_MTE2, PIPE_MTE3>();
    Part gc(c + i * M * N + first);
    TSTORE(gc, x);
    order<PIPE_MTE3, PIPE_MTE2>();
    TFREE<Pipe, Part, How>(pipe, part);
  }
#endif
}
