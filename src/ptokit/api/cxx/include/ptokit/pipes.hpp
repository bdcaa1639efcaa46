// FIFOs between the cores of a block.
#pragma once
#include "packing.hpp"

namespace pto {
template <int SlotSize, int SlotNum, int LocalSlotNum> struct RingFIFO {
  static constexpr uint32_t SLOT_SIZE = SlotSize, SLOT_NUM = SlotNum, LOCAL_SLOT_NUM = LocalSlotNum;
  void *GM_SLOT_BUFFER = nullptr;
  uint32_t C2V_CONSUMER_BUF = 0, V2C_CONSUMER_BUF = 0;
};

// How the fix-pipe converts what goes into a FIFO.
template <LayoutMode_t L_ = LayoutMode_t::NZ2ND, QuantMode_t Q_ = QuantMode_t::NoQuant,
          ReluPreMode R_ = ReluPreMode::NoRelu, STPhase P_ = STPhase::Unspecified, uint8_t Part = 0,
          AtomicType A_ = AtomicType::AtomicNone,
          ClipReluMode_t C_ = ClipReluMode_t::NOCLIP_RELU, bool Split = false>
struct FixpipeParams {
  static constexpr LayoutMode_t LayoutMode = L_;
  static constexpr QuantMode_t QuantPre = Q_;
  static constexpr ReluPreMode ReluMode = R_;
  static constexpr STPhase Phase = P_;
  static constexpr uint8_t SubBlockId = Part;
  static constexpr AtomicType AtomicT = A_;
  static constexpr ClipReluMode_t ClipReluMode = C_;
  static constexpr bool IsChannelSplit = Split;
  // The template arguments that the host is told: entries go as a whole.
  using Chosen = ptokit::Values<TileSplitAxis::TILE_NO_SPLIT, L_, Q_, R_, P_, A_, C_>;
};

template <uint8_t FlagId, uint8_t Dir, uint32_t SlotSize, uint32_t SlotNum,
          uint32_t LocalSlotNum = 2, bool NoSplit = false, bool UnitFlag = false>
struct TPipe {
  using RingFiFo = RingFIFO<SlotSize, SlotNum, LocalSlotNum>;
  static constexpr uint8_t DIR_TYPE = Dir;
  static constexpr bool is_c2v = Dir == DIR_C2V || Dir == DIR_C2V_GM;
  static constexpr bool is_v2c = Dir == DIR_V2C || Dir == DIR_V2C_GM;
  static constexpr bool is_both = Dir == DIR_BOTH, is_v2c_ctrl = Dir == DIR_V2C_CTRL;
  static constexpr uint32_t SyncPeriod = SlotNum <= 2 ? SlotNum : SlotNum / 2;
  // Slots that were given back and never asked for, after so many tiles: the producer asks before
  // every SyncPeriod-th tile once the slots are used up, the consumer tells behind every such tile.
  static constexpr uint32_t countPendingFreeCredits(uint32_t tiles) {
    uint32_t asked = 0;
    for (uint32_t tile = SlotNum; tile < tiles; ++tile) asked += tile % SyncPeriod == 0;
    return tiles / SyncPeriod - asked;
  }
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
  static void reset_for_cpu_sim() {}  // entries that nothing popped stay
  int64_t id = -1;
  RingFiFo fifo;
  Producer prod;
  Consumer cons;

  template <class Slots>
  PTOKIT_OUTLINE TPipe(Slots slots, uint32_t c2v, uint32_t v2c) {
    fifo.GM_SLOT_BUFFER = (void *)(slots), fifo.C2V_CONSUMER_BUF = c2v, fifo.V2C_CONSUMER_BUF = v2c;
    id = ptokit::special(ptokit::kPipeOpen, PTOKIT_HERE, ptokit::address_of(this), FlagId, Dir,
                         SlotSize, SlotNum, LocalSlotNum, NoSplit, UnitFlag,
                         ptokit::address_of(fifo.GM_SLOT_BUFFER), c2v, v2c);
  }
};
}  // namespace pto

namespace ptokit {
template <uint8_t F_, uint8_t D_, uint32_t S_, uint32_t N_, uint32_t L_, bool P_, bool U_>
inline constexpr bool is_pipe<pto::TPipe<F_, D_, S_, N_, L_, P_, U_>> = true;
}
