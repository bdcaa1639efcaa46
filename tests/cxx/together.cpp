// Collectives: the parts of three ranks are in one process, and the root of the group executes.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int R = 4, C = 64, RANKS = 3;
template <int Rows> using View = GlobalTensor<float, Shape<1, 1, 1, Rows, C>, Stride<Rows * C, Rows * C, Rows * C, C, 1>>;

// all: the parts one after another; most: the largest of each; the parts become those of `news`, then `same`.
__global__ AICORE void together(__gm__ float *parts, __gm__ float *all, __gm__ float *most, __gm__ float *news,
                                __gm__ float *same, __gm__ float *spread)
{
  View<R> members[RANKS], spreads[RANKS];
  for (int rank = 0; rank < RANKS; ++rank) {
    TASSIGN(members[rank], parts + rank * R * C);
    TASSIGN(spreads[rank], spread + rank * R * C);
  }
  comm::ParallelGroup<View<R>> group(members, RANKS, 1), others(spreads, RANKS, 1);
  Tile<TileType::Vec, float, R, C> ping, pong, sum;
  TASSIGN(ping, 0x0), TASSIGN(pong, 0x4000), TASSIGN(sum, 0x8000);
  View<R * RANKS> to_all(all), from_news(news);
  View<R> to_most(most), from_same(same);
  comm::TGATHER(group, to_all, ping);
  comm::TREDUCE(group, to_most, sum, ping, pong, comm::ReduceOp::Max);
  comm::TSCATTER(group, from_news, ping, pong);
  comm::TBROADCAST(others, from_same, ping);
}
