// What ranks do together, and transfers that end later. The instructions are generated.
#pragma once
#include "device.hpp"

namespace pto::comm {
template <class G_> struct ParallelGroup {
  G_ *members;
  int count, root;
  ParallelGroup(G_ *given, int size, int of) : members(given), count(size), root(of) {}
};
enum class DmaEngine { SDMA };
struct AsyncSession {
  int64_t id = 0;
};
using AsyncEvent = RecordEvent;
// A session of transfers: the host gives its number.
template <DmaEngine = DmaEngine::SDMA, class Tile, class Memory, class... Ids>
PTOKIT_OUTLINE bool BuildAsyncSession(Tile &scratch, Memory *workspace, AsyncSession &session,
                                      Ids... ids) {
  session.id = ptokit::device(PTOKIT_HERE, "BuildAsyncSession", scratch, workspace, ids...);
  return true;
}
}  // namespace pto::comm

namespace pto {
struct PrefetchAsyncContext {
  uint8_t *workspace = nullptr;
  comm::AsyncSession session;
  comm::AsyncSession *external = nullptr;
  Tile<TileType::Vec, uint8_t, 1, 256> scratchTile;
  PrefetchAsyncContext() = default;
  template <class T_> explicit PrefetchAsyncContext(T_ *given, comm::AsyncSession *shared = nullptr)
      : workspace((uint8_t *)(given)), external(shared) {}
  comm::AsyncSession &GetSession() { return external != nullptr ? *external : session; }
};
}  // namespace pto
