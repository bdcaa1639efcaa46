// FIFOs whose type says which tiles are pushed and popped: ends by way of other instructions.
#pragma once
#include "crosscore.hpp"
#include "intrinsics.hpp"

namespace pto {
enum class FIFOType : uint8_t { GM_FIFO, VEC_FIFO, MAT_FIFO, CTRL_FIFO };
enum class VecCubeRatio : uint8_t { V1C1_VEC0, V1C1_VEC1, V2C1_VECS };

// Slots in global memory, or in the memory of the core that pops.
template <class T_, FIFOType F_, int Depth_, int Period_, int Local_ = 0> struct DataFIFO {
  using DType = T_;
  static constexpr int fifoDepth = Depth_, fifoPeriod = Period_, localFiFoDepth = Local_;
  static constexpr FIFOType fifoType = F_;
  static constexpr bool global = F_ == FIFOType::GM_FIFO, useLocalFiFo = global && Local_ > 0;
  std::conditional_t<global, T_ *, uint32_t> fifoBase;
  uint32_t localFiFoBase = 0;
};

template <uint8_t Id_, FIFOType F_, uint8_t Depth_, uint8_t Period_, class Pushed_, class Popped_,
          bool Unit_ = false, uint8_t Local_ = 2, VecCubeRatio Ratio_ = VecCubeRatio::V2C1_VECS>
struct TMPipe {
  using DataFiFo = DataFIFO<typename Popped_::DType, F_, Depth_, Period_, Local_>;
  static constexpr bool global = DataFiFo::global;
  static constexpr bool is_c2v = Pushed_::Loc == TileType::Acc && Popped_::Loc == TileType::Vec;
  static constexpr bool is_v2c = Pushed_::Loc == TileType::Vec && Popped_::Loc == TileType::Mat;
  static_assert(is_c2v || is_v2c, "this FIFO goes neither from the cube to vector cores nor back");
  static_assert(global || F_ == (is_c2v ? FIFOType::VEC_FIFO : FIFOType::MAT_FIFO),
                "the slots of this FIFO lie in global memory, or where its tiles are popped");
  static constexpr bool separate = ptokit::kSeparateSignals;
  static constexpr int PM_ = Pushed_::Rows, PN_ = Pushed_::Cols, CM_ = Popped_::Rows, CN_ = Popped_::Cols;
  static constexpr pipe_t pushes = is_c2v ? PIPE_FIX : PIPE_MTE3;
  static constexpr pipe_t pops = global ? PIPE_MTE2 : is_c2v ? PIPE_V : PIPE_MTE1;
  static constexpr pipe_t frees = is_v2c && separate ? PIPE_MTE1 : pops;

  // What kernels set of an end.
  struct End {
    int tile_id = 0, sub_tile_id = 0, entryOffset = 0;
    bool isAllocate = true, isRecord = true, isWait = true, isFree = true;
    void setTileId(int tile, int part) { tile_id = tile, sub_tile_id = part; }
    int getTileId() const { return tile_id; }
    int getSubTileId() const { return sub_tile_id; }
    void setEntryOffset(int given) { entryOffset = given; }
    void setAllocateStatus(bool given) { isAllocate = given; }
    void setRecordStatus(bool given) { isRecord = given; }
    void setWaitStatus(bool given) { isWait = given; }
    void setFreeStatus(bool given) { isFree = given; }
    bool getAllocateStatus() const { return isAllocate; }
    bool getRecordStatus() const { return isRecord; }
    bool getWaitStatus() const { return isWait; }
    bool getFreeStatus() const { return isFree; }
    // Bytes from the start of the FIFO to this tile's entry; slots have so many bytes.
    size_t at(size_t bytes, int slots = Depth_) const { return size_t(tile_id % slots) * bytes + entryOffset; }
  };
  struct Producer : End {
    PTOKIT_OUTLINE void allocate() const { allocate_at(PTOKIT_HERE); }
    PTOKIT_OUTLINE void record() const { record_at(PTOKIT_HERE); }
    void allocate_at(int64_t here) const {
      if (ptokit::on_cube() == is_c2v) ptokit::hear(here, pushes, Id_ + 1, is_c2v);
    }
    void record_at(int64_t here) const { ptokit::tell(here, pushes, Id_, is_c2v); }
  };
  struct Consumer : End {
    PTOKIT_OUTLINE void wait() const { wait_at(PTOKIT_HERE); }
    PTOKIT_OUTLINE void free() const { free_at(PTOKIT_HERE); }
    void wait_at(int64_t here) const { ptokit::hear(here, pops, Id_, is_v2c); }
    void free_at(int64_t here) const {
      if (ptokit::on_cube() == is_v2c) ptokit::tell(here, frees, Id_ + 1, is_v2c);
    }
  };
  DataFiFo fifo;
  Producer prod;
  Consumer cons;

  // The consumer gives the empty FIFO to the producer, who waits for it when all is done.
  template <class Slots_>
  PTOKIT_OUTLINE explicit TMPipe(Slots_ slots, uint32_t local = 0) : fifo{slots, offset(PTOKIT_HERE, local)} {
    if constexpr (!global) fifo.fifoBase = offset(PTOKIT_HERE, fifo.fifoBase);
    cons.free_at(PTOKIT_HERE);
  }
  PTOKIT_OUTLINE ~TMPipe() noexcept(false) {
    if (!std::uncaught_exceptions()) prod.allocate_at(PTOKIT_HERE);
  }

  void push_at(int64_t here, Pushed_ &tile) {
    if (prod.isAllocate) prod.allocate_at(here);
    ptokit::home(here, tile);
    if constexpr (is_c2v && global) store_sums(here, tile);
    else if constexpr (is_c2v) move_sums(here, tile);
    else if constexpr (global) store_lines(here, tile);
    else insert(here, tile);
    prod.tile_id += !separate;
    if (prod.isRecord) prod.record_at(here);
  }
  void pop_at(int64_t here, Popped_ &tile) {
    if (cons.isWait) cons.wait_at(here);
    if constexpr (DataFiFo::useLocalFiFo) {
      tile.address = fifo.localFiFoBase + cons.tile_id % Local_ * sizeof(T_) * CM_ * CN_;
    }
    ptokit::home(here, tile);
    if constexpr (global && is_c2v) load_lines(here, tile);
    else if constexpr (global) load_boxes(here, tile);
    cons.tile_id += !separate;
    if ((global || !separate) && cons.isFree) cons.free_at(here);
  }
  void free_at(int64_t here) {
    if (separate && cons.isFree) cons.free_at(here);
  }

 private:
  using T_ = typename Popped_::DType;
  // Kernels give 32 bits of the place of a tile, which stands for the chip's memory, or an address.
  static uint32_t offset(int64_t here, uint32_t given) {
    constexpr uint32_t most = 1 << 20;  // no memory is larger
    const uint32_t from = given - static_cast<uint32_t>(ptokit::space(here, int64_t(Popped_::Loc)));
    return from < most ? from : given;
  }
  template <class U_, int R_, int C_> using Lines = GlobalTensor<U_, Shape<1, 1, 1, R_, C_>, Stride<1, 1, 1, C_, 1>>;
  template <class U_> U_ *entry(const End &end, size_t bytes) const {
    return reinterpret_cast<U_ *>(reinterpret_cast<uintptr_t>(fifo.fifoBase) + end.at(bytes));
  }
  template <auto... V_, class... A_> static void issue(int64_t name, int64_t here, A_ &...given) {
    ptokit::call(name, here, ptokit::Types<>(), ptokit::Values<V_...>(), given...);
  }
  // Of wide tiles each entry has several parts side by side, and each part lies for itself.
  void store_sums(int64_t here, Pushed_ &tile) {
    using U_ = typename Pushed_::DType;
    Lines<U_, PM_, PN_> to(entry<U_>(prod, sizeof(U_) * CN_ / PN_ * PM_ * PN_));
    if constexpr (Unit_) issue<AtomicType::AtomicNone, STPhase::Final>(ptokit::number::TSTORE, here, to, tile);
    else issue(ptokit::number::TSTORE, here, to, tile);
  }
  void move_sums(int64_t here, Pushed_ &tile) {
    constexpr bool two = Ratio_ == VecCubeRatio::V2C1_VECS, down = two && PM_ != CM_, right = two && PN_ != CN_;
    static_assert(two ? down != right : PM_ == CM_ && PN_ == CN_, "the popped tiles are no halves of the pushed one");
    constexpr int rows = down ? PM_ / 2 : PM_, cols = right ? PN_ / 2 : PN_;
    using U_ = typename Pushed_::DType;
    std::conditional_t<two, Tile<TileType::Vec, U_, rows, cols>, Popped_> to;
    to.address = fifo.fifoBase + prod.at(sizeof(U_) * rows * cols);
    constexpr auto mode = down    ? AccToVecMode::DualModeSplitM
                          : right ? AccToVecMode::DualModeSplitN
                                  : AccToVecMode::SingleModeVec0;
    issue<mode>(ptokit::number::TMOV, here, to, tile);
  }
  void store_lines(int64_t here, Pushed_ &tile) {
    using U_ = typename Pushed_::DType;
    constexpr int parts = PN_ / CN_;
    U_ *start = entry<U_>(prod, sizeof(U_) * parts * CM_ * CN_);
    for (int part = 0; part < parts; ++part) {
      Lines<U_, PM_, CN_> to(start + part * CM_ * CN_);
      Tile<TileType::Vec, U_, PM_, PN_, BLayout::RowMajor, PM_, CN_> from;
      from.address = tile.address + part * CN_ * sizeof(U_);
      issue(ptokit::number::TSTORE, here, to, from);
    }
  }
  void insert(int64_t here, Pushed_ &tile) {
    constexpr bool two = Ratio_ == VecCubeRatio::V2C1_VECS;
    Popped_ to;
    to.address = fifo.fifoBase + prod.at(sizeof(T_) * CM_ * CN_) - prod.entryOffset;
    const int lane = two ? int(get_subblockid()) : 0;
    const int row = PM_ != CM_ ? CM_ / 2 * lane : 0, col = PN_ != CN_ ? PN_ * lane : 0;
    issue(ptokit::number::TINSERT, here, to, tile, row, col);
  }
  void load_lines(int64_t here, Popped_ &tile) {
    constexpr int parts = CN_ / PN_;
    T_ *start = entry<T_>(cons, sizeof(T_) * parts * PM_ * PN_);
    for (int part = 0; part < parts; ++part) {
      Lines<T_, CM_, PN_> from(start + part * PM_ * PN_);
      Tile<TileType::Vec, T_, CM_, CN_, BLayout::RowMajor, CM_, PN_> to;
      to.address = tile.address + part * PN_ * sizeof(T_);
      issue(ptokit::number::TLOAD, here, to, from);
    }
  }
  void load_boxes(int64_t here, Popped_ &tile) {
    Lines<T_, CM_, CN_> from(entry<T_>(cons, sizeof(T_) * CM_ * PN_));
    issue(ptokit::number::TLOAD, here, tile, from);
  }
};

template <uint8_t I_, FIFOType F_, uint8_t D_, uint8_t P_, class A_, class Z_, bool U_, uint8_t L_, VecCubeRatio R_>
PTOKIT_OUTLINE RecordEvent TPUSH(A_ &tile, TMPipe<I_, F_, D_, P_, A_, Z_, U_, L_, R_> &pipe) {
  pipe.push_at(PTOKIT_HERE, tile);
  return {};
}
template <uint8_t I_, FIFOType F_, uint8_t D_, uint8_t P_, class A_, class Z_, bool U_, uint8_t L_, VecCubeRatio R_>
PTOKIT_OUTLINE RecordEvent TPOP(Z_ &tile, TMPipe<I_, F_, D_, P_, A_, Z_, U_, L_, R_> &pipe) {
  pipe.pop_at(PTOKIT_HERE, tile);
  return {};
}
template <uint8_t I_, FIFOType F_, uint8_t D_, uint8_t P_, class A_, class Z_, bool U_, uint8_t L_, VecCubeRatio R_>
PTOKIT_OUTLINE RecordEvent TFREE(TMPipe<I_, F_, D_, P_, A_, Z_, U_, L_, R_> &pipe) {
  pipe.free_at(PTOKIT_HERE);
  return {};
}
}  // namespace pto
