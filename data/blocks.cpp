#include "data/blocks.hpp"

#include <fcntl.h>
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
#include <set>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "core/settings/value.hpp"
#include "data/content_digest.hpp"
#include "data/conventions.hpp"

namespace graze {
namespace {

namespace fs = std::filesystem;

const std::string block_type = "graze block";
const std::string temporary_ending = ".tmp";
const std::string lock_name = "lock";

constexpr std::size_t files_per_folder = 1000;

/// Names of the flat arrays of a block, in the order of the types of Array::Values.
constexpr std::array<const char*, FlatPlan::types> flat_names = {"int8", "int32", "int64", "float64"};

/// An array of each type, without values.
std::vector<Array> no_values() {
  const std::vector<Array::Values> none = {std::vector<std::int8_t>(), std::vector<std::int32_t>(),
                                           std::vector<std::int64_t>(), std::vector<double>()};
  std::vector<Array> flat;
  for (std::size_t type = 0; type < none.size(); ++type)
    flat.push_back({flat_names[type], {"value"}, none[type], "", "", {}, {}});
  return flat;
}

void reserve(Array::Values& values, std::size_t size) {
  std::visit([&](auto& v) { v.reserve(size); }, values);
}

std::size_t size_of(const Array::Values& values) {
  return std::visit([](const auto& v) { return v.size(); }, values);
}

Array::Values part(const Array::Values& flat, std::size_t begin, std::size_t size) {
  return std::visit(
      [&](const auto& all) -> Array::Values {
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
        return std::decay_t<decltype(all)>(first, first + static_cast<std::ptrdiff_t>(size));
      },
      flat);
}

std::string joined(const std::vector<std::size_t>& values) {
  std::string text;
  for (const std::size_t value : values) text += std::to_string(value) + " ";
  return text;
}

/// The digest of a block of the case `identity` that has these values in this box.
std::string digest_of(const std::string& identity, const Box& box, const std::vector<Array>& flat) {
  ContentDigest digest;
  digest.text("", "identity", identity);
  digest.text("", "box_offset", joined(box.offset));
  digest.text("", "box_count", joined(box.count));
  for (const Array& array : flat) digest.whole("", array, {size_of(array.values)});
  return digest.hex();
}

void check_digest(const h5::File& block, const std::string& identity, const Box& box,
                  const std::vector<Array>& flat) {
  if (block.text("", digest_attribute) != digest_of(identity, box, flat))
    throw h5::Error(block.path() + ": its digest is not that of its content");
}

std::vector<std::size_t> sizes(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

FlatPlan flat_plan(const BlockPlan& plan) {
  FlatPlan flat;
  for (const Array& array : plan.layout.arrays) {
    const h5::Extents shape = extents(plan.layout, array);
    const auto point = static_cast<std::ptrdiff_t>(plan.boxes.front().count.size());
    const std::size_t size = Box{{}, {shape.begin() + point, shape.end()}}.points();
    std::size_t& whole = flat.whole.at(array.values.index());
    flat.begin.push_back(whole);
    flat.size.push_back(size);
    whole += size;
  }
  return flat;
}

std::string folder_of(const std::string& result) { return result + ".blocks"; }

/// Relative to the folder of all blocks: the first thousand there, the others in subfolders.
std::string block_name(std::size_t index) {
  std::array<char, 64> name{};
  if (index < files_per_folder)
    std::snprintf(name.data(), name.size(), "%06zu.h5", index);
  else
    std::snprintf(name.data(), name.size(), "%03zu/%06zu.h5", index / files_per_folder, index);
  return name.data();
}

/// The index in the name of a block file; nothing for other files.
std::optional<std::size_t> block_index(const std::string& name) {
  std::size_t index = 0;
  const char* end = name.data() + name.size();
  const auto error = std::from_chars(name.data() + (name.rfind('/') + 1), end, index).ec;
  if (error != std::errc{} || block_name(index) != name) return std::nullopt;
  return index;
}

bool is_temporary(const std::string& name) { return name.ends_with(temporary_ending); }

/// Names of the files in a folder and its subfolders, relative to it.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::recursive_directory_iterator(folder, none))
    if (!entry.is_directory(none)) names.push_back(entry.path().lexically_relative(folder));
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::int64_t> whole_numbers(const std::vector<std::size_t>& values) {
  return {values.begin(), values.end()};
}

/// Removes a file or an empty folder; notes the first that stays though it should not. Files of somebody else
/// stay, and their folder with them.
void note_removal(const std::string& path, std::string& left) {
  std::error_code error;
  fs::remove(path, error);
  if (error && error != std::errc::directory_not_empty && left.empty())
    left = path + ": cannot be removed: " + error.message();
}

/// Whether an open file still stands under its name.
bool is_still_there(int file, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

/// Closes an open file unless somebody else takes it.
class Descriptor {
 public:
  explicit Descriptor(int file) : file_(file) {}
  ~Descriptor() {
    if (file_ >= 0) ::close(file_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int release() { return std::exchange(file_, -1); }

 private:
  int file_;
};

/// Locks bytes of an open file until it is closed, unless another process has one of them; count 0: all from
/// `first` on. Such locks belong to the open file, not to the process, and work on network file systems.
bool lock_bytes(int file, short kind, off_t first, off_t count) {
  struct flock range {};
  range.l_type = kind;
  range.l_whence = SEEK_SET;
  range.l_start = first;
  range.l_len = count;
  return ::fcntl(file, F_OFD_SETLK, &range) == 0;
}

/// Every shard of every number of shards has a byte of its own in the lock file.
off_t byte_of(Shard shard) { return static_cast<off_t>(shard.parts * (shard.parts - 1) / 2 + shard.part); }

std::string name_of(Shard shard) { return std::to_string(shard.part) + "-of-" + std::to_string(shard.parts); }

}  // namespace

Blocks::Blocks(const std::string& result, BlockPlan plan)
    : folder_(folder_of(result)),
      plan_(std::move(plan)),
      flat_(flat_plan(plan_)),
      files_(plan_.boxes.size()) {}

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

void Blocks::lock(Shard shard) {
  const std::string path = folder_ + "/" + lock_name;
  while (lock_ < 0) {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) throw InputError(folder_ + ": cannot make this folder: " + error.message());
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    // A run that has just ended may have removed the folder.
    if (file < 0 && errno == ENOENT) continue;
    if (file < 0) throw InputError(path + ": cannot be written: " + std::strerror(errno));
    Descriptor open_file(file);
    lock_range(file, shard);
    if (is_still_there(file, path)) lock_ = open_file.release();
  }
  shard_ = shard;
  worker_ = shard.is_whole() ? "" : name_of(shard);
}

void Blocks::lock_range(int file, Shard shard) const {
  if (lock_bytes(file, F_WRLCK, shard.is_whole() ? 0 : byte_of(shard), shard.is_whole() ? 0 : 1)) return;
  const int code = errno;
  const bool taken = code == EAGAIN || code == EACCES;
  const std::string what = shard.is_whole() ? "this result" : "this shard or all of this result";
  throw InputError(taken ? folder_ + ": another process is working on " + what
                         : folder_ + "/" + lock_name + ": cannot be locked: " + std::strerror(code));
}

void Blocks::check_lock() const {
  if (lock_ >= 0 && !is_still_there(lock_, folder_ + "/" + lock_name))
    throw std::runtime_error(folder_ + ": was removed or replaced while this run was writing into it");
}

void Blocks::assist(const std::string& helper) { worker_ = helper; }

bool Blocks::is_mine(const std::string& temporary) const {
  return shard_.is_whole() || temporary.find("." + worker_ + ".") != std::string::npos;
}

void Blocks::scan() {
  const std::vector<std::size_t> share = dealt(plan_.boxes.size(), shard_);
  const std::set<std::size_t> mine(share.begin(), share.end());
  for (const std::string& name : names_in(folder_)) {
    const auto index = block_index(name);
    const std::string path = folder_ + "/" + name;
    if (index && mine.contains(*index) && is_valid(*index, path)) {
      const std::lock_guard<std::mutex> guard(mutex_);
      files_[*index] = path;
    } else if ((index && (shard_.is_whole() || mine.contains(*index))) ||
               (is_temporary(name) && is_mine(name))) {
      fs::remove(path);
    }
  }
}

void Blocks::look() {
  const std::lock_guard<std::mutex> guard(mutex_);
  for (const std::string& name : names_in(folder_)) {
    const auto index = block_index(name);
    if (index && *index < files_.size()) files_[*index] = folder_ + "/" + name;
  }
}

std::size_t Blocks::adopt(const std::string& result) {
  const std::string folder = folder_of(result);
  std::size_t adopted = 0;
  for (const std::string& name : names_in(folder)) {
    const auto index = block_index(name);
    if (!index || *index >= files_.size() || !files_[*index].empty()) continue;
    const std::string path = fs::path(folder) / name;
    if (!is_valid(*index, path)) continue;
    files_[*index] = path;
    ++adopted;
  }
  return adopted;
}

/// All blocks and temporary files; the first that could not be removed, and why.
std::string Blocks::remove_files() const {
  std::string left;
  for (const std::string& name : names_in(folder_))
    if (block_index(name) || is_temporary(name)) note_removal(folder_ + "/" + name, left);
  return left;
}

void Blocks::clear() {
  lock_range(lock_, {});
  const std::string left = remove_files();
  if (!left.empty()) throw std::runtime_error(left);
  if (!shard_.is_whole()) {
    lock_bytes(lock_, F_UNLCK, 0, byte_of(shard_));
    lock_bytes(lock_, F_UNLCK, byte_of(shard_) + 1, 0);
  }
  const std::lock_guard<std::mutex> guard(mutex_);
  for (std::string& file : files_)
    if (file.starts_with(folder_ + "/")) file.clear();
}

std::string Blocks::remove() {
  std::string left = remove_files();
  for (std::size_t thousand = 1; thousand * files_per_folder < files_.size(); ++thousand)
    note_removal(fs::path(file(thousand * files_per_folder)).parent_path(), left);
  note_removal(folder_ + "/" + lock_name, left);
  note_removal(folder_, left);
  ::close(lock_);
  lock_ = -1;
  return left;
}

bool Blocks::has(std::size_t index) const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return !files_.at(index).empty();
}

std::size_t Blocks::missing() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return static_cast<std::size_t>(std::count(files_.begin(), files_.end(), ""));
}

h5::Extents Blocks::block_extents(const Array& array, const Box& box) const {
  h5::Extents result = extents(plan_.layout, array);
  std::copy(box.count.begin(), box.count.end(), result.begin());
  return result;
}

std::vector<Array> Blocks::flattened(const Dataset& block, const Box& box) const {
  std::vector<Array> flat = no_values();
  for (std::size_t type = 0; type < flat.size(); ++type)
    reserve(flat[type].values, box.points() * flat_.whole[type]);
  for (std::size_t k = 0; k < plan_.layout.arrays.size(); ++k) {
    const Array& planned = plan_.layout.arrays[k];
    const Array::Values& values = block.at(planned.name).values;
    if (values.index() != planned.values.index())
      throw std::logic_error("array " + planned.name + " of a block has another type than its layout");
    if (size_of(values) != box.points() * flat_.size[k])
      throw std::logic_error("array " + planned.name + " of a block has another size than its box");
    append(flat[values.index()].values, values);
  }
  return flat;
}

std::vector<Array> Blocks::read_flat(const h5::File& block, const Box& box) const {
  std::vector<Array> flat = no_values();
  for (std::size_t type = 0; type < flat.size(); ++type) {
    const std::size_t size = box.points() * flat_.whole[type];
    if (size == 0) continue;
    const std::string name = flat_names[type];
    if (block.extents(name) != h5::Extents{size} || !block.has_own_values(name))
      throw h5::Error(block.path() + ": array " + name + " is not what the block should have");
    Array::Values values = block.read(name, h5::Checksums::passed_over);
    if (values.index() != type) throw h5::Error(block.path() + ": array " + name + " has another type");
    flat[type].values = std::move(values);
  }
  check_digest(block, plan_.identity, box, flat);
  return flat;
}

void Blocks::put(std::size_t index, const Dataset& block) {
  if (lock_ < 0 && worker_.empty()) throw std::logic_error("a block was put before the result was prepared");
  check_lock();
  const Box& box = plan_.boxes.at(index);
  const std::vector<Array> flat = flattened(block, box);
  try {
    if (index >= files_per_folder) fs::create_directory(fs::path(file(index)).parent_path());
    h5::replace_file(file(index), temporary(block_name(index)), [&](h5::File& out) {
      out.set_text("", "filetype", block_type);
      out.set_text("", "identity", plan_.identity);
      out.set_numbers("", "box_offset", whole_numbers(box.offset));
      out.set_numbers("", "box_count", whole_numbers(box.count));
      out.set_text("", digest_attribute, digest_of(plan_.identity, box, flat));
      for (const Array& array : flat) {
        const h5::Extents shape{size_of(array.values)};
        if (shape[0] == 0) continue;
        out.create_array(array.name, shape, array.values, {chunk_shape(shape, {}, element_size(array))});
        out.write(array.name, {{0}, shape}, array.values);
      }
    });
  } catch (const std::exception&) {
    check_lock();  // without its folder nothing can be written
    throw;
  }
  const std::lock_guard<std::mutex> guard(mutex_);
  files_[index] = file(index);
}

Dataset Blocks::read(std::size_t index) const {
  const h5::File block = h5::File::open(files_.at(index));
  const Box& box = plan_.boxes[index];
  Dataset data = plan_.layout;
  for (std::size_t d = 0; d < box.count.size(); ++d)
    for (Dimension& dimension : data.dimensions)
      if (dimension.name == plan_.layout.arrays.front().dimensions[d]) dimension.size = box.count[d];
  const std::vector<Array> flat = read_flat(block, box);
  for (std::size_t k = 0; k < data.arrays.size(); ++k) {
    Array::Values& values = data.arrays[k].values;
    values = part(flat[values.index()].values, box.points() * flat_.begin[k], box.points() * flat_.size[k]);
  }
  return data;
}

bool Blocks::is_valid(std::size_t index, const std::string& file) const {
  const Box& box = plan_.boxes[index];
  try {
    const h5::File block = h5::File::open(file);
    if (block.text("", "filetype") != block_type || block.text("", "identity") != plan_.identity ||
        block.integers("", "box_offset") != whole_numbers(box.offset) ||
        block.integers("", "box_count") != whole_numbers(box.count))
      return false;
    read_flat(block, box);  // compares the digest
    return true;
  } catch (const h5::Error&) {
    return false;
  }
}

std::string Blocks::file(std::size_t index) const { return folder_ + "/" + block_name(index); }

std::string Blocks::temporary(const std::string& name) const {
  return folder_ + "/" + name + (worker_.empty() ? "" : "." + worker_) + temporary_ending;
}

Box Blocks::place(std::size_t index, const Array& array) const {
  const Box& box = plan_.boxes.at(index);
  Box result{box.offset, block_extents(array, box)};
  result.offset.resize(result.count.size(), 0);
  return result;
}

std::vector<h5::Source> Blocks::sources(const Array& array) const {
  const std::string folder = fs::path(folder_).filename();
  const std::size_t type = array.values.index();
  const auto k = static_cast<std::size_t>(&plan_.layout.at(array.name) - plan_.layout.arrays.data());
  std::vector<h5::Source> result;
  for (std::size_t n = 0; n < plan_.boxes.size(); ++n) {
    const std::size_t points = plan_.boxes[n].points();
    result.push_back({folder + "/" + block_name(n), flat_names[type], points * flat_.whole[type],
                      points * flat_.begin[k], place(n, array)});
  }
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

void Blocks::verify(const std::string& result, const std::string& identity, std::size_t count) {
  for (const std::string& name : names_in(folder_of(result))) {
    const auto index = block_index(name);
    if (!index || *index >= count) continue;
    const h5::File block = h5::File::open(folder_of(result) + "/" + name);
    const Box box{sizes(block.integers("", "box_offset")), sizes(block.integers("", "box_count"))};
    std::vector<Array> flat = no_values();
    const std::vector<std::string> arrays = block.arrays();
    for (std::size_t type = 0; type < flat.size(); ++type) {
      if (std::find(arrays.begin(), arrays.end(), flat_names[type]) == arrays.end()) continue;
      Array::Values values = block.read(flat_names[type]);
      if (values.index() == type) flat[type].values = std::move(values);
    }
    check_digest(block, identity, box, flat);
  }
}

bool Blocks::is_source(const std::string& result, const std::string& name, const std::string& array) {
  const std::string folder = fs::path(folder_of(result)).filename().string() + "/";
  return name.starts_with(folder) && block_index(name.substr(folder.size())).has_value() &&
         std::find(flat_names.begin(), flat_names.end(), array) != flat_names.end();
}

}  // namespace graze
