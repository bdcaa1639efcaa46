// Weights of two groups out of feature maps, of fewer images than their blocks hold.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int G = 2, N = 3, C1 = 2, H = 2, W = 4, C0 = 8, N1 = 2, N0 = 2;
constexpr int COUNT = G * N1 * N0 * C1 * H * W * C0;

__global__ AICORE void weights(__gm__ float *a, __gm__ float *c)
{
  using View = GlobalTensor<float, Shape<1, 1, 1, 1, COUNT>, Stride<COUNT, COUNT, COUNT, COUNT, 1>>;
  using Maps = ConvTile<TileType::Vec, float, COUNT * 4, Layout::GNC1HWC0, ConvTileShape<G, N, C1, H, W, C0>>;
  using Blocks = ConvTile<TileType::Vec, float, COUNT * 4, Layout::FRACTAL_Z, ConvTileShape<G * C1 * H * W, N1, N0, C0>>;
  Tile<TileType::Vec, float, 1, COUNT> given, made;
  Tile<TileType::Vec, float, 16, 32> tmp;
  Maps maps;
  Blocks blocks;
  TASSIGN(given, 0x0);
  TASSIGN(maps, 0x0);
  TASSIGN(made, 0x4000);
  TASSIGN(blocks, 0x4000);
  TASSIGN(tmp, 0x8000);
  View from(a), to(c);
  TLOAD(given, from);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0), wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TTRANS(blocks, maps, tmp);
  pipe_barrier(PIPE_ALL);
  TSTORE(to, made);
}
