// Tiles: storage of one memory with a type and a valid region.
#pragma once
#include "shapes.hpp"

namespace ptokit {
// The words of a tile that the host reads and writes.
struct TileBase {
  mutable int64_t address = -1;
  int64_t RowMaskInternal = 0, ColMaskInternal = 0;
  // A tile that has no address yet gives none away: kernels resize tiles by assignment.
  TileBase &operator=(const TileBase &other) {
    if (other.address >= 0) address = other.address;
    RowMaskInternal = other.RowMaskInternal, ColMaskInternal = other.ColMaskInternal;
    return *this;
  }
};
template <class T_> struct TypeId {
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
inline int64_t space(int64_t here, int64_t location) { return special(kSpace, here, location); }
// The address of a tile, given by the host where the kernel gave none.
template <class T_> int64_t home(int64_t here, const T_ &tile) {
  if (tile.address == -1) {
    const int64_t id = T_::type(here);
    special(kHome, here, kTile, id, tile.address, tile.RowMaskInternal, tile.ColMaskInternal, address_of(&tile.address));
  }
  return tile.address;
}
}  // namespace ptokit

namespace pto {
namespace TileConfig {
constexpr int alignedSize = 32, fixedRowSize = 16, fixedColSize = 16, fixedMxRowSize = 16;
constexpr int fixedMxColSize = 2, fractalABSize = 512, fractalCSize = 1024, fractalMxSize = 32;
}  // namespace TileConfig

template <TileType L_, class T_, int R_, int C_, BLayout B_ = BLayout::RowMajor, int VR_ = R_, int VC_ = C_,
          SLayout S_ = SLayout::NoneBox, int F_ = TileConfig::fractalABSize,
          PadValue P_ = PadValue::Null, CompactMode M_ = CompactMode::Null>
struct Tile : ptokit::TileBase {
  using DType = std::remove_cv_t<T_>;
  using TileDType = DType *;
  static constexpr TileType Loc = L_;
  static constexpr int Rows = R_, Cols = C_, Numel = R_ * C_, ValidRow = VR_, ValidCol = VC_;
  static constexpr int RowStride = B_ == BLayout::RowMajor ? C_ : 1;
  static constexpr int ColStride = B_ == BLayout::RowMajor ? 1 : R_;
  static constexpr BLayout BFractal = B_;
  static constexpr SLayout SFractal = S_;
  static constexpr int SFractalSize = F_;
  static constexpr bool isRowMajor = B_ == BLayout::RowMajor;
  static constexpr bool isBoxedLayout = S_ != SLayout::NoneBox;
  static constexpr bool isInnerRowMajor = S_ == SLayout::RowMajor;
  static constexpr bool isInnerColMajor = S_ == SLayout::ColMajor;
  static constexpr int InnerRows = ptokit::box_rows(S_, F_, sizeof(T_));
  static constexpr int InnerCols = ptokit::box_cols(S_, F_, sizeof(T_));
  static constexpr int InnerNumel = InnerRows * InnerCols;
  static constexpr auto PadVal = P_;
  static constexpr CompactMode Compact = M_;

  Tile() : TileBase{-1, VR_ == DYNAMIC ? R_ : VR_, VC_ == DYNAMIC ? C_ : VC_} {}
  template <class A_>
    requires(std::is_convertible_v<A_, int64_t> && (VR_ == DYNAMIC) != (VC_ == DYNAMIC))
  Tile(A_ given) : Tile() {
    (VR_ == DYNAMIC ? RowMaskInternal : ColMaskInternal) = static_cast<int64_t>(given);
  }
  // A tile of static extents may repeat its columns, and have no others.
  template <class A_>
    requires(std::is_convertible_v<A_, int64_t> && VR_ != DYNAMIC && VC_ != DYNAMIC)
  PTOKIT_OUTLINE explicit Tile(A_ given) : Tile() {
    const int64_t cols = static_cast<int64_t>(given);
    if (cols == VC_) return;
    char why[96];
    std::snprintf(why, sizeof why, "a tile of %d static columns is given %lld", VC_, static_cast<long long>(cols));
    ptokit::special(ptokit::kTrap, PTOKIT_HERE, ptokit::address_of(why));
  }
  template <class A_, class Z_>
    requires(std::is_convertible_v<A_, int64_t> && std::is_convertible_v<Z_, int64_t> &&
             VR_ == DYNAMIC && VC_ == DYNAMIC)
  Tile(A_ row, Z_ col) : Tile() {
    RowMaskInternal = static_cast<int64_t>(row), ColMaskInternal = static_cast<int64_t>(col);
  }

  static constexpr unsigned GetValidRow()
    requires(VR_ != DYNAMIC)
  {
    return VR_;
  }
  unsigned GetValidRow() const
    requires(VR_ == DYNAMIC)
  {
    return static_cast<unsigned>(RowMaskInternal);
  }
  static constexpr unsigned GetValidCol()
    requires(VC_ != DYNAMIC)
  {
    return VC_;
  }
  unsigned GetValidCol() const
    requires(VC_ == DYNAMIC)
  {
    return static_cast<unsigned>(ColMaskInternal);
  }
  void SetValidShape(int64_t row, int64_t col) { RowMaskInternal = row, ColMaskInternal = col; }
  void SetValidRow(int64_t row) { RowMaskInternal = row; }
  void SetValidCol(int64_t col) { ColMaskInternal = col; }
  static constexpr PadValue GetPadValue() { return P_; }
  static constexpr size_t GetSizeInBytes() { return size_t(Numel) * sizeof(T_); }
  bool GetKAligned() const { return aligned; }
  void SetKAligned(bool given) { aligned = given; }
  PTOKIT_OUTLINE void SetMadTF32Mode(RoundMode mode = RoundMode::CAST_ROUND) {
    ptokit::special(ptokit::kShorten, PTOKIT_HERE, mode == RoundMode::CAST_RINT ? 1 : 2);
  }
  PTOKIT_OUTLINE void ResetMadMode() { ptokit::special(ptokit::kShorten, PTOKIT_HERE, 0); }

  // Where the tile lies in the memory that stands for the chip's; kernels take references to it.
  PTOKIT_OUTLINE TileDType &data() const { return data_at(PTOKIT_HERE); }
  PTOKIT_OUTLINE void assignData(TileDType start) {
    place_at(ptokit::address_of(start) - ptokit::space(PTOKIT_HERE, int64_t(L_)));
  }
  PTOKIT_OUTLINE DType GetValue(int64_t i) const {
    DType *start = data_at(PTOKIT_HERE);
    ptokit::special(ptokit::kValue, PTOKIT_HERE, int64_t(L_), address + i * int64_t(sizeof(T_)), sizeof(T_));
    return start[i];
  }
  template <class V_> PTOKIT_OUTLINE void SetValue(int64_t i, V_ value) {
    data_at(PTOKIT_HERE)[i] = static_cast<DType>(value);
    ptokit::special(ptokit::kPlace, PTOKIT_HERE, int64_t(L_), address + i * int64_t(sizeof(T_)), sizeof(T_));
  }
  void place_at(int64_t at) { address = at, told = place; }
  // Take over a pointer that the kernel has assigned to `data()`.
  void adopt(int64_t here) const {
    if (place == told) return;
    address = ptokit::address_of(place) - ptokit::space(here, int64_t(L_));
    told = place;
  }
  static int64_t type(int64_t here) {
    int64_t &id = ptokit::TypeId<Tile>::id;
    if (id == 0) {
      id = ptokit::special(ptokit::kTileType, here, L_, ptokit::element_word<DType>(), R_, C_, B_, S_, F_, P_, M_, VR_, VC_);
    }
    return id;
  }

 private:
  TileDType &data_at(int64_t here) const {
    adopt(here);
    const int64_t at = ptokit::home(here, *this);
    told = reinterpret_cast<DType *>(ptokit::space(here, int64_t(L_)) + at);
    return place = told;
  }
  mutable TileDType place = nullptr, told = nullptr;  // what `data()` is, and was when it was asked for
  bool aligned = false;
};
template <class T_> struct is_tile : std::is_base_of<ptokit::TileBase, T_> {};
template <class T_> inline constexpr bool is_tile_data_v = is_tile<T_>::value;
template <class T_> inline constexpr bool is_boxed_tile = [] {
  if constexpr (is_tile<T_>::value) return T_::isBoxedLayout;
  else return false;
}();
}  // namespace pto
