"""Names of the level below tiles: micro-instructions on vector registers, masks and buffers.

The level has the assembler's operations on registers; logical vectors (`pto.vmi`) and operations on
UB of older chips (`pto.ub`) have a prefix.
"""

PREFIXES = ("pto.vmi.", "pto.ub.", "pto.mi.")
# moves and thread operations; all other names compute with registers
NO_COMPUTING = (
    *("mte_", "copy_", "dma_", "load_", "set_", "wait_", "get_", "atomic_", "shuffle_", "redux_"),
    *(
        "vote_",
        "store_vfsimt",
        "syncthreads",
        "threadfence",
        "prmt",
        "ldg",
        "stg",
        "keep",
        "resume",
    ),
)
TYPES = ("!pto.vreg", "!pto.mask", "!pto.align", "!pto.vmi.")
NAMES = frozenset(
    """
atomic_add atomic_and atomic_cas atomic_exch atomic_max atomic_min atomic_or atomic_sub
atomic_xor ceil chistv2 convert copy_cbuf_to_bt copy_cbuf_to_fbuf copy_cbuf_to_ubuf
copy_gm_to_cbuf copy_gm_to_cbuf_multi_dn2nz copy_gm_to_cbuf_multi_nd2nz copy_gm_to_ubuf
copy_matrix_cc_to_cbuf copy_matrix_cc_to_gm copy_matrix_cc_to_ub copy_ubuf_to_cbuf
copy_ubuf_to_gm copy_ubuf_to_ubuf cos create_cbuf_matrix dcci dhistv2 dma_copy dma_load
dma_store dsb floor fmax fmin get_block_dim_x get_block_dim_y get_block_dim_z get_block_idx_x
get_block_idx_y get_block_idx_z get_clock32 get_clock64 get_grid_dim_x get_grid_dim_y
get_grid_dim_z get_laneid get_lanemask_eq get_lanemask_ge get_lanemask_gt get_lanemask_le
get_lanemask_lt get_tid_x get_tid_y get_tid_z get_veccoreid get_vms4_sr init_align keep ldg
load_cbuf_to_ca load_cbuf_to_ca_mx load_cbuf_to_ca_s4 load_cbuf_to_cb load_cbuf_to_cb_mx
load_cbuf_to_cb_s4 mad mad_acc mad_bias mad_bias_raw mad_mx mad_mx_acc mad_mx_bias
mad_mx_bias_raw mad_mx_raw mad_raw mem_bar mte_gm_l1 mte_gm_l1_frac mte_gm_ub mte_l0c_gm
mte_l0c_l1 mte_l0c_ub mte_l1_bt mte_l1_fb mte_l1_l0a mte_l1_l0a_mx mte_l1_l0b mte_l1_l0b_mx
mte_l1_ub mte_ub_gm mte_ub_l1 mte_ub_ub mul_i32toi64 mulhi pand pbitcast pdintlv_b16 pdintlv_b32
pdintlv_b8 pge_b16 pge_b32 pge_b8 pintlv_b16 pintlv_b32 pintlv_b8 pldi plds plt_b16 plt_b32
plt_b8 pltm_b16 pltm_b32 pltm_b8 pnot por ppack prmt psel pset_b16 pset_b32 pset_b8 psti psts
pstu punpack pxor raw_fill_l1 redux_add redux_max redux_min resume rint round set_cross_core
set_intra_core shuffle_bfly shuffle_down shuffle_idx shuffle_up sin sprclr sprsti sprsts stg
store_vfsimt_info strict_vecscope syncthreads threadfence threadfence_block uvld vabs vadd vaddc
vaddcs vaddreluconv vadds vand vaxpy vbitcast vbitsort vbr vcadd vcbmax vcbmin vcgadd vcgmax
vcgmin vci vcmax vcmin vcmp vcmps vcpadd vcvt vdintlv vdintlvv2 vdiv vdup vexp vexpdif vgather2
vgather2_bc vgatherb vintlv vintlvv2 vldas vlds vldsx2 vldus vln vlrelu vmadd vmax vmaxs vmin
vmins vmov vmrgsort4 vmul vmula vmulconv vmull vmuls vmulscvt vneg vnot vor vote_all vote_any
vote_ballot vote_uni vpack vprelu vrelu vscatter vscope vsel vselr vselrv2 vshl vshls vshr vshrs
vsld vsldb vsqrt vsqz vsst vsstb vsta vstar vstas vsts vstsx2 vstu vstur vstus vsub vsubc vsubcs
vsunpack vtrc vusqz vxor vzunpack wait_flag_dev wait_intra_core
""".split()  # noqa: SIM905 - a list of words is easier to compare with the manual's
)

# Names without a page, by what public text says of them.
UNSAID = {
    "the assembler writes it for {}, as a word of bits": {
        "mad_raw": "pto.mad",
        "mad_bias_raw": "pto.mad_bias",
        "mad_mx_raw": "pto.mad_mx",
        "mad_mx_bias_raw": "pto.mad_mx_bias",
        "copy_matrix_cc_to_gm": "pto.mte_l0c_gm",
        "copy_matrix_cc_to_cbuf": "pto.mte_l0c_l1",
        "copy_matrix_cc_to_ub": "pto.mte_l0c_ub",
        "copy_gm_to_cbuf_multi_nd2nz": "pto.mte_gm_l1_frac",
        "copy_gm_to_cbuf_multi_dn2nz": "pto.mte_gm_l1_frac",
    },
    "public text does not say what its numbers choose; programs use {}": {
        "set_cross_core": "pto.sync.set",
        "wait_flag_dev": "pto.sync.wait",
        "set_intra_core": "pto.sync.set",
        "wait_intra_core": "pto.sync.wait",
    },
    "public text has its operands, and does not say what it does; programs use {}": {
        "vselrv2": "pto.vselr",
    },
    "public text has its name alone; programs use {}": {
        "dma_load": "pto.mte_gm_ub",
        "dma_store": "pto.mte_ub_gm",
        "dma_copy": "pto.mte_ub_ub",
        "vscope": "pto.vecscope",
        "vsld": "pto.vsldb",
        "vsst": "pto.vsstb",
        "vsta": "pto.vstas",
        "vstu": "pto.vstus",
        "vaddreluconv": "pto.vaddrelu and pto.vcvt",
        "vmulconv": "pto.vmulscvt",
    },
}


def unsaid(name: str) -> str:
    """Return what is known of a name without a page; empty if nothing is."""
    for text, names in UNSAID.items():
        if name in names:
            return text.format(names[name])
    return ""


def below_tiles(name: str) -> bool:
    """Return whether an operation of this full name belongs to the level below tiles."""
    return name.startswith(PREFIXES) or name.removeprefix("pto.") in NAMES
