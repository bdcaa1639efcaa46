// Constants and small helpers of the public interface.
#pragma once
#include <initializer_list>

#include "tiles.hpp"

namespace pto {
constexpr int BLOCK_BYTE_SIZE = 32, BLOCK_SIZE = 32, BLOCK_LEN = 16, C0_SIZE_BYTE = 32;
constexpr int CUBE_BLOCK_SIZE = 512, FRACTAL_NZ_ROW = 16, FRACTAL_ZZ_ROW = 16, ACC_C0_SIZE = 16;
constexpr int REPEAT_BYTE = 256, REPEAT_MAX = 255, REPEAT_STRIDE_MAX = 255;
constexpr int MX_COL_LEN = 2, MX_ROW_LEN = 16, MX_BLOCK_SIZE = 32;
constexpr int HIF4_COL_LEN = 4, HIF4_ROW_LEN = 16, HIF4_BLOCK_SIZE = 64;
constexpr uint64_t BLOCK_MAX_PER_REPEAT = 8, MASK_LEN = 64;
constexpr uint32_t B4_C0_SIZE = 64, TMP_UB_SIZE = 8 * 1024, TMP_UB_OFFSET = 184 * 1024;
constexpr uint32_t SHIFT_BLOCK_LEN = 4, SHIFT_BLOCK_BYTE = 5, SHIFT_FRACTAL_BYTE = 9;
constexpr int NUM_1 = 1, NUM_4 = 4, NUM_8 = 8, NUM_12 = 12, NUM_16 = 16, NUM_32 = 32, NUM_64 = 64;
constexpr int NUM_77 = 77, NUM_96 = 96, NUM_128 = 128, NUM_256 = 256, NUM_512 = 512;
// Flags by which all cores meet, and the room in global memory that a meeting may ask for.
constexpr uint16_t SYNC_AIC_FLAG = 11, SYNC_AIV_FLAG = 12, SYNC_AIC_AIV_FLAG = 13;
constexpr uint16_t SYNC_AIV_ONLY_ALL = 14, SYNC_FLAG_ID_MAX = 16;
constexpr int32_t SYNCALL_SOFT_WORKSPACE_INT32 = 16;
constexpr int PTO_RANDOM_KEY_SIZE = 2, PTO_RANDOM_COUNTER_SIZE = 4;
using TRandomKey = uint32_t[PTO_RANDOM_KEY_SIZE];
using TRandomCounter = uint32_t[PTO_RANDOM_COUNTER_SIZE];

// Pad values with bits of the kernel's own: bit 32, and the bits below.
template <class T_> constexpr PadValue PadValueCustom(T_ value) {
  uint64_t bits = 0;
  if constexpr (sizeof(T_) == 4) bits = __builtin_bit_cast(uint32_t, value);
  else if constexpr (sizeof(T_) == 2) bits = __builtin_bit_cast(uint16_t, value);
  else if constexpr (sizeof(T_) == 1) bits = __builtin_bit_cast(uint8_t, value);
  else static_assert(sizeof(T_) == 0, "a custom pad value has 8, 16 or 32 bits");
  return PadValue(uint64_t(PadValue::CustomBase) | bits);
}
constexpr PadValue PadValueCustom16(uint16_t bits) {
  return PadValue(uint64_t(PadValue::CustomBase) | bits);
}
constexpr uint32_t getCustomPadBits(PadValue value) { return uint32_t(uint64_t(value)); }
constexpr bool isCustomPadValue(PadValue value) { return uint64_t(value) >> 32 != 0; }

template <MaskPattern P_> constexpr int GetTimesByMask() {
  return P_ == MaskPattern::P1111 ? 1 : P_ == MaskPattern::P0101 || P_ == MaskPattern::P1010 ? 2 : 4;
}
template <class T_> constexpr TileLayoutCustom GetTileLayoutCustom() {
  if (!T_::isBoxedLayout) return T_::isRowMajor ? TileLayoutCustom::ND : TileLayoutCustom::DN;
  if (T_::SFractalSize != TileConfig::fractalABSize) return TileLayoutCustom::NONE;
  if (T_::isInnerRowMajor) return T_::isRowMajor ? TileLayoutCustom::ZZ : TileLayoutCustom::NZ;
  return T_::isRowMajor ? TileLayoutCustom::ZN : TileLayoutCustom::NONE;
}
// The address of the scales of an operand of a product: a sixteenth of the operand's.
template <class T_> PTOKIT_OUTLINE uint64_t GetScaleAddr(T_ *start) {
  const uint64_t at = uint64_t(ptokit::address_of(start));
  uint64_t best = at;
  for (const TileType side : {TileType::Left, TileType::Right}) {
    const uint64_t from = at - uint64_t(ptokit::space(PTOKIT_HERE, int64_t(side)));  // wraps if it lies below
    if (from < best) best = from;
  }
  return best >> 4;
}
constexpr int32_t CeilDivision(int32_t a, int32_t b) { return b == 0 ? 0 : (a + b - 1) / b; }
constexpr uint32_t CeilAlignment(uint32_t a, uint32_t b) { return b == 0 ? 0 : (a + b - 1) / b * b; }
}  // namespace pto
#define PTO_CEIL(x, y) ((((x) + (y)-1) / (y)) * (y))
#define PTO_DIV_ROUNDUP(x, y) (((x) + (y)-1) / (y))
