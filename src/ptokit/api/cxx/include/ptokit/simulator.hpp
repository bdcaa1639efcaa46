// Names of the CPU simulator that its host programs use.
#pragma once
#ifdef __CPU_SIM
#include <algorithm>
#include <string>
#include <vector>

#include "device.hpp"

template <class T_> constexpr bool IsTwinType() {
  return std::is_same_v<T_, float4_e2m1x2_t> || std::is_same_v<T_, float4_e1m2x2_t>;
}
// An element by its number: two of some types share a byte.
template <class T_> T_ GetProperDataPart(const T_ *buffer, size_t i) {
  if constexpr (IsTwinType<T_>()) return T_(buffer[i / 2].code >> (i % 2 * 4) & 15);
  else return buffer[i];
}
template <class T_> void SetProperDataPart(T_ *buffer, size_t i, T_ value) {
  if constexpr (IsTwinType<T_>()) {
    const int shift = i % 2 * 4;
    buffer[i / 2] = T_((buffer[i / 2].code & ~(15 << shift)) | (value.code & 15) << shift);
  } else {
    buffer[i] = value;
  }
}

namespace pto {
// The elements that lie before one in the storage of a tile: whole boxes, then lines of its box.
template <class T_> constexpr size_t GetTileElementOffset(size_t row, size_t col) {
  constexpr size_t R = T_::InnerRows, C = T_::InnerCols;
  const size_t down = row / R, right = col / C, in_row = row % R, in_col = col % C;
  const size_t box = T_::isRowMajor ? down * (T_::Cols / C) + right : right * (T_::Rows / R) + down;
  return box * R * C + (T_::isInnerColMajor ? in_col * R + in_row : in_row * C + in_col);
}
template <class T_> constexpr size_t GetTileOffset(size_t row, size_t col) {
  return GetTileElementOffset<T_>(row, col);
}
template <class T_> constexpr int GetTypeSize() { return sizeof(T_); }

// The memories of the simulator; ptokit makes those of the target when a kernel first runs.
enum class NPUArch { A2A3, A5 };
struct NPUMemoryModel {
  static NPUMemoryModel &Instance() {
    static NPUMemoryModel model;
    return model;
  }
  void Initialize(NPUArch) {}
  PTOKIT_OUTLINE char *GetUBBase() const { return base(PTOKIT_HERE, TileType::Vec); }
  PTOKIT_OUTLINE char *GetL1Base() const { return base(PTOKIT_HERE, TileType::Mat); }
  PTOKIT_OUTLINE char *GetL0ABase() const { return base(PTOKIT_HERE, TileType::Left); }
  PTOKIT_OUTLINE char *GetL0BBase() const { return base(PTOKIT_HERE, TileType::Right); }
  PTOKIT_OUTLINE char *GetL0CBase() const { return base(PTOKIT_HERE, TileType::Acc); }

 private:
  static char *base(int64_t here, TileType of) {
    return reinterpret_cast<char *>(ptokit::space(here, int64_t(of)));
  }
};
inline void NPU_MEMORY_INIT(NPUArch) {}
inline void NPU_MEMORY_CLEAR() {}
// The bits that a chip has in its control register.
namespace cpu_sim {
inline void set_task_cookie(uint64_t bits) { set_ctrl(bits); }
}  // namespace cpu_sim
}  // namespace pto
#endif
