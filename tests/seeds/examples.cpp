// The C++ examples of the pages, each as printed, in a namespace for its page.
#include <pto/pto-inst.hpp>

using namespace pto;

namespace textract {
void pattern_1() {
  // Extract the Left block (rows 0-63, cols 0-63) from a wider matrix
  using MatT = Tile<TileType::Mat, float, 64, 256, BLayout::RowMajor, 64, 256, SLayout::ColMajor>;
  using LeftT = TileLeft<float, 64, 64>;

  MatT mat;
  LeftT left;
  TASSIGN(mat, 0x1000);

  // Extract the 64x64 block starting at row=0, col=0
  TEXTRACT(left, mat, /*indexRow=*/0, /*indexCol=*/0);
}
void pattern_2() {
  // Extract overlapping windows from a large feature map tile
  using MatT = Tile<TileType::Mat, half, 32, 128>;
  using LeftT = TileLeft<half, 32, 32>;

  MatT mat;
  LeftT window;
  TASSIGN(mat, 0x2000);

  // Slide a 32x32 window across columns 0, 32, 64, 96
  TEXTRACT(window, mat, 0, 0);   // col block 0
  TEXTRACT(window, mat, 0, 32);  // col block 1
  TEXTRACT(window, mat, 0, 64);  // col block 2
  TEXTRACT(window, mat, 0, 96);  // col block 3
}
void pattern_3() {
  // Extract from accumulator tile to matrix tile, applying fix-pipe quantization
  using AccT = TileAcc<float, 32, 64>;
  using MatT = Tile<TileType::Mat, int8_t, 16, 16, BLayout::ColMajor, -1, -1, SLayout::RowMajor, 512>;
  using FpT = Tile<TileType::Scaling, uint64_t, 1, 64>;

  AccT acc;
  MatT mat;
  FpT fp(64);  // 64 scale factors (one per output channel column)

  TASSIGN(acc, 0x1000);
  TASSIGN(mat, 0x2000);
  TASSIGN(fp, 0x3000);

  // Extract a 16x16 window starting at row=0, col=16 (into channel columns 16-31)
  TEXTRACT_FP(mat, acc, fp, /*indexRow=*/0, /*indexCol=*/16);
}
}  // namespace textract

namespace textract_zh {
void example_auto() {
  using SrcT = Tile<TileType::Mat, float, 16, 16, BLayout::RowMajor, 16, 16, SLayout::ColMajor>;
  using DstT = TileLeft<float, 16, 16>;
  SrcT src;
  DstT dst;
  TEXTRACT(dst, src, /*indexRow=*/0, /*indexCol=*/0);
}
void example_manual() {
  using SrcT = Tile<TileType::Mat, float, 16, 16, BLayout::RowMajor, 16, 16, SLayout::ColMajor>;
  using DstT = TileLeft<float, 16, 16>;
  SrcT src;
  DstT dst;
  TASSIGN(src, 0x1000);
  TASSIGN(dst, 0x2000);
  TEXTRACT(dst, src, /*indexRow=*/0, /*indexCol=*/0);
}
}  // namespace textract_zh

namespace tgather {
void example_auto() {
  using SrcT = Tile<TileType::Vec, float, 16, 16>;
  using IdxT = Tile<TileType::Vec, int32_t, 16, 16>;
  using DstT = Tile<TileType::Vec, float, 16, 16>;
  SrcT src0;
  IdxT idx;
  DstT dst;
  TGATHER(dst, src0, idx);
}
void example_manual() {
  using SrcT = Tile<TileType::Vec, float, 16, 16>;
  using DstT = Tile<TileType::Vec, float, 1, 16>;
  SrcT src;
  DstT dst;
  TASSIGN(src, 0x1000);
  TASSIGN(dst, 0x2000);
  TGATHER<DstT, SrcT, MaskPattern::P0101>(dst, src);
}
}  // namespace tgather

namespace subview {
void example() {
  using Src = Tile<TileType::Vec, float, 4, 64, BLayout::RowMajor, 4, 64>;
  using Dst = Tile<TileType::Vec, float, 4, 64, BLayout::RowMajor, 2, 32>;

  Src src;
  Dst dst0, dst1, dst2, dst3;

  // Split into four 2x32 subtiles
  SUBVIEW(dst0, src, 0, 0);
  SUBVIEW(dst1, src, 0, 32);
  SUBVIEW(dst2, src, 2, 0);
  SUBVIEW(dst3, src, 2, 32);
}
}  // namespace subview

void run(int which) {
  if (which == 0) textract::pattern_1();
  if (which == 1) textract::pattern_2();
  if (which == 2) textract::pattern_3();
  if (which == 3) textract_zh::example_auto();
  if (which == 4) textract_zh::example_manual();
  if (which == 5) tgather::example_auto();
  if (which == 6) tgather::example_manual();
  if (which == 7) subview::example();
}
