"""Names of the level below tiles that neither operands nor results tell from ours."""

BELOW_TILES = frozenset(
    f"pto.{name}"
    for name in (
        *("dcci", "dsb", "get_vms4_sr", "mem_bar", "set_cross_core", "strict_vecscope"),
        *("wait_flag_dev", "wait_intra_core"),
    )
)
