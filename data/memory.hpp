/// How much this machine can hold.
#pragma once

namespace graze {

/// Bytes of memory of this machine.
double physical_memory();

/// For the whole process: blocks are made and written one after the other, and memory that goes back to the
/// system in between is brought in again page by page, which takes longer than to fill it.
void keep_freed_memory();

}  // namespace graze
