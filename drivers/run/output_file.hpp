/// Files that the program writes.
#pragma once

#include <string>
#include <string_view>

namespace graze {

/// Throws InputError when no file of this name could be made: a folder stands there, or its own folder (the
/// nearest that exists) may not be written to. Looks only.
void check_can_write(const std::string& path);

/// A file under a temporary name beside its target: renamed by finish(), else removed. Never an old file or
/// one that a link points to. Throws InputError when it can't be made.
class PartialFile {
 public:
  explicit PartialFile(const std::string& target);
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile();

  int descriptor() const { return descriptor_; }
  const std::string& name() const { return name_; }
  void finish();

 private:
  std::string target_;
  std::string name_;
  int descriptor_;
};

/// Whether all of the text could be written to an open file; else errno says why not.
bool write_all(int descriptor, std::string_view text);

/// Writes a text to a file, which appears whole or not at all, or to stdout when `path` is "-".
/// Folders that are missing are made. Throws
/// std::runtime_error when it can't be stored.
void write_text(const std::string& path, const std::string& text);

/// Prints a warning to stderr; nothing for "".
void warn(const std::string& text);

}  // namespace graze
