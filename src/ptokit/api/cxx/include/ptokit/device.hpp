// Builtins of the device that kernels call beside instructions.
#pragma once
#include "intrinsics.hpp"
#include "launches.hpp"

// Builtins without a page: the host is told of them. The others are generated.
PTOKIT_DEVICE(preload)
PTOKIT_DEVICE(get_sys_cnt)
PTOKIT_DEVICE(get_icache_prl_st)
PTOKIT_DEVICE(set_nd_para)
// Scalars of global memory past the data cache.
template <class T_, class N_> PTOKIT_OUTLINE T_ ld_dev(const T_ *start, N_ offset) {
  ptokit::device(PTOKIT_HERE, "ld_dev", start, offset);
  return start[offset];
}
template <class V_, class T_, class N_> PTOKIT_OUTLINE void st_dev(V_ value, T_ *start, N_ offset) {
  if constexpr (std::is_integral_v<V_>) {
    if ((const void *)start == ptokit_signals) {  // a message to other cores
      const uint64_t message = static_cast<uint64_t>(value);
      ptokit::special(ptokit::kSignal, PTOKIT_HERE, ptokit::kFfts, PIPE_S, message >> 8 & 15,
                      message >> 4 & 3);
      return;
    }
  }
  ptokit::device(PTOKIT_HERE, "st_dev", value, start, offset);
  start[offset] = static_cast<T_>(value);
}
// PTOKIT_BY_HAND(ld_dev) PTOKIT_BY_HAND(st_dev)
constexpr uint64_t sbitset0(uint64_t value, int64_t bit) { return value & ~(uint64_t(1) << bit); }
constexpr uint64_t sbitset1(uint64_t value, int64_t bit) { return value | uint64_t(1) << bit; }
enum class cache_line_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
using enum cache_line_t;
enum dcci_dst_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
namespace ptokit {
[[noreturn]] inline void refuse(int64_t here, const char *text) {
  special(kTrap, here, address_of(text));
  throw Stop();
}
[[noreturn]] PTOKIT_OUTLINE inline void give_up(const char *text) { refuse(PTOKIT_HERE, text); }
}  // namespace ptokit
[[noreturn]] PTOKIT_OUTLINE inline void trap() {
  ptokit::special(ptokit::kTrap, PTOKIT_HERE, ptokit::address_of("trap"));
  throw ptokit::Stop();
}
// PTOKIT_BY_HAND(trap) PTOKIT_BY_HAND(sbitset0) PTOKIT_BY_HAND(sbitset1)
namespace cce {
using std::printf;
}
using std::printf;

// Assertions of kernels: a condition that does not hold ends the core with the text.
#define PTOKIT_ASSERT(condition, text)                                                     \
  do {                                                                                     \
    if (!(condition)) ptokit::give_up(text);                                               \
  } while (0)
#define DEBUG_CHECK(condition, ...) PTOKIT_ASSERT(condition, #condition)
#define PTO_ASSERT(condition, ...) PTOKIT_ASSERT(condition, #condition)
#define PTO_CPU_ASSERT(condition, ...) PTOKIT_ASSERT(condition, #condition)
#define PTO_STATIC_ASSERT(condition, ...) static_assert(condition, #condition)

namespace pto {
// The address of a tile, or where a view of global memory begins.
template <class T_, class A_>
  requires(is_tile<T_>::value || is_conv_tile<T_>::value || is_global<T_>::value)
PTOKIT_OUTLINE void TASSIGN(T_ &given, A_ where) {
  if constexpr (is_global<T_>::value) {
    given.pointer = (typename T_::DType *)(where);
  } else {
    int64_t at = (int64_t)(where);
    if (at >> 32) at -= ptokit::space(PTOKIT_HERE, int64_t(T_::Loc));  // what `data()` gave
    given.place_at(at);
  }
}
template <uint64_t Where, class T_>
  requires(is_tile<T_>::value || is_conv_tile<T_>::value)
void TASSIGN(T_ &given) {
  given.place_at(Where);
}
}  // namespace pto
// PTOKIT_BY_HAND(TASSIGN) PTOKIT_BY_HAND(DEBUG_CHECK)

namespace pto {
PTOKIT_INTRINSIC(SUBVIEW, TSUBVIEW)  // an older name
}
