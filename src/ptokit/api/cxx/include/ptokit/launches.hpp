// Launches: `f<<<blocks, ...>>>(args)` is rewritten to a call of `ptokit::launch`.
#pragma once
#include "packing.hpp"

namespace ptokit {
// One core's body: a function with what it captures.
struct Body {
  void (*enter)(const void *captured);
  const void *captured;
};
template <class F_> Body body_of(const F_ &function) {
  return {[](const void *captured) { (*static_cast<const F_ *>(captured))(); }, &function};
}

inline void launch_bodies(const char *name, int64_t here, int64_t blocks, const Body *text,
                          const Body *cube) {
  special(kLaunch, here, address_of(name), blocks, address_of(text), address_of(cube));
}
// A kernel with one text, and one whose cube cores have a text of their own.
template <class F_, class... Config>
PTOKIT_OUTLINE void launch(const char *name, const F_ &text, int64_t blocks, const Config &...) {
  const Body body = body_of(text);
  launch_bodies(name, PTOKIT_HERE, blocks, &body, nullptr);
}
template <class F_, class G_, class... Config>
PTOKIT_OUTLINE void launch_both(const char *name, const F_ &text, const G_ &cube, int64_t blocks,
                                const Config &...) {
  const Body body = body_of(text), other = body_of(cube);
  launch_bodies(name, PTOKIT_HERE, blocks, &body, &other);
}

// Arguments as the host passes them: one word each, floats as the bits of a double.
template <class T_> T_ argument(int64_t word) {
  using U_ = Bare<T_>;
  if constexpr (std::is_pointer_v<U_>) return reinterpret_cast<U_>(word);
  else if constexpr (std::is_enum_v<U_> || std::is_integral_v<U_>) return static_cast<U_>(word);
  else if constexpr (is_real<U_>) return static_cast<U_>(__builtin_bit_cast(double, word));
  else return *reinterpret_cast<const U_ *>(word);  // a struct by value: its address
}
// The kind of a parameter, as a tagged value has it.
template <class T_> void describe(int64_t *&at) {
  using U_ = Bare<T_>;
  if constexpr (std::is_pointer_v<U_>) {
    using V_ = std::remove_cv_t<std::remove_pointer_t<U_>>;
    (*at++ = kPointer), (*at++ = element<V_>);
  } else if constexpr (std::is_enum_v<U_>) (*at++ = kInteger), (*at++ = element<int64_t>);
  else if constexpr (std::is_integral_v<U_>) (*at++ = kInteger), (*at++ = element<U_>);
  else if constexpr (is_real<U_>) (*at++ = kReal), (*at++ = element<U_>);
  else (*at++ = kOther), (*at++ = sizeof(U_));
}
template <class R_, class... P_> const int64_t *parameters(R_ (*)(P_...)) {
  static int64_t words[2 * sizeof...(P_) + 1];
  int64_t *at = words;
  *at++ = sizeof...(P_);
  (describe<P_>(at), ...);
  return words;
}
template <class R_, class... P_, size_t... I_>
void apply(R_ (*function)(P_...), const int64_t *words, std::index_sequence<I_...>) {
  function(argument<P_>(words[I_])...);
}
// Call a function of the host, which launches kernels. 0: it came to its end; 1: it was stopped.
template <class R_, class... P_> int64_t enter(const int64_t *words, R_ (*function)(P_...)) try {
  apply(function, words, std::index_sequence_for<P_...>());
  return 0;
} catch (const Stop &) {
  return 1;
}
// Launch a kernel with one text, or with one for each kind of core.
template <class R_, class... P_>
int64_t start(const char *name, int64_t blocks, const int64_t *words, R_ (*text)(P_...)) try {
  launch(name, [=] { apply(text, words, std::index_sequence_for<P_...>()); }, blocks);
  return 0;
} catch (const Stop &) {
  return 1;
}
template <class R_, class... P_>
int64_t start(const char *name, int64_t blocks, const int64_t *words, R_ (*text)(P_...),
              R_ (*cube)(P_...)) try {
  launch_both(
      name, [=] { apply(text, words, std::index_sequence_for<P_...>()); },
      [=] { apply(cube, words, std::index_sequence_for<P_...>()); }, blocks);
  return 0;
} catch (const Stop &) {
  return 1;
}
}  // namespace ptokit

extern "C" {
// Run a core's body. 0: it came to its end; 1: it was stopped.
PTOKIT_EXPORT int64_t ptokit_run(int64_t body, int64_t kind) {
  using namespace ptokit;
  const Body *of = reinterpret_cast<const Body *>(body);
  ptokit_place[kKind] = kind;
  reset_events();
  try {
    of->enter(of->captured);
    return 0;
  } catch (const Stop &) {
  } catch (const std::exception &thrown) {
    const char *text = thrown.what();
    try {
      special(kThrown, 0, address_of(text));
    } catch (const Stop &) {
    }
  } catch (...) {
    try {
      special(kThrown, 0, address_of("an object that is no std::exception"));
    } catch (const Stop &) {
    }
  }
  return 1;
}
}
