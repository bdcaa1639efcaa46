// Blocks of a launch that has cores of one kind meet, then each reads what another one wrote.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int N = 64;
using Line = GlobalTensor<float, Shape<1, 1, 1, 1, N>, Stride<N, N, N, N, 1>>;
using Counters = GlobalTensor<int32_t, Shape<1, 1, 1, 1, 16>, Stride<16, 16, 16, 16, 1>>;

enum Way { DEFAULT, BY_KIND, HARD, OTHER, SOME, TOO_MANY };

template <Way How, SyncCoreType Kind> AICORE void meet(__gm__ int32_t *w, int count)
{
  constexpr bool cube = Kind == SyncCoreType::AICOnly;
  Counters counters(w);
  if constexpr (How == DEFAULT) SYNCALL();
  if constexpr (How == BY_KIND) SYNCALL<Kind>();
  if constexpr (How == HARD) SYNCALL<SyncAllMode::Hard, Kind>(counters, count + 1);
  if constexpr (How == OTHER) SYNCALL<cube ? SyncCoreType::AIVOnly : SyncCoreType::AICOnly>();
  if constexpr (How == SOME && !cube) SYNCALL<SyncAllMode::Soft>(counters, count);
  if constexpr (How == SOME && cube) SYNCALL<SyncAllMode::Soft, Kind>(counters, count);
  if constexpr (How == TOO_MANY) SYNCALL<SyncAllMode::Soft, Kind>(counters, count + 1);
}

// Each of the first `count` blocks hands its line of `a` to the next one, by `b` into `c`; `apart`
// blocks meet at a place in memory.
template <Way How, TileType Where> __global__ AICORE void passed(
    __gm__ float *a, __gm__ float *b, __gm__ float *c, __gm__ int32_t *w, int count, int apart)
{
  constexpr auto kind = Where == TileType::Mat ? SyncCoreType::AICOnly : SyncCoreType::AIVOnly;
  if (block_idx >= count) return;
  Tile<Where, float, 1, N> x;
  TASSIGN(x, 0x0);
  const int group = block_idx / apart, other = group * apart + (block_idx + 1) % apart;
  Line from(a + block_idx * N), to(b + block_idx * N), next(b + other * N), out(c + block_idx * N);
  TLOAD(x, from);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0), wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, x);
  meet<How, kind>(w + 16 * group, apart);
  TLOAD(x, next);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0), wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  TSTORE(out, x);
}
