// Builtins of the device that kernels call beside instructions.
#pragma once
#include "launches.hpp"

namespace ptokit {
template <class... A> int64_t device(int64_t here, const char *name, const A &...given) {
  Pack to;
  to.put(address_of(name), sizeof...(A));
  (pack(to, given), ...);
  ptokit_words[0] = DEVICE, ptokit_words[1] = here, ptokit_words[2] = 0;
  return issue(to.at - ptokit_words);
}
}  // namespace ptokit
#define PTOKIT_DEVICE(NAME)                                             \
  template <class... A> PTOKIT_OUTLINE int64_t NAME(const A &...given) { \
    return ptokit::device(PTOKIT_HERE, #NAME, given...);                \
  }
PTOKIT_DEVICE(dsb)
PTOKIT_DEVICE(dcci)
PTOKIT_DEVICE(set_ffts_base_addr)
PTOKIT_DEVICE(set_mask_norm)
PTOKIT_DEVICE(set_mask_count)
PTOKIT_DEVICE(set_vector_mask)
PTOKIT_DEVICE(set_ctrl)
PTOKIT_DEVICE(get_ctrl)
PTOKIT_DEVICE(set_atomic_none)
PTOKIT_DEVICE(set_atomic_add)
PTOKIT_DEVICE(set_atomic_max)
PTOKIT_DEVICE(set_atomic_min)
PTOKIT_DEVICE(set_atomic_f32)
PTOKIT_DEVICE(set_atomic_f16)
PTOKIT_DEVICE(set_atomic_bf16)
PTOKIT_DEVICE(set_atomic_s32)
PTOKIT_DEVICE(set_atomic_s16)
PTOKIT_DEVICE(set_atomic_s8)
PTOKIT_DEVICE(get_sys_cnt)
PTOKIT_DEVICE(preload)
PTOKIT_DEVICE(get_icache_prl_st)
PTOKIT_DEVICE(get_buf)
PTOKIT_DEVICE(rls_buf)

constexpr uint64_t sbitset0(uint64_t value, int64_t bit) { return value & ~(uint64_t(1) << bit); }
constexpr uint64_t sbitset1(uint64_t value, int64_t bit) { return value | uint64_t(1) << bit; }
enum class cache_line_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
using enum cache_line_t;
enum dcci_dst_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
[[noreturn]] PTOKIT_OUTLINE inline void trap() {
  ptokit::special(ptokit::TRAP, PTOKIT_HERE, ptokit::address_of("trap"));
  throw ptokit::Stop();
}
namespace cce {
using std::printf;
}
using std::printf;

// Assertions of kernels: a condition that does not hold ends the core with the text.
#define PTOKIT_ASSERT(condition, text)                                                     \
  do {                                                                                     \
    if (!(condition)) ptokit::special(ptokit::TRAP, 0, ptokit::address_of(text));          \
  } while (0)
#define DEBUG_CHECK(condition, ...) PTOKIT_ASSERT(condition, #condition)
#define PTO_ASSERT(condition, ...) PTOKIT_ASSERT(condition, #condition)
#define PTO_CPU_ASSERT(condition, ...) PTOKIT_ASSERT(condition, #condition)
#define PTO_STATIC_ASSERT(condition, ...) static_assert(condition, #condition)

namespace pto {
// The address of a tile, or where a view of global memory begins.
template <class T, class A>
  requires(is_tile<T>::value || is_conv_tile<T>::value || is_global<T>::value)
void TASSIGN(T &given, A where) {
  if constexpr (is_global<T>::value) {
    given.pointer = (typename T::DType *)(where);
  } else {
    int64_t at = (int64_t)(where);
    if (at >> 32) at -= ptokit::space(int64_t(T::Loc));  // what `data()` gave
    given.address = at;
  }
}
template <uint64_t Where, class T>
  requires(is_tile<T>::value || is_conv_tile<T>::value)
void TASSIGN(T &given) {
  given.address = Where;
}
}  // namespace pto
// PTOKIT_BY_HAND(TASSIGN) PTOKIT_BY_HAND(DEBUG_CHECK)
