// The overloads of an intrinsic. Explicit template arguments mix types and values: types first with
// values behind them, or one value, then types, then values.
#pragma once
#include "packing.hpp"

#define PTOKIT_ISSUE(NUMBER, TYPES, VALUES)                                                      \
  {                                                                                              \
    ptokit::call(ptokit::number::NUMBER, PTOKIT_HERE, ptokit::Types<TYPES>(), VALUES, given...); \
    return {};                                                                                   \
  }
#define PTOKIT_LIST(...) __VA_ARGS__
#define PTOKIT_TYPED(NAME, NUMBER, PARAMETERS, TYPES)                                   \
  template <PARAMETERS auto... W, class... A>                                           \
  PTOKIT_OUTLINE RecordEvent NAME(A &&...given)                                         \
      PTOKIT_ISSUE(NUMBER, PTOKIT_LIST(TYPES), ptokit::Values<W...>())
#define PTOKIT_VALUED(NAME, NUMBER, PARAMETERS, TYPES)                                  \
  template <auto V, PARAMETERS auto... W, class... A>                                   \
  PTOKIT_OUTLINE RecordEvent NAME(A &&...given)                                         \
      PTOKIT_ISSUE(NUMBER, PTOKIT_LIST(TYPES), (ptokit::Values<V, W...>()))
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
