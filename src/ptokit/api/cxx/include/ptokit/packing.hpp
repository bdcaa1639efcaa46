// The words of a call: template arguments, then operands, each behind its tag.
#pragma once
#include "convtiles.hpp"
#include "events.hpp"
#include "globals.hpp"

namespace pto {
struct MrgSortExecutedNumList {
  uint16_t mrgSortList0, mrgSortList1, mrgSortList2, mrgSortList3;
};
}  // namespace pto

namespace ptokit {
template <class T_> inline constexpr bool is_tile = std::is_base_of_v<TileBase, T_>;
template <class T_> inline constexpr bool is_conv = std::is_base_of_v<ConvBase, T_>;
template <class T_> inline constexpr bool is_global = std::is_base_of_v<GlobalBase, T_>;
template <class T_> inline constexpr bool is_event = std::is_base_of_v<EventBase, T_>;
template <class T_> inline constexpr bool is_pipe = false;   // a FIFO between cores
template <class T_> inline constexpr bool is_group = false;  // the parts of ranks

struct Pack {
  Turn turn;
  int64_t *at = ptokit_words + kHead;
  template <class... A_> void put(A_... words) { ((*at++ = static_cast<int64_t>(words)), ...); }
  void real(int64_t kind, double value) {
    put(kReal, kind);
    std::memcpy(at++, &value, sizeof value);
  }
  void tile(int64_t id, const TileBase &of) {
    put(kTile, id, of.address, of.RowMaskInternal, of.ColMaskInternal, address_of(&of.address));
  }
  void conv(int64_t id, const ConvBase &of) {
    put(kConv, id, of.address);
    for (int64_t each : of.extents) put(each);
    for (int64_t each : of.settings) put(each);
    put(address_of(&of.address));
  }
  void global(int64_t dtype, pto::Layout layout, const void *object, const void *pointer,
              const int64_t *extents, const int64_t *steps) {
    put(kGlobal, dtype, layout, address_of(pointer));
    for (int i = 0; i < kExtents; ++i) put(extents[i]);
    for (int i = 0; i < kExtents; ++i) put(steps[i]);
    put(address_of(object));
  }
};

// Before words are packed: what has to be told first, and what has to be waited for.
template <class T_> void prepare(int64_t here, T_ &given) {
  using U_ = Bare<T_>;
  if constexpr (std::is_pointer_v<U_>) {
    if constexpr (std::is_class_v<std::remove_pointer_t<U_>>) prepare(here, *given);
  } else if constexpr (is_tile<U_> || is_conv<U_>) {
    U_::type(here);
    given.adopt(here);
  } else if constexpr (is_event<U_>) {
    given.wait_at(here);
  }
}

template <class T_> void pack(Pack &to, const T_ &given) {
  using U_ = Bare<T_>;
  if constexpr (is_tile<U_>) {
    to.tile(U_::type(0), given);
  } else if constexpr (is_conv<U_>) {
    to.conv(U_::type(0), given);
  } else if constexpr (is_global<U_>) {
    to.global(element_word<typename U_::DType>(), U_::layout, &given.pointer, given.pointer,
              given.extents.shape, given.steps.stride);
  } else if constexpr (is_event<U_>) {
  } else if constexpr (is_pipe<U_>) {
    to.put(kPipe, given.id, address_of(&given));
  } else if constexpr (std::is_pointer_v<U_>) {
    using V_ = std::remove_cv_t<std::remove_pointer_t<U_>>;
    if constexpr (is_tile<V_> || is_conv<V_>) pack(to, *given);
    else to.put(kPointer, element<V_>, address_of(given));
  } else if constexpr (std::is_null_pointer_v<U_>) {
    to.put(kPointer, kVoid, 0);
  } else if constexpr (std::is_enum_v<U_>) {
    to.put(kWord, enumeration<U_>, given);
  } else if constexpr (is_real<U_>) {
    if constexpr (std::is_same_v<U_, double>) to.real(kDouble, given);
    else to.real(element<U_>, static_cast<double>(static_cast<float>(given)));
  } else if constexpr (std::is_integral_v<U_>) {
    to.put(kInteger, element<U_>, given);
  } else if constexpr (is_group<U_>) {
    to.put(kGroup, given.nranks, given.rootIdx);
    for (int rank = 0; rank < given.nranks; ++rank) pack(to, given.tensors[rank]);
  } else if constexpr (std::is_array_v<U_>) {
    to.put(kNumbers, element_word<Bare<decltype(given[0])>>(), address_of(given), std::extent_v<U_>);
  } else if constexpr (std::is_same_v<U_, pto::MrgSortExecutedNumList>) {
    to.put(kNumbers, element<uint16_t>, address_of(&given), 4);
  } else {
    to.put(kOther, address_of(type_text<U_>()), sizeof(U_));
  }
}

template <class... T_> struct Types {};
template <auto... V_> struct Values {};
template <auto... V_> void pack_values(Pack &to, int64_t &count, Values<V_...>) {
  count += sizeof...(V_);
  (pack(to, V_), ...);
}
template <class T_> void choose(Pack &to, int64_t &count) {
  if constexpr (element<T_> != kVoid) to.put(kType, element<T_>), ++count;
  else if constexpr (requires { typename T_::Chosen; }) pack_values(to, count, typename T_::Chosen());
}

// An intrinsic with its template arguments: types of operands follow from the operands.
template <class... T_, auto... V_, class... A_>
int64_t call(int64_t name, int64_t here, Types<T_...>, Values<V_...>, A_ &...given) {
  (prepare(here, given), ...);
  Pack to;
  int64_t count = 0;
  (choose<Bare<T_>>(to, count), ...);
  pack_values(to, count, Values<V_...>());
  (pack(to, given), ...);
  ptokit_words[0] = name, ptokit_words[1] = here, ptokit_words[2] = count;
  return issue(to.at - ptokit_words);
}
}  // namespace ptokit
