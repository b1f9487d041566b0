/// A machine with little memory, in the place of data/memory.cpp.
#include "data/memory.hpp"

namespace graze {

double physical_memory() { return 1 << 26; }

}  // namespace graze
