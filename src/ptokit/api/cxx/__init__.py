"""C++ kernels: headers to compile them against, and the host that executes what they issue."""
