// Element types by their C++ names. Types without arithmetic of their own hold a code.
#pragma once
#include "interface.hpp"
#include "targets.hpp"

using half = _Float16;
using float16_t = _Float16;
#define half half  // programs that define it where it is no macro let it be
#ifdef __CPU_SIM
using aclFloat16 = half;
#endif
#define __fp16 _Float16
// In a namespace of their own: lookup by arguments finds no function of a kernel through them.
namespace ptokit::types {
struct bfloat16_t {
  uint16_t bits;
  bfloat16_t() = default;
  template <class T_>
    requires(std::is_arithmetic_v<T_> || std::is_same_v<T_, half>)
  constexpr bfloat16_t(T_ given) : bits(rounded(static_cast<float>(given))) {}
  // Half to even, as the element type says.
  static constexpr uint16_t rounded(float given) {
    const uint32_t code = __builtin_bit_cast(uint32_t, given);
    return given != given ? 0x7fc0 : static_cast<uint16_t>((code + 0x7fff + (code >> 16 & 1)) >> 16);
  }
  constexpr operator float() const { return __builtin_bit_cast(float, uint32_t(bits) << 16); }
};
#define PTOKIT_CODE(NAME)                            \
  struct NAME {                                      \
    uint8_t code;                                    \
    NAME() = default;                                \
    constexpr explicit NAME(int given) : code(static_cast<uint8_t>(given)) {} \
    friend constexpr bool operator==(NAME, NAME) = default; \
  };
PTOKIT_CODE(hifloat8_t)
PTOKIT_CODE(float8_e4m3_t)
PTOKIT_CODE(float8_e5m2_t)
PTOKIT_CODE(float8_e8m0_t)
PTOKIT_CODE(float4_e2m1x2_t)
PTOKIT_CODE(float4_e1m2x2_t)
PTOKIT_CODE(int4b_t)
}  // namespace ptokit::types
using namespace ptokit::types;
namespace pto {
using ptokit::types::int4b_t;
}

namespace ptokit {
template <class T_> inline constexpr int64_t element = kVoid;
#define PTOKIT_ELEMENT(kType, NUMBER) template <> inline constexpr int64_t element<kType> = NUMBER;
PTOKIT_ELEMENTS
PTOKIT_ELEMENT(char, element<int8_t>)
PTOKIT_ELEMENT(long long, element<int64_t>)
PTOKIT_ELEMENT(unsigned long long, element<uint64_t>)
PTOKIT_ELEMENT(bool, kBool)
PTOKIT_ELEMENT(double, kDouble)
template <class T_> inline constexpr int64_t enumeration = 0;  // its number
template <class T_>
inline constexpr bool is_real = std::is_floating_point_v<T_> || std::is_same_v<T_, half> ||
                                std::is_same_v<T_, bfloat16_t>;
template <class T_> using Bare = std::remove_cv_t<std::remove_reference_t<T_>>;
}  // namespace ptokit
