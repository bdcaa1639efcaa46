"""The engines that execute programs: the reference, the native one, one instruction as LLVM."""
