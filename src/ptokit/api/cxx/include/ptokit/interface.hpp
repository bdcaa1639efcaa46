// The C interface: one buffer of 64-bit words, and the functions by which kernel and host talk.
#pragma once
#if __cplusplus < 202002L
#error "ptokit's headers need C++20: compile with -std=c++20"
#endif
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <type_traits>
#include <utility>

#include <pthread.h>

#include "words.hpp"

#define AICORE
#define __aicore__
#define __global__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __bt__
#define __ssbuf__
#define __in__
#define __out__
#define __inout__
#define __tf__
#define __sync_alias__
#define __sync_out__
#define __host_aicore__
#define __simt_vf__
#define __simd_vf__
#define PTO_INLINE inline
#define PTO_INST inline
#define PTO_INTERNAL inline
#define OP_NAME(NAME)
#define OP_TYPE(NAME)
// A call from a function of its own: the return address is the place in the kernel.
#define PTOKIT_OUTLINE __attribute__((noinline))
#define PTOKIT_HERE reinterpret_cast<std::int64_t>(__builtin_return_address(0))
#define PTOKIT_EXPORT __attribute__((weak, visibility("default")))

// The device's integer types are the standard ones, without a namespace.
using std::int16_t, std::int32_t, std::int64_t, std::int8_t;
using std::size_t, std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t, std::uintptr_t;

extern "C" {
PTOKIT_EXPORT int64_t ptokit_words[ptokit::kWords];
PTOKIT_EXPORT int64_t ptokit_place[ptokit::kPlaces] = {0, 1, 0, 1, 0};
PTOKIT_EXPORT uint64_t ptokit_signals[64];  // stands for the registers of flags between cores
PTOKIT_EXPORT int64_t (*ptokit_issue)(int64_t count) = nullptr;
PTOKIT_EXPORT int64_t (*ptokit_memory)(int64_t address, int64_t nbytes) = nullptr;
}

namespace ptokit {
struct Stop {};  // thrown where the host ends a core

// The threads of a host program take turns: one of them owns the words until its call has ended.
inline pthread_mutex_t turns = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
struct Turn {
  Turn() { pthread_mutex_lock(&turns); }
  Turn(const Turn &) = delete;
  ~Turn() { pthread_mutex_unlock(&turns); }
};

// Hand the first `count` words to the host.
inline int64_t issue(int64_t count) {
  if (ptokit_issue == nullptr) {
    std::fputs("a kernel was compiled against ptokit's headers: run it by `ptokit cxx`\n", stderr);
    std::abort();
  }
  const int64_t answer = ptokit_issue(count);
  if (answer == kStop) throw Stop();
  return answer;
}

// A special call with its words.
template <class... A_> inline int64_t special(int64_t name, int64_t here, A_... words) {
  const Turn turn;
  int64_t *at = ptokit_words;
  ((*at++ = name), (*at++ = here), (*at++ = 0));
  ((*at++ = static_cast<int64_t>(words)), ...);
  return issue(at - ptokit_words);
}

inline int64_t address_of(const void *given) { return reinterpret_cast<int64_t>(given); }
inline bool on_cube() { return ptokit_place[kKind] == kCubeText; }  // of a mixed kernel
}  // namespace ptokit

inline int64_t get_block_idx() { return ptokit_place[ptokit::kBlockIdx]; }
inline int64_t get_block_num() { return ptokit_place[ptokit::kBlockNum]; }
inline int64_t get_subblockid() { return ptokit_place[ptokit::kSubblockId]; }
inline int64_t get_subblockdim() { return ptokit_place[ptokit::kSubblockNum]; }
static int64_t &block_idx = ptokit_place[ptokit::kBlockIdx];
static int64_t &block_num = ptokit_place[ptokit::kBlockNum];
// PTOKIT_BY_HAND(get_block_idx) PTOKIT_BY_HAND(get_block_num)
// PTOKIT_BY_HAND(get_subblockid) PTOKIT_BY_HAND(get_subblockdim)
