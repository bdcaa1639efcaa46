// Builtins of the device that move data below the instructions. Those that move lines of bytes are
// executed. Kernels with the others compile; a call ends the core.
#pragma once
#include "device.hpp"

namespace ptokit {
// Where a pointer leads: an address, of a memory of the core from its start.
constexpr int64_t kGm = -1, kVec = int64_t(pto::TileType::Vec), kMat = int64_t(pto::TileType::Mat);
inline int64_t place_in(int64_t here, int64_t location, const void *pointer) {
  const int64_t at = address_of(pointer);
  return location != kGm && at >> 32 ? at - space(here, location) : at;
}
// Lines of so many bytes, each a step of bytes behind the one before.
inline void burst(int64_t here, int64_t from, int64_t to, const void *dst, const void *src, int64_t core,
                  int64_t count, int64_t nbytes, int64_t step_from, int64_t step_to) {
  special(kBurst, here, from, to, place_in(here, to, dst), place_in(here, from, src), core, count, nbytes, step_from, step_to);
}
}  // namespace ptokit

// Lengths and the gaps behind lines count blocks of 32 bytes.
#define PTOKIT_BLOCKS(NAME, FROM, TO)                                                               \
  template <class... A_>                                                                           \
  PTOKIT_OUTLINE void NAME(const void *dst, const void *src, int64_t core, int64_t count,          \
                           int64_t length, int64_t gap_from, int64_t gap_to, A_...) {              \
    ptokit::burst(PTOKIT_HERE, ptokit::FROM, ptokit::TO, dst, src, core, count, length * 32,       \
                  (length + gap_from) * 32, (length + gap_to) * 32);                               \
  }
PTOKIT_BLOCKS(copy_gm_to_ubuf, kGm, kVec)
PTOKIT_BLOCKS(copy_gm_to_cbuf, kGm, kMat)
PTOKIT_BLOCKS(copy_ubuf_to_gm, kVec, kGm)
PTOKIT_BLOCKS(copy_ubuf_to_ubuf, kVec, kVec)
PTOKIT_BLOCKS(copy_ubuf_to_cbuf, kVec, kMat)
PTOKIT_BLOCKS(copy_cbuf_to_gm, kMat, kGm)
PTOKIT_BLOCKS(copy_cbuf_to_ubuf, kMat, kVec)
#undef PTOKIT_BLOCKS
// Lengths and steps count bytes.
PTOKIT_OUTLINE inline void copy_ubuf_to_gm_align_v2(const void *dst, const void *src, int64_t core, int64_t count,
                                                    int64_t nbytes, int64_t, int64_t step_to, int64_t step_from) {
  ptokit::burst(PTOKIT_HERE, ptokit::kVec, ptokit::kGm, dst, src, core, count, nbytes, step_from, step_to);
}
#define PTOKIT_BYTES(NAME, TO)                                                                      \
  PTOKIT_OUTLINE inline void NAME(const void *dst, const void *src, int64_t core, int64_t count,   \
                                  int64_t nbytes, int64_t, int64_t, int64_t, int64_t,              \
                                  int64_t step_from, int64_t step_to) {                            \
    ptokit::burst(PTOKIT_HERE, ptokit::kGm, ptokit::TO, dst, src, core, count, nbytes, step_from,  \
                  step_to);                                                                        \
  }
PTOKIT_BYTES(copy_gm_to_ubuf_align_v2, kVec)
PTOKIT_BYTES(copy_gm_to_cbuf_align_v2, kMat)
#undef PTOKIT_BYTES
// Numbers into L1: `how` has repetitions, and blocks of 32 bytes of each and between them.
template <class T_, class V_> PTOKIT_OUTLINE void create_cbuf_matrix(T_ *dst, int64_t how, V_ value) {
  uint32_t bits = 0;
  if constexpr (sizeof(V_) <= sizeof(bits)) std::memcpy(&bits, &value, sizeof(V_));
  if constexpr (sizeof(T_) == 2) bits = (bits & 0xffff) * 0x10001u;
  ptokit::special(ptokit::kFill, PTOKIT_HERE, ptokit::kMat, ptokit::place_in(PTOKIT_HERE, ptokit::kMat, dst), how & 0x7fff,
                  (how >> 16 & 0x7fff) * 32, ((how >> 16 & 0x7fff) + (how >> 32 & 0x7fff)) * 32, bits);
}

#define PTOKIT_LACKING(NAME)                                                                    \
  template <class... A_> PTOKIT_OUTLINE void NAME(const A_ &...) {                              \
    ptokit::special(ptokit::kTrap, PTOKIT_HERE,                                                 \
                    ptokit::address_of(#NAME " is a builtin that ptokit does not execute"));    \
  }
PTOKIT_LACKING(copy_cbuf_to_bt)
PTOKIT_LACKING(copy_cbuf_to_fbuf)
PTOKIT_LACKING(copy_matrix_cc_to_gm)
PTOKIT_LACKING(copy_matrix_cc_to_ubuf)
PTOKIT_LACKING(copy_matrix_cc_to_cbuf)
PTOKIT_LACKING(copy_gm_to_cbuf_multi_nd2nz)
PTOKIT_LACKING(create_ca_matrix)
PTOKIT_LACKING(create_cb_matrix)
PTOKIT_LACKING(load_cbuf_to_ca)
PTOKIT_LACKING(load_cbuf_to_cb)
PTOKIT_LACKING(load_cbuf_to_ca_mx)
PTOKIT_LACKING(load_cbuf_to_cb_mx)
PTOKIT_LACKING(load_gm_to_ca)
PTOKIT_LACKING(load_gm_to_cb)
PTOKIT_LACKING(load_gm_to_cbuf)
PTOKIT_LACKING(vector_dup)
PTOKIT_LACKING(mad)
PTOKIT_LACKING(mad_mx)
// Vector functions: registers, masks, and what computes with them.
namespace pto {
template <class T_> struct RegTensor {};
struct UnalignReg {};
struct MaskReg {};
template <class T_, class N_> PTOKIT_OUTLINE MaskReg CreatePredicate(const N_ &) {
  ptokit::refuse(PTOKIT_HERE, "a vector function is below the instructions that ptokit executes");
}
template <class T_, class Dst, class Src, class... A_> PTOKIT_OUTLINE void TMovToVecNd2Nz(const A_ &...) {
  ptokit::refuse(PTOKIT_HERE, "TMovToVecNd2Nz is a part of the headers' code that ptokit does not execute");
}
}  // namespace pto
constexpr uint32_t CCE_VL = 256;  // bytes of a register
enum Dist { NORM_B8, NORM_B16, NORM_B32 };
enum MaskMode { MODE_ZEROING, MODE_MERGING };
enum MemBar { VST_VLD, VLD_VST, VST_VST };
#define __VEC_SCOPE__
PTOKIT_LACKING(vdup)
PTOKIT_LACKING(vlds)
PTOKIT_LACKING(vsts)
PTOKIT_LACKING(vldas)
PTOKIT_LACKING(vldus)
PTOKIT_LACKING(mem_bar)
#undef PTOKIT_LACKING

// Where a tile lies: the storage itself.
template <class T_> T_ *__cce_get_tile_ptr(T_ *storage) { return storage; }
// What a kernel tells the vendor's loader about its cores.
#define PTO_SYNCALL_AIV_KERNEL_META(...) static_assert(true)
#define PTO_SYNCALL_AIC_KERNEL_META(...) static_assert(true)
#define PTO_SYNCALL_MIX_AIC_KERNEL_META(...) static_assert(true)
