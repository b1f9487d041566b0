/// An array that comes in boxes, put together chunk by chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "core/results/dataset.hpp"

namespace graze {

class ChunkAssembly {
 public:
  struct Chunk {
    std::vector<std::size_t> offset;        ///< of its first element in the array
    std::unique_ptr<std::uint8_t[]> bytes;  ///< of all its elements, row-major
    std::size_t size;                       ///< so many bytes
    std::size_t missing;                    ///< elements within the array that have not come yet
    std::span<const std::uint8_t> values() const { return {bytes.get(), size}; }
  };

  /// @param extents of the array
  /// @param chunk   of a chunk, none zero
  /// @param fill    bytes of the element that stands beyond the array
  ChunkAssembly(std::vector<std::size_t> extents, std::vector<std::size_t> chunk,
                std::vector<std::uint8_t> fill);

  /// Takes the bytes of a box, row-major, none of whose elements has come before, and hands over each chunk
  /// that is whole with it.
  void add(const Box& box, const std::uint8_t* values, const std::function<void(Chunk)>& whole);
  /// Whether no chunk waits for the rest of its elements.
  bool is_empty() const { return begun_.empty(); }
  std::size_t element_size() const { return fill_.size(); }

 private:
  /// The part of the array that is both in this box and in a chunk.
  Box shared(const Box& box, const std::vector<std::size_t>& offset) const;
  Chunk begin(std::vector<std::size_t> offset) const;
  void copy(const Box& part, const Box& box, const std::uint8_t* values, Chunk& chunk) const;

  std::vector<std::size_t> extents_, chunk_;
  std::vector<std::uint8_t> fill_;
  std::map<std::vector<std::size_t>, Chunk> begun_;  ///< by their offsets
};

}  // namespace graze
