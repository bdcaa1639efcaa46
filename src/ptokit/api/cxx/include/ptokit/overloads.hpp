// The overloads of an intrinsic. Explicit template arguments mix types and values: types first with
// values behind them, or one value, then types, then values.
#pragma once
#include "packing.hpp"

#define PTOKIT_ISSUE(NUMBER, TYPES, VALUES)                                                      \
  {                                                                                              \
    return RecordEvent(ptokit::call(ptokit::number::NUMBER, PTOKIT_HERE, ptokit::Types<TYPES>(), \
                                    VALUES, given...));                                          \
  }
#define PTOKIT_LIST(...) __VA_ARGS__
#define PTOKIT_TYPED(NAME, NUMBER, PARAMETERS, TYPES)                                   \
  template <PARAMETERS auto... W_, class... A_>                                           \
  PTOKIT_OUTLINE RecordEvent NAME(A_ &&...given)                                         \
      PTOKIT_ISSUE(NUMBER, PTOKIT_LIST(TYPES), ptokit::Values<W_...>())
#define PTOKIT_VALUED(NAME, NUMBER, PARAMETERS, TYPES)                                  \
  template <auto V_, PARAMETERS auto... W_, class... A_>                                   \
  PTOKIT_OUTLINE RecordEvent NAME(A_ &&...given)                                         \
      PTOKIT_ISSUE(NUMBER, PTOKIT_LIST(TYPES), (ptokit::Values<V_, W_...>()))
#define PTOKIT_1 class T0,
#define PTOKIT_2 PTOKIT_1 class T1,
#define PTOKIT_3 PTOKIT_2 class T2,
#define PTOKIT_4 PTOKIT_3 class T3,
#define PTOKIT_5 PTOKIT_4 class T4,
#define PTOKIT_6 PTOKIT_5 class T5,
#define PTOKIT_7 PTOKIT_6 class T6,
#define PTOKIT_8 PTOKIT_7 class T7,
#define PTOKIT_INTRINSIC(NAME, NUMBER)                                                   \
  PTOKIT_TYPED(NAME, NUMBER, , )                                                         \
  PTOKIT_TYPED(NAME, NUMBER, PTOKIT_1, T0)                                               \
  PTOKIT_TYPED(NAME, NUMBER, PTOKIT_2, PTOKIT_LIST(T0, T1))                              \
  PTOKIT_TYPED(NAME, NUMBER, PTOKIT_3, PTOKIT_LIST(T0, T1, T2))                          \
  PTOKIT_TYPED(NAME, NUMBER, PTOKIT_4, PTOKIT_LIST(T0, T1, T2, T3))                      \
  PTOKIT_TYPED(NAME, NUMBER, PTOKIT_5, PTOKIT_LIST(T0, T1, T2, T3, T4))                  \
  PTOKIT_TYPED(NAME, NUMBER, PTOKIT_6, PTOKIT_LIST(T0, T1, T2, T3, T4, T5))              \
  PTOKIT_TYPED(NAME, NUMBER, PTOKIT_7, PTOKIT_LIST(T0, T1, T2, T3, T4, T5, T6))          \
  PTOKIT_TYPED(NAME, NUMBER, PTOKIT_8, PTOKIT_LIST(T0, T1, T2, T3, T4, T5, T6, T7))      \
  PTOKIT_VALUED(NAME, NUMBER, PTOKIT_1, T0)                                              \
  PTOKIT_VALUED(NAME, NUMBER, PTOKIT_2, PTOKIT_LIST(T0, T1))                             \
  PTOKIT_VALUED(NAME, NUMBER, PTOKIT_3, PTOKIT_LIST(T0, T1, T2))                         \
  PTOKIT_VALUED(NAME, NUMBER, PTOKIT_4, PTOKIT_LIST(T0, T1, T2, T3))                     \
  PTOKIT_VALUED(NAME, NUMBER, PTOKIT_5, PTOKIT_LIST(T0, T1, T2, T3, T4))                 \
  PTOKIT_VALUED(NAME, NUMBER, PTOKIT_6, PTOKIT_LIST(T0, T1, T2, T3, T4, T5))

namespace ptokit {
template <class... A_> int64_t device(int64_t here, const char *name, const A_ &...given) {
  Pack to;
  to.put(address_of(name), sizeof...(A_));
  (pack(to, given), ...);
  ptokit_words[0] = kDevice, ptokit_words[1] = here, ptokit_words[2] = 0;
  return issue(to.at - ptokit_words);
}
}  // namespace ptokit
#define PTOKIT_DEVICE(NAME)                                              \
  template <class... A_> PTOKIT_OUTLINE int64_t NAME(const A_ &...given) { \
    return ptokit::device(PTOKIT_HERE, #NAME, given...);                 \
  }
