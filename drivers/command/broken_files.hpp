/// Damage to the structures of a file that the HDF5 library (1.10.8) itself does not see: it crashes, or
/// never comes back. The program then ends with a word about the file.
#pragma once

#include "drivers/command/command.hpp"

namespace graze {

/// From now on, a crash of the library while it reads a file, or a call that does not come to an end, ends
/// the process with this exit code after a line on stderr that names the file. Once: it takes over signals.
void end_on_broken_files(Exit exit);

}  // namespace graze
