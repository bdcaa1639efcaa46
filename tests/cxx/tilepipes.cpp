// FIFOs whose types name the tiles: products go to vector cores, and back as factors.
#include <pto/pto-inst.hpp>
#include <pto/common/fifo.hpp>
using namespace pto;
constexpr int ROWS = 16;  // of a vector core
#define ROWS 16  // of each text: it is gone where the next one begins

constexpr int M = 32, K = 64, N = 32, TURNS = 5;
template <class T, int R, int C> using View = GlobalTensor<T, Shape<1, 1, 1, R, C>, Stride<R * C, R * C, R * C, C, 1>>;
template <class T, int R, int C>
using Boxes = Tile<TileType::Mat, T, R, C, BLayout::ColMajor, R, C, SLayout::RowMajor, 512>;
using Lines = Tile<TileType::Vec, half, ROWS, N>;
using Nz = Tile<TileType::Vec, half, ROWS, N, BLayout::ColMajor, ROWS, N, SLayout::RowMajor, 512>;
template <pipe_t A, pipe_t B> inline void order(event_t id = EVENT_ID0) { set_flag(A, B, id), wait_flag(A, B, id); }

template <int K_> AICORE void multiply(TileAcc<float, M, N> &sum, Boxes<half, M, K_> &a, Boxes<half, K_, N> &b)
{
  TileLeft<half, M, K_> left;
  TileRight<half, K_, N> right;
  TASSIGN(left, 0x0);
  TASSIGN(right, 0x0);
  TMOV(left, a);
  TMOV(right, b);
  order<PIPE_MTE1, PIPE_M>();
  TMATMUL(sum, left, right);
  order<PIPE_M, PIPE_FIX>();
}

// c[i] = half((i + 1) * a @ b) @ b[:32]; by way of global memory, or of the memory of each core.
template <bool Local>
__global__ AICORE void products(__gm__ half *a, __gm__ half *b, __gm__ float *c, __gm__ float *down, __gm__ half *up)
{
  using Popped = Tile<TileType::Vec, float, ROWS, N>;
  using Sum = TileAcc<float, M, N>;
  using Factor = Boxes<half, M, N>;
  using Pushed = std::conditional_t<Local, Nz, Lines>;
  using Down = TMPipe<0, Local ? FIFOType::VEC_FIFO : FIFOType::GM_FIFO, 2, 1, Sum, Popped, false, Local ? 0 : 2>;
  using Up = TMPipe<2, Local ? FIFOType::MAT_FIFO : FIFOType::GM_FIFO, 2, 1, Pushed, Factor, false, 0>;
  Popped x[2];
  Factor factor[2];
  for (int i = 0; i < 2; ++i) {
    TASSIGN(x[i], 0x1000 + i * ROWS * N * 4);
    TASSIGN(factor[i], 0x8000 + i * M * N * 2);
  }
  const auto slots = [](auto *global, auto &tile) {
    if constexpr (Local) return (uint32_t)(uint64_t)tile.data();
    else return global;
  };
  Down to_vector(slots(down, x[0]), 0x1000);
  Up to_cube(slots(up, factor[0]), 0x8000);
#if defined(__DAV_CUBE__)
  Sum sum;
  TASSIGN(sum, 0x0);
  Boxes<half, M, K> la;
  Boxes<half, K, N> lb;
  Boxes<half, N, N> top;
  TASSIGN(la, 0x0);
  TASSIGN(lb, 0x2000);
  TASSIGN(top, 0x4000);
  View<half, M, K> ga(a);
  View<half, K, N> gb(b);
  View<half, N, N> gt(b);
  for (int i = 0; i < TURNS; ++i) {
    TLOAD(la, ga);
    TLOAD(lb, gb);
    TLOAD(top, gt);
    order<PIPE_MTE2, PIPE_MTE1>();
    multiply<K>(sum, la, lb);
    to_vector.prod.setTileId(i, 0);
    TPUSH(sum, to_vector);
    order<PIPE_FIX, PIPE_M>();
    to_cube.cons.setTileId(i, 0);
    TPOP(factor[i % 2], to_cube);
    order<PIPE_MTE2, PIPE_MTE1>();
    multiply<N>(sum, factor[i % 2], top);
    TFREE(to_cube);
    View<float, M, N> gc(c + i * M * N);
    TSTORE(gc, sum);
    pipe_barrier(PIPE_ALL);
  }
#endif
#if defined(__DAV_VEC__)
  Popped y;
  Lines lines;
  Nz boxes;
  TASSIGN(y, 0x4000);
  TASSIGN(lines, 0x6000);
  TASSIGN(boxes, 0x7000);
  for (int i = 0; i < TURNS; ++i) {
    to_vector.cons.setTileId(i, 0);
    to_vector.cons.setEntryOffset(Local ? 0 : get_subblockid() * ROWS * N * 4);
    TPOP(x[i % 2], to_vector);
    order<PIPE_MTE2, PIPE_V>();
    TMULS(y, x[i % 2], float(i + 1));
    TFREE(to_vector);
#ifdef PTO_NPU_ARCH_A2A3
    pipe_barrier(PIPE_V);
#endif
    TCVT(lines, y, RoundMode::CAST_RINT);
    to_cube.prod.setTileId(i, 0);
    to_cube.prod.setEntryOffset(Local ? 0 : get_subblockid() * ROWS * N * 2);
    if constexpr (Local) {
      TMOV(boxes, lines);
      order<PIPE_V, PIPE_MTE3>();
      TPUSH(boxes, to_cube);
    } else {
      order<PIPE_V, PIPE_MTE3>();
      TPUSH(lines, to_cube);
    }
    pipe_barrier(PIPE_ALL);
  }
#endif
}
