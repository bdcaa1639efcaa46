// What ranks do together, and transfers that end later. The instructions are generated.
#pragma once
#include "device.hpp"

namespace pto::comm {
template <class G_> struct ParallelGroup {
  using value_type = G_;
  G_ *tensors = nullptr;
  int nranks = 0, rootIdx = -1;
  constexpr ParallelGroup() = default;
  constexpr ParallelGroup(G_ *given, int size, int root)
      : tensors(given), nranks(size), rootIdx(root) {}
  static constexpr ParallelGroup Create(G_ *given, int size, int root) { return {given, size, root}; }
  constexpr int GetRootIdx() const { return rootIdx; }
  constexpr int GetSize() const { return nranks; }
  constexpr bool empty() const { return nranks == 0; }
  constexpr G_ &operator[](int rank) { return tensors[rank]; }
};
using Signal = GlobalTensor<int32_t, Shape<1, 1, 1, 1, 1>, Stride<1, 1, 1, 1, 1>>;
template <class T_, class S_, class D_, Layout L_ = Layout::ND>
using GlobalSignal = GlobalTensor<T_, S_, D_, L_>;
template <int Rows, int Cols>
struct Signal2D
    : GlobalTensor<int32_t, Shape<1, 1, 1, Rows, Cols>, Stride<1, 1, 1, DYNAMIC, 1>> {
  using Base = GlobalTensor<int32_t, Shape<1, 1, 1, Rows, Cols>, Stride<1, 1, 1, DYNAMIC, 1>>;
  Signal2D(const int32_t *start, int stride = Cols) : Base(start, {}, {stride}) {}
};
enum class DmaEngine { SDMA, URMA, RDMA };
struct AsyncSession {
  int64_t id = 0;
};
// Transfers are done when they begin.
struct AsyncEvent : RecordEvent {
  AsyncEvent() = default;
  explicit AsyncEvent(int64_t given) : RecordEvent(given) {}
  AsyncEvent(RecordEvent) : RecordEvent(1) {}
  bool valid() const { return answer != 0; }
  template <class S_> bool Wait(S_ &) const { return valid(); }
  template <class S_> bool Test(S_ &) const { return valid(); }
};
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
  static constexpr int64_t id = -1;  // the host keeps nothing of it
  uint8_t *workspace = nullptr;
  comm::AsyncSession session;
  comm::AsyncSession *external = nullptr;
  Tile<TileType::Vec, uint8_t, 1, 256> scratchTile;
  PrefetchAsyncContext() = default;
  template <class T_> explicit PrefetchAsyncContext(T_ *given, comm::AsyncSession *shared = nullptr)
      : workspace((uint8_t *)(given)), external(shared) {}
  comm::AsyncSession &GetSession() { return external != nullptr ? *external : session; }
};
// Bring a part of global memory nearer: no data changes. The event of what is no line is not valid.
template <class G_> comm::AsyncEvent TPREFETCH_ASYNC(G_ &src, PrefetchAsyncContext &context) {
  bool flat = context.workspace != nullptr && src.data() != nullptr && src.GetStride(4) == 1;
  for (int dim = 0; dim < 4; ++dim) flat = flat && src.GetShape(dim) == 1;
  return comm::AsyncEvent(flat && src.GetShape(4) > 0);
}
// PTOKIT_BY_HAND(TPREFETCH_ASYNC)
}  // namespace pto

namespace ptokit {
template <> inline constexpr bool is_pipe<pto::PrefetchAsyncContext> = true;
template <class G_> inline constexpr bool is_group<pto::comm::ParallelGroup<G_>> = true;
}
