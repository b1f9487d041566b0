/// What is fuzzed: the readers of files and texts that may come from strangers, each as a function of bytes
/// that must return, whatever the bytes are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/settings/value.hpp"

namespace graze::fuzz {

/// Input errors are the readers' business; any other exception is a bug.
template <class Read>
void try_to(const Read& read) {
  try {
    read();
  } catch (const InputError&) {
  }
}

/// A case file, read, checked against all keys, and planned.
void read_case_bytes(std::string_view bytes);
/// The option --set on a small case.
void read_override_bytes(std::string_view bytes);
/// A result file, whole and as a block of one; bytes that are no HDF5 file say what a stranger does to one.
void read_result_bytes(std::string_view bytes);

struct Reader {
  const char* name;  ///< of the folder of its corpus
  void (*read)(std::string_view bytes);
};

inline const std::vector<Reader>& readers() {
  static const std::vector<Reader> all = {
      {"case", read_case_bytes}, {"override", read_override_bytes}, {"result", read_result_bytes}};
  return all;
}

}  // namespace graze::fuzz
