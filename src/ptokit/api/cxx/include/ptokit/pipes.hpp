// FIFOs between the cores of a block.
#pragma once
#include "packing.hpp"

namespace pto {
template <int SlotSize, int SlotNum, int LocalSlotNum> struct RingFIFO {
  static constexpr uint32_t SLOT_SIZE = SlotSize, SLOT_NUM = SlotNum, LOCAL_SLOT_NUM = LocalSlotNum;
  void *GM_SLOT_BUFFER = nullptr;
  uint32_t C2V_CONSUMER_BUF = 0, V2C_CONSUMER_BUF = 0;
};

template <uint8_t FlagId, uint8_t Dir, uint32_t SlotSize, uint32_t SlotNum,
          uint32_t LocalSlotNum = 2, bool NoSplit = false, bool UnitFlag = false>
struct TPipe {
  using RingFiFo = RingFIFO<SlotSize, SlotNum, LocalSlotNum>;
  static constexpr uint8_t DIR_TYPE = Dir;
  static constexpr bool is_c2v = Dir == DIR_C2V || Dir == DIR_C2V_GM;
  static constexpr bool is_v2c = Dir == DIR_V2C || Dir == DIR_V2C_GM;
  static constexpr bool is_both = Dir == DIR_BOTH, is_v2c_ctrl = Dir == DIR_V2C_CTRL;
  // What kernels set of an end by hand: the host decides by the calls alone.
  struct End {
    uint32_t tileIndex = 0, subTileIndex = 0;
    bool isRecord = true, isAllocate = true, isWait = true, isFree = true;
    int entryOffset = 0;
    void setTileId(int tile, int part) { tileIndex = tile, subTileIndex = part; }
    void setAllocateStatus(bool given) { isAllocate = given; }
    void setRecordStatus(bool given) { isRecord = given; }
    void setWaitStatus(bool given) { isWait = given; }
    void setFreeStatus(bool given) { isFree = given; }
    void setEntryOffset(int given) { entryOffset = given; }
    int getTileId() const { return static_cast<int>(tileIndex); }
    int getSubTileId() const { return static_cast<int>(subTileIndex); }
    bool getAllocateStatus() const { return isAllocate; }
    bool getRecordStatus() const { return isRecord; }
    bool getWaitStatus() const { return isWait; }
    bool getFreeStatus() const { return isFree; }
  };
  using Producer = End;
  using Consumer = End;
  int64_t id = -1;
  RingFiFo fifo;
  Producer prod;
  Consumer cons;

  template <class Slots>
  PTOKIT_OUTLINE TPipe(Slots slots, uint32_t c2v, uint32_t v2c) {
    fifo.GM_SLOT_BUFFER = (void *)(slots), fifo.C2V_CONSUMER_BUF = c2v, fifo.V2C_CONSUMER_BUF = v2c;
    id = ptokit::special(ptokit::PIPE_OPEN, PTOKIT_HERE, ptokit::address_of(this), FlagId, Dir,
                         SlotSize, SlotNum, LocalSlotNum, NoSplit, UnitFlag,
                         ptokit::address_of(fifo.GM_SLOT_BUFFER), c2v, v2c);
  }
};
}  // namespace pto

namespace ptokit {
template <uint8_t F, uint8_t D, uint32_t S, uint32_t N, uint32_t L, bool P, bool U>
inline constexpr bool is_pipe<pto::TPipe<F, D, S, N, L, P, U>> = true;
}
