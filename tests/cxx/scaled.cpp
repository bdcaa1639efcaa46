// Products of 8-bit floats, of which 32 along k share a power of two.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int M = 32, K = 128, N = 64, G = K / 32, STEP = K / 2, G_STEP = STEP / 32;
using E4 = float8_e4m3_t;
using E8 = float8_e8m0_t;
template <class T, int R, int C> using View = GlobalTensor<T, Shape<1, 1, 1, R, C>, Stride<R * C, R * C, R * C, C, 1>>;
template <class T, int R, int C, Layout L, int Whole = C>
using Scales = GlobalTensor<T, TileShape2D<T, R, C, L>, BaseShape2D<T, R, Whole, L>, L>;
template <class T, int R, int C> using Boxes = Tile<TileType::Mat, T, R, C, BLayout::ColMajor, R, C, SLayout::RowMajor, 512>;
template <pipe_t A, pipe_t B> inline void order(event_t id = EVENT_ID0) { set_flag(A, B, id), wait_flag(A, B, id); }

// c = (scaled a) (scaled b) + bias, in steps along k; the scales lie behind the operands.
__global__ AICORE void scaled(__gm__ E4 *a, __gm__ E4 *b, __gm__ E8 *of_a, __gm__ E8 *of_b, __gm__ float *bias,
                              __gm__ float *c)
{
  Boxes<E4, M, K> la;
  Boxes<E4, K, N> lb;
  Tile<TileType::Mat, E8, M, G, BLayout::RowMajor, M, G, SLayout::RowMajor, 32> sa;
  Tile<TileType::Mat, E8, G, N, BLayout::ColMajor, G, N, SLayout::ColMajor, 32> sb;
  Tile<TileType::Mat, float, 1, N> lines;
  TASSIGN(la, 0x0), TASSIGN(lb, 0x4000), TASSIGN(sa, 0x8000), TASSIGN(sb, 0x9000), TASSIGN(lines, 0xa000);
  View<E4, M, K> ga(a);
  View<E4, K, N> gb(b);
  Scales<E8, M, G, Layout::MX_A_ND> gsa(of_a);
  Scales<E8, G, N, Layout::MX_B_DN> gsb(of_b);
  View<float, 1, N> g_bias(bias);
  TLOAD(la, ga), TLOAD(lb, gb), TLOAD(sa, gsa), TLOAD(sb, gsb), TLOAD(lines, g_bias);
  order<PIPE_MTE2, PIPE_MTE1>();
  TileLeft<E4, M, STEP> left;
  TileRight<E4, STEP, N> right;
  TileLeftScale<E8, M, G_STEP> left_scale;
  TileRightScale<E8, G_STEP, N> right_scale;
  Tile<TileType::Bias, float, 1, N> column_bias;
  TileAcc<float, M, N> sum;
  TASSIGN(left, 0x0), TASSIGN(right, 0x0), TASSIGN(column_bias, 0x0), TASSIGN(sum, 0x0);
  TASSIGN(left_scale, GetScaleAddr(left.data()));
  TASSIGN(right_scale, GetScaleAddr(right.data()));
  TMOV(column_bias, lines);
  for (int step = 0; step < 2; ++step) {
    if (step) order<PIPE_M, PIPE_MTE1>();
    TEXTRACT(left, la, 0, step * STEP);
    TEXTRACT(right, lb, step * STEP, 0);
    TEXTRACT(left_scale, sa, 0, step * G_STEP);
    TEXTRACT(right_scale, sb, step * G_STEP, 0);
    order<PIPE_MTE1, PIPE_M>();
    if (step == 0) TMATMUL_MX(sum, left, left_scale, right, right_scale, column_bias);
    else TMATMUL_MX(sum, sum, left, left_scale, right, right_scale);
  }
  order<PIPE_M, PIPE_FIX>();
  View<float, M, N> gc(c);
  TSTORE(gc, sum);
}
