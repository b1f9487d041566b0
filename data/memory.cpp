#include "data/memory.hpp"

#include <unistd.h>

namespace graze {

double physical_memory() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGE_SIZE));
}

}  // namespace graze
