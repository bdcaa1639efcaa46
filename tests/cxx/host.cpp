// A whole host program: it adds two arrays on the device and looks at the result.
#include <acl/acl.h>
#include <cstdio>
#include <pto/pto-inst.hpp>
using namespace pto;
#ifndef half  // as hosts write that know no such type
using half = aclFloat16;
#endif

__global__ AICORE void vadd(__gm__ float *a, __gm__ float *b, __gm__ float *c)
{
  Tile<TileType::Vec, float, 1, 64> x, y;
  GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>> ga(a), gb(b), gc(c);
  TASSIGN(x, 0x0);
  TASSIGN(y, 0x400);
  TLOAD(x, ga);
  TLOAD(y, gb);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0), wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TADD(x, x, y);
#ifndef FORGOTTEN
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0), wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
#endif
  TSTORE(gc, x);
}

int main(int count, char **words)
{
  aclInit(nullptr);
  aclrtSetDevice(0);
  aclrtStream stream;
  aclrtCreateStream(&stream);
  float *host, *a, *b, *c;
  const size_t size = 64 * sizeof(float);
  aclrtMallocHost((void **)&host, size);
  aclrtMalloc((void **)&a, size, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMalloc((void **)&b, size, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMalloc((void **)&c, size, ACL_MEM_MALLOC_HUGE_FIRST);
  for (int i = 0; i < 64; ++i) host[i] = float(i);
  aclrtMemcpy(a, size, host, size, ACL_MEMCPY_HOST_TO_DEVICE);
  aclrtMemcpy(b, size, host, size, ACL_MEMCPY_HOST_TO_DEVICE);
  vadd<<<1, nullptr, stream>>>(a, b, count > 2 ? nullptr : c);
  if (aclrtSynchronizeStream(stream) && count > 3) {
    vadd<<<1, nullptr, stream>>>(a, b, c);
    const bool still = aclrtSynchronizeStream(stream);
    aclrtResetDevice(0);
    vadd<<<1, nullptr, stream>>>(a, b, c);
    std::printf("%d %d ", still, aclrtSynchronizeStream(stream));
  }
  aclrtMemcpy(host, size, c, size, ACL_MEMCPY_DEVICE_TO_HOST);
  bool right = true;
  for (int i = 0; i < 64; ++i) right = right && host[i] == 2.0f * i;
  std::printf("%s %s\n", count > 1 ? words[1] : "done", right ? "right" : "wrong");
  return count > 1 ? 5 : 0;
}
