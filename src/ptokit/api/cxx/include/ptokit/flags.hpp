// Flags between pipes and between cores, and barriers.
#pragma once
#include "enumerations.hpp"
#include "interface.hpp"

PTOKIT_OUTLINE inline void set_flag(pipe_t source, pipe_t target, int64_t id) {
  ptokit::special(ptokit::kFlagSet, PTOKIT_HERE, source, target, id);
}
PTOKIT_OUTLINE inline void wait_flag(pipe_t source, pipe_t target, int64_t id) {
  ptokit::special(ptokit::kFlagWait, PTOKIT_HERE, source, target, id);
}
PTOKIT_OUTLINE inline void pipe_barrier(pipe_t pipe) {
  ptokit::special(ptokit::kBarrier, PTOKIT_HERE, pipe);
}

// Flags for other cores: the message holds a mode in bits 4 and 5 and the id in bits 8 to 11.
constexpr uint64_t getFFTSMsg(uint64_t mode, uint64_t id, uint64_t base = 1) {
  return (base & 15) | (mode & 3) << 4 | (id & 15) << 8;
}
PTOKIT_OUTLINE inline void ffts_cross_core_sync(pipe_t pipe, uint64_t message) {
  ptokit::special(ptokit::kSignal, PTOKIT_HERE, ptokit::kFfts, pipe, message >> 8 & 15, message >> 4 & 3);
}
PTOKIT_OUTLINE inline void wait_flag_dev(int64_t id) {
  ptokit::special(ptokit::kAwait, PTOKIT_HERE, ptokit::kFfts, PIPE_S, id, 0);
}
PTOKIT_OUTLINE inline void wait_flag_dev(pipe_t pipe, int64_t id) {
  ptokit::special(ptokit::kAwait, PTOKIT_HERE, ptokit::kFfts, pipe, id, 0);
}
PTOKIT_OUTLINE inline void set_intra_block(pipe_t pipe, int64_t id) {
  ptokit::special(ptokit::kSignal, PTOKIT_HERE, ptokit::kIntraBlock, pipe, id, 0);
}
PTOKIT_OUTLINE inline void wait_intra_block(pipe_t pipe, int64_t id) {
  ptokit::special(ptokit::kAwait, PTOKIT_HERE, ptokit::kIntraBlock, pipe, id, 0);
}
PTOKIT_OUTLINE inline void set_cross_block(pipe_t pipe, int64_t id) {
  ptokit::special(ptokit::kSignal, PTOKIT_HERE, ptokit::kCrossBlock, pipe, id, 0);
}
PTOKIT_OUTLINE inline void wait_cross_block(pipe_t pipe, int64_t id) {
  ptokit::special(ptokit::kAwait, PTOKIT_HERE, ptokit::kCrossBlock, pipe, id, 0);
}

namespace ptokit {
// A flag between the cube and the vector cores of a block. Where each vector core has flags of its
// own, the cube has them twice: `cube` says that the caller is the cube.
inline void tell(int64_t here, pipe_t pipe, int64_t id, bool cube) {
  if constexpr (kSeparateSignals) {
    special(kSignal, here, kIntraBlock, pipe, id, 0);
    if (cube) special(kSignal, here, kIntraBlock, pipe, id + 16, 0);
  } else {
    special(kSignal, here, kFfts, pipe, id, 2);
  }
}
inline void hear(int64_t here, pipe_t pipe, int64_t id, bool cube) {
  if constexpr (kSeparateSignals) {
    special(kAwait, here, kIntraBlock, pipe, id, 0);
    if (cube) special(kAwait, here, kIntraBlock, pipe, id + 16, 0);
  } else {
    special(kAwait, here, kFfts, pipe, id, 0);
  }
}
}  // namespace ptokit
// PTOKIT_BY_HAND(set_flag) PTOKIT_BY_HAND(wait_flag) PTOKIT_BY_HAND(pipe_barrier)
// PTOKIT_BY_HAND(ffts_cross_core_sync) PTOKIT_BY_HAND(wait_flag_dev)
// PTOKIT_BY_HAND(set_intra_block) PTOKIT_BY_HAND(wait_intra_block)
// PTOKIT_BY_HAND(set_cross_block) PTOKIT_BY_HAND(wait_cross_block)
