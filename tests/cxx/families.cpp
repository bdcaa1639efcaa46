// One kernel for each family that the other files of this folder do not call, by its number.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int ROWS = 16, COLS = 64;
template <class T, int C = COLS>
using View = GlobalTensor<T, Shape<1, 1, 1, ROWS, C>, Stride<ROWS * C, ROWS * C, ROWS * C, C, 1>>;
template <class T, int C = COLS, int V = C, PadValue P = PadValue::Null>
using Vec = Tile<TileType::Vec, T, ROWS, C, BLayout::RowMajor, ROWS, V, SLayout::NoneBox, 512, P>;

inline void loaded() { set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0), wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0); }
inline void done() { set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0), wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0); }

// Loads x, y and the old values of z, computes, stores z.
template <class X, class Y, class Z, class F> AICORE void between(X &x, Y &y, Z &z, float *a, float *b, float *c, F compute)
{
  TASSIGN(x, 0x0);
  TASSIGN(y, 0x4000);
  TASSIGN(z, 0x8000);
  using T = typename X::DType;
  using U = typename Y::DType;
  using V = typename Z::DType;
  View<T, X::Cols> ga((__gm__ T *)a);
  View<U, Y::Cols> gb((__gm__ U *)b);
  View<V, Z::Cols> gc((__gm__ V *)c);
  Vec<T, X::Cols> whole;
  Vec<U, Y::Cols> other;
  Vec<V, Z::Cols> old;
  TASSIGN(whole, 0x0);
  TASSIGN(other, 0x4000);
  TASSIGN(old, 0x8000);
  TLOAD(whole, ga);
  TLOAD(other, gb);
  TLOAD(old, gc);
  loaded();
  compute();
  done();
  TSTORE(gc, old);
}

template <int Which> __global__ AICORE void family(__gm__ float *a, __gm__ float *b, __gm__ float *c)
{
  Vec<int32_t> i, j, k;
  Vec<uint32_t> u;
  Vec<float> x, y, z;
  Vec<float, 2 * COLS> wide;
  if constexpr (Which == 0) between(i, j, k, a, b, c, [&] { TAND(k, i, j), TOR(k, k, i); });
  if constexpr (Which == 1) between(i, j, k, a, b, c, [&] { TSHL(k, i, j); });
  if constexpr (Which == 2) between(x, y, z, a, b, c, [&] { TAXPY(z, x, 1.5f); });
  if constexpr (Which == 3) between(x, y, z, a, b, c, [&] { TFUSEDMULADD(z, x, y); });
  if constexpr (Which == 4) {
    Vec<uint32_t, 8, 1> most;
    TASSIGN(most, 0x8000);
    Vec<uint32_t, 8> eight;
    Vec<float> tmp;
    TASSIGN(tmp, 0xc000);
    between(x, y, eight, a, b, c, [&] { TROWARGMAX(most, x, tmp); });
  }
  if constexpr (Which == 5) {
    View<float> from(a);
    between(x, j, z, a, b, c, [&] { MGATHER(z, from, j); });
  }
  if constexpr (Which == 6) {
    Vec<float> rest;
    TASSIGN(rest, 0xc000);
    between(x, y, z, a, b, c, [&] { TINTERLEAVE(rest, z, y, x); });
  }
  if constexpr (Which == 7) {
    Tile<TileType::Vec, uint32_t, 1, COLS> numbers;
    TASSIGN(numbers, 0x4000);
    Vec<float> tmp;
    TASSIGN(tmp, 0xc000);
    between(x, u, wide, a, b, c, [&] { TSORT32(wide, x, numbers, tmp); });
  }
  if constexpr (Which == 8) {
    Vec<int32_t> at;
    between(i, at, k, a, b, c, [&] { TSCATTER(k, i, at); });
  }
  if constexpr (Which == 9) between(x, y, wide, a, b, c, [&] { TCONCAT(wide, x, y); });
  if constexpr (Which == 10) {
    Vec<float, COLS, 40> part;
    Vec<float, COLS, COLS, PadValue::Zero> filled;
    TASSIGN(filled, 0x8000);
    between(part, y, z, a, b, c, [&] { TFILLPAD(filled, part); });
  }
  if constexpr (Which == 11) {
    Vec<float, COLS, 40> part;
    between(x, part, z, a, b, c, [&] { TPARTADD(z, x, part); });
  }
  if constexpr (Which == 12) {
    Vec<int8_t> bytes;
    Tile<TileType::Vec, float, ROWS, 8, BLayout::RowMajor, ROWS, 1> scale;
    TASSIGN(scale, 0x4000);
    Vec<float, 8> eight;
    between(x, eight, bytes, a, b, c, [&] { TQUANT<QuantType::INT8_SYM>(bytes, x, scale); });
  }
  if constexpr (Which == 13) {
    Vec<uint16_t> low;
    between(u, j, low, a, b, c, [&] { TPACK(low, u); });
  }
}

template <int... Which> void each(std::integer_sequence<int, Which...>, int which, float *a, float *b, float *c)
{
  auto launch = [&](auto number) { family<number.value><<<1, nullptr, nullptr>>>(a, b, c); };
  ((Which == which ? launch(std::integral_constant<int, Which>()) : void()), ...);
}

void families(int which, float *a, float *b, float *c)
{
  each(std::make_integer_sequence<int, 14>(), which, a, b, c);
}
