// Events: what an intrinsic gives, and what a later one waits for.
#pragma once
#include "enumerations.hpp"
#include "flags.hpp"

namespace ptokit {
struct EventBase {};
// The next of the eight ids of a pair of pipes, of the core that runs.
inline uint8_t next_id[3][16][16];
inline int core_number() {
  return on_cube() ? 2 : ptokit_place[kSubblockId] != 0 ? 1 : 0;
}
inline event_t next_event(pipe_t source, pipe_t target) {
  return event_t(next_id[core_number()][source][target]++ % 8);
}
inline void reset_events() { std::memset(next_id[core_number()], 0, sizeof next_id[0]); }
}  // namespace ptokit

namespace pto {
// What an intrinsic gives: the host's answer, which some ask for.
struct RecordEvent : ptokit::EventBase {
  int64_t answer = 0;
  RecordEvent() = default;
  explicit RecordEvent(int64_t given) : answer(given) {}
  operator bool() const { return answer != 0; }
  bool valid() const { return true; }
  void Wait() const {}
  // of a session of transfers, which are done at once
  template <class S_> bool Wait(S_ &) const { return true; }
  template <class S_> bool Test(S_ &) const { return true; }
  void wait_at(int64_t) const {}
};

template <Op A_, Op B_, bool Auto = true, event_t N_ = EVENT_ID0> struct Event : ptokit::EventBase {
  static constexpr Op srcOp = A_, dstOp = B_;
  static constexpr pipe_t srcPipe = ptokit::pipe_of(A_), dstPipe = ptokit::pipe_of(B_);
  static constexpr bool isSamePipe = srcPipe == dstPipe;
  static constexpr bool IsCrossCore = !ptokit::kOneCore && ptokit::crosses(A_);
#ifndef __PTO_AUTO__
  event_t token = N_;
  Event() {
    if constexpr (Auto && !isSamePipe) token = ptokit::next_event(srcPipe, dstPipe);
  }
#else
  Event() = default;
#endif
  Event(RecordEvent) : Event() { set(PTOKIT_HERE); }
  PTOKIT_OUTLINE Event &operator=(RecordEvent) { return set(PTOKIT_HERE); }
  template <uint8_t Id = 0xff> PTOKIT_OUTLINE Event &Init() { return set(PTOKIT_HERE, Id); }
  template <uint8_t Id = 0xff> PTOKIT_OUTLINE Event &Record() { return set(PTOKIT_HERE, Id); }
  template <uint8_t Id = 0xff> PTOKIT_OUTLINE Event &Wait() { return wait(PTOKIT_HERE, Id); }
  void wait_at(int64_t here) { wait(here, 0xff); }  // for the call at this place
  Event &InitAddr(uint64_t) { return *this; }

 private:
  Event &set([[maybe_unused]] int64_t here, [[maybe_unused]] int64_t id = 0xff) {
#ifndef __PTO_AUTO__
    if constexpr (IsCrossCore) ptokit::tell(here, srcPipe, id, true);
    else if constexpr (!isSamePipe) ptokit::special(ptokit::kFlagSet, here, srcPipe, dstPipe, token);
#endif
    return *this;
  }
  Event &wait([[maybe_unused]] int64_t here, [[maybe_unused]] int64_t id) {
#ifndef __PTO_AUTO__
    if constexpr (IsCrossCore) ptokit::hear(here, srcPipe, id, false);
    else if constexpr (!isSamePipe) ptokit::special(ptokit::kFlagWait, here, srcPipe, dstPipe, token);
    else if constexpr (ptokit::event_barrier(srcPipe)) ptokit::special(ptokit::kBarrier, here, srcPipe);
#endif
    return *this;
  }
};
template <class... E_>
  requires(std::is_base_of_v<ptokit::EventBase, E_> && ...)
PTOKIT_OUTLINE void TSYNC(E_ &...events) {
  (events.wait_at(PTOKIT_HERE), ...);
}
// Wait for the pipe of an operation.
template <Op A_> PTOKIT_OUTLINE void TSYNC() {
#ifndef __PTO_AUTO__
  ptokit::special(ptokit::kBarrier, PTOKIT_HERE, ptokit::pipe_of(A_));
#endif
}
// PTOKIT_BY_HAND(TSYNC)
template <class... E_> PTOKIT_OUTLINE void WaitAllEvents(E_ &...events) {
  (events.wait_at(PTOKIT_HERE), ...);
}
template <class T_> struct is_event : std::is_base_of<ptokit::EventBase, T_> {};
template <class... T_> inline constexpr bool all_events_v = (is_event<T_>::value && ...);
template <pipe_t A_, pipe_t B_>
void PtoSetWaitFlag([[maybe_unused]] event_t set = EVENT_ID0, [[maybe_unused]] event_t wait = EVENT_ID0) {
#ifndef __PTO_AUTO__
  set_flag(A_, B_, set);
  wait_flag(A_, B_, wait);
#endif
}
}  // namespace pto
