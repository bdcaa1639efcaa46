// A host program whose threads use the device at the same time, each on arrays of its own.
#include <acl/acl.h>
#include <cstdio>
#include <pto/pto-inst.hpp>
#include <thread>
#include <vector>
using namespace pto;
constexpr int N = 64, THREADS = 4, ROUNDS = 5;

__global__ AICORE void scaled(__gm__ float *a, __gm__ float *c, float factor)
{
  Tile<TileType::Vec, float, 1, N> x;
  GlobalTensor<float, Shape<1, 1, 1, 1, N>, Stride<N, N, N, N, 1>> from(a), to(c);
  TASSIGN(x, 0x0);
  TLOAD(x, from);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0), wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TMULS(x, x, factor);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0), wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, x);
}

void work(int number, int *wrong)
{
  aclrtStream stream;
  aclrtCreateStream(&stream);
  for (int round = 0; round < ROUNDS; ++round) {
    float *a, *c;
    aclrtMalloc((void **)&a, N * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc((void **)&c, N * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST);
    for (int i = 0; i < N; ++i) a[i] = float(i + round);
#ifdef __CPU_SIM
    scaled(a, c, float(number));
#else
    scaled<<<1, nullptr, stream>>>(a, c, float(number));
#endif
    aclrtSynchronizeStream(stream);
    for (int i = 0; i < N; ++i) *wrong += c[i] != float(number) * float(i + round);
    aclrtFree(a), aclrtFree(c);
  }
}

int main()
{
  int wrong[THREADS] = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < THREADS; ++i) threads.emplace_back(work, i, &wrong[i]);
  for (std::thread &each : threads) each.join();
  for (int i = 0; i < THREADS; ++i) std::printf("%d ", wrong[i]);
  std::printf("wrong\n");
}
