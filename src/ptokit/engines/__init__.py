"""The engines that execute programs: reference, native, and single instructions as LLVM kernels."""
