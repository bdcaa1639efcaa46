// Everything that a kernel uses.
#pragma once
#include "../ptokit/aliases.hpp"
#include "../ptokit/builtins.hpp"
#include "../ptokit/communication.hpp"
#include "../ptokit/constants.hpp"
#include "../ptokit/crosscore.hpp"
#include "../ptokit/device.hpp"
#include "../ptokit/intrinsics.hpp"
#include "../ptokit/pipes.hpp"
#include "../ptokit/simulator.hpp"
#include "../ptokit/tilepipes.hpp"
#ifdef __CPU_SIM  // there it also has the host runtime
#include "../acl/acl.h"
#endif
