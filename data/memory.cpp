#include "data/memory.hpp"

#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace graze {

double physical_memory() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGE_SIZE));
}

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kept = 1 << 28;     // bytes
  constexpr int largest = 1 << 26;  // a single piece of them
  ::mallopt(M_MMAP_THRESHOLD, largest);
  ::mallopt(M_TRIM_THRESHOLD, kept);
#endif
}

}  // namespace graze
