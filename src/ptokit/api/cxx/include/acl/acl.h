// The host runtime of test programs: memory of the device is memory of this process.
#pragma once
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "../ptokit/device.hpp"

using aclError = int;
using aclStatus = int;
using aclrtStream = void *;
using aclrtContext = void *;
using aclrtEvent = void *;
#ifndef __CPU_SIM
using aclFloat16 = uint16_t;
#endif
constexpr int ACL_SUCCESS = 0, ACL_ERROR_NONE = 0, ACL_ERROR_BAD_ALLOC = 200000;
enum aclrtMemMallocPolicy {
  ACL_MEM_MALLOC_HUGE_FIRST,
  ACL_MEM_MALLOC_HUGE_ONLY,
  ACL_MEM_MALLOC_NORMAL_ONLY
};
enum aclrtMemcpyKind {
  ACL_MEMCPY_HOST_TO_HOST,
  ACL_MEMCPY_HOST_TO_DEVICE,
  ACL_MEMCPY_DEVICE_TO_HOST,
  ACL_MEMCPY_DEVICE_TO_DEVICE
};
inline aclError aclInit(const char *) { return ACL_SUCCESS; }
inline aclError aclFinalize() { return ACL_SUCCESS; }
inline aclError aclrtSetDevice(int) { return ACL_SUCCESS; }
inline aclError aclrtGetDevice(int *device) { return *device = 0, ACL_SUCCESS; }
inline aclError aclrtGetDeviceCount(uint32_t *count) { return *count = 1, ACL_SUCCESS; }
inline aclError aclrtCreateContext(aclrtContext *made, int) { return *made = nullptr, ACL_SUCCESS; }
inline aclError aclrtDestroyContext(aclrtContext) { return ACL_SUCCESS; }
inline aclError aclrtSetCurrentContext(aclrtContext) { return ACL_SUCCESS; }
inline aclError aclrtCreateStream(aclrtStream *made) { return *made = nullptr, ACL_SUCCESS; }
inline aclError aclrtDestroyStream(aclrtStream) { return ACL_SUCCESS; }
inline aclError ptokit_synchronise(bool reset) {
  if (ptokit_issue == nullptr) return ACL_SUCCESS;
  const ptokit::Turn turn;
  ptokit_words[0] = ptokit::kSynchronise, ptokit_words[1] = ptokit_words[2] = 0;
  ptokit_words[ptokit::kHead] = reset;
  return static_cast<aclError>(ptokit_issue(ptokit::kHead + 1));
}
inline aclError aclrtSynchronizeDevice() { return ptokit_synchronise(false); }
// A device that failed answers so until it is reset.
inline aclError aclrtResetDevice(int) { return ptokit_synchronise(true), ACL_SUCCESS; }
inline aclError aclrtSynchronizeStream(aclrtStream) { return aclrtSynchronizeDevice(); }
inline aclError aclrtSynchronizeStreamWithTimeout(aclrtStream, int) { return aclrtSynchronizeDevice(); }

// Whole lines of 512 bytes, zeroed, with a line behind them: hosts read past the end of arrays.
inline aclError aclrtMalloc(void **made, size_t nbytes, int = ACL_MEM_MALLOC_HUGE_FIRST) {
  const size_t room = (nbytes + 511) / 512 * 512 + 512;
  *made = std::aligned_alloc(512, room);
  if (*made == nullptr) return ACL_ERROR_BAD_ALLOC;
  std::memset(*made, 0, room);
  const ptokit::Turn turn;
  if (ptokit_memory != nullptr) ptokit_memory(ptokit::address_of(*made), int64_t(nbytes));
  return ACL_SUCCESS;
}
inline aclError aclrtFree(void *given) {
  const ptokit::Turn turn;
  if (given != nullptr && ptokit_memory != nullptr) ptokit_memory(ptokit::address_of(given), -1);
  return std::free(given), ACL_SUCCESS;
}
inline aclError aclrtMallocHost(void **made, size_t nbytes) {
  *made = std::calloc(nbytes + 64, 1);
  return *made == nullptr ? ACL_ERROR_BAD_ALLOC : ACL_SUCCESS;
}
inline aclError aclrtFreeHost(void *given) { return std::free(given), ACL_SUCCESS; }
inline aclError aclrtMemcpy(void *to, size_t, const void *from, size_t nbytes, int) {
  return std::memcpy(to, from, nbytes), ACL_SUCCESS;
}
inline aclError aclrtMemcpyAsync(void *to, size_t room, const void *from, size_t nbytes, int kind,
                                 aclrtStream) {
  return aclrtMemcpy(to, room, from, nbytes, kind);
}
inline aclError aclrtMemset(void *to, size_t, int value, size_t nbytes) {
  return std::memset(to, value, nbytes), ACL_SUCCESS;
}
inline aclError aclrtMemsetAsync(void *to, size_t room, int value, size_t nbytes, aclrtStream) {
  return aclrtMemset(to, room, value, nbytes);
}
// Caches and clocks of the device: there are none.
enum aclrtCmoType {
  ACL_RT_CMO_TYPE_PREFETCH,
  ACL_RT_CMO_TYPE_WRITEBACK,
  ACL_RT_CMO_TYPE_INVALID,
  ACL_RT_CMO_TYPE_FLUSH
};
inline aclError aclrtCmoAsync(void *, size_t, aclrtCmoType, aclrtStream) { return ACL_SUCCESS; }
inline aclError aclrtCreateEvent(aclrtEvent *made) { return *made = nullptr, ACL_SUCCESS; }
inline aclError aclrtDestroyEvent(aclrtEvent) { return ACL_SUCCESS; }
inline aclError aclrtRecordEvent(aclrtEvent, aclrtStream) { return ACL_SUCCESS; }
inline aclError aclrtSynchronizeEvent(aclrtEvent) { return aclrtSynchronizeDevice(); }
inline aclError aclrtStreamWaitEvent(aclrtStream, aclrtEvent) { return ACL_SUCCESS; }
inline aclError aclrtEventElapsedTime(float *ms, aclrtEvent, aclrtEvent) {
  return *ms = 0, ACL_SUCCESS;
}
inline const char *aclGetRecentErrMsg() { return ""; }
inline float aclFloat16ToFloat(aclFloat16 bits) { return float(__builtin_bit_cast(half, bits)); }
inline aclFloat16 aclFloatToFloat16(float given) {
  return __builtin_bit_cast(aclFloat16, static_cast<half>(given));
}
