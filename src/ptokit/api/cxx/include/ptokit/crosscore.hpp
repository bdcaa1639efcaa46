// Helpers of the public interface for kernels whose cube and vector cores wait for each other.
#pragma once
#include "flags.hpp"

namespace pto {
// What a producer does last and a consumer does first.
enum class SyncOpType { TSTORE_C2GM, TSTORE_V2GM, TMOV_C2UB, TINSERT_V2L1, TLOAD };
enum CVSyncMode : uint16_t {
  C_ALL_CORE_SYNC = 0,
  V_ALL_CORE_SYNC = 0,
  V_SUBCORES_SYNC = 1,
  CV_CORE_SYNC = 2
};
enum CVCommFftsEvent : uint16_t { CV_COMM_CTRL = 12, CV_COMM_RSVD_13, CV_COMM_RSVD_14, CV_COMM_RSVD_15 };
constexpr uint16_t _getFFTSMsg(CVSyncMode mode, uint16_t id, uint16_t base = 1) {
  return static_cast<uint16_t>(getFFTSMsg(mode, id, base));
}

// A buffer between the cube and the vector cores of a block: `flag_id` tells that it is full, the
// next flag that it is empty.
template <SyncOpType Producer, SyncOpType Consumer> struct TSync_Custom {
  static_assert(Consumer == SyncOpType::TLOAD, "the consumer of a buffer loads it");
  static constexpr bool is_c2v = Producer == SyncOpType::TSTORE_C2GM || Producer == SyncOpType::TMOV_C2UB;
  static constexpr bool is_v2c = !is_c2v;
  static constexpr bool global = Producer == SyncOpType::TSTORE_C2GM || Producer == SyncOpType::TSTORE_V2GM;
  static constexpr pipe_t produces = is_c2v ? PIPE_FIX : PIPE_MTE3;
  static constexpr pipe_t consumes = global ? PIPE_MTE2 : is_c2v ? PIPE_V : PIPE_MTE1;
  uint16_t flag_id;

  PTOKIT_OUTLINE void record() const { ptokit::tell(PTOKIT_HERE, produces, flag_id, is_c2v); }
  PTOKIT_OUTLINE void wait() const { ptokit::hear(PTOKIT_HERE, consumes, flag_id, is_v2c); }
  PTOKIT_OUTLINE void allocate() const { ptokit::hear(PTOKIT_HERE, produces, flag_id + 1, is_c2v); }
  PTOKIT_OUTLINE void free() const { ptokit::tell(PTOKIT_HERE, consumes, flag_id + 1, is_v2c); }
};

// The slot of a block for messages between its cores: blocks have their own.
constexpr int kCvCommSlotBytes = 512, kCvMaxCores = 25;
template <int Bytes = kCvCommSlotBytes, int Most = kCvMaxCores>
int TSYNC_CVID(int block, uint8_t *) {
  return block;
}
// Memory into the cache before a launch: ptokit has no cache.
template <bool Sdma = true, int Cores = -1> void PTO_PREFETCH(void *, uint64_t, void *) {}
}  // namespace pto
