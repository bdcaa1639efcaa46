// Copies with a bound: nothing is copied past it.
#pragma once
#include <cstddef>
#include <cstring>
inline int memset_s(void *to, std::size_t room, int value, std::size_t nbytes) {
  return nbytes > room ? 1 : (std::memset(to, value, nbytes), 0);
}
inline int memcpy_s(void *to, std::size_t room, const void *from, std::size_t nbytes) {
  return nbytes > room ? 1 : (std::memcpy(to, from, nbytes), 0);
}
