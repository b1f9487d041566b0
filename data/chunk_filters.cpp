#include "data/chunk_filters.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <future>
#include <memory>
#include <new>
#include <utility>

namespace graze {
namespace {

constexpr int level = 1;  // of deflate; higher ones cost twice the time for a hundredth of the bytes

static_assert(std::endian::native == std::endian::little, "values are stored as they lie in memory");

/// Swaps what lies `shift` bits up in a with what lies below in b, in all places of the mask.
void exchange(std::uint64_t& a, std::uint64_t& b, unsigned shift, std::uint64_t mask) {
  const std::uint64_t change = ((a >> shift) ^ b) & mask;
  a ^= change << shift;
  b ^= change;
}

/// Transposes 8 x 8 bytes: halves, quarters, single ones.
void transpose(std::array<std::uint64_t, 8>& rows) {
  for (std::size_t k : {0, 1, 2, 3}) exchange(rows[k], rows[k + 4], 32, 0x00000000ffffffffU);
  for (std::size_t k : {0, 1, 4, 5}) exchange(rows[k], rows[k + 2], 16, 0x0000ffff0000ffffU);
  for (std::size_t k : {0, 2, 4, 6}) exchange(rows[k], rows[k + 1], 8, 0x00ff00ff00ff00ffU);
}

struct Release {
  void operator()(libdeflate_compressor* compressor) const { libdeflate_free_compressor(compressor); }
};

/// One for each thread: to make it costs as much as to deflate a small chunk.
libdeflate_compressor& compressor() {
  thread_local const std::unique_ptr<libdeflate_compressor, Release> instance(
      libdeflate_alloc_compressor(level));
  if (instance == nullptr) throw std::bad_alloc();
  return *instance;
}

/// The first bytes of all elements, then the second ones, and so on.
std::vector<std::uint8_t> shuffled(std::span<const std::uint8_t> values, std::size_t element_size) {
  const std::size_t count = values.size() / element_size;
  std::vector<std::uint8_t> planes(values.size());
  constexpr std::size_t word = sizeof(std::uint64_t);
  std::size_t first = 0;  // element that is not done yet
  if (element_size == word) {
    std::array<std::uint64_t, word> rows{};
    for (; first + word <= count; first += word) {
      std::memcpy(rows.data(), values.data() + first * word, sizeof rows);
      transpose(rows);
      for (std::size_t k = 0; k < word; ++k) std::memcpy(planes.data() + k * count + first, &rows[k], word);
    }
  }
  for (std::size_t k = 0; k < element_size; ++k)
    for (std::size_t n = first; n < count; ++n) planes[k * count + n] = values[n * element_size + k];
  return planes;
}

/// Modulo 2^16 - 1, which stands for 0 unless the sum is 0.
std::uint64_t folded(std::uint64_t sum) {
  while (sum > 0xffffU) sum = (sum & 0xffffU) + (sum >> 16U);
  return sum;
}

/// Fletcher's checksum of big-endian 16-bit words, modulo 2^16 - 1, as HDF5 has it.
std::uint32_t fletcher32(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t most = 360;  // words whose weighted sum stays within 32 bits
  std::uint64_t sum = 0, sum_of_sums = 0;
  const auto add = [&](std::uint32_t words, std::uint32_t their_sum, std::uint32_t their_sum_of_sums) {
    sum_of_sums = folded(sum_of_sums + words * sum + their_sum_of_sums);
    sum = folded(sum + their_sum);
  };
  const std::uint8_t* at = bytes.data();
  for (std::size_t left = bytes.size() / 2; left > 0;) {
    const auto words = static_cast<std::uint32_t>(std::min(left, most));
    std::uint32_t these = 0, weighted = 0;
    for (std::uint32_t k = 0; k < words; ++k) {
      std::uint16_t word = 0;
      std::memcpy(&word, at + 2 * std::size_t{k}, sizeof word);
      word = static_cast<std::uint16_t>(word << 8U | word >> 8U);
      these += word;
      weighted += (words - k) * word;
    }
    add(words, these, weighted);
    at += 2 * std::size_t{words};
    left -= words;
  }
  if (bytes.size() % 2 != 0)
    add(1, static_cast<std::uint32_t>(*at << 8U), static_cast<std::uint32_t>(*at << 8U));
  return static_cast<std::uint32_t>(sum_of_sums << 16U | sum);
}

void append(std::vector<std::uint8_t>& bytes, std::span<const std::uint8_t> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

/// Deflates bytes as the last part of a stream into what is reserved; false: they would not become less.
bool deflate_last(std::span<const std::uint8_t> part, std::vector<std::uint8_t>& stream) {
  const std::size_t begin = stream.size();
  stream.resize(begin + part.size());
  const std::size_t size = libdeflate_deflate_compress(&compressor(), part.data(), part.size(),
                                                       stream.data() + begin, part.size());
  stream.resize(begin + size);
  return size > 0;
}

/// Whether bytes look like noise, by some short pieces of them: deflating would save less than a tenth.
bool is_noise(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t pieces = 8, length = 256;
  if (bytes.size() < pieces * length) return false;
  std::vector<std::uint8_t> sample, packed;
  for (std::size_t k = 0; k < pieces; ++k)
    append(sample, bytes.subspan(k * (bytes.size() - length) / (pieces - 1), length));
  return !deflate_last(sample, packed) || 10 * packed.size() > 9 * sample.size();
}

/// Bytes as they are, as parts of a stream of deflate that are not the last ones (RFC 1951, 3.2.4).
void store(std::span<const std::uint8_t> bytes, std::vector<std::uint8_t>& stream) {
  constexpr std::size_t longest = 0xffff;
  while (!bytes.empty()) {
    const auto length = static_cast<std::uint16_t>(std::min(bytes.size(), longest));
    const auto inverse = static_cast<std::uint16_t>(~length);
    for (const unsigned byte : {0, length & 0xff, length >> 8, inverse & 0xff, inverse >> 8})
      stream.push_back(static_cast<std::uint8_t>(byte));
    append(stream, bytes.first(length));
    bytes = bytes.subspan(length);
  }
}

/// As zlib does (RFC 1950). The last digits of numbers are mostly noise, on which deflate spends most of its
/// time: the leading planes that are so are stored. Empty: the stream would be longer than the planes.
std::vector<std::uint8_t> deflated(std::span<const std::uint8_t> planes, std::size_t element_size) {
  const std::size_t length = planes.size() / element_size;
  std::size_t noise = 0;
  while (noise + 1 < element_size && is_noise(planes.subspan(noise * length, length))) ++noise;
  std::vector<std::uint8_t> stream = {0x78, 0x01};
  stream.reserve(planes.size() + 64);
  store(planes.first(noise * length), stream);
  if (!deflate_last(planes.subspan(noise * length), stream)) return {};
  const std::uint32_t sum = libdeflate_adler32(1, planes.data(), planes.size());
  for (const unsigned shift : {24, 16, 8, 0}) stream.push_back(static_cast<std::uint8_t>(sum >> shift));
  return stream.size() < planes.size() ? stream : std::vector<std::uint8_t>();
}

/// The values of a chunk through all filters.
StoredChunk filtered(std::span<const std::uint8_t> values, std::size_t element_size, bool compress) {
  constexpr std::size_t checksum = 4;
  StoredChunk chunk;
  if (compress) {
    chunk.bytes = shuffled(values, element_size);
    std::vector<std::uint8_t> stream = deflated(chunk.bytes, element_size);
    chunk.deflated = !stream.empty();
    if (chunk.deflated) chunk.bytes = std::move(stream);
  } else {
    chunk.bytes.reserve(values.size() + checksum);
    append(chunk.bytes, values);
  }
  const std::uint32_t sum = fletcher32(chunk.bytes);
  for (const unsigned shift : {0, 8, 16, 24}) chunk.bytes.push_back(static_cast<std::uint8_t>(sum >> shift));
  return chunk;
}

}  // namespace

std::vector<StoredChunk> filtered(std::span<const ChunkAssembly::Chunk> chunks, std::size_t element_size,
                                  bool compress, int threads) {
  std::vector<StoredChunk> stored(chunks.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t k = next++; k < chunks.size(); k = next++)
      stored[k] = filtered(chunks[k].values, element_size, compress);
  };
  std::vector<std::future<void>> others;
  for (std::size_t k = 1; k < std::min(static_cast<std::size_t>(threads), chunks.size()); ++k)
    others.push_back(std::async(std::launch::async, work));
  work();
  for (std::future<void>& other : others) other.get();
  return stored;
}

}  // namespace graze
