// Events: what an intrinsic gives, and what a later one waits for.
#pragma once
#include "enumerations.hpp"
#include "flags.hpp"

namespace ptokit {
struct EventBase {};
// The next of the eight ids of a pair of pipes, of the core that runs.
inline uint8_t next_id[3][16][16];
inline int core_number() {
  return ptokit_place[KIND] == CUBE_TEXT ? 2 : ptokit_place[SUBBLOCK_ID] != 0 ? 1 : 0;
}
inline event_t next_event(pipe_t source, pipe_t target) {
  return event_t(next_id[core_number()][source][target]++ % 8);
}
inline void reset_events() { std::memset(next_id[core_number()], 0, sizeof next_id[0]); }
}  // namespace ptokit

namespace pto {
struct RecordEvent : ptokit::EventBase {
  void Wait() const {}
  void wait_at(int64_t) const {}
};

template <Op A, Op B, bool Auto = true, event_t N = EVENT_ID0> struct Event : ptokit::EventBase {
  static constexpr Op srcOp = A, dstOp = B;
  static constexpr pipe_t srcPipe = ptokit::pipe_of(A), dstPipe = ptokit::pipe_of(B);
  static constexpr bool isSamePipe = srcPipe == dstPipe;
  static constexpr bool IsCrossCore = ptokit::crosses(A);
#ifndef __PTO_AUTO__
  event_t token = N;
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
    if constexpr (IsCrossCore) ptokit::signal_other(here, srcPipe, id);
    else if constexpr (!isSamePipe) ptokit::special(ptokit::FLAG_SET, here, srcPipe, dstPipe, token);
#endif
    return *this;
  }
  Event &wait([[maybe_unused]] int64_t here, [[maybe_unused]] int64_t id) {
#ifndef __PTO_AUTO__
    if constexpr (IsCrossCore) ptokit::await_other(here, srcPipe, id);
    else if constexpr (!isSamePipe) ptokit::special(ptokit::FLAG_WAIT, here, srcPipe, dstPipe, token);
    else if constexpr (ptokit::event_barrier(srcPipe)) ptokit::special(ptokit::BARRIER, here, srcPipe);
#endif
    return *this;
  }
};
template <class... E>
  requires(std::is_base_of_v<ptokit::EventBase, E> && ...)
PTOKIT_OUTLINE void TSYNC(E &...events) {
  (events.wait_at(PTOKIT_HERE), ...);
}
template <class... E> PTOKIT_OUTLINE void WaitAllEvents(E &...events) {
  (events.wait_at(PTOKIT_HERE), ...);
}
template <class T> struct is_event : std::is_base_of<ptokit::EventBase, T> {};
template <class... T> inline constexpr bool all_events_v = (is_event<T>::value && ...);
template <pipe_t A, pipe_t B>
void PtoSetWaitFlag([[maybe_unused]] event_t set = EVENT_ID0, [[maybe_unused]] event_t wait = EVENT_ID0) {
#ifndef __PTO_AUTO__
  set_flag(A, B, set);
  wait_flag(A, B, wait);
#endif
}
}  // namespace pto
