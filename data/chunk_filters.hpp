/// The filters of stored chunks, as readers of HDF5 undo them: shuffle, deflate, Fletcher-32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/chunk_assembly.hpp"

namespace graze {

/// The bytes of a chunk as they stand in a file.
struct StoredChunk {
  std::vector<std::uint8_t> bytes;
  bool deflated = true;  ///< unless that would make them more
};

/// The values of chunks through Fletcher's filter or all of them, by so many threads. Throws std::bad_alloc.
std::vector<StoredChunk> filtered(std::span<const ChunkAssembly::Chunk> chunks, std::size_t element_size,
                                  bool compress, int threads);

}  // namespace graze
