// Builtins of the device that move data below the instructions. Kernels with them compile; a call
// ends the core, since ptokit does not execute them.
#pragma once
#include "device.hpp"

#define PTOKIT_LACKING(NAME)                                                                    \
  template <class... A_> PTOKIT_OUTLINE void NAME(const A_ &...) {                              \
    ptokit::special(ptokit::kTrap, PTOKIT_HERE,                                                 \
                    ptokit::address_of(#NAME " is a builtin that ptokit does not execute"));    \
  }
PTOKIT_LACKING(copy_gm_to_ubuf)
PTOKIT_LACKING(copy_gm_to_cbuf)
PTOKIT_LACKING(copy_ubuf_to_gm)
PTOKIT_LACKING(copy_ubuf_to_cbuf)
PTOKIT_LACKING(copy_ubuf_to_ubuf)
PTOKIT_LACKING(copy_cbuf_to_gm)
PTOKIT_LACKING(copy_cbuf_to_ubuf)
PTOKIT_LACKING(copy_cbuf_to_bt)
PTOKIT_LACKING(copy_cbuf_to_fbuf)
PTOKIT_LACKING(copy_matrix_cc_to_gm)
PTOKIT_LACKING(copy_matrix_cc_to_ubuf)
PTOKIT_LACKING(copy_matrix_cc_to_cbuf)
PTOKIT_LACKING(copy_gm_to_ubuf_align_v2)
PTOKIT_LACKING(copy_gm_to_cbuf_align_v2)
PTOKIT_LACKING(copy_ubuf_to_gm_align_v2)
PTOKIT_LACKING(copy_gm_to_cbuf_multi_nd2nz)
PTOKIT_LACKING(create_cbuf_matrix)
PTOKIT_LACKING(create_ca_matrix)
PTOKIT_LACKING(create_cb_matrix)
PTOKIT_LACKING(load_cbuf_to_ca)
PTOKIT_LACKING(load_cbuf_to_cb)
PTOKIT_LACKING(load_gm_to_ca)
PTOKIT_LACKING(load_gm_to_cb)
PTOKIT_LACKING(load_gm_to_cbuf)
PTOKIT_LACKING(vector_dup)
PTOKIT_LACKING(mad)
#undef PTOKIT_LACKING

// Where a tile lies: the storage itself.
template <class T_> T_ *__cce_get_tile_ptr(T_ *storage) { return storage; }
// What a kernel tells the vendor's loader about its cores.
#define PTO_SYNCALL_AIV_KERNEL_META(...) static_assert(true)
#define PTO_SYNCALL_AIC_KERNEL_META(...) static_assert(true)
#define PTO_SYNCALL_MIX_AIC_KERNEL_META(...) static_assert(true)
