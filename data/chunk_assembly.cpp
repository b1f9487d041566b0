#include "data/chunk_assembly.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace graze {
namespace {

/// Goes on to the next place of a box, row-major, in steps of these sizes; false: there is none.
bool advance(std::vector<std::size_t>& place, const std::vector<std::size_t>& begin,
             const std::vector<std::size_t>& end, const std::vector<std::size_t>& step) {
  for (std::size_t d = place.size(); d-- > 0;) {
    place[d] += step[d];
    if (place[d] < end[d]) return true;
    place[d] = begin[d];
  }
  return false;
}

/// Number of the element at a place of an array that begins at `offset`.
std::size_t number(const std::vector<std::size_t>& place, const std::vector<std::size_t>& offset,
                   const std::vector<std::size_t>& extents) {
  std::size_t n = 0;
  for (std::size_t d = 0; d < place.size(); ++d) n = n * extents[d] + place[d] - offset[d];
  return n;
}

std::vector<std::size_t> end_of(const Box& box) {
  std::vector<std::size_t> end = box.offset;
  for (std::size_t d = 0; d < end.size(); ++d) end[d] += box.count[d];
  return end;
}

}  // namespace

ChunkAssembly::ChunkAssembly(std::vector<std::size_t> extents, std::vector<std::size_t> chunk,
                             std::vector<std::uint8_t> fill)
    : extents_(std::move(extents)), chunk_(std::move(chunk)), fill_(std::move(fill)) {}

Box ChunkAssembly::shared(const Box& box, const std::vector<std::size_t>& offset) const {
  Box part = box;
  for (std::size_t d = 0; d < offset.size(); ++d) {
    part.offset[d] = std::max(box.offset[d], offset[d]);
    part.count[d] = std::min(box.offset[d] + box.count[d], offset[d] + chunk_[d]) - part.offset[d];
  }
  return part;
}

ChunkAssembly::Chunk ChunkAssembly::begin(std::vector<std::size_t> offset) const {
  const std::size_t size = Box{{}, chunk_}.points();
  const std::size_t within = shared({std::vector<std::size_t>(offset.size(), 0), extents_}, offset).points();
  const std::size_t bytes = size * fill_.size();
  Chunk chunk{std::move(offset), std::make_unique_for_overwrite<std::uint8_t[]>(bytes), bytes, within};
  if (within < size)
    for (std::size_t k = 0; k < size; ++k)
      std::copy(fill_.begin(), fill_.end(), chunk.bytes.get() + k * fill_.size());
  return chunk;
}

/// Copies the part row by row; rows that follow each other on both sides go together.
void ChunkAssembly::copy(const Box& part, const Box& box, const std::uint8_t* values, Chunk& chunk) const {
  std::vector<std::size_t> step(part.count.size(), 1);
  std::size_t run = 1;
  for (std::size_t d = step.size(); d-- > 0;) {
    step[d] = part.count[d];
    run *= part.count[d];
    if (part.count[d] != box.count[d] || part.count[d] != chunk_[d]) break;
  }
  const std::vector<std::size_t> end = end_of(part);
  std::vector<std::size_t> place = part.offset;
  do {
    std::memcpy(chunk.bytes.get() + number(place, chunk.offset, chunk_) * fill_.size(),
                values + number(place, box.offset, box.count) * fill_.size(), run * fill_.size());
  } while (advance(place, part.offset, end, step));
}

void ChunkAssembly::add(const Box& box, const std::uint8_t* values, const std::function<void(Chunk)>& whole) {
  if (box.points() == 0) return;
  std::vector<std::size_t> first = box.offset;
  for (std::size_t d = 0; d < first.size(); ++d) first[d] -= first[d] % chunk_[d];
  const std::vector<std::size_t> end = end_of(box);
  std::vector<std::size_t> offset = first;
  do {
    auto found = begun_.find(offset);
    if (found == begun_.end()) found = begun_.emplace(offset, begin(offset)).first;
    const Box part = shared(box, offset);
    copy(part, box, values, found->second);
    found->second.missing -= part.points();
    if (found->second.missing > 0) continue;
    whole(std::move(found->second));
    begun_.erase(found);
  } while (advance(offset, first, end, chunk_));
}

}  // namespace graze
