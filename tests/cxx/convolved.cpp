// A convolution as a product: patches of feature maps become rows of the left operand.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int C1 = 2, H = 5, W = 6, C0 = 16, FH = 3, FW = 2, N = 16;  // maps of 32 channels, 16 filters
constexpr int ROWS = 15, K = C1 * FH * FW * C0, PART = K / 2, M = 16;  // positions of the filter
template <class T, int R, int C> using View = GlobalTensor<T, Shape<1, 1, 1, R, C>, Stride<R * C, R * C, R * C, C, 1>>;
using Maps = ConvTile<TileType::Mat, half, C1 * H * W * C0, Layout::NC1HWC0, ConvTileShape<1, C1, H, W, C0>>;
template <pipe_t A, pipe_t B> inline void order(event_t id = EVENT_ID0) { set_flag(A, B, id), wait_flag(A, B, id); }

// Each step takes half of a patch; `Mode` says who sets the registers of the unit that unrolls.
template <SetFmatrixMode Mode>
__global__ AICORE void convolved(__gm__ half *maps, __gm__ half *filters, __gm__ float *c)
{
  Maps image;
  Tile<TileType::Mat, half, K, N, BLayout::ColMajor, K, N, SLayout::RowMajor, 512> weights;
  TileLeft<half, M, PART, ROWS, PART> left;
  TileRight<half, PART, N> right;
  TileAcc<float, M, N, ROWS, N> sum;
  TASSIGN(image, 0x0), TASSIGN(weights, 0x8000), TASSIGN(left, 0x0), TASSIGN(right, 0x0), TASSIGN(sum, 0x0);
  image.SetFmapH(H), image.SetFmapW(W), image.SetChannelSize(C1 * C0);
  image.SetFilterH(FH), image.SetFilterW(FW);
  image.SetStrideH(2), image.SetStrideW(1);
  image.SetDilationH(1), image.SetDilationW(2);
  const int around[] = {1, 0, 1, 1};  // left, right, top, bottom
  image.SetPadListArray(around);
  image.SetPadValue(half(0));
  GlobalTensor<half, Shape<1, C1, H, W, C0>, Stride<C1 * H * W * C0, H * W * C0, W * C0, C0, 1>, Layout::NC1HWC0> from(maps);
  View<half, K, N> of_filters(filters);
  TLOAD(image, from);
  TLOAD(weights, of_filters);
  order<PIPE_MTE2, PIPE_MTE1>();
  if constexpr (Mode == SetFmatrixMode::FMATRIX_A_MANUAL) {
    SETFMATRIX(image);
    SET_IMG2COL_RPT(image);
    SET_IMG2COL_PADDING(image);
  }
  for (int step = 0; step < 2; ++step) {
    if (step) order<PIPE_M, PIPE_MTE1>();
    TIMG2COL<decltype(left), Maps, Mode>(left, image, 0, step * PART);
    TEXTRACT(right, weights, step * PART, 0);
    order<PIPE_MTE1, PIPE_M>();
    if (step == 0) TMATMUL(sum, left, right);
    else TMATMUL_ACC(sum, left, right);
  }
  order<PIPE_M, PIPE_FIX>();
  View<float, ROWS, N> to(c);
  TSTORE(to, sum);
}
