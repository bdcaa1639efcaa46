// Launches: `f<<<blocks, ...>>>(args)` is rewritten to a call of `ptokit::launch`.
#pragma once
#include "packing.hpp"

namespace ptokit {
// One core's body: a function with what it captures.
struct Body {
  void (*enter)(const void *captured);
  const void *captured;
};
template <class F> Body body_of(const F &function) {
  return {[](const void *captured) { (*static_cast<const F *>(captured))(); }, &function};
}
template <class F>
concept Callable = std::is_invocable_v<F>;

inline void launch_bodies(const char *name, int64_t here, int64_t blocks, const Body *text,
                          const Body *cube) {
  special(LAUNCH, here, address_of(name), blocks, address_of(text), address_of(cube));
}
// A kernel with one text, and one whose cube cores have a text of their own.
template <Callable F, class... Config>
PTOKIT_OUTLINE void launch(const char *name, const F &text, int64_t blocks, const Config &...) {
  const Body body = body_of(text);
  launch_bodies(name, PTOKIT_HERE, blocks, &body, nullptr);
}
template <Callable F, Callable G, class... Config>
PTOKIT_OUTLINE void launch(const char *name, const F &text, const G &cube, int64_t blocks,
                           const Config &...) {
  const Body body = body_of(text), other = body_of(cube);
  launch_bodies(name, PTOKIT_HERE, blocks, &body, &other);
}

// Arguments as the host passes them: one word each, floats as the bits of a double.
template <class T> T argument(int64_t word) {
  using U = Bare<T>;
  if constexpr (std::is_pointer_v<U>) return reinterpret_cast<U>(word);
  else if constexpr (std::is_enum_v<U> || std::is_integral_v<U>) return static_cast<U>(word);
  else if constexpr (is_real<U>) return static_cast<U>(__builtin_bit_cast(double, word));
  else return *reinterpret_cast<const U *>(word);  // a struct by value: its address
}
// The kind of a parameter, as a tagged value has it.
template <class T> void describe(int64_t *&at) {
  using U = Bare<T>;
  if constexpr (std::is_pointer_v<U>) {
    using V = std::remove_cv_t<std::remove_pointer_t<U>>;
    (*at++ = POINTER), (*at++ = element<V>);
  } else if constexpr (std::is_enum_v<U>) (*at++ = INTEGER), (*at++ = element<int64_t>);
  else if constexpr (std::is_integral_v<U>) (*at++ = INTEGER), (*at++ = element<U>);
  else if constexpr (is_real<U>) (*at++ = REAL), (*at++ = element<U>);
  else (*at++ = OTHER), (*at++ = sizeof(U));
}
template <class R, class... P> const int64_t *parameters(R (*)(P...)) {
  static int64_t words[2 * sizeof...(P) + 1];
  int64_t *at = words;
  *at++ = sizeof...(P);
  (describe<P>(at), ...);
  return words;
}
template <class R, class... P, size_t... I>
void apply(R (*function)(P...), const int64_t *words, std::index_sequence<I...>) {
  function(argument<P>(words[I])...);
}
// Call a function of the host, which launches kernels. 0: it came to its end; 1: it was stopped.
template <class R, class... P> int64_t enter(const int64_t *words, R (*function)(P...)) try {
  apply(function, words, std::index_sequence_for<P...>());
  return 0;
} catch (const Stop &) {
  return 1;
}
// Launch a kernel with one text, or with one for each kind of core.
template <class R, class... P>
int64_t start(const char *name, int64_t blocks, const int64_t *words, R (*text)(P...)) try {
  launch(name, [=] { apply(text, words, std::index_sequence_for<P...>()); }, blocks);
  return 0;
} catch (const Stop &) {
  return 1;
}
template <class R, class... P>
int64_t start(const char *name, int64_t blocks, const int64_t *words, R (*text)(P...),
              R (*cube)(P...)) try {
  launch(
      name, [=] { apply(text, words, std::index_sequence_for<P...>()); },
      [=] { apply(cube, words, std::index_sequence_for<P...>()); }, blocks);
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
  ptokit_place[KIND] = kind;
  reset_events();
  try {
    of->enter(of->captured);
    return 0;
  } catch (const Stop &) {
  } catch (const std::exception &thrown) {
    const char *text = thrown.what();
    try {
      special(THROWN, 0, address_of(text));
    } catch (const Stop &) {
    }
  } catch (...) {
    try {
      special(THROWN, 0, address_of("an object that is no std::exception"));
    } catch (const Stop &) {
    }
  }
  return 1;
}
}
