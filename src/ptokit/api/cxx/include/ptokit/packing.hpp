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
template <class T> inline constexpr bool is_tile = std::is_base_of_v<TileBase, T>;
template <class T> inline constexpr bool is_conv = std::is_base_of_v<ConvBase, T>;
template <class T> inline constexpr bool is_global = std::is_base_of_v<GlobalBase, T>;
template <class T> inline constexpr bool is_event = std::is_base_of_v<EventBase, T>;
template <class T> inline constexpr bool is_pipe = false;  // a FIFO between cores

struct Pack {
  int64_t *at = ptokit_words + HEAD;
  template <class... A> void put(A... words) { ((*at++ = static_cast<int64_t>(words)), ...); }
  void real(int64_t kind, double value) {
    put(REAL, kind);
    std::memcpy(at++, &value, sizeof value);
  }
  void tile(int64_t id, const TileBase &of) {
    put(TILE, id, of.address, of.rows, of.cols, address_of(&of.address));
  }
  void conv(int64_t id, const ConvBase &of) {
    put(CONV, id, of.address);
    for (int64_t each : of.extents) put(each);
    for (int64_t each : of.settings) put(each);
    put(address_of(&of.address));
  }
  void global(int64_t dtype, pto::Layout layout, const void *object, const void *pointer,
              const int64_t *extents, const int64_t *steps) {
    put(GLOBAL, dtype, layout, address_of(pointer));
    for (int i = 0; i < EXTENTS; ++i) put(extents[i]);
    for (int i = 0; i < EXTENTS; ++i) put(steps[i]);
    put(address_of(object));
  }
};

// Before words are packed: what has to be told first, and what has to be waited for.
template <class T> void prepare(int64_t here, T &given) {
  using U = Bare<T>;
  if constexpr (std::is_pointer_v<U>) {
    if constexpr (std::is_class_v<std::remove_pointer_t<U>>) prepare(here, *given);
  } else if constexpr (is_tile<U> || is_conv<U>) {
    U::type();
  } else if constexpr (is_event<U>) {
    given.wait_at(here);
  }
}

template <class T> void pack(Pack &to, const T &given) {
  using U = Bare<T>;
  if constexpr (is_tile<U>) {
    to.tile(U::type(), given);
  } else if constexpr (is_conv<U>) {
    to.conv(U::type(), given);
  } else if constexpr (is_global<U>) {
    to.global(element<typename U::DType>, U::layout, &given.pointer, given.pointer,
              given.extents.shape, given.steps.stride);
  } else if constexpr (is_event<U>) {
  } else if constexpr (is_pipe<U>) {
    to.put(PIPE, given.id, address_of(&given));
  } else if constexpr (std::is_pointer_v<U>) {
    using V = std::remove_cv_t<std::remove_pointer_t<U>>;
    if constexpr (is_tile<V> || is_conv<V>) pack(to, *given);
    else to.put(POINTER, element<V>, address_of(given));
  } else if constexpr (std::is_null_pointer_v<U>) {
    to.put(POINTER, VOID, 0);
  } else if constexpr (std::is_enum_v<U>) {
    to.put(WORD, enumeration<U>, given);
  } else if constexpr (is_real<U>) {
    if constexpr (std::is_same_v<U, double>) to.real(DOUBLE, given);
    else to.real(element<U>, static_cast<double>(static_cast<float>(given)));
  } else if constexpr (std::is_integral_v<U>) {
    to.put(INTEGER, element<U>, given);
  } else if constexpr (std::is_array_v<U>) {
    to.put(NUMBERS, element<Bare<decltype(given[0])>>, address_of(given), std::extent_v<U>);
  } else if constexpr (std::is_same_v<U, pto::MrgSortExecutedNumList>) {
    to.put(NUMBERS, element<uint16_t>, address_of(&given), 4);
  } else {
    to.put(OTHER, address_of(&given), sizeof(U));
  }
}

template <class... T> struct Types {};
template <auto... V> struct Values {};
template <class T> void choose(Pack &to, int64_t &count) {
  if constexpr (element<T> != VOID) to.put(TYPE, element<T>), ++count;
}

// An intrinsic with its template arguments: types of operands follow from the operands.
template <class... T, auto... V, class... A>
int64_t call(int64_t name, int64_t here, Types<T...>, Values<V...>, A &...given) {
  (prepare(here, given), ...);
  Pack to;
  int64_t count = sizeof...(V);
  (choose<Bare<T>>(to, count), ...);
  (pack(to, V), ...);
  (pack(to, given), ...);
  ptokit_words[0] = name, ptokit_words[1] = here, ptokit_words[2] = count;
  return issue(to.at - ptokit_words);
}
}  // namespace ptokit
