// The host's workspace for transfers that end later: ptokit's need none.
#pragma once
#include "../../../../acl/acl.h"
#include "../../../pto-inst.hpp"

namespace pto::comm::sdma {
class SdmaWorkspaceManager {
 public:
  bool Init() { return true; }
  void *GetWorkspaceAddr() { return room; }
  void Finalize() {}

 private:
  alignas(512) uint8_t room[512] = {};
};
}  // namespace pto::comm::sdma
