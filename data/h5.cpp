#include "data/h5.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <hdf5_hl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <numeric>
#include <string_view>
#include <type_traits>

#include "core/settings/value.hpp"
#include "data/chunk_filters.hpp"
#include "data/memory.hpp"

namespace graze::h5 {
namespace {

static_assert(std::is_same_v<hid_t, std::int64_t>);

constexpr std::string_view pure_dimension = "This is a netCDF dimension but not a netCDF variable.";
constexpr int deflate_level = 1;
constexpr std::size_t longest_attribute = 1 << 24;  // bytes or numbers; longer ones are read as empty

/// The library is not safe for threads: one call at a time, with its printing of errors switched off.
class Guard {
 public:
  Guard() : lock_(mutex()) {
    H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Guard() { H5Eset_auto2(H5E_DEFAULT, print_, print_data_); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  static std::recursive_mutex& mutex() {
    static std::recursive_mutex instance;
    // All files are closed by their owners; what the library does at the end of the program, it prints.
    static const herr_t stays_open = H5dont_atexit();
    static_cast<void>(stays_open);
    return instance;
  }
  std::lock_guard<std::recursive_mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

/// Visits the error stack from its innermost entry: the first one says what really happened.
herr_t keep_first(unsigned n, const H5E_error2_t* entry, void* text) {
  if (n == 0 && entry->desc != nullptr) *static_cast<std::string*>(text) = entry->desc;
  return 0;
}

std::string reason() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
  constexpr std::string_view mark = "errno = ";
  const auto at = text.find(mark);
  if (at == std::string::npos) return text.empty() ? "unknown reason" : text;
  return std::strerror(std::atoi(text.c_str() + at + mark.size()));
}

/// An id or a status of the library, or the exception that it means.
template <class T>
T check(T result, const std::string& path, const std::string& doing) {
  if (result < 0) throw Error(path + ": " + doing + ": " + reason());
  return result;
}

/// Type in memory and type in the file (little-endian everywhere, so that files are the same everywhere).
struct Types {
  hid_t memory;
  hid_t file;
};

template <class T>
Types types_of() {
  if constexpr (std::is_same_v<T, std::int8_t>)
    return {H5T_NATIVE_INT8, H5T_STD_I8LE};
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return {H5T_NATIVE_INT32, H5T_STD_I32LE};
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return {H5T_NATIVE_INT64, H5T_STD_I64LE};
  else
    return {H5T_NATIVE_DOUBLE, H5T_IEEE_F64LE};
}

Types types_of(const Array::Values& values) {
  return std::visit([](const auto& v) { return types_of<typename std::decay_t<decltype(v)>::value_type>(); },
                    values);
}

const void* data_of(const Array::Values& values) {
  return std::visit([](const auto& v) -> const void* { return v.data(); }, values);
}

void* data_of(Array::Values& values) {
  return std::visit([](auto& v) -> void* { return v.data(); }, values);
}

std::size_t size_of(const Array::Values& values) {
  return std::visit([](const auto& v) { return v.size(); }, values);
}

std::vector<hsize_t> library_sizes(const Extents& extents) { return {extents.begin(), extents.end()}; }

Handle make_space(const Extents& extents, const std::string& path) {
  const std::vector<hsize_t> sizes = library_sizes(extents);
  const hid_t space = sizes.empty() ? H5Screate(H5S_SCALAR)
                                    : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
  return {check(space, path, "making a shape"), H5Sclose};
}

Handle make_text_type() {
  Handle type{H5Tcopy(H5T_C_S1), H5Tclose};
  H5Tset_size(type.id(), H5T_VARIABLE);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

void select(const Handle& space, const Box& box, const std::string& path) {
  if (box.count.empty()) return;
  const std::vector<hsize_t> offset = library_sizes(box.offset);
  const std::vector<hsize_t> count = library_sizes(box.count);
  check(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, offset.data(), nullptr, count.data(), nullptr), path,
        "selecting a part of an array");
}

Extents extents_of(hid_t space) {
  const int rank = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> sizes(static_cast<std::size_t>(std::max(rank, 0)));
  if (rank > 0) H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
  return {sizes.begin(), sizes.end()};
}

/// A list of texts is read as none.
std::string text_value(hid_t attribute, hid_t type) {
  const Handle space{H5Aget_space(attribute), H5Sclose};
  if (H5Sget_simple_extent_npoints(space.id()) != 1) return {};
  if (H5Tis_variable_str(type) > 0) {
    const Handle memory = make_text_type();
    char* text = nullptr;
    if (H5Aread(attribute, memory.id(), static_cast<void*>(&text)) < 0 || text == nullptr) return {};
    std::string result(text);
    H5free_memory(text);
    return result;
  }
  if (H5Tget_size(type) > longest_attribute) return {};
  std::string result(H5Tget_size(type), '\0');
  if (H5Aread(attribute, type, result.data()) < 0) return {};
  return result.substr(0, result.find('\0'));
}

/// A text attribute of an object; "" when there is none.
std::string text_attribute(hid_t object, const std::string& name, const std::string& path) {
  if (H5Aexists(object, name.c_str()) <= 0) return {};
  const Handle attribute{check(H5Aopen(object, name.c_str(), H5P_DEFAULT), path, "opening attribute " + name),
                         H5Aclose};
  const Handle type{H5Aget_type(attribute.id()), H5Tclose};
  return H5Tget_class(type.id()) == H5T_STRING ? text_value(attribute.id(), type.id()) : std::string{};
}

/// Whether an array is a dimension. (H5DSis_scale leaves a type open where a stranger's attribute is no
/// text.)
bool is_scale(hid_t array, const std::string& path) {
  return text_attribute(array, "CLASS", path) == "DIMENSION_SCALE";
}

template <class T>
std::vector<T> number_values(hid_t attribute) {
  const Handle space{H5Aget_space(attribute), H5Sclose};
  const hssize_t count = std::max<hssize_t>(H5Sget_simple_extent_npoints(space.id()), 0);
  if (count > static_cast<hssize_t>(longest_attribute)) return {};
  std::vector<T> values(static_cast<std::size_t>(count));
  if (values.empty() || H5Aread(attribute, types_of<T>().memory, values.data()) < 0) return {};
  return values;
}

template <class T>
std::string joined(const std::vector<T>& values) {
  std::string result;
  for (const T x : values) {
    if (!result.empty()) result += ' ';
    result += Value(x).toml();
  }
  return result;
}

herr_t collect_attribute(hid_t, const char* name, const H5A_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

Watch watch;

/// Of a call that reads a file, perhaps an untrusted one, or writes one. One within another is part of it.
class CallGuard {
 public:
  CallGuard(const std::string& path, Access access, double bytes = 0) {
    if (depth_++ == 0 && watch.begin != nullptr) watch.begin(path, access, bytes);
  }
  ~CallGuard() {
    if (--depth_ == 0 && watch.end != nullptr) watch.end();
  }
  CallGuard(const CallGuard&) = delete;
  CallGuard& operator=(const CallGuard&) = delete;

 private:
  Guard guard_;  // holds the lock
  static inline int depth_ = 0;
};

/// Creation properties shared by the root and the arrays: netCDF wants to know what came first.
template <class Create>
Handle make_properties(hid_t kind, const Create& set) {
  Handle properties{H5Pcreate(kind), H5Pclose};
  set(properties.id(), static_cast<unsigned>(H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED));
  return properties;
}

/// Works without file locks where the file system has none.
Handle make_read_access() {
  Handle access{H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
  H5Pset_file_locking(access.id(), true, true);
  return access;
}

std::string system_reason(int code) { return code == ENOSPC ? "the disk is full" : std::strerror(code); }

/// Brings a new name in a folder to the disk.
void sync_folder(const std::string& folder) {
  const std::string name = folder.empty() ? "." : folder;
  const int file = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool done = file >= 0 && ::fsync(file) == 0;
  const int code = errno;
  if (file >= 0) ::close(file);
  if (!done) throw Error(name + ": bringing to the disk: " + system_reason(code));
}

}  // namespace

struct Output {
  explicit Output(int file) : descriptor(file) {}
  ~Output() { ::close(descriptor); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// The file is useless from here on: what it holds makes room for what the library still writes.
  void fail(int code) {
    if (error == 0) static_cast<void>(::ftruncate(descriptor, 0));
    if (error == 0) error = code;
  }

  int descriptor;
  int error = 0;  ///< errno; 0: none
};

namespace {

// A file driver for the library that writes to an Output and reports every write as done. The library
// leaks a file that it fails to close, and crashes on it at the end of the program; so it must not fail,
// and whoever writes asks the Output.

struct OutputFile {
  H5FD_t library;  // first: the library casts between the two
  Output* output;
  haddr_t allocated;
  haddr_t end;
};

OutputFile* output_file(H5FD_t* file) { return reinterpret_cast<OutputFile*>(file); }
const OutputFile* output_file(const H5FD_t* file) { return reinterpret_cast<const OutputFile*>(file); }

H5FD_t* open_output(const char*, unsigned, hid_t access, haddr_t) {
  auto* file = new OutputFile{};
  file->output = *static_cast<Output* const*>(H5Pget_driver_info(access));
  return &file->library;
}

herr_t close_output(H5FD_t* file) {
  delete output_file(file);
  return 0;
}

/// The same hints as the library's own driver for files: small pieces are gathered before they are written.
herr_t query_output(const H5FD_t*, unsigned long* flags) {
  if (flags != nullptr)
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

haddr_t allocated_output(const H5FD_t* file, H5FD_mem_t) { return output_file(file)->allocated; }

herr_t allocate_output(H5FD_t* file, H5FD_mem_t, haddr_t size) {
  output_file(file)->allocated = size;
  return 0;
}

haddr_t end_of_output(const H5FD_t* file, H5FD_mem_t) { return output_file(file)->end; }

/// What was never written reads as zeros.
herr_t read_output(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t size, void* buffer) {
  auto* bytes = static_cast<char*>(buffer);
  while (size > 0) {
    const ssize_t n =
        ::pread(output_file(file)->output->descriptor, bytes, size, static_cast<off_t>(address));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) output_file(file)->output->fail(errno);
    if (n <= 0) break;
    bytes += n;
    address += static_cast<haddr_t>(n);
    size -= static_cast<size_t>(n);
  }
  std::memset(bytes, 0, size);
  return 0;
}

herr_t write_output(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t address, size_t size, const void* buffer) {
  Output& output = *output_file(file)->output;
  output_file(file)->end = std::max(output_file(file)->end, address + size);
  const auto* bytes = static_cast<const char*>(buffer);
  while (size > 0) {
    const ssize_t n = ::pwrite(output.descriptor, bytes, size, static_cast<off_t>(address));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      output.fail(n < 0 ? errno : ENOSPC);
      break;
    }
    bytes += n;
    address += static_cast<haddr_t>(n);
    size -= static_cast<size_t>(n);
  }
  return 0;
}

herr_t truncate_output(H5FD_t* file, hid_t, hbool_t) {
  OutputFile& opened = *output_file(file);
  if (::ftruncate(opened.output->descriptor, static_cast<off_t>(opened.allocated)) != 0)
    opened.output->fail(errno);
  opened.end = opened.allocated;
  return 0;
}

hid_t output_driver() {
  static const H5FD_class_t driver = [] {
    H5FD_class_t made{};
    made.name = "graze_output";
    made.maxaddr = static_cast<haddr_t>(std::numeric_limits<off_t>::max());
    made.fc_degree = H5F_CLOSE_WEAK;
    made.fapl_size = sizeof(void*);  // an Output*
    made.open = open_output;
    made.close = close_output;
    made.query = query_output;
    made.get_eoa = allocated_output;
    made.set_eoa = allocate_output;
    made.get_eof = end_of_output;
    made.read = read_output;
    made.write = write_output;
    made.truncate = truncate_output;
    constexpr H5FD_mem_t kinds[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(kinds), std::end(kinds), std::begin(made.fl_map));
    return made;
  }();
  static const hid_t id = H5FDregister(&driver);
  return id;
}

Handle make_write_access(Output& output) {
  Handle access{H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
  Output* pointer = &output;
  H5Pset_driver(access.id(), output_driver(), &pointer);
  return access;
}

}  // namespace

Handle& Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    reset();
    id_ = std::exchange(other.id_, -1);
    close_ = other.close_;
  }
  return *this;
}

void Handle::reset() {
  if (id_ < 0) return;
  const Guard guard;
  close_(std::exchange(id_, -1));
}

File File::open(const std::string& path) {
  const CallGuard guard(path, Access::read);
  H5PLset_loading_state(0);  // no foreign code as a filter
  const Handle access = make_read_access();
  return {path, Handle{check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), path, "opening"), H5Fclose},
          nullptr};
}

File File::create(const std::string& path) {
  const CallGuard guard(path, Access::write);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0) throw Error(path + ": creating: " + system_reason(errno));
  auto output = std::make_shared<Output>(descriptor);
  const Handle access = make_write_access(*output);
  const Handle properties = make_properties(H5P_FILE_CREATE, [](hid_t p, unsigned order) {
    H5Pset_link_creation_order(p, order);
    H5Pset_attr_creation_order(p, order);
  });
  // Truncating is the driver's business, and the file is new.
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, properties.id(), access.id());
  if (file < 0) ::unlink(path.c_str());
  return {path, Handle{check(file, path, "creating"), H5Fclose}, std::move(output)};
}

File::~File() {
  const CallGuard guard(path_, access());
  open_arrays_.clear();
  file_.reset();
}

void File::close() {
  for (const auto& [name, array] : chunked_)
    if (!array.chunks.is_empty()) throw std::logic_error(path_ + ": array " + name + " is not written whole");
  {
    const CallGuard guard(path_, access());
    open_arrays_.clear();
    file_.reset();
  }
  if (output_ == nullptr) return;
  check_output();
  if (::fsync(output_->descriptor) != 0) output_->fail(errno);
  check_output();
}

void File::check_memory(double needed, const std::string& doing) const {
  if (needed > physical_memory())
    throw Error(path_ + ": " + doing + ": it would take " + Value(needed).toml() + " bytes");
}

void File::check_output() const {
  if (output_ != nullptr && output_->error != 0)
    throw Error(path_ + ": writing: " + system_reason(output_->error));
}

namespace {

bool is_hard_link(hid_t file, const std::string& name) {
  H5L_info_t link{};
  return H5Lget_info(file, name.c_str(), &link, H5P_DEFAULT) >= 0 && link.type == H5L_TYPE_HARD;
}

}  // namespace

Handle::Id File::object(const std::string& array) const {
  if (array.empty()) return file_.id();
  const auto found = open_arrays_.find(array);
  if (found != open_arrays_.end()) return found->second.id();
  if (!is_hard_link(file_.id(), array)) throw Error(path_ + ": opening array " + array + ": there is none");
  const hid_t id = check(H5Dopen2(file_.id(), array.c_str(), H5P_DEFAULT), path_, "opening array " + array);
  return open_arrays_.emplace(array, Handle{id, H5Dclose}).first->second.id();
}

bool File::has_attribute(const std::string& array, const std::string& name) const {
  const CallGuard guard(path_, access());
  return H5Aexists(object(array), name.c_str()) > 0;
}

std::vector<std::pair<std::string, std::string>> File::attributes(const std::string& array) const {
  const CallGuard guard(path_, access());
  std::vector<std::string> names;
  const hid_t id = object(array);
  // Files of others may not have tracked the order.
  if (H5Aiterate2(id, H5_INDEX_CRT_ORDER, H5_ITER_INC, nullptr, collect_attribute, &names) < 0)
    check(H5Aiterate2(id, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_attribute, &names), path_,
          "listing attributes");
  std::vector<std::pair<std::string, std::string>> result;
  for (const std::string& name : names) {
    const Handle attribute{check(H5Aopen(id, name.c_str(), H5P_DEFAULT), path_, "opening attribute " + name),
                           H5Aclose};
    const Handle type{H5Aget_type(attribute.id()), H5Tclose};
    switch (H5Tget_class(type.id())) {
      case H5T_STRING:
        result.emplace_back(name, text_value(attribute.id(), type.id()));
        break;
      case H5T_INTEGER:
        result.emplace_back(name, joined(number_values<std::int64_t>(attribute.id())));
        break;
      case H5T_FLOAT:
        result.emplace_back(name, joined(number_values<double>(attribute.id())));
        break;
      default:
        break;  // references between arrays and dimensions
    }
  }
  return result;
}

std::string File::text(const std::string& array, const std::string& name) const {
  const CallGuard guard(path_, access());
  return text_attribute(object(array), name, path_);
}

std::vector<std::int64_t> File::integers(const std::string& array, const std::string& name) const {
  const CallGuard guard(path_, access());
  if (!has_attribute(array, name)) return {};
  const Handle attribute{
      check(H5Aopen(object(array), name.c_str(), H5P_DEFAULT), path_, "opening attribute " + name), H5Aclose};
  const Handle type{H5Aget_type(attribute.id()), H5Tclose};
  return H5Tget_class(type.id()) == H5T_INTEGER ? number_values<std::int64_t>(attribute.id())
                                                : std::vector<std::int64_t>{};
}

void File::set_text(const std::string& array, const std::string& name, const std::string& text) {
  const CallGuard guard(path_, access());
  const Handle type = make_text_type();
  const Handle space = make_space({}, path_);
  const std::string doing = "writing attribute " + name;
  const Handle attribute{
      check(H5Acreate2(object(array), name.c_str(), type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT), path_,
            doing),
      H5Aclose};
  const char* pointer = text.c_str();
  check(H5Awrite(attribute.id(), type.id(), static_cast<const void*>(&pointer)), path_, doing);
}

void File::set_numbers(const std::string& array, const std::string& name, const Array::Values& values) {
  const CallGuard guard(path_, access());
  const Handle space = make_space({size_of(values)}, path_);
  const Types types = types_of(values);
  const std::string doing = "writing attribute " + name;
  const Handle attribute{
      check(H5Acreate2(object(array), name.c_str(), types.file, space.id(), H5P_DEFAULT, H5P_DEFAULT), path_,
            doing),
      H5Aclose};
  check(H5Awrite(attribute.id(), types.memory, data_of(values)), path_, doing);
}

void File::create_array(const std::string& name, const Extents& extents, const Array::Values& like,
                        const Storage& storage) {
  const CallGuard guard(path_, access());
  const std::string doing = "creating array " + name;
  const Types types = types_of(like);
  const Handle space = make_space(extents, path_);
  const Handle properties = make_properties(H5P_DATASET_CREATE, H5Pset_attr_creation_order);
  const hid_t p = properties.id();
  const Array::Values fill = missing_values(like, 1);
  check(H5Pset_fill_value(p, types.memory, data_of(fill)), path_, doing);
  if (!storage.chunk.empty()) {
    const std::vector<hsize_t> chunk = library_sizes(storage.chunk);
    check(H5Pset_chunk(p, static_cast<int>(chunk.size()), chunk.data()), path_, doing);
    if (storage.compress) {
      check(H5Pset_shuffle(p), path_, doing);
      check(H5Pset_deflate(p, deflate_level), path_, doing);
    }
    check(H5Pset_fletcher32(p), path_, doing);
    const auto* bytes = static_cast<const std::uint8_t*>(data_of(fill));
    ChunkAssembly chunks(extents, storage.chunk, {bytes, bytes + H5Tget_size(types.memory)});
    chunked_.insert_or_assign(name, Chunked{std::move(chunks), storage.compress, storage.threads});
  }
  for (const Source& source : storage.sources) {
    const Handle target = make_space(extents, path_);
    select(target, source.box, path_);
    const Handle values = make_space({source.size}, path_);
    select(values, {{source.begin}, {source.box.points()}}, path_);
    check(H5Pset_virtual(p, target.id(), source.file.c_str(), source.array.c_str(), values.id()), path_,
          doing);
  }
  const hid_t id = H5Dcreate2(file_.id(), name.c_str(), types.file, space.id(), H5P_DEFAULT, p, H5P_DEFAULT);
  open_arrays_.insert_or_assign(name, Handle{check(id, path_, doing), H5Dclose});
}

void File::write(const std::string& name, const Box& box, const Array::Values& values) {
  const CallGuard guard(path_, access());
  const std::string doing = "writing array " + name;
  if (size_of(values) != box.points())
    throw Error(path_ + ": " + doing + ": " + std::to_string(size_of(values)) + " values for " +
                std::to_string(box.points()) + " places");
  if (size_of(values) == 0) return;
  if (const auto found = chunked_.find(name); found != chunked_.end())
    return write_chunked(name, found->second, box, values);
  const Handle in_file{check(H5Dget_space(object(name)), path_, doing), H5Sclose};
  select(in_file, box, path_);
  const Handle in_memory = make_space(box.count, path_);
  check(H5Dwrite(object(name), types_of(values).memory, in_memory.id(), in_file.id(), H5P_DEFAULT,
                 data_of(values)),
        path_, doing);
  check_output();
}

/// Some chunks at a time, so that few are in memory at once.
void File::write_chunked(const std::string& name, Chunked& array, const Box& box,
                         const Array::Values& values) {
  constexpr std::size_t chunks_per_thread = 4;
  const std::size_t at_once = chunks_per_thread * static_cast<std::size_t>(array.threads);
  std::vector<ChunkAssembly::Chunk> whole;
  array.chunks.add(box, static_cast<const std::uint8_t*>(data_of(values)), [&](ChunkAssembly::Chunk chunk) {
    whole.push_back(std::move(chunk));
    if (whole.size() < at_once) return;
    write_chunks(name, array, whole);
    whole.clear();
  });
  write_chunks(name, array, whole);
  check_output();
}

/// The library's own filters give the same chunks after a longer time.
void File::write_chunks(const std::string& name, const Chunked& array,
                        const std::vector<ChunkAssembly::Chunk>& chunks) {
  constexpr unsigned without_deflate = 1U << 1U;  // the second filter of three
  const std::size_t size = array.chunks.element_size();
  const std::vector<StoredChunk> stored = filtered(chunks, size, array.compress, array.threads);
  for (std::size_t k = 0; k < stored.size(); ++k) {
    const std::vector<hsize_t> offset = library_sizes(chunks[k].offset);
    check(
        H5Dwrite_chunk(object(name), H5P_DEFAULT, array.compress && !stored[k].deflated ? without_deflate : 0,
                       offset.data(), stored[k].bytes.size(), stored[k].bytes.data()),
        path_, "writing array " + name);
  }
}

double File::bytes(const std::string& name) const { return bytes(name, extents(name)); }

double File::bytes(const std::string& name, const Extents& part) const {
  const CallGuard guard(path_, access());
  const Handle type{check(H5Dget_type(object(name)), path_, "reading the type of " + name), H5Tclose};
  return std::accumulate(part.begin(), part.end(), static_cast<double>(H5Tget_size(type.id())),
                         [](double all, std::size_t size) { return all * static_cast<double>(size); });
}

std::size_t File::rows_within(const std::string& name, double bytes) const {
  const CallGuard guard(path_, access());
  const std::string doing = "asking how array " + name + " is stored";
  const Extents shape = extents(name);
  if (shape.empty()) return 1;
  const std::size_t rows = std::max<std::size_t>(shape.front(), 1);
  const double row = this->bytes(name) / static_cast<double>(rows);
  if (row == 0) return rows;
  const Handle properties{check(H5Dget_create_plist(object(name)), path_, doing), H5Pclose};
  std::vector<hsize_t> chunk(shape.size(), 1);
  if (H5Pget_layout(properties.id()) == H5D_CHUNKED)
    check(H5Pget_chunk(properties.id(), static_cast<int>(chunk.size()), chunk.data()), path_, doing);
  const double chunks =
      std::clamp(bytes / (row * static_cast<double>(chunk.front())), 1.0, static_cast<double>(rows));
  return static_cast<std::size_t>(chunk.front()) * static_cast<std::size_t>(chunks);
}

Array::Values File::read(const std::string& name, Checksums checksums) const {
  const Extents shape = extents(name);
  return read(name, {Extents(shape.size(), 0), shape}, checksums);
}

Array::Values File::read(const std::string& name, const Box& box, Checksums checksums) const {
  const double needed = bytes(name, box.count);
  const CallGuard guard(path_, access(), needed);
  const std::string doing = "reading array " + name;
  const hid_t id = object(name);
  const Handle type{check(H5Dget_type(id), path_, doing), H5Tclose};
  const std::size_t size = H5Tget_size(type.id());
  Array::Values values;
  if (H5Tget_class(type.id()) == H5T_FLOAT && size == sizeof(double))
    values = std::vector<double>();
  else if (H5Tget_class(type.id()) == H5T_INTEGER && size == sizeof(std::int8_t))
    values = std::vector<std::int8_t>();
  else if (H5Tget_class(type.id()) == H5T_INTEGER && size == sizeof(std::int32_t))
    values = std::vector<std::int32_t>();
  else if (H5Tget_class(type.id()) == H5T_INTEGER && size == sizeof(std::int64_t))
    values = std::vector<std::int64_t>();
  else
    throw Error(path_ + ": " + doing + ": it holds neither float64 nor int8, int32 or int64");
  check_memory(needed, doing);
  const Handle properties{check(H5Dget_create_plist(id), path_, doing), H5Pclose};
  if (H5Pget_external_count(properties.id()) > 0)
    throw Error(path_ + ": " + doing + ": its values lie in another file");
  const std::size_t n = box.points();
  std::visit([n](auto& v) { v.resize(n); }, values);
  const Handle in_file{check(H5Dget_space(id), path_, doing), H5Sclose};
  select(in_file, box, path_);
  const Handle in_memory = make_space(box.count, path_);
  const Handle transfer{H5Pcreate(H5P_DATASET_XFER), H5Pclose};
  if (checksums == Checksums::passed_over) H5Pset_edc_check(transfer.id(), H5Z_DISABLE_EDC);
  if (n > 0)
    check(H5Dread(id, types_of(values).memory, in_memory.id(), in_file.id(), transfer.id(), data_of(values)),
          path_, doing);
  return values;
}

std::vector<std::pair<std::string, std::string>> File::sources(const std::string& array) const {
  const CallGuard guard(path_, access());
  const std::string doing = "listing the sources of " + array;
  const Handle properties{check(H5Dget_create_plist(object(array)), path_, doing), H5Pclose};
  const auto text = [&](auto get, std::size_t k) {
    const ssize_t length = check(get(properties.id(), k, nullptr, 0), path_, doing);
    std::string result(static_cast<std::size_t>(length) + 1, '\0');
    check(get(properties.id(), k, result.data(), result.size()), path_, doing);
    result.pop_back();
    return result;
  };
  std::vector<std::pair<std::string, std::string>> result;
  std::size_t count = 0;
  if (H5Pget_layout(properties.id()) == H5D_VIRTUAL)
    check(H5Pget_virtual_count(properties.id(), &count), path_, doing);
  for (std::size_t k = 0; k < count; ++k)
    result.emplace_back(text(H5Pget_virtual_filename, k), text(H5Pget_virtual_dsetname, k));
  return result;
}

bool File::has_own_values(const std::string& array) const {
  const CallGuard guard(path_, access());
  const Handle properties{
      check(H5Dget_create_plist(object(array)), path_, "asking where the values of " + array + " lie"),
      H5Pclose};
  return H5Pget_layout(properties.id()) != H5D_VIRTUAL && H5Pget_external_count(properties.id()) <= 0;
}

Extents File::extents(const std::string& name) const {
  const CallGuard guard(path_, access());
  const Handle space{check(H5Dget_space(object(name)), path_, "reading the shape of " + name), H5Sclose};
  return extents_of(space.id());
}

namespace {

/// The name of one link of a group; "" when it cannot be read.
std::string member(hid_t group, H5_index_t order, hsize_t index) {
  const ssize_t length = H5Lget_name_by_idx(group, ".", order, H5_ITER_INC, index, nullptr, 0, H5P_DEFAULT);
  if (length <= 0) return {};
  std::string name(static_cast<std::size_t>(length) + 1, '\0');
  H5Lget_name_by_idx(group, ".", order, H5_ITER_INC, index, name.data(), name.size(), H5P_DEFAULT);
  name.pop_back();
  return name;
}

/// Names of what is in a group, in the order of creation where that is known. One by one: where a list of all
/// cannot be read to its end, H5Literate (1.10.8) crashes.
std::vector<std::string> members(hid_t group, const std::string& path) {
  H5G_info_t info{};
  check(H5Gget_info(group, &info), path, "listing arrays");
  const bool ordered = info.nlinks > 0 && !member(group, H5_INDEX_CRT_ORDER, 0).empty();
  std::vector<std::string> names;
  for (hsize_t k = 0; k < info.nlinks; ++k) {
    names.push_back(member(group, ordered ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME, k));
    if (names.back().empty()) throw Error(path + ": listing arrays: " + reason());
  }
  return names;
}

bool is_a(H5I_type_t type, hid_t file, const std::string& name) {
  if (!is_hard_link(file, name)) return false;
  const Handle object{H5Oopen(file, name.c_str(), H5P_DEFAULT), H5Oclose};
  return object.id() >= 0 && H5Iget_type(object.id()) == type;
}

bool is_pure_dimension(hid_t array, const std::string& path) {
  return is_scale(array, path) && text_attribute(array, "NAME", path).starts_with(pure_dimension);
}

std::uint64_t address_of(hid_t object) {
  H5O_info_t info;
  return H5Oget_info2(object, &info, H5O_INFO_BASIC) >= 0 ? info.addr : HADDR_UNDEF;
}

/// The address of the first scale of each dimension of an array; HADDR_UNDEF for one without.
/// (H5DSiterate_scales takes the attribute for what it should be, whatever a stranger has made of it.)
std::vector<std::uint64_t> scales_of(hid_t array, std::size_t rank) {
  std::vector<std::uint64_t> addresses(rank, HADDR_UNDEF);
  if (rank == 0 || H5Aexists(array, "DIMENSION_LIST") <= 0) return addresses;
  const Handle attribute{H5Aopen(array, "DIMENSION_LIST", H5P_DEFAULT), H5Aclose};
  const Handle type{H5Aget_type(attribute.id()), H5Tclose};
  const Handle space{H5Aget_space(attribute.id()), H5Sclose};
  if (H5Tget_class(type.id()) != H5T_VLEN || extents_of(space.id()) != Extents{rank}) return addresses;
  const Handle element{H5Tget_super(type.id()), H5Tclose};
  if (H5Tequal(element.id(), H5T_STD_REF_OBJ) <= 0) return addresses;

  std::vector<hvl_t> lists(rank);
  if (H5Aread(attribute.id(), type.id(), lists.data()) < 0) return addresses;
  for (std::size_t d = 0; d < rank; ++d)
    if (lists[d].len > 0) addresses[d] = *static_cast<const hobj_ref_t*>(lists[d].p);
  H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, lists.data());
  return addresses;
}

}  // namespace

std::vector<std::string> File::arrays() const {
  const CallGuard guard(path_, access());
  std::vector<std::string> result;
  for (const std::string& name : members(file_.id(), path_))
    if (is_a(H5I_DATASET, file_.id(), name) && !is_pure_dimension(object(name), path_))
      result.push_back(name);
  return result;
}

File File::make_group(const std::string& name) {
  const CallGuard guard(path_, access());
  const Handle properties = make_properties(H5P_GROUP_CREATE, [](hid_t p, unsigned order) {
    H5Pset_link_creation_order(p, order);
    H5Pset_attr_creation_order(p, order);
  });
  const hid_t id = H5Gcreate2(file_.id(), name.c_str(), H5P_DEFAULT, properties.id(), H5P_DEFAULT);
  return {path_, Handle{check(id, path_, "creating group " + name), H5Gclose}, output_};
}

File File::group(const std::string& name) const {
  const CallGuard guard(path_, access());
  const hid_t id = H5Gopen2(file_.id(), name.c_str(), H5P_DEFAULT);
  return {path_, Handle{check(id, path_, "opening group " + name), H5Gclose}, output_};
}

std::vector<std::string> File::groups() const {
  const CallGuard guard(path_, access());
  std::vector<std::string> result;
  for (const std::string& name : members(file_.id(), path_))
    if (is_a(H5I_GROUP, file_.id(), name)) result.push_back(name);
  return result;
}

std::uint64_t File::address() const {
  const CallGuard guard(path_, access());
  return address_of(file_.id());
}

std::vector<Dimension> File::dimensions() const {
  const CallGuard guard(path_, access());
  std::vector<Dimension> result;
  for (const std::string& name : members(file_.id(), path_)) {
    if (!is_a(H5I_DATASET, file_.id(), name) || !is_scale(object(name), path_)) continue;
    const Extents size = extents(name);
    if (size.size() != 1) throw Error(path_ + ": dimension " + name + " has not one extent");
    result.push_back({name, size[0]});
  }
  return result;
}

void File::create_dimension(const Dimension& dimension) {
  const CallGuard guard(path_, access());
  const std::string doing = "creating dimension " + dimension.name;
  const Handle space = make_space({dimension.size}, path_);
  const Handle properties = make_properties(H5P_DATASET_CREATE, H5Pset_attr_creation_order);
  // netCDF's own form of a dimension without coordinates: a scale with this label and no values.
  const hid_t id = H5Dcreate2(file_.id(), dimension.name.c_str(), H5T_IEEE_F32BE, space.id(), H5P_DEFAULT,
                              properties.id(), H5P_DEFAULT);
  open_arrays_.insert_or_assign(dimension.name, Handle{check(id, path_, doing), H5Dclose});
  std::string size = std::to_string(dimension.size);
  size.insert(0, size.size() < 10 ? 10 - size.size() : 0, ' ');
  check(H5DSset_scale(id, (std::string(pure_dimension) + size).c_str()), path_, doing);
}

void File::make_coordinates(const std::string& array) {
  const CallGuard guard(path_, access());
  check(H5DSset_scale(object(array), array.c_str()), path_, "making coordinates of " + array);
}

void File::set_dimensions(const std::string& array, const std::vector<std::string>& dimensions) {
  const CallGuard guard(path_, access());
  for (std::size_t d = 0; d < dimensions.size(); ++d)
    check(H5DSattach_scale(object(array), object(dimensions[d]), static_cast<unsigned>(d)), path_,
          "attaching dimension " + dimensions[d] + " to " + array);
}

std::vector<std::string> File::dimensions_of(const std::string& array) const {
  const CallGuard guard(path_, access());
  const hid_t id = object(array);
  if (is_scale(id, path_)) return {array};
  if (scales_.empty()) {
    for (const std::string& name : members(file_.id(), path_))
      if (is_a(H5I_DATASET, file_.id(), name) && is_scale(object(name), path_))
        scales_.emplace(address_of(object(name)), name);
  }
  const Extents shape = extents(array);
  const std::vector<std::uint64_t> scales = scales_of(id, shape.size());
  std::vector<std::string> result;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto found = scales_.find(scales[d]);
    if (found == scales_.end() || extents(found->second) != Extents{shape[d]})
      throw Error(path_ + ": array " + array +
                  " has a dimension without a name, or with one of another size");
    result.push_back(found->second);
  }
  return result;
}

void watch_calls(Watch all) {
  const Guard guard;
  watch = all;
}

bool has_signature(const std::string& path) {
  std::array<char, 8> begin{};
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), begin.size());
  return file.gcount() == 8 && std::string_view(begin.data(), begin.size()) == "\x89HDF\r\n\x1a\n";
}

void replace_file(const std::string& path, const std::string& temporary,
                  const std::function<void(File&)>& fill) {
  {
    File file = File::create(temporary);
    try {
      fill(file);
      file.close();
      if (::rename(temporary.c_str(), path.c_str()) != 0)
        throw Error(path + ": renaming to this name: " + system_reason(errno));
    } catch (...) {
      ::unlink(temporary.c_str());
      throw;
    }
  }
  sync_folder(std::filesystem::path(path).parent_path().string());
}

}  // namespace graze::h5
