// What ranks do together: groups and sessions. The instructions are generated.
#pragma once
#include "packing.hpp"

namespace pto::comm {
template <class G> struct ParallelGroup {
  G *members;
  int count, root;
  ParallelGroup(G *given, int size, int of) : members(given), count(size), root(of) {}
};
}  // namespace pto::comm
