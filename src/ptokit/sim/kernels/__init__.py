"""One instruction as an LLVM function: its body recorded, walked in loops, said in vectors."""
