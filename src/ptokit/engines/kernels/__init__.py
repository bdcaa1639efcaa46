"""One instruction as an LLVM function: its body recorded, walked in loops, written with vectors."""
