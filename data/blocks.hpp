/// The folder "F.blocks" of a result file F under construction: a lock and one file per finished block.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/results/dataset.hpp"
#include "core/results/shard.hpp"
#include "data/h5.hpp"

namespace graze {

/// What every block is checked against: the same for all blocks of one result.
struct BlockPlan {
  std::string identity;    ///< of the case
  Dataset layout;          ///< all dimensions; the arrays that are spread over the blocks
  std::vector<Box> boxes;  ///< in the leading dimensions of these arrays
};

/// How the arrays of a block lie in its file: those of one type one after the other in one flat array,
/// because every array of a file takes much time of its own. Numbers are per point of the block.
struct FlatPlan {
  static constexpr std::size_t types = std::variant_size_v<Array::Values>;

  std::vector<std::size_t> begin;          ///< of each array of the layout in the flat array of its type
  std::vector<std::size_t> size;           ///< of each array of the layout
  std::array<std::size_t, types> whole{};  ///< size of each flat array
};

class Blocks {
 public:
  /// Touches nothing on disk.
  Blocks(const std::string& result, BlockPlan plan);
  ~Blocks();
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  bool folder_exists() const;
  /// The identity that the first readable block in the folder was made for; nothing when there is none.
  std::optional<std::string> owner() const;

  /// Makes the folder and takes the lock of the whole or of one shard for the life of this object. Shards do
  /// not lock out each other, the whole and every shard do. Throws InputError when another process holds it
  /// or the folder cannot be made.
  void lock(Shard shard);
  /// Works for another process, which has the lock; `helper` tells those who do so apart.
  void assist(const std::string& helper);
  /// Looks which blocks of the locked shard are there. What a killed run of it has left over and whatever is
  /// damaged or belongs to another case or other boxes is removed. Needs the lock.
  void scan();
  /// Takes every file with the name of a block for that block.
  void look();
  /// Takes the blocks that are there for another result file of this case and that are missing here, without
  /// copying them. They must stay there for the life of this object. Returns how many.
  std::size_t adopt(const std::string& result);
  /// Removes all blocks, the lock and the folder. Needs the lock of the whole. Returns what could not be
  /// removed and why, "" when all could.
  std::string remove();
  /// Removes all blocks. Needs the lock of the whole, or takes it for the moment.
  void clear();

  bool has(std::size_t index) const;
  std::size_t missing() const;
  /// Stores a finished block. Needs the lock, or to assist.
  void put(std::size_t index, const Dataset& block);
  /// Reads a block: the spread arrays with its part of the values.
  Dataset read(std::size_t index) const;

  /// A name in the folder for a file under construction.
  std::string temporary(const std::string& name) const;
  /// Where the values of a block stand in the whole of a spread array.
  Box place(std::size_t index, const Array& array) const;
  /// The same for all blocks, for a virtual array.
  std::vector<h5::Source> sources(const Array& array) const;
  const BlockPlan& plan() const { return plan_; }

  /// Number of block files below `count` in the folder of a result file.
  static std::size_t count_files(const std::string& result, std::size_t count);
  /// Compares the digests of the block files below `count` in the folder of a result file with what they
  /// hold. Throws h5::Error for a damaged one.
  static void verify(const std::string& result, const std::string& identity, std::size_t count);
  /// Whether a name, relative to the folder of a result file, is that of one of its blocks, and whether
  /// blocks have an array of this name.
  static bool is_source(const std::string& result, const std::string& name, const std::string& array);

 private:
  void lock_range(int file, Shard shard) const;
  void check_lock() const;
  std::string remove_files() const;
  bool is_mine(const std::string& temporary) const;
  std::string file(std::size_t index) const;
  bool is_valid(std::size_t index, const std::string& file) const;
  h5::Extents block_extents(const Array& array, const Box& box) const;
  std::vector<Array> flattened(const Dataset& block, const Box& box) const;
  std::vector<Array> read_flat(const h5::File& block, const Box& box) const;

  std::string folder_;
  BlockPlan plan_;
  FlatPlan flat_;
  Shard shard_;
  std::string worker_;  ///< part of the names of temporary files, "" for the whole
  int lock_ = -1;
  mutable std::mutex mutex_;
  std::vector<std::string> files_;  ///< of the blocks that are there, "" for the others
};

}  // namespace graze
