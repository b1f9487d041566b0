#include "data/archive.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>

#include "core/settings/value.hpp"
#include "data/blocks.hpp"
#include "data/content_digest.hpp"
#include "data/conventions.hpp"
#include "data/h5.hpp"
#include "data/version_1.hpp"
#include "generated/version.hpp"

namespace graze {
namespace {

namespace fs = std::filesystem;

const std::string result_type = "graze result";
constexpr std::int32_t format_version = 2;
constexpr std::int64_t first_version_with_digest = 2;
const std::string blocks_attribute = "blocks";  // of a master: how many there are when all is done

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

std::string host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

/// Root attributes: the archive's own first, then the caller's, which may come from another result and then
/// have all of them.
void write_root(h5::File& file, const Dataset& data, const Attributes& attributes,
                const std::string& identity) {
  file.set_text("", "filetype", result_type);
  file.set_numbers("", "format_version", std::vector<std::int32_t>{format_version});
  file.set_text("", "graze_version", GRAZE_VERSION);
  file.set_text("", "git_sha1", GRAZE_GIT_SHA);
  file.set_text("", "created", now());
  file.set_text("", "hostname", host());
  file.set_text("", "compiler", GRAZE_COMPILER);
  file.set_text("", "identity", identity);
  for (const auto& [name, text] : data.attributes) file.set_text("", name, text);
  for (const auto& [name, text] : attributes)
    if (!file.has_attribute("", name) && name != blocks_attribute && name != digest_attribute)
      file.set_text("", name, text);
}

/// Adds the texts of the root to the digest of all the rest.
std::string with_root(const h5::File& file, ContentDigest digest) {
  for (const auto& [name, text] : file.attributes(""))
    if (name != digest_attribute) digest.text("", name, text);
  return digest.hex();
}

/// How arrays of finished files are stored; `box` in the leading dimensions of arrays without values.
h5::Storage finished(const Array& array, const h5::Extents& extents, const h5::Extents& box, int threads) {
  if (extents.empty() || std::count(extents.begin(), extents.end(), 0U) > 0) return {};
  return {chunk_shape(extents, box, element_size(array)), true, threads};
}

/// A file name beside `path` that no other process uses.
std::string temporary_beside(const std::string& path) {
  std::string name = path + "." + std::to_string(::getpid()) + ".tmp";
  fs::remove(name);  // of a killed process that had the same number
  return name;
}

/// Makes the folder of a file that is going to be written, and makes sure that it can be written there.
void prepare_folder(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error) throw InputError(folder.string() + ": cannot make this folder: " + error.message());
  const std::string name = folder.empty() ? "." : folder.string();
  if (::access(name.c_str(), W_OK | X_OK) != 0)
    throw InputError(name + ": may not write in this folder: " + std::strerror(errno));
}

/// State of the file alone; whether blocks are missing or not yet joined is not looked at.
ResultState file_state(const std::string& path, const std::string& identity) {
  if (!fs::exists(fs::symlink_status(path))) return ResultState::absent;
  if (!fs::is_regular_file(path)) return ResultState::foreign;
  try {
    const h5::File file = h5::File::open(path);
    if (file.text("", "filetype") != result_type || file.text("", "identity") != identity)
      return ResultState::foreign;
    return file.has_attribute("", blocks_attribute) ? ResultState::incomplete : ResultState::complete;
  } catch (const h5::Error&) {
    return ResultState::foreign;
  }
}

void check_overwrite(const std::string& path, ResultState state, bool overwrite) {
  if (fs::is_directory(path)) throw InputError(path + ": is a folder, not a result file");
  if (state == ResultState::foreign && !overwrite)
    throw InputError(path +
                     ": is the result of another case, or no result at all; it is overwritten only when that "
                     "is asked for (--force)");
}

std::size_t size_of(const Array& array) {
  return std::visit([](const auto& v) { return v.size(); }, array.values);
}

/// The layout with only the arrays that blocks bring: those without values.
Dataset spread_part(const Dataset& layout, const std::vector<std::string>& point_dimensions) {
  Dataset result;
  result.dimensions = layout.dimensions;
  for (const Array& array : layout.arrays) {
    if (size_of(array) > 0 || layout.elements(array) == 0) continue;
    if (array.dimensions.empty() || array.dimensions.size() < point_dimensions.size() ||
        !std::equal(point_dimensions.begin(), point_dimensions.end(), array.dimensions.begin()))
      throw std::logic_error("array " + array.name + " has no values and does not lie over the points");
    result.arrays.push_back(array);
  }
  return result;
}

void check_sizes(const Dataset& data) {
  for (const Array& array : data.arrays)
    if (size_of(array) != data.elements(array))
      throw std::logic_error("array " + array.name + " has " + std::to_string(size_of(array)) +
                             " values for " + std::to_string(data.elements(array)) + " places");
  for (const Group& group : data.groups) check_sizes(group.data);
}

/// A damaged file found while reading, told to the user.
[[noreturn]] void damaged(const h5::Error& error) {
  const std::string text = error.what();
  const bool memory = text.find("memory allocation failed") != std::string::npos;
  throw InputError(
      text + (memory ? " (too little memory, or a damaged file)" : " (the file is truncated or damaged)"));
}

void check_readable(const std::string& path) {
  const fs::file_status status = fs::status(path);
  if (!fs::exists(status)) throw InputError(path + ": there is no such file");
  if (fs::is_directory(status)) throw InputError(path + ": is a folder, not a result file");
  if (!fs::is_regular_file(status)) throw InputError(path + ": is not a regular file");
  if (::access(path.c_str(), R_OK) != 0) throw InputError(path + ": may not be read");
  if (fs::file_size(path) == 0) throw InputError(path + ": is empty");
  if (!h5::has_signature(path)) throw InputError(path + ": is not an HDF5 file");
}

std::int64_t version_of(const h5::File& file) {
  const std::vector<std::int64_t> version = file.integers("", "format_version");
  return version.size() == 1 ? version[0] : 0;
}

void check_result(const h5::File& file, const std::string& path) {
  if (file.text("", "filetype") != result_type)
    throw InputError(path + ": is an HDF5 file, but not a result of graze");
  const std::int64_t version = version_of(file);
  if (version < 1 || version > format_version)
    throw InputError(path + ": has a format version that this program does not know (it reads up to " +
                     std::to_string(format_version) + ")");
}

/// Of an unfinished result; 0: in one file.
std::size_t block_count(const h5::File& file) {
  const std::vector<std::int64_t> blocks = file.integers("", blocks_attribute);
  return blocks.empty() ? 0 : static_cast<std::size_t>(std::max<std::int64_t>(blocks[0], 0));
}

/// The values of an unfinished result come from its own blocks only, wherever a stranger's files may point;
/// those of the wanted arrays (none named: all) lie in these blocks.
void check_sources(const h5::File& file, const std::string& path, const std::vector<std::string>& wanted) {
  std::map<std::string, std::set<std::string>> arrays_of;  // by block
  for (const std::string& array : file.arrays())
    for (const auto& [source, there] : file.sources(array)) {
      if (!Blocks::is_source(path, source, there))
        throw InputError(path + ": the values of " + array + " are to come from " + there + " of " + source +
                         ", which is none of its blocks (a result is not renamed while it is unfinished)");
      if (wanted.empty() || std::find(wanted.begin(), wanted.end(), array) != wanted.end())
        arrays_of[source].insert(there);
    }
  for (const auto& [source, arrays] : arrays_of) {
    const std::string name = (fs::path(path).parent_path() / source).string();
    if (!fs::exists(name)) continue;
    const h5::File block = h5::File::open(name);
    for (const std::string& array : arrays)
      if (!block.has_own_values(array))
        throw InputError(name + ": the values of " + array + " do not lie in this block");
  }
}

bool has_digest(const h5::File& file) {
  return version_of(file) >= first_version_with_digest || file.has_attribute("", digest_attribute);
}

/// Of a file in one piece.
void check_digest(const h5::File& file) {
  ContentDigest content;
  read_digest(file, content);
  if (with_root(file, content) != file.text("", digest_attribute))
    throw h5::Error(file.path() + ": its digest is not that of its content");
}

/// The data of a file of any version in the form of this one.
Dataset read_version(const h5::File& file, const std::vector<std::string>& arrays) {
  const std::vector<std::string> groups = file.groups();
  if (version_of(file) > 1 || std::find(groups.begin(), groups.end(), "branch") == groups.end())
    return read_dataset(file, arrays);
  try {
    Dataset data = flat_branches(read_dataset(file, {}));
    if (arrays.empty()) return data;
    data.groups.clear();
    std::erase_if(data.arrays, [&](const Array& array) {
      return array.dimensions != std::vector{array.name} &&
             std::find(arrays.begin(), arrays.end(), array.name) == arrays.end();
    });
    return data;
  } catch (const std::logic_error& error) {  // out of range, not found
    throw h5::Error(file.path() + ": " + error.what());
  } catch (const std::bad_variant_access&) {
    throw h5::Error(file.path() + ": an array of its branches has another type than it should");
  }
}

/// The library takes a block that it cannot open for a missing one, and it holds all of them open.
void check_file_limit(const std::string& path, std::size_t blocks) {
  constexpr std::size_t spare = 64;  // for what else the process has open
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || blocks + spare <= limit.rlim_cur) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, blocks + spare);
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0 || blocks + spare > limit.rlim_cur)
    throw InputError(path + ": has " + std::to_string(blocks) +
                     " block files, more than may be open at once here (ulimit -n " +
                     std::to_string(limit.rlim_cur) + ")");
}

}  // namespace

std::string attribute(const Attributes& attributes, std::string_view name) {
  const auto found =
      std::find_if(attributes.begin(), attributes.end(), [&](const auto& a) { return a.first == name; });
  return found == attributes.end() ? std::string() : found->second;
}

struct Archive::Impl {
  std::string path;
  Dataset layout;
  Attributes attributes;
  Blocks blocks;
  bool joined = false;

  ResultState state() const;
  void check_cut() const;
  void write_master();
  void join(Digest* digest, int threads);
  std::vector<std::size_t> row_major_order() const;
};

ResultState Archive::Impl::state() const {
  const ResultState file = file_state(path, blocks.plan().identity);
  if (!blocks.folder_exists()) return file;
  // Joined, but killed before the blocks were removed: something is left to do.
  if (file == ResultState::complete) return ResultState::incomplete;
  if (file != ResultState::absent) return file;
  const auto owner = blocks.owner();
  if (!owner) return ResultState::absent;
  return *owner == blocks.plan().identity ? ResultState::incomplete : ResultState::foreign;
}

/// Throws InputError when the blocks of the master that stands there are others than those planned here.
void Archive::Impl::check_cut() const {
  const std::vector<std::int64_t> there = h5::File::open(path).integers("", blocks_attribute);
  const std::size_t planned = blocks.plan().boxes.size();
  if (there.size() == 1 && there[0] == static_cast<std::int64_t>(planned)) return;
  throw InputError(path + ": its blocks are cut in another way than these " + std::to_string(planned) +
                   "; all shards need the same run.block");
}

void Archive::Impl::write_master() {
  const Dataset& spread = blocks.plan().layout;
  h5::replace_file(path, blocks.temporary("master"), [&](h5::File& file) {
    ContentDigest digest;  // not stored: every block has its own
    write_root(file, layout, attributes, blocks.plan().identity);
    file.set_numbers("", blocks_attribute,
                     std::vector<std::int64_t>{static_cast<std::int64_t>(blocks.plan().boxes.size())});
    write_dataset(
        file, layout,
        [&](const Array& array, const h5::Extents& extents) {
          if (spread.find(array.name) == nullptr) return finished(array, extents, {}, 1);
          return h5::Storage{{}, false, 1, blocks.sources(array)};
        },
        digest);
  });
}

std::vector<std::size_t> Archive::Impl::row_major_order() const {
  const std::vector<Box>& boxes = blocks.plan().boxes;
  std::vector<std::size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return boxes[a].offset < boxes[b].offset; });
  return order;
}

void Archive::Impl::join(Digest* digest, int threads) {
  const std::vector<std::size_t> order = row_major_order();
  const BlockPlan& plan = blocks.plan();
  Dataset whole = layout;
  if (digest != nullptr) {
    for (const std::size_t k : order) digest->learn(blocks.read(k));
    const Dataset more = digest->conclude();
    whole.dimensions.insert(whole.dimensions.end(), more.dimensions.begin(), more.dimensions.end());
    whole.arrays.insert(whole.arrays.end(), more.arrays.begin(), more.arrays.end());
  }
  h5::replace_file(path, blocks.temporary("joined"), [&](h5::File& file) {
    ContentDigest content;
    write_root(file, layout, attributes, plan.identity);
    write_dataset(
        file, whole,
        [&](const Array& array, const h5::Extents& extents) {
          const bool spread = size_of(array) == 0;
          return finished(array, extents, spread ? plan.boxes[order.front()].count : h5::Extents{}, threads);
        },
        content);
    for (const std::size_t k : order) {
      Dataset block = blocks.read(k);
      if (digest != nullptr) {
        const Dataset more = digest->describe(block);
        block.arrays.insert(block.arrays.end(), more.arrays.begin(), more.arrays.end());
      }
      for (const Array& array : block.arrays) {
        const Box place = blocks.place(k, array);
        file.write(array.name, place, array.values);
        content.values("", array, extents(whole, array), place);
      }
    }
    file.set_text("", digest_attribute, with_root(file, content));
  });
}

Archive::Archive(std::string path, Dataset layout, std::vector<std::string> point_dimensions,
                 std::vector<Box> boxes, Attributes attributes, std::string identity) {
  if (boxes.empty()) throw std::logic_error(path + ": a result without blocks");
  BlockPlan plan{std::move(identity), spread_part(layout, point_dimensions), std::move(boxes)};
  impl_.reset(new Impl{path, std::move(layout), std::move(attributes), {path, std::move(plan)}});
}

Archive::~Archive() = default;

ResultState Archive::state() const { return impl_->state(); }

void Archive::prepare(bool overwrite, Shard shard) {
  Impl& impl = *impl_;
  check_overwrite(impl.path, impl.state(), overwrite);
  prepare_folder(impl.path);
  impl.blocks.lock(shard);
  // Another process may have worked here until the lock was taken.
  const ResultState state = impl.state();
  check_overwrite(impl.path, state, overwrite);
  if (state == ResultState::foreign) impl.blocks.clear();
  const ResultState file = file_state(impl.path, impl.blocks.plan().identity);
  impl.joined = file == ResultState::complete;
  if (impl.joined) return;
  // Other shards may be at work with the master that stands there.
  const bool shared = !shard.is_whole() && file == ResultState::incomplete;
  if (shared) impl.check_cut();
  impl.blocks.scan();
  if (!shared) impl.write_master();
}

void Archive::assist(const std::string& helper) {
  impl_->blocks.assist(helper);
  look();
}

void Archive::look() {
  Impl& impl = *impl_;
  impl.joined = file_state(impl.path, impl.blocks.plan().identity) == ResultState::complete;
  impl.blocks.look();
}

std::size_t Archive::adopt(const std::string& result) { return impl_->blocks.adopt(result); }

std::size_t Archive::missing() const { return impl_->joined ? 0 : impl_->blocks.missing(); }

bool Archive::has(std::size_t index) const { return impl_->joined || impl_->blocks.has(index); }

void Archive::put(std::size_t index, const Dataset& block) { impl_->blocks.put(index, block); }

std::string Archive::consolidate(Digest* digest, int threads) {
  Impl& impl = *impl_;
  if (!impl.joined) {
    if (impl.blocks.missing() > 0)
      throw std::logic_error(impl.path + ": " + std::to_string(impl.blocks.missing()) +
                             " blocks are missing");
    impl.join(digest, threads);
    impl.joined = true;
  }
  return impl.blocks.remove();
}

void write_result(const std::string& path, const Dataset& data, const Attributes& attributes,
                  const std::string& identity, bool overwrite) {
  check_overwrite(path, file_state(path, identity), overwrite);
  prepare_folder(path);
  check_sizes(data);
  h5::replace_file(path, temporary_beside(path), [&](h5::File& file) {
    ContentDigest content;
    write_root(file, data, attributes, identity);
    write_dataset(
        file, data,
        [](const Array& array, const h5::Extents& extents) { return finished(array, extents, {}, 1); },
        content);
    file.set_text("", digest_attribute, with_root(file, content));
  });
}

ResultState result_state(const std::string& path, const std::string& identity) {
  return file_state(path, identity);
}

std::string verify_result(const std::string& path) {
  check_readable(path);
  try {
    const h5::File file = h5::File::open(path);
    check_result(file, path);
    check_sources(file, path, {});
    if (const std::size_t count = block_count(file); count > 0) {
      Blocks::verify(path, file.text("", "identity"), count);
      return "the values of every block are those that were written";
    }
    if (!has_digest(file))
      throw InputError(path + ": was written without a digest (format version 1), so it cannot be verified");
    check_digest(file);
    return "values, shapes and texts are those that were written";
  } catch (const h5::Error& error) {
    damaged(error);
  }
}

void check_undamaged(const std::string& path) {
  try {
    const h5::File file = h5::File::open(path);
    if (has_digest(file)) check_digest(file);
  } catch (const h5::Error& error) {
    damaged(error);
  }
}

RootAttributes read_attributes(const std::string& path) {
  check_readable(path);
  try {
    const h5::File file = h5::File::open(path);
    check_result(file, path);
    return {file.attributes(""), block_count(file)};
  } catch (const h5::Error& error) {
    damaged(error);
  }
}

Result read_result(const std::string& path, const std::vector<std::string>& arrays) {
  check_readable(path);
  try {
    const h5::File file = h5::File::open(path);
    check_result(file, path);
    check_sources(file, path, arrays);
    const std::size_t count = block_count(file);
    const std::size_t present = count == 0 ? 0 : Blocks::count_files(path, count);
    check_file_limit(path, present);
    return {read_version(file, arrays), file.attributes(""), present == count};
  } catch (const h5::Error& error) {
    damaged(error);
  }
}

}  // namespace graze
