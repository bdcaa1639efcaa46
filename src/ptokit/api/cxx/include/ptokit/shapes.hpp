// Extents and strides of global memory: five numbers, each of the type or of the program.
#pragma once
#include "elements.hpp"
#include "enumerations.hpp"

namespace pto {
constexpr int64_t DYNAMIC = -1;
namespace GlobalTensorDim {
constexpr int DIM_0 = 0, DIM_1 = 1, DIM_2 = 2, DIM_3 = 3, DIM_4 = 4, TOTAL_DIM = 5;
}

#define PTOKIT_FIVE(NAME, MEMBER, STATIC)                                                     \
  template <int64_t N0 = DYNAMIC, int64_t N1 = DYNAMIC, int64_t N2 = DYNAMIC,                \
            int64_t N3 = DYNAMIC, int64_t N4 = DYNAMIC>                                       \
  struct NAME {                                                                               \
    static constexpr int64_t STATIC[5] = {N0, N1, N2, N3, N4};                                \
    static constexpr int dynamic = (N0 == DYNAMIC) + (N1 == DYNAMIC) + (N2 == DYNAMIC) +      \
                                   (N3 == DYNAMIC) + (N4 == DYNAMIC);                         \
    int64_t MEMBER[5];                                                                        \
    constexpr NAME() { fill(nullptr, 0); }                                                    \
    template <class... A_>                                                                     \
      requires(sizeof...(A_) != 0 && (std::is_convertible_v<A_, int64_t> && ...))               \
    constexpr NAME(A_... given) {                                                              \
      static_assert(sizeof...(A_) == 5 || sizeof...(A_) == dynamic,                             \
                    #NAME " takes five values, or one for each DYNAMIC");                     \
      const int64_t values[] = {static_cast<int64_t>(given)...};                              \
      fill(values, sizeof...(A_));                                                             \
    }                                                                                         \
    constexpr void fill(const int64_t *values, int count) {                                   \
      for (int i = 0, next = 0; i < 5; ++i) {                                                 \
        MEMBER[i] = STATIC[i] != DYNAMIC ? STATIC[i]                                          \
                    : count == 0         ? 1                                                  \
                                         : values[count == 5 ? i : next++];                   \
      }                                                                                       \
    }                                                                                         \
    constexpr int64_t operator[](int i) const { return MEMBER[i]; }                           \
  };                                                                                          \
  template <class... A_> NAME(A_...) -> NAME<>;
PTOKIT_FIVE(Shape, shape, staticShape)
PTOKIT_FIVE(Stride, stride, staticStride)
#undef PTOKIT_FIVE
}  // namespace pto

namespace ptokit {
struct Five {
  int64_t n[5];
};
constexpr int64_t times(int64_t a, int64_t b) { return a == -1 || b == -1 ? -1 : a * b; }
constexpr int64_t over(int64_t a, int64_t b) { return a == -1 ? -1 : a / b; }

// The five extents of a matrix in a layout; `line` elements are 32 bytes.
constexpr Five extents(pto::Layout layout, int64_t line, int64_t rows, int64_t cols) {
  using enum pto::Layout;
  switch (layout) {
    case NZ: return {1, over(cols, line), over(rows, 16), 16, line};
    case MX_A_ZZ: return {1, over(rows, 16), over(cols, 2), 16, 2};
    case MX_A_ND: return {1, 1, rows, over(cols, 2), 2};
    case MX_A_DN: return {1, 1, over(cols, 2), rows, 2};
    case MX_B_NN: return {1, over(cols, 16), over(rows, 2), 16, 2};
    case MX_B_ND: return {1, 1, over(rows, 2), cols, 2};
    case MX_B_DN: return {1, 1, cols, over(rows, 2), 2};
    case HIF4_A_ZZ: return {1, over(rows, 16), cols, 16, 4};
    case HIF4_B_NN: return {1, over(cols, 16), rows, 16, 4};
    default: return {1, 1, 1, rows, cols};
  }
}

// The five strides of a matrix that fills its memory.
constexpr Five strides(pto::Layout layout, int64_t line, int64_t rows, int64_t cols) {
  using enum pto::Layout;
  const int64_t all = times(rows, cols);
  switch (layout) {
    case NZ: return {all, times(rows, line), 16 * line, line, 1};
    case DN: return {all, all, all, 1, rows};
    case MX_A_ZZ: return {all, times(cols, 16), 32, 2, 1};
    case MX_A_ND: return {all, all, cols, 2, 1};
    case MX_A_DN: return {all, all, times(rows, 2), 2, 1};
    case MX_B_NN: return {all, times(rows, 16), 32, 2, 1};
    case MX_B_ND: return {all, all, times(cols, 2), 2, 1};
    case MX_B_DN: return {all, all, rows, 2, 1};
    case HIF4_A_ZZ: return {all, times(cols, 16), 64, 4, 1};
    case HIF4_B_NN: return {all, times(rows, 16), 64, 4, 1};
    default: return {all, all, all, cols, 1};
  }
}
}  // namespace ptokit

namespace pto {
#define PTOKIT_MATRIX(NAME, BASE, MAKE)                                                        \
  template <class T_, int64_t Rows = DYNAMIC, int64_t Cols = DYNAMIC, Layout L_ = Layout::ND,   \
            ptokit::Five F_ = ptokit::MAKE(L_, 32 / sizeof(T_), Rows, Cols)>                      \
  struct NAME : BASE<F_.n[0], F_.n[1], F_.n[2], F_.n[3], F_.n[4]> {                                 \
    using Parent = BASE<F_.n[0], F_.n[1], F_.n[2], F_.n[3], F_.n[4]>;                               \
    static_assert(L_ != Layout::NZ || ((Rows == DYNAMIC || Rows % 16 == 0) &&                   \
                                      (Cols == DYNAMIC || Cols % (32 / sizeof(T_)) == 0)),      \
                  #NAME " in NZ takes whole boxes of 16 rows and 32 bytes");                   \
    NAME() = default;                                                                          \
    NAME(int64_t rows, int64_t cols) {                                                         \
      const ptokit::Five now = ptokit::MAKE(L_, 32 / sizeof(T_), rows, cols);                    \
      this->fill(now.n, 5);                                                                    \
    }                                                                                          \
    template <class... A_>                                                                      \
      requires(sizeof...(A_) != 0 && sizeof...(A_) != 2 &&                                       \
               (std::is_convertible_v<A_, int64_t> && ...))                                     \
    NAME(A_... given) : Parent(given...) {}                                                     \
  };
PTOKIT_MATRIX(TileShape2D, Shape, extents)
PTOKIT_MATRIX(BaseShape2D, Stride, strides)
#undef PTOKIT_MATRIX
}  // namespace pto
