"""One instruction as an LLVM function: a recorded body becomes loops over vectors."""
