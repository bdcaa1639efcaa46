// Tiles: storage of one memory with a type and a valid region.
#pragma once
#include "shapes.hpp"

namespace ptokit {
// The words of a tile that the host reads and writes.
struct TileBase {
  int64_t address = -1, rows = 0, cols = 0;
};
template <class T> struct TypeId {
  static inline int64_t id = 0;  // that the host gave to a tile's type
};
// Rows and columns of the boxes of a layout, in elements.
constexpr int box_rows(pto::SLayout inner, int fractal, int size) {
  if (inner == pto::SLayout::NoneBox) return 1;
  return inner == pto::SLayout::RowMajor || fractal == 1024 ? 16 : fractal == 32 ? 2 : 32 / size;
}
constexpr int box_cols(pto::SLayout inner, int fractal, int size) {
  if (inner == pto::SLayout::NoneBox) return 1;
  return inner == pto::SLayout::ColMajor || fractal == 1024 ? 16 : fractal == 32 ? 2 : 32 / size;
}
inline int64_t space(int64_t location) { return special(SPACE, 0, location); }
// The address of a tile, given by the host where the kernel gave none.
template <class T> int64_t home(const T &tile) {
  if (tile.address == -1) {
    const int64_t id = T::type();
    special(HOME, 0, TILE, id, tile.address, tile.rows, tile.cols, address_of(&tile.address));
  }
  return tile.address;
}
}  // namespace ptokit

namespace pto {
namespace TileConfig {
constexpr int alignedSize = 32, fixedRowSize = 16, fixedColSize = 16, fixedMxRowSize = 16;
constexpr int fixedMxColSize = 2, fractalABSize = 512, fractalCSize = 1024, fractalMxSize = 32;
}  // namespace TileConfig

template <TileType L, class T, int R, int C, BLayout B = BLayout::RowMajor, int VR = R, int VC = C,
          SLayout S = SLayout::NoneBox, int F = TileConfig::fractalABSize,
          PadValue P = PadValue::Null, CompactMode M = CompactMode::Null>
struct Tile : ptokit::TileBase {
  using DType = std::remove_cv_t<T>;
  using TileDType = DType *;
  static constexpr TileType Loc = L;
  static constexpr int Rows = R, Cols = C, Numel = R * C, ValidRow = VR, ValidCol = VC;
  static constexpr int RowStride = B == BLayout::RowMajor ? C : 1;
  static constexpr int ColStride = B == BLayout::RowMajor ? 1 : R;
  static constexpr BLayout BFractal = B;
  static constexpr SLayout SFractal = S;
  static constexpr int SFractalSize = F;
  static constexpr bool isRowMajor = B == BLayout::RowMajor;
  static constexpr bool isBoxedLayout = S != SLayout::NoneBox;
  static constexpr bool isInnerRowMajor = S == SLayout::RowMajor;
  static constexpr bool isInnerColMajor = S == SLayout::ColMajor;
  static constexpr int InnerRows = ptokit::box_rows(S, F, sizeof(T));
  static constexpr int InnerCols = ptokit::box_cols(S, F, sizeof(T));
  static constexpr int InnerNumel = InnerRows * InnerCols;
  static constexpr auto PadVal = P;
  static constexpr CompactMode Compact = M;

  Tile() : TileBase{-1, VR == DYNAMIC ? R : VR, VC == DYNAMIC ? C : VC} {}
  template <class A>
    requires(std::is_convertible_v<A, int64_t> && (VR == DYNAMIC) != (VC == DYNAMIC))
  Tile(A given) : Tile() {
    (VR == DYNAMIC ? rows : cols) = static_cast<int64_t>(given);
  }
  template <class A, class Z>
    requires(std::is_convertible_v<A, int64_t> && std::is_convertible_v<Z, int64_t> &&
             VR == DYNAMIC && VC == DYNAMIC)
  Tile(A row, Z col) : Tile() {
    rows = static_cast<int64_t>(row), cols = static_cast<int64_t>(col);
  }

  static constexpr unsigned GetValidRow()
    requires(VR != DYNAMIC)
  {
    return VR;
  }
  unsigned GetValidRow() const
    requires(VR == DYNAMIC)
  {
    return static_cast<unsigned>(rows);
  }
  static constexpr unsigned GetValidCol()
    requires(VC != DYNAMIC)
  {
    return VC;
  }
  unsigned GetValidCol() const
    requires(VC == DYNAMIC)
  {
    return static_cast<unsigned>(cols);
  }
  void SetValidShape(int64_t row, int64_t col) { rows = row, cols = col; }
  void SetValidRow(int64_t row) { rows = row; }
  void SetValidCol(int64_t col) { cols = col; }
  static constexpr PadValue GetPadValue() { return P; }
  static constexpr size_t GetSizeInBytes() { return size_t(Numel) * sizeof(T); }
  bool GetKAligned() const { return aligned; }
  void SetKAligned(bool given) { aligned = given; }
  void SetMadTF32Mode(RoundMode = RoundMode::CAST_ROUND) {}
  void ResetMadMode() {}

  // Where the tile lies in the memory that stands for the chip's; kernels take references to it.
  TileDType &data() const {
    const int64_t at = ptokit::home(*this);
    return place = reinterpret_cast<DType *>(ptokit::space(int64_t(L)) + at);
  }
  void assignData(TileDType start) { address = ptokit::address_of(start) - ptokit::space(int64_t(L)); }
  PTOKIT_OUTLINE DType GetValue(int64_t i) const {
    DType *start = data();
    ptokit::special(ptokit::VALUE, PTOKIT_HERE, int64_t(L), address + i * int64_t(sizeof(T)), sizeof(T));
    return start[i];
  }
  template <class V> PTOKIT_OUTLINE void SetValue(int64_t i, V value) {
    data()[i] = static_cast<DType>(value);
    ptokit::special(ptokit::PLACE, PTOKIT_HERE, int64_t(L), address + i * int64_t(sizeof(T)), sizeof(T));
  }
  static int64_t type() {
    int64_t &id = ptokit::TypeId<Tile>::id;
    if (id == 0) {
      id = ptokit::special(ptokit::TILE_TYPE, 0, L, ptokit::element<DType>, R, C, B, S, F, P, M, VR, VC);
    }
    return id;
  }

 private:
  mutable TileDType place = nullptr;
  bool aligned = false;
};
template <class T> struct is_tile : std::is_base_of<ptokit::TileBase, T> {};
template <class T> inline constexpr bool is_tile_data_v = is_tile<T>::value;
template <class T> inline constexpr bool is_boxed_tile = [] {
  if constexpr (is_tile<T>::value) return T::isBoxedLayout;
  else return false;
}();
}  // namespace pto
