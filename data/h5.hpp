/// HDF5 behind a small class. The only file (with its source) that knows the HDF5 library: calls are
/// serialised by one lock, errors become exceptions and are not printed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/results/dataset.hpp"
#include "data/chunk_assembly.hpp"

namespace graze::h5 {

/// A failed operation. what() reads "file: what was tried: why it failed".
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An object of the library, closed at the end of its life.
class Handle {
 public:
  using Id = std::int64_t;
  using Close = int (*)(Id);

  Handle() = default;
  Handle(Id id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept;
  ~Handle() { reset(); }

  Id id() const { return id_; }
  /// Closes now; errors are dropped.
  void reset();

 private:
  Id id_ = -1;
  Close close_ = nullptr;
};

/// Where a new file is written to, and the first error there.
struct Output;

using Extents = std::vector<std::size_t>;

/// Part of a virtual array: where in it values of a flat array in another file stand.
struct Source {
  std::string file;  ///< relative to the folder of the file with the virtual array
  std::string array;
  std::size_t size;   ///< of that array
  std::size_t begin;  ///< the first of the values in it
  Box box;
};

/// How an array is stored.
struct Storage {
  Extents chunk;          ///< with a Fletcher checksum per chunk; empty: in one piece without checksum
  bool compress = false;  ///< chunks are shuffled and deflated as well
  int threads = 1;        ///< that do this
  std::vector<Source> sources{};  ///< not empty: nothing is stored, the values are those of other files
};

/// What a file is open for.
enum class Access { read, write };

/// What is done with the checksums of chunks that are read.
enum class Checksums { compared, passed_over };

/// Files may be untrusted: nothing is loaded to decode them, links and values in other files (but for
/// the sources of virtual arrays, which the caller is to look at) are errors, and so are more values than
/// would fit into memory together, dimensions that are not those of the same group, and groups within
/// themselves.
///
/// An open file: text and number attributes on the root and on arrays; arrays with netCDF-4 dimensions.
/// An array name "" means the root. Every function throws Error when it fails.
class File {
 public:
  /// For reading.
  static File open(const std::string& path);
  /// A new file, open for writing; an error when the path exists. The library never learns that a disk
  /// is full, because it cannot let go of a file that it cannot write: the first call after that throws.
  static File create(const std::string& path);

  File(File&&) noexcept = default;
  File& operator=(File&&) = delete;
  ~File();

  /// Writes everything out, brings a new file to the disk and closes.
  void close();

  /// A new group; what is asked of the result is asked of the group. Must not outlive this file.
  File make_group(const std::string& name);
  /// An existing group.
  File group(const std::string& name) const;
  /// Names of the groups in the order in which they were made.
  std::vector<std::string> groups() const;
  /// Tells this group from all others of the file; a stranger may have put one into itself.
  std::uint64_t address() const;

  const std::string& path() const { return path_; }

  bool has_attribute(const std::string& array, const std::string& name) const;
  /// All attributes of an array or the root, numbers as text (several ones separated by spaces).
  std::vector<std::pair<std::string, std::string>> attributes(const std::string& array) const;
  /// A text attribute; "" when there is none.
  std::string text(const std::string& array, const std::string& name) const;
  /// A numeric attribute of type int64; empty when there is none.
  std::vector<std::int64_t> integers(const std::string& array, const std::string& name) const;
  /// Variable-length UTF-8.
  void set_text(const std::string& array, const std::string& name, const std::string& text);
  void set_numbers(const std::string& array, const std::string& name, const Array::Values& values);

  /// An array of the type of `like`, filled with missing values.
  void create_array(const std::string& name, const Extents& extents, const Array::Values& like,
                    const Storage& storage);
  /// Writes a box of an array. An array of chunks is written whole, no element twice; a chunk is in the file
  /// when all of it has come.
  void write(const std::string& name, const Box& box, const Array::Values& values);
  /// Bytes that the whole array takes in memory.
  double bytes(const std::string& name) const;
  /// An Error when so much, which is read at once, does not fit into memory.
  void check_memory(double needed, const std::string& doing) const;
  /// The whole array. An Error when its type is none of Array::Values. Checksums of chunks need not be
  /// compared where a digest will be.
  Array::Values read(const std::string& name, Checksums checksums = Checksums::compared) const;
  /// A box of it.
  Array::Values read(const std::string& name, const Box& box,
                     Checksums checksums = Checksums::compared) const;
  /// Rows of an array in its first dimension that take about so many bytes: whole chunks, at least one.
  std::size_t rows_within(const std::string& name, double bytes) const;
  Extents extents(const std::string& name) const;
  /// The files, as they are named in this one, that hold the values of a virtual array, and the arrays in
  /// them; empty for any other.
  std::vector<std::pair<std::string, std::string>> sources(const std::string& array) const;
  /// Whether the values of an array lie in this file.
  bool has_own_values(const std::string& array) const;
  /// Names of all arrays in the order in which they were made, pure dimensions left out.
  std::vector<std::string> arrays() const;

  /// Names and sizes of the dimensions of the file in the order in which they were made.
  std::vector<Dimension> dimensions() const;
  /// A dimension without coordinates.
  void create_dimension(const Dimension& dimension);
  /// Makes a one-dimensional array the coordinates of the dimension of its name.
  void make_coordinates(const std::string& array);
  /// Names the dimensions of an array, outermost first.
  void set_dimensions(const std::string& array, const std::vector<std::string>& dimensions);
  /// Names of the dimensions of an array. An Error when one has none.
  std::vector<std::string> dimensions_of(const std::string& array) const;

 private:
  File(std::string path, Handle file, std::shared_ptr<Output> output)
      : path_(std::move(path)), output_(std::move(output)), file_(std::move(file)) {}

  /// An array of chunks under construction.
  struct Chunked {
    ChunkAssembly chunks;
    bool compress;
    int threads;
  };

  Handle::Id object(const std::string& array) const;
  /// Bytes that a part of this shape takes, too many to count included.
  double bytes(const std::string& array, const Extents& part) const;
  void write_chunked(const std::string& name, Chunked& array, const Box& box, const Array::Values& values);
  void write_chunks(const std::string& name, const Chunked& array,
                    const std::vector<ChunkAssembly::Chunk>& chunks);
  void check_output() const;
  Access access() const { return output_ == nullptr ? Access::read : Access::write; }

  std::string path_;
  std::shared_ptr<Output> output_;  // where a new file is written to; none for reading
  Handle file_;
  std::map<std::string, Chunked> chunked_;
  mutable std::map<std::string, Handle> open_arrays_;    // closed before the file
  mutable std::map<std::uint64_t, std::string> scales_;  // dimensions of this group by their addresses
};

/// Called before and after the library works on a file: its name, whether it is read or written, and the
/// bytes that are read at once. Only one thread is in the library at a time.
struct Watch {
  void (*begin)(const std::string& path, Access access, double bytes) = nullptr;
  void (*end)() = nullptr;
};

/// The library (1.10.8) may crash on damaged files, never return, or crash and exit where it gets no memory.
/// A program can watch it.
void watch_calls(Watch all);

/// Whether a file begins as HDF5 files do.
bool has_signature(const std::string& path);

/// Writes the file `path` so that it is at any instant absent, the old one or the new one: `fill` writes it
/// as `temporary` (in the same file system, must not exist), which is then renamed. When anything fails,
/// the temporary file is removed and the exception goes on.
void replace_file(const std::string& path, const std::string& temporary,
                  const std::function<void(File&)>& fill);

}  // namespace graze::h5
