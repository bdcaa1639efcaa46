// The runtime below acl: what test programs ask of it.
#pragma once
#include "../ptokit/device.hpp"

using rtError_t = int;
using rtStream_t = void *;
constexpr int RT_ERROR_NONE = 0, RT_ERROR_FEATURE_NOT_SUPPORT = 207000;
// Where kernels write messages to other cores.
inline rtError_t rtGetC2cCtrlAddr(uint64_t *address, uint32_t *size) {
  *address = reinterpret_cast<uint64_t>(ptokit_signals), *size = sizeof ptokit_signals;
  return RT_ERROR_NONE;
}
inline rtError_t rtSetDevice(int32_t) { return RT_ERROR_NONE; }
inline rtError_t rtDeviceReset(int32_t) { return RT_ERROR_NONE; }
inline rtError_t rtStreamCreate(rtStream_t *made, int32_t) { return *made = nullptr, RT_ERROR_NONE; }
inline rtError_t rtStreamDestroy(rtStream_t) { return RT_ERROR_NONE; }
// How many cube cores the chip has, where the target declares it.
inline rtError_t rtGetAiCoreCount(uint32_t *count) {
  if (ptokit::kCubeCores == 0) return RT_ERROR_FEATURE_NOT_SUPPORT;
  return *count = ptokit::kCubeCores, RT_ERROR_NONE;
}
