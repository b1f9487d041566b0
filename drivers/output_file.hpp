/// Files that the program writes.
#pragma once

#include <string>

namespace graze {

/// Throws InputError when no file of this name could be made: a folder stands there, or its own folder (the
/// nearest that exists) may not be written to. Looks only.
void check_can_write(const std::string& path);

/// Writes a text to a file, which appears whole or not at all, or to stdout when `path` is "-".
/// Folders that are missing are made. Throws
/// std::runtime_error when it can't be stored.
void write_text(const std::string& path, const std::string& text);

}  // namespace graze
