#include "tests/fuzz/readers.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>

#include "core/value.hpp"
#include "data/archive.hpp"
#include "data/case_file.hpp"
#include "data/h5.hpp"
#include "drivers/case.hpp"

namespace graze::fuzz {
namespace {

constexpr std::string_view small_case =
    "graze = 1\n[model]\nname = \"two_dof_stops\"\n[analysis]\nname = \"sweep\"\n"
    "axis = { parameter = \"delta\", from = 0.7, to = 1.5, points = 24 }\n";

/// Input errors are the readers' business; any other exception is a bug.
template <class Read>
void try_to(const Read& read) {
  try {
    read();
  } catch (const InputError&) {
  }
}

/// A file in memory, with a name.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (descriptor_ < 0 ||
        ::write(descriptor_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      throw std::runtime_error("no file in memory");
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace

void read_case_bytes(std::string_view bytes) {
  try_to([&] { static_cast<void>(understood(parse_case(std::string(bytes), "fuzz.toml", {}))); });
}

void read_override_bytes(std::string_view bytes) {
  try_to([&] {
    static_cast<void>(understood(parse_case(std::string(small_case), "fuzz.toml", {std::string(bytes)})));
  });
}

void read_result_bytes(std::string_view bytes) {
  const MemoryFile file(bytes);
  try_to([&] { static_cast<void>(read_attributes(file.path())); });
  try_to([&] { static_cast<void>(read_result(file.path())); });
}

}  // namespace graze::fuzz
