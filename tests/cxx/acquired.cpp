// Pipes hand two buffers to one another by their numbers, as A5 has it instead of flags.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int ROWS = 8, COLS = 64, SIZE = ROWS * COLS * 4;
using Lines = Tile<TileType::Vec, float, ROWS, COLS>;
using View = GlobalTensor<float, Shape<1, 1, 1, ROWS, COLS>, Stride<1, 1, 1, COLS, 1>>;

// c = 2 a + 1 in blocks of rows; without `Releases` the vector pipe does not acquire what it reads.
template <bool Releases> __global__ AICORE void acquired(__gm__ float *a, __gm__ float *c, int blocks)
{
  for (int i = 0; i < blocks; ++i) {
    const int id = i % 2;
    Lines x, y;
    TASSIGN(x, id * SIZE);
    TASSIGN(y, (2 + id) * SIZE);
    View from(a + i * ROWS * COLS), to(c + i * ROWS * COLS);
    get_buf(PIPE_MTE2, id, 0);
    TLOAD(x, from);
    rls_buf(PIPE_MTE2, id, 0);
    if (Releases) get_buf(PIPE_V, id, 0);
    get_buf(PIPE_V, 2 + id, 0);
    TMULS(y, x, 2.0f);
    if (Releases) rls_buf(PIPE_V, id, 0);
    TADDS(y, y, 1.0f);
    rls_buf(PIPE_V, 2 + id, 0);
    get_buf(PIPE_MTE3, 2 + id, 0);
    TSTORE(to, y);
    rls_buf(PIPE_MTE3, 2 + id, 0);
  }
}
