/// Result files: one HDF5 file, or while a run is under way a master of virtual datasets over block files.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/results/dataset.hpp"
#include "core/results/reduction.hpp"
#include "core/results/shard.hpp"
#include "core/results/sink.hpp"

namespace graze {

/// Text attributes of the root: case_toml, overrides, command_line, seed, … The keys filetype,
/// format_version, graze_version, git_sha1, created, hostname and compiler are added by the archive.
using Attributes = std::vector<std::pair<std::string, std::string>>;

/// The text of an attribute, "" when there is none.
std::string attribute(const Attributes& attributes, std::string_view name);

/// How a result file on disk relates to a case.
enum class ResultState {
  absent,      ///< nothing there
  incomplete,  ///< of this case, blocks are missing or not joined yet: prepare() and go on
  complete,    ///< of this case, in one file
  foreign      ///< of another case, or no result file at all
};

/// A result under construction. Block k of file F lives in the folder "F.blocks".
class Archive : public Sink {
 public:
  /// `identity` names the case (equal identities, equal arrays); it is stored and compared on resume.
  /// Opens nothing for writing until prepare(). The layout has the point dimensions leading in every
  /// array that `boxes` spread; arrays without them (coordinates) carry their values in the layout.
  Archive(std::string path, Dataset layout, std::vector<std::string> point_dimensions, std::vector<Box> boxes,
          Attributes attributes, std::string identity);
  ~Archive() override;

  /// What is on disk now.
  ResultState state() const;
  /// Makes the block folder and the master file; with `overwrite` a foreign result is removed first, else
  /// throws InputError. Takes the lock of the result, or of one shard of it (throws InputError when another
  /// process holds it).
  void prepare(bool overwrite, Shard shard = {});
  /// In place of prepare() in the helpers of a process that has prepared; `helper` tells them apart.
  void assist(const std::string& helper);
  /// Looks again which blocks are there, where others have put some.
  void look();
  /// Takes blocks of another unfinished result of the same case for those that are missing here, without
  /// copying them; before prepare(). Returns how many.
  std::size_t adopt(const std::string& result);
  /// Number of blocks that are not there, as far as this process has looked.
  std::size_t missing() const;
  bool has(std::size_t index) const override;
  void put(std::size_t index, const Dataset& block) override;
  /// Joins all blocks, with what `digest` says of them (nullptr: nothing), into one compressed file, renames
  /// it over the master, removes the block folder; adopted blocks stay where they are. Needs every block, and
  /// prepare() of the whole. Compresses with so many threads. Returns what of the folder could not be removed
  /// and why, "" when all could.
  std::string consolidate(Digest* digest = nullptr, int threads = 1);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Writes a whole result at once (temporary name, then rename). Throws InputError when a file stands there
/// that is not of the same identity and `overwrite` is false; std::runtime_error when it can't be stored.
void write_result(const std::string& path, const Dataset& data, const Attributes& attributes,
                  const std::string& identity, bool overwrite);

/// State of a one-block result file.
ResultState result_state(const std::string& path, const std::string& identity);

struct Result {
  Dataset data;           ///< dimensions, arrays, groups; array attributes
  Attributes attributes;  ///< root attributes; numbers as text
  bool complete = true;   ///< false: a master whose blocks are not all there (missing values stand for them)
};

/// What the root of a result file says.
struct RootAttributes {
  Attributes attributes;   ///< the caller's of Archive, and the archive's own; numbers as text
  std::size_t blocks = 0;  ///< of an unfinished result, 0: in one file
};

/// Compares the digest of a result file (of an unfinished one: of each of its blocks) with all that it holds
/// and returns a sentence on what has been compared. Throws InputError when they differ, when a file cannot
/// be read to its end, or when it was written without a digest (format version 1).
std::string verify_result(const std::string& path);

/// The same for a finished result of any version; one without a digest is taken as it is.
void check_undamaged(const std::string& path);

/// Reads the root of a result file. Throws like read_result().
RootAttributes read_attributes(const std::string& path);

/// Reads a result file, complete or not. `arrays`: those of these that there are, and the coordinates (empty:
/// all, and the groups). What a file of an older format version has in another way is brought into the form
/// of this one. Throws InputError naming the file when it is missing, truncated, not an HDF5 file or not a
/// graze result.
Result read_result(const std::string& path, const std::vector<std::string>& arrays = {});

}  // namespace graze
