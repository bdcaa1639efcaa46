// Tiles of a convolution: a list of extents in a layout, and how the instructions read them.
#pragma once
#include "tiles.hpp"

namespace ptokit {
// The words of a convolution tile that the host reads and writes.
struct ConvBase {
  int64_t address = -1;
  int64_t extents[CONV_EXTENTS] = {1, 1, 1, 1, 1, 1, 1, 1};
  int64_t settings[CONV_SETTINGS] = {0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1};
};
}  // namespace ptokit

namespace pto {
template <int... N> struct ConvTileShape {
  static constexpr int totalDimCount = sizeof...(N);
  static constexpr int dynamicDimCount = ((N == DYNAMIC) + ... + 0);
  static constexpr int64_t staticShape[sizeof...(N)] = {N...};
  int64_t shape[sizeof...(N)];
  ConvTileShape() : ConvTileShape(nullptr, 0) {}
  template <class... A>
    requires(sizeof...(A) != 0 && (std::is_convertible_v<A, int64_t> && ...))
  ConvTileShape(A... given) {
    static_assert(sizeof...(A) == totalDimCount || sizeof...(A) == dynamicDimCount,
                  "ConvTileShape takes all extents, or one for each DYNAMIC");
    const int64_t values[] = {static_cast<int64_t>(given)...};
    fill(values, sizeof...(A));
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

template <TileType L, class T, int N, Layout F, class S> struct ConvTile : ptokit::ConvBase {
  using DType = std::remove_cv_t<T>;
  using TileDType = DType *;
  using ShapeType = S;
  static constexpr TileType Loc = L;
  static constexpr int bufferSize = N;
  static constexpr Layout layout = F;
  static constexpr int totalDimCount = S::totalDimCount, dynamicDimCount = S::dynamicDimCount;
  static constexpr const int64_t (&staticShape)[S::totalDimCount] = S::staticShape;

  ConvTile() { take(S()); }
  template <class... A>
    requires(sizeof...(A) != 0 && (std::is_convertible_v<A, int64_t> && ...))
  explicit ConvTile(A... given) {
    take(S(given...));
  }
  template <class... A> void SetDynamicShape(A... given) { take(S(given...)); }
  int64_t GetShape(int i) const { return extents[i]; }
  TileDType &data() const {
    if (address == -1) {
      const int64_t id = type();
      ptokit::special(ptokit::HOME, 0, ptokit::CONV, id, ptokit::address_of(this));
    }
    return place = reinterpret_cast<DType *>(ptokit::space(int64_t(L)) + address);
  }
#define PTOKIT_SETTING(NAME, INDEX)                              \
  void Set##NAME(int64_t given) { settings[INDEX] = given; }     \
  int64_t Get##NAME() const { return settings[INDEX]; }
  PTOKIT_SETTING(FmapH, ptokit::FMAP_H)
  PTOKIT_SETTING(FmapW, ptokit::FMAP_W)
  PTOKIT_SETTING(ChannelSize, ptokit::CHANNELS)
  PTOKIT_SETTING(FilterH, ptokit::FILTER_H)
  PTOKIT_SETTING(FilterW, ptokit::FILTER_W)
  PTOKIT_SETTING(StrideH, ptokit::STRIDE_H)
  PTOKIT_SETTING(StrideW, ptokit::STRIDE_W)
  PTOKIT_SETTING(DilationH, ptokit::DILATION_H)
  PTOKIT_SETTING(DilationW, ptokit::DILATION_W)
  PTOKIT_SETTING(RepeatStride, ptokit::REPEAT_STRIDE)
  PTOKIT_SETTING(RepeatTime, ptokit::REPEAT_TIMES)
  PTOKIT_SETTING(RepeatMode, ptokit::REPEAT_MODE)
  PTOKIT_SETTING(DstStride, ptokit::DST_STRIDE)
  PTOKIT_SETTING(DstMposition, ptokit::DST_POSITION)
  PTOKIT_SETTING(Transpose, ptokit::TRANSPOSE)
#undef PTOKIT_SETTING
  template <class V> void SetPadValue(V value) {
    const double real = static_cast<double>(value);
    std::memcpy(&settings[ptokit::PAD_VALUE], &real, sizeof real);
  }
  void SetPadList(int i, int64_t value) { settings[ptokit::PAD_LEFT + i] = value; }
  int64_t GetPadList(int i) const { return settings[ptokit::PAD_LEFT + i]; }
  template <class A> void SetPadListArray(const A &values) {
    for (int i = 0; i < 4; ++i) SetPadList(i, values[i]);
  }
  static int64_t type() {
    int64_t &id = ptokit::TypeId<ConvTile>::id;
    if (id == 0) {
      id = ptokit::special(ptokit::CONV_TYPE, 0, L, ptokit::element<DType>, N, F, S::totalDimCount);
    }
    return id;
  }

 private:
  mutable TileDType place = nullptr;
  void take(const S &given) {
    for (int i = 0; i < totalDimCount; ++i) extents[i] = given.shape[i];
  }
};
template <class T> struct is_conv_tile : std::is_base_of<ptokit::ConvBase, T> {};
}  // namespace pto
