/// The folder "F.blocks" of a result file F under construction: a lock and one file per finished block.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/dataset.hpp"
#include "data/h5.hpp"

namespace graze {

/// What every block is checked against: the same for all blocks of one result.
struct BlockPlan {
  std::string identity;    ///< of the case
  Dataset layout;          ///< all dimensions; the arrays that are spread over the blocks
  std::vector<Box> boxes;  ///< in the leading dimensions of these arrays
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

  /// Makes the folder and takes its lock for the life of this object. Throws InputError when another
  /// process holds it or the folder cannot be made.
  void lock();
  /// Looks which blocks are there. Left-overs of a killed run and whatever is damaged or belongs to
  /// another case or other boxes is removed. Needs the lock.
  void scan();
  /// Removes all blocks, the lock and the folder. Needs the lock.
  void remove();
  /// Removes all blocks. Needs the lock.
  void clear();

  bool has(std::size_t index) const;
  /// Stores a finished block. Needs the lock.
  void put(std::size_t index, const Dataset& block);
  /// The file of a block, for reading.
  h5::File open(std::size_t index) const;

  /// A name in the folder for a file under construction.
  std::string temporary(const std::string& name) const;
  /// Where the values of a block stand in the whole of a spread array.
  Box place(std::size_t index, const Array& array) const;
  /// The same for all blocks, for a virtual array.
  std::vector<h5::Source> sources(const Array& array) const;
  const BlockPlan& plan() const { return plan_; }

  /// Number of block files below `count` in the folder of a result file.
  static std::size_t count_files(const std::string& result, std::size_t count);

 private:
  std::string file(std::size_t index) const;
  bool is_valid(std::size_t index) const;
  h5::Extents block_extents(const Array& array, const Box& box) const;

  std::string folder_;
  BlockPlan plan_;
  int lock_ = -1;
  mutable std::mutex mutex_;
  std::vector<bool> present_;
};

}  // namespace graze
