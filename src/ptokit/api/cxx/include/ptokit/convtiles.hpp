// Tiles of a convolution: a list of extents in a layout, and how the instructions read them.
#pragma once
#include "tiles.hpp"

namespace ptokit {
// The words of a convolution tile that the host reads and writes.
struct ConvBase {
  mutable int64_t address = -1;
  int64_t extents[kConvExtents] = {1, 1, 1, 1, 1, 1, 1, 1};
  int64_t settings[kConvSettings] = {0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1};
};
}  // namespace ptokit

namespace pto {
template <int... N_> struct ConvTileShape {
  static constexpr int totalDimCount = sizeof...(N_);
  static constexpr int dynamicDimCount = ((N_ == DYNAMIC) + ... + 0);
  static constexpr int64_t staticShape[sizeof...(N_)] = {N_...};
  int64_t shape[sizeof...(N_)];
  ConvTileShape() : ConvTileShape(nullptr, 0) {}
  template <class... A_>
    requires(sizeof...(A_) != 0 && (std::is_convertible_v<A_, int64_t> && ...))
  ConvTileShape(A_... given) {
    static_assert(sizeof...(A_) == totalDimCount || sizeof...(A_) == dynamicDimCount,
                  "ConvTileShape takes all extents, or one for each DYNAMIC");
    const int64_t values[] = {static_cast<int64_t>(given)...};
    fill(values, sizeof...(A_));
  }

 private:
  ConvTileShape(const int64_t *values, int count) { fill(values, count); }
  void fill(const int64_t *values, int count) {
    for (int i = 0, next = 0; i < totalDimCount; ++i) {
      const bool open = staticShape[i] == DYNAMIC;
      shape[i] = !open ? staticShape[i] : count == 0 ? 1 : values[count == totalDimCount ? i : next++];
    }
  }
};

template <TileType L_, class T_, int N_, Layout F_, class S_> struct ConvTile : ptokit::ConvBase {
  using DType = std::remove_cv_t<T_>;
  using TileDType = DType *;
  using ShapeType = S_;
  static constexpr TileType Loc = L_;
  static constexpr int bufferSize = N_;
  static constexpr Layout layout = F_;
  static constexpr int totalDimCount = S_::totalDimCount, dynamicDimCount = S_::dynamicDimCount;
  static constexpr const int64_t (&staticShape)[S_::totalDimCount] = S_::staticShape;

  ConvTile() { take(S_()); }
  template <class... A_>
    requires(sizeof...(A_) != 0 && (std::is_convertible_v<A_, int64_t> && ...))
  explicit ConvTile(A_... given) {
    take(S_(given...));
  }
  template <class... A_> void SetDynamicShape(A_... given) { take(S_(given...)); }
  int64_t GetShape(int i) const { return extents[i]; }
  DType GetPadValue() const {
    double real;
    std::memcpy(&real, &settings[ptokit::kPadValue], sizeof real);
    return static_cast<DType>(static_cast<float>(real));
  }
  PTOKIT_OUTLINE TileDType &data() const {
    const int64_t here = PTOKIT_HERE;
    adopt(here);
    if (address == -1) {
      const int64_t id = type(here);
      ptokit::special(ptokit::kHome, here, ptokit::kConv, id, ptokit::address_of(this));
    }
    told = reinterpret_cast<DType *>(ptokit::space(here, int64_t(L_)) + address);
    return place = told;
  }
  void place_at(int64_t at) { address = at, told = place; }
  // Take over a pointer that the kernel has assigned to `data()`.
  void adopt(int64_t here) const {
    if (place == told) return;
    address = ptokit::address_of(place) - ptokit::space(here, int64_t(L_));
    told = place;
  }
#define PTOKIT_SETTING(NAME, INDEX)                              \
  void Set##NAME(int64_t given) { settings[INDEX] = given; }     \
  int64_t Get##NAME() const { return settings[INDEX]; }
  PTOKIT_SETTING(FmapH, ptokit::kFmapH)
  PTOKIT_SETTING(FmapW, ptokit::kFmapW)
  PTOKIT_SETTING(ChannelSize, ptokit::kChannels)
  PTOKIT_SETTING(FilterH, ptokit::kFilterH)
  PTOKIT_SETTING(FilterW, ptokit::kFilterW)
  PTOKIT_SETTING(StrideH, ptokit::kStrideH)
  PTOKIT_SETTING(StrideW, ptokit::kStrideW)
  PTOKIT_SETTING(DilationH, ptokit::kDilationH)
  PTOKIT_SETTING(DilationW, ptokit::kDilationW)
  PTOKIT_SETTING(RepeatStride, ptokit::kRepeatStride)
  PTOKIT_SETTING(RepeatTime, ptokit::kRepeatTimes)
  PTOKIT_SETTING(RepeatMode, ptokit::kRepeatMode)
  PTOKIT_SETTING(DstStride, ptokit::kDstStride)
  PTOKIT_SETTING(DstMposition, ptokit::kDstPosition)
  PTOKIT_SETTING(Transpose, ptokit::kTranspose)
#undef PTOKIT_SETTING
  template <class V_> void SetPadValue(V_ value) {
    const double real = static_cast<double>(value);
    std::memcpy(&settings[ptokit::kPadValue], &real, sizeof real);
  }
  void SetPadList(int i, int64_t value) { settings[ptokit::kPadLeft + i] = value; }
  int64_t GetPadList(int i) const { return settings[ptokit::kPadLeft + i]; }
  template <class A_> void SetPadListArray(const A_ &values) {
    for (int i = 0; i < 4; ++i) SetPadList(i, values[i]);
  }
  static int64_t type(int64_t here) {
    int64_t &id = ptokit::TypeId<ConvTile>::id;
    if (id == 0) {
      id = ptokit::special(ptokit::kConvType, here, L_, ptokit::element_word<DType>(), N_, F_, S_::totalDimCount);
    }
    return id;
  }

 private:
  mutable TileDType place = nullptr, told = nullptr;  // what `data()` is, and was when it was asked for
  void take(const S_ &given) {
    for (int i = 0; i < totalDimCount; ++i) extents[i] = given.shape[i];
  }
};
template <class T_> struct is_conv_tile : std::is_base_of<ptokit::ConvBase, T_> {};
}  // namespace pto
