/// How much this machine can hold.
#pragma once

namespace graze {

/// Bytes of memory of this machine.
double physical_memory();

}  // namespace graze
