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
// Not in the namespace of the types, whose names are those of kernels, too.
namespace ptokit::codes {
// The number that a code stands for, with so many bits of exponent and mantissa, or HiFloat8.
constexpr float power(int exponent) {
  float found = 1;
  for (int i = 0; i < (exponent < 0 ? -exponent : exponent); ++i) found *= exponent < 0 ? 0.5f : 2.0f;
  return found;
}
constexpr float scaled(int code, int exponent, int bits) { return (1 + (code & ((1 << bits) - 1)) * power(-bits)) * power(exponent); }
constexpr float decoded(int code, int exponent_bits, int bits) {
  using Limits = std::numeric_limits<float>;
  const int most = (1 << exponent_bits) - 1, exponent = code >> bits & most, rest = code & ((1 << bits) - 1);
  const int bias = exponent_bits == 1 ? 1 : most / 2;
  const bool negative = bits != 0 && code >> (exponent_bits + bits) & 1;
  if (exponent_bits == 8) return code == 255 ? Limits::quiet_NaN() : power(code - 127);
  float found = exponent == 0 ? rest * power(1 - bias - bits) : scaled(code, exponent - bias, bits);
  if (exponent_bits == 5 && exponent == most) found = rest ? Limits::quiet_NaN() : Limits::infinity();
  if (exponent_bits == 4 && exponent == most && rest == 7) found = Limits::quiet_NaN();
  return negative ? -found : found;
}
constexpr float decoded_hif8(int code) {
  using Limits = std::numeric_limits<float>;
  const int rest = code & 127;
  if (rest == 0) return code ? Limits::quiet_NaN() : 0;
  // The first bits say how many bits the exponent has, whose own first one is its sign.
  const int bits = rest >= 96 ? 4 : rest >= 64 ? 3 : rest >= 32 ? 2 : rest >= 16 ? 1 : 0, left = bits < 3 ? 3 : 5 - bits;
  const int field = rest >> left & ((1 << bits) - 1), half_of = 1 << bits >> 1, size = half_of | (field & (half_of - 1));
  float found = rest < 8 ? power(rest - 23) : scaled(rest, bits && field & half_of ? -size : size, left);
  if (rest == 111) found = Limits::infinity();
  return code & 128 ? -found : found;
}
}  // namespace ptokit::codes
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
#define PTOKIT_CODE(NAME, NUMBER, SIGN)                                             \
  struct NAME {                                                               \
    uint8_t code;                                                             \
    NAME() = default;                                                         \
    constexpr explicit NAME(int given) : code(static_cast<uint8_t>(given)) {} \
    template <class T_>                                                       \
      requires(std::is_integral_v<T_>)                                        \
    constexpr NAME &operator=(T_ given) {                                     \
      return code = static_cast<uint8_t>(given), *this;                       \
    }                                                                         \
    constexpr explicit operator float() const { return NUMBER; }              \
    constexpr NAME operator-() const { return NAME(code ^ (SIGN)); }            \
    friend constexpr bool operator==(NAME, NAME) = default;                   \
  };
PTOKIT_CODE(hifloat8_t, codes::decoded_hif8(code), 128)
PTOKIT_CODE(float8_e4m3_t, codes::decoded(code, 4, 3), 128)
PTOKIT_CODE(float8_e5m2_t, codes::decoded(code, 5, 2), 128)
PTOKIT_CODE(float8_e8m0_t, codes::decoded(code, 8, 0), 0)
// Of a pair the first number, which the low bits have.
PTOKIT_CODE(float4_e2m1x2_t, codes::decoded(code & 15, 2, 1), 8)
PTOKIT_CODE(float4_e1m2x2_t, codes::decoded(code & 15, 1, 2), 8)
PTOKIT_CODE(int4b_t, static_cast<float>((code & 7) - (code & 8)), code ^ -code & 15)
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
// The text that has the name of a type behind "T_ = ", as compilers print it.
template <class T_> const char *type_text() { return __PRETTY_FUNCTION__; }
// The word for an element type: its number, or where the text of its name lies.
template <class T_> int64_t element_word() {
  if constexpr (element<T_> != kVoid) return element<T_>;
  else return address_of(type_text<T_>());
}
template <class T_> inline constexpr int64_t enumeration = 0;  // its number
template <class T_>
inline constexpr bool is_real = std::is_floating_point_v<T_> || std::is_same_v<T_, half> ||
                                std::is_same_v<T_, bfloat16_t>;
template <class T_> using Bare = std::remove_cv_t<std::remove_reference_t<T_>>;
}  // namespace ptokit
