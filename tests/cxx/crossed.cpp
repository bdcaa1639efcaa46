// Vector cores insert tiles into L1, whose type there has another layout than theirs.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int M = 64, K = 32, N = 16, PART = M / 2;
template <class T, int R, int C> using View = GlobalTensor<T, Shape<1, 1, 1, R, C>, Stride<R * C, R * C, R * C, C, 1>>;
template <TileType L, int R, int C, bool Across = false>
using Boxes = Tile<L, half, R, C, Across ? BLayout::RowMajor : BLayout::ColMajor, R, C,
                   Across ? SLayout::ColMajor : SLayout::RowMajor, 512>;
template <pipe_t A, pipe_t B> inline void order(event_t id = EVENT_ID0) { set_flag(A, B, id), wait_flag(A, B, id); }

// c = (p transposed) v: each core has a part of the columns of p, which are rows of the factor. The cube waits
// for both vector cores, or forgets the second one.
template <bool Both> __global__ AICORE void product(__gm__ half *p, __gm__ half *v, __gm__ float *c)
{
  Boxes<TileType::Mat, M, K, true> factor;
  TASSIGN(factor, 0x0);
#if defined(__DAV_VEC__)
  GlobalTensor<half, Shape<1, 1, 1, K, PART>, Stride<K * M, K * M, K * M, M, 1>> part(p + get_subblockid() * PART);
  Tile<TileType::Vec, half, K, PART> lines;
  Tile<TileType::Vec, half, K + 1, PART, BLayout::ColMajor, K, PART, SLayout::RowMajor, 512, PadValue::Null,
       CompactMode::RowPlusOne> boxes;
  TASSIGN(lines, 0x0);
  TASSIGN(boxes, 0x2000);
  TLOAD(lines, part);
  order<PIPE_MTE2, PIPE_V>();
  TMOV(boxes, lines);
  order<PIPE_V, PIPE_MTE3>();
  TINSERT(factor, boxes, 0, get_subblockid() * PART);
  set_intra_block(PIPE_MTE3, 0);
#endif
#if defined(__DAV_CUBE__)
  Boxes<TileType::Mat, K, N> other;
  TileLeft<half, M, K> left;
  TileRight<half, K, N> right;
  TileAcc<float, M, N> sum;
  TASSIGN(other, 0x2000), TASSIGN(left, 0x0), TASSIGN(right, 0x0), TASSIGN(sum, 0x0);
  View<half, K, N> gv(v);
  TLOAD(other, gv);
  order<PIPE_MTE2, PIPE_MTE1>();
  TMOV(right, other);
  wait_intra_block(PIPE_MTE1, 0);
  if (Both) wait_intra_block(PIPE_MTE1, 16);
  TEXTRACT(left, factor, 0, 0);
  order<PIPE_MTE1, PIPE_M>();
  TMATMUL(sum, left, right);
  order<PIPE_M, PIPE_FIX>();
  View<float, M, N> gc(c);
  TSTORE(gc, sum);
#endif
}

// Lines stay lines where the tile of L1 is declared in boxes; `c` has the bytes of L1.
__global__ AICORE void lines(__gm__ half *a, __gm__ half *c)
{
  Boxes<TileType::Mat, K, M> kept;
  Tile<TileType::Vec, half, K, M> x, y;
  TASSIGN(kept, 0x0), TASSIGN(x, 0x0), TASSIGN(y, 0x2000);
#if defined(__DAV_VEC__)
  if (get_subblockid() != 0) return;
  View<half, K, M> from(a), to(c);
  TLOAD(x, from);
  order<PIPE_MTE2, PIPE_MTE3>();
  TINSERT(kept, x, 0, 0);
  set_intra_block(PIPE_MTE3, 0);
  wait_intra_block(PIPE_MTE3, 1);
  TSTORE(to, y);
#endif
#if defined(__DAV_CUBE__)
  wait_intra_block(PIPE_MTE1, 0);
  copy_cbuf_to_ubuf((__ubuf__ void *)y.data(), (__cbuf__ void *)kept.data(), 0, 1, K * M / 16, 0, 0);
  set_intra_block(PIPE_MTE1, 1);
#endif
}

// c[i] = sum of half i of a product, twice: the cube writes UB again once both cores have read it, if it is told.
template <bool Told> __global__ AICORE void again(__gm__ half *p, __gm__ half *v, __gm__ float *c)
{
  using Half = Tile<TileType::Vec, float, M / 2, N>;
  Half x;
  TASSIGN(x, 0x0);
  for (int i = 0; i < 2; ++i) {
#if defined(__DAV_CUBE__)
    Boxes<TileType::Mat, M, K, true> first;
    Boxes<TileType::Mat, K, N> other;
    TileLeft<half, M, K> left;
    TileRight<half, K, N> right;
    TileAcc<float, M, N> sum;
    TASSIGN(first, 0x0), TASSIGN(other, 0x2000), TASSIGN(left, 0x0), TASSIGN(right, 0x0), TASSIGN(sum, 0x0);
    GlobalTensor<half, Shape<1, 1, 1, M, K>, Stride<M * K, M * K, M * K, 1, M>, Layout::DN> gp(p);
    View<half, K, N> gv(v);
    TLOAD(first, gp);
    TLOAD(other, gv);
    order<PIPE_MTE2, PIPE_MTE1>();
    TMOV(left, first);
    TMOV(right, other);
    order<PIPE_MTE1, PIPE_M>();
    TMATMUL(sum, left, right);
    order<PIPE_M, PIPE_FIX>();
    if (Told && i) wait_intra_block(PIPE_FIX, 1), wait_intra_block(PIPE_FIX, 17);
    TMOV<Half, TileAcc<float, M, N>, AccToVecMode::DualModeSplitM>(x, sum);
    set_intra_block(PIPE_FIX, 0);
    set_intra_block(PIPE_FIX, 16);
    pipe_barrier(PIPE_ALL);
#endif
#if defined(__DAV_VEC__)
    wait_intra_block(PIPE_MTE3, 0);
    View<float, M / 2, N> to(c + (2 * i + get_subblockid()) * (M / 2) * N);
    TSTORE(to, x);
    if (Told && !i) set_intra_block(PIPE_MTE3, 1);
#endif
  }
}
