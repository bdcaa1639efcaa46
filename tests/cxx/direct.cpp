// A host program of the CPU simulator: it calls its kernel like any other function.
#include <pto/cpu/tile_offsets.hpp>
#include <pto/pto-inst.hpp>
using namespace pto;

// Offsets of elements, counted by hand: 2 x 2 boxes of 16 x 16, one behind the other.
template <BLayout B, SLayout S> using Boxed = Tile<TileType::Mat, half, 32, 32, B, 32, 32, S, 512>;
static_assert(GetTileElementOffset<Tile<TileType::Vec, float, 8, 16>>(3, 5) == 53);
static_assert(GetTileElementOffset<Boxed<BLayout::ColMajor, SLayout::RowMajor>>(17, 3) == 256 + 19);
static_assert(GetTileElementOffset<Boxed<BLayout::RowMajor, SLayout::ColMajor>>(17, 3) == 512 + 49);
static_assert(GetTileElementOffset<Boxed<BLayout::RowMajor, SLayout::RowMajor>>(3, 17) == 256 + 49);
static_assert(IsTwinType<float4_e2m1x2_t>() && !IsTwinType<half>());
// Codes by their numbers: one, the largest, the smallest, and what is none.
static_assert(float(float8_e4m3_t(0x38)) == 1 && float(float8_e4m3_t(0xfe)) == -448);
static_assert(float(float8_e4m3_t(1)) == 0x1p-9f && float(float8_e5m2_t(0x7b)) == 57344);
static_assert(float(float8_e5m2_t(0x7c)) > 1e30f && float(float8_e8m0_t(0)) == 0x1p-127f);
static_assert(float(float4_e2m1x2_t(0x37)) == 6 && float(float4_e1m2x2_t(0xf)) == -1.75f);
static_assert(float(int4b_t(0x78)) == -8 && float(hifloat8_t(8)) == 1);
static_assert(float(hifloat8_t(0x6e)) == 32768 && float(hifloat8_t(0x81)) == -0x1p-22f);
static_assert(float(hifloat8_t(0x35)) == 0.40625f);

constexpr int N = 64;
using View = GlobalTensor<float, Shape<1, 1, 1, 1, N>, Stride<N, N, N, N, 1>>;

AICORE void doubled(__gm__ float *a, __gm__ float *c)
{
  Tile<TileType::Vec, float, 1, N> x;
  TASSIGN(x, 0x0);
  View from(a), to(c);
  TLOAD(x, from);
  TADD(x, x, x);
  TSTORE(to, x);
}

// Loads and stores 2 x 8 of 4 x 16 elements, whose lines are two boxes of two.
AICORE void partly(__gm__ float *a, __gm__ float *c)
{
  Tile<TileType::Vec, float, 4, 16, BLayout::RowMajor, -1, -1> x(4, 16), y(2, 8);
  GlobalTensor<float, Shape<1, 1, 2, 2, 16>, Stride<N, N, 32, 16, 1>> from(a), to(c);
  TASSIGN(x, 0x0);
  TASSIGN(y, 0x400);
  TLOAD(x, from);
  TLOAD(y, from);
  TSTORE(to, y);
}

// Loads scales in boxes of 16 x 2, all of them, into a tile of which a line less is valid.
AICORE void scales(__gm__ float8_e8m0_t *a)
{
  using Cells = GlobalTensor<float8_e8m0_t, TileShape2D<float8_e8m0_t, 32, 4, Layout::MX_A_ZZ>,
                             BaseShape2D<float8_e8m0_t, 32, 4, Layout::MX_A_ZZ>, Layout::MX_A_ZZ>;
  Tile<TileType::Mat, float8_e8m0_t, 32, 4, BLayout::RowMajor, 31, 4, SLayout::RowMajor, 32> x;
  TASSIGN(x, 0x200);
  Cells from(a);
  TLOAD(x, from);
}

// Elements that a host writes by plain pointers are written; those of convolution tiles have their pad value.
bool by_pointers()
{
  Tile<TileType::Vec, float, 1, N> x, y;
  TASSIGN(x, 0x0), TASSIGN(y, 0x1000);
  for (int i = 0; i < N; ++i) x.data()[i] = i;
  TMULS(y, x, 3.0f);
  ConvTile<TileType::Mat, half, 256, Layout::NC1HWC0, ConvTileShape<1, 1, 4, 4, 16>> maps;
  maps.SetPadValue(half(-1.5f));
  return y.data()[N - 1] == 3 * (N - 1) && maps.GetPadValue() == half(-1.5f);
}

int main(int count, char **)
{
  float host[N], *a, *c;
  for (int i = 0; i < N; ++i) host[i] = i;
  aclInit(nullptr);
  aclrtMalloc((void **)&a, sizeof(host), ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMalloc((void **)&c, sizeof(host), ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemcpy(a, sizeof(host), host, sizeof(host), ACL_MEMCPY_HOST_TO_DEVICE);
  try {
    if (count == 2) doubled(a + 1000, c);
    comm::Signal never((int32_t *)c);
    if (count == 3) comm::TWAIT(never, 9, comm::WaitCmp::EQ);
  } catch (...) {
    std::printf("stopped\n");
  }
  doubled(a, c);
  bool right = true;
  for (int i = 0; i < N; ++i) right = right && c[i] == 2 * i;
  right = right && by_pointers();
  partly(a, c);
  float4_e2m1x2_t pairs[1] = {float4_e2m1x2_t(0x21)};
  SetProperDataPart(pairs, 1, float4_e2m1x2_t(7));
  if (pairs[0].code != 0x71 || float(GetProperDataPart(pairs, 0)) != 0.5f) std::printf("wrong pair\n");
  int32_t *flag;
  aclrtMalloc((void **)&flag, 512, ACL_MEM_MALLOC_HUGE_FIRST);
  comm::Signal signal(flag);
  scales((float8_e8m0_t *)a);
  if (std::memcmp(NPUMemoryModel::Instance().GetL1Base() + 0x200, a, 62) != 0) std::printf("wrong scales\n");
  comm::TNOTIFY(signal, 5, comm::NotifyOp::Set);
  comm::TNOTIFY(signal, 2, comm::NotifyOp::AtomicAdd);
  if (*flag != 7 || !comm::TTEST(signal, 7, comm::WaitCmp::GE)) std::printf("wrong signal\n");
  if (comm::TTEST(signal, 7, comm::WaitCmp::NE)) std::printf("wrong test\n");
  NPUMemoryModel::Instance().Initialize(NPUArch::A5);
  if (*reinterpret_cast<float *>(NPUMemoryModel::Instance().GetUBBase() + 4) != a[1]) std::printf("wrong place\n");
  for (int i = 0; i < N; ++i) right = right && c[i] == (i < 32 && i % 16 < 8 ? i : 2 * i);
  std::printf("%s\n", right ? "right" : "wrong");
}
