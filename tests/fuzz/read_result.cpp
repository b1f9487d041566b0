#include <hdf5.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "data/archive.hpp"
#include "data/blocks.hpp"
#include "tests/fuzz/readers.hpp"
#include "tests/fuzz/stranger.hpp"

// The HDF5 library (1.10.8) loses some bytes on damaged files. What graze could lose of it are open objects,
// and these are counted below.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5\n"; }

namespace graze::fuzz {
namespace {

namespace fs = std::filesystem;

/// A folder of this process with a result file, whose bytes are its only block as well.
class Place {
 public:
  Place() : folder_(fs::temp_directory_path() / ("graze_fuzz_" + std::to_string(::getpid()))) {
    fs::create_directories(result() + ".blocks");
    put({});
    fs::create_hard_link(result(), result() + ".blocks/000000.h5");
  }
  ~Place() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  std::string result() const { return (folder_ / "fuzz.h5").string(); }
  void put(std::string_view bytes) const {
    std::ofstream file(result(), std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!file.flush()) throw std::runtime_error(result() + ": cannot be written");
  }

 private:
  fs::path folder_;
};

/// What whoever reads a result relies on.
void check_shapes(const Dataset& data) {
  for (const Array& array : data.arrays) {
    const std::size_t size = std::visit([](const auto& values) { return values.size(); }, array.values);
    if (size != data.elements(array))
      throw std::logic_error(array.name + " has not the size of its dimensions");
  }
  for (const Group& group : data.groups) check_shapes(group.data);
}

ssize_t open_objects() { return H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL); }

void read_block(const std::string& result) {
  Dataset layout;
  layout.dimensions = {{"delta", 3}};
  layout.arrays = {{"outcome", {"delta"}, std::vector<std::int8_t>(), "", "", {}, {}},
                   {"speed", {"delta"}, std::vector<double>(), "", "", {}, {}}};
  Blocks blocks(result + ".other", {"fuzz", layout, {Box{{0}, {3}}}});
  if (blocks.adopt(result) == 1) check_shapes(blocks.read(0));
}

void read_file(std::string_view bytes) {
  static const Place place;
  place.put(bytes);
  const ssize_t open_before = open_objects();
  try_to([&] { check_shapes(read_result(place.result()).data); });
  if (bytes.find("graze block") != bytes.npos) read_block(place.result());
  if (open_objects() != open_before) throw std::logic_error("objects were left open");
}

}  // namespace

void read_result_bytes(std::string_view bytes) {
  // The library gives back what every open file needs, half a megabyte, unless it is told to keep it.
  static const herr_t kept = H5set_free_list_limits(-1, -1, -1, -1, -1, -1);
  static_cast<void>(kept);
  if (bytes.starts_with("\x89HDF"))
    read_file(bytes);
  else
    read_file(made_by_stranger(bytes));
}

}  // namespace graze::fuzz
