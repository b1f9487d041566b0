/// Result files that the program cannot work with: damage to the structures of a file that the HDF5 library
/// (1.10.8) itself does not see, so that it crashes or never returns; files that lack what a command needs.
#pragma once

#include <functional>
#include <string>

#include "drivers/command/command.hpp"

namespace graze {

/// From now on, a crash of the library while it reads a file, or the reading of one file without an end, ends
/// the process with this exit code after a line on stderr that names the file; a crash while it writes one
/// (it crashes where it gets no memory) with Exit::internal_error, and the file under its temporary name is
/// removed. Once: it takes over signals.
void end_on_broken_files(Exit exit);

/// Does some work on the data of a result file. Throws InputError naming the file where it lacks an array or
/// a dimension, or has them in another form than the work needs.
void on_result(const std::string& path, const std::function<void()>& work);

}  // namespace graze
