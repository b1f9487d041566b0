#include "data/blocks.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "core/value.hpp"
#include "data/conventions.hpp"

namespace graze {
namespace {

namespace fs = std::filesystem;

const std::string block_type = "graze block";
const std::string temporary_ending = ".tmp";
const std::string lock_name = "lock";

std::string folder_of(const std::string& result) { return result + ".blocks"; }

std::string block_name(std::size_t index) {
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "%06zu.h5", index);
  return name.data();
}

/// The index in the name of a block file; nothing for other files.
std::optional<std::size_t> block_index(const std::string& name) {
  std::size_t index = 0;
  const auto error = std::from_chars(name.data(), name.data() + name.size(), index).ec;
  if (error != std::errc{} || block_name(index) != name) return std::nullopt;
  return index;
}

bool is_temporary(const std::string& name) {
  return name.size() > temporary_ending.size() &&
         name.compare(name.size() - temporary_ending.size(), std::string::npos, temporary_ending) == 0;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::int64_t> whole_numbers(const std::vector<std::size_t>& values) {
  return {values.begin(), values.end()};
}

/// Whether an open file still stands under its name.
bool is_still_there(int file, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

}  // namespace

Blocks::Blocks(const std::string& result, BlockPlan plan)
    : folder_(folder_of(result)), plan_(std::move(plan)), present_(plan_.boxes.size(), false) {}

Blocks::~Blocks() {
  if (lock_ >= 0) ::close(lock_);
}

bool Blocks::folder_exists() const { return fs::is_directory(folder_); }

std::optional<std::string> Blocks::owner() const {
  for (const std::string& name : names_in(folder_)) {
    if (!block_index(name)) continue;
    try {
      const h5::File block = h5::File::open(folder_ + "/" + name);
      if (block.text("", "filetype") == block_type) return block.text("", "identity");
    } catch (const h5::Error&) {
      // damaged: says nothing about whose it was
    }
  }
  return std::nullopt;
}

void Blocks::lock() {
  if (lock_ >= 0) return;
  const std::string path = folder_ + "/" + lock_name;
  while (lock_ < 0) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) throw InputError(folder_ + ": cannot make this folder: " + error.message());
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) throw InputError(path + ": cannot be written: " + std::strerror(errno));
    if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
      const int code = errno;
      ::close(file);
      if (code == EWOULDBLOCK) throw InputError(folder_ + ": another process is working on this result");
      throw InputError(path + ": cannot be locked: " + std::strerror(code));
    }
    // A run that has just ended may have removed the folder between opening and locking.
    if (is_still_there(file, path))
      lock_ = file;
    else
      ::close(file);
  }
}

void Blocks::scan() {
  for (const std::string& name : names_in(folder_)) {
    const auto index = block_index(name);
    const bool keep = index && *index < plan_.boxes.size() && is_valid(*index);
    if (keep) {
      const std::lock_guard<std::mutex> guard(mutex_);
      present_[*index] = true;
    } else if (index || is_temporary(name)) {
      fs::remove(folder_ + "/" + name);
    }
  }
}

void Blocks::clear() {
  for (const std::string& name : names_in(folder_))
    if (block_index(name) || is_temporary(name)) fs::remove(folder_ + "/" + name);
  const std::lock_guard<std::mutex> guard(mutex_);
  present_.assign(present_.size(), false);
}

void Blocks::remove() {
  clear();
  fs::remove(folder_ + "/" + lock_name);
  std::error_code not_empty;  // files of somebody else stay, and the folder with them
  fs::remove(folder_, not_empty);
  ::close(lock_);
  lock_ = -1;
}

bool Blocks::has(std::size_t index) const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return present_.at(index);
}

h5::Extents Blocks::block_extents(const Array& array, const Box& box) const {
  h5::Extents result = extents(plan_.layout, array);
  std::copy(box.count.begin(), box.count.end(), result.begin());
  return result;
}

void Blocks::put(std::size_t index, const Dataset& block) {
  if (lock_ < 0) throw std::logic_error("a block was put before the result was prepared");
  const Box& box = plan_.boxes.at(index);
  h5::replace_file(file(index), temporary(block_name(index)), [&](h5::File& out) {
    out.set_text("", "filetype", block_type);
    out.set_text("", "identity", plan_.identity);
    out.set_numbers("", "box_offset", whole_numbers(box.offset));
    out.set_numbers("", "box_count", whole_numbers(box.count));
    for (const Array& planned : plan_.layout.arrays) {
      const Array& array = block.at(planned.name);
      if (array.values.index() != planned.values.index())
        throw std::logic_error("array " + array.name + " of a block has another type than its layout");
      const h5::Extents shape = block_extents(planned, box);
      out.create_array(array.name, shape, array.values,
                       {chunk_shape(shape, box.count, element_size(array)), false, {}});
      out.write(array.name, {h5::Extents(shape.size(), 0), shape}, array.values);
    }
  });
  const std::lock_guard<std::mutex> guard(mutex_);
  present_[index] = true;
}

h5::File Blocks::open(std::size_t index) const { return h5::File::open(file(index)); }

bool Blocks::is_valid(std::size_t index) const {
  const Box& box = plan_.boxes[index];
  try {
    const h5::File block = open(index);
    if (block.text("", "filetype") != block_type || block.text("", "identity") != plan_.identity ||
        block.integers("", "box_offset") != whole_numbers(box.offset) ||
        block.integers("", "box_count") != whole_numbers(box.count))
      return false;
    // Reading everything compares all checksums.
    return std::all_of(plan_.layout.arrays.begin(), plan_.layout.arrays.end(), [&](const Array& array) {
      return block.extents(array.name) == block_extents(array, box) &&
             block.read(array.name).index() == array.values.index();
    });
  } catch (const h5::Error&) {
    return false;
  }
}

std::string Blocks::file(std::size_t index) const { return folder_ + "/" + block_name(index); }

std::string Blocks::temporary(const std::string& name) const {
  return folder_ + "/" + name + temporary_ending;
}

Box Blocks::place(std::size_t index, const Array& array) const {
  const Box& box = plan_.boxes.at(index);
  Box result{box.offset, block_extents(array, box)};
  result.offset.resize(result.count.size(), 0);
  return result;
}

std::vector<h5::Source> Blocks::sources(const Array& array) const {
  const std::string folder = fs::path(folder_).filename();
  std::vector<h5::Source> result;
  for (std::size_t k = 0; k < plan_.boxes.size(); ++k)
    result.push_back({folder + "/" + block_name(k), place(k, array)});
  return result;
}

std::size_t Blocks::count_files(const std::string& result, std::size_t count) {
  std::size_t files = 0;
  for (const std::string& name : names_in(folder_of(result))) {
    const auto index = block_index(name);
    if (index && *index < count) ++files;
  }
  return files;
}

}  // namespace graze
