#include "data/chunk_filters.hpp"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <future>

namespace graze {
namespace {

constexpr std::uint32_t level = 1;  // of deflate; the next one takes as long for a hundredth of the bytes

static_assert(std::endian::native == std::endian::little, "values are stored as they lie in memory");

constexpr std::size_t word = sizeof(std::uint64_t);
using Bytes [[gnu::vector_size(16)]] = std::uint8_t;

/// Transposes 16 words of 8 bytes, two in each row: the rows are their first bytes, their second ones, …
void transpose(std::array<Bytes, word>& rows) {
  for (int step = 0; step < 4; ++step) {  // each turns the numbers of all places round by one binary digit
    std::array<Bytes, word> next;
    for (std::size_t k = 0; k < word / 2; ++k) {
      const Bytes a = rows[k], b = rows[k + word / 2];
      next[2 * k] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      next[2 * k + 1] =
          __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
    rows = next;
  }
}

/// The first bytes of all elements, then the second ones, and so on; until the thread does it again.
std::span<std::uint8_t> shuffled(std::span<const std::uint8_t> values, std::size_t element_size) {
  const std::size_t count = values.size() / element_size;
  thread_local std::vector<std::uint8_t> planes;
  planes.resize(values.size());
  std::size_t first = 0;  // element that is not done yet
  if (element_size == word) {
    std::array<Bytes, word> rows{};
    for (; first + sizeof(Bytes) <= count; first += sizeof(Bytes)) {
      std::memcpy(rows.data(), values.data() + first * word, sizeof rows);
      transpose(rows);
      for (std::size_t k = 0; k < word; ++k)
        std::memcpy(planes.data() + k * count + first, &rows[k], sizeof(Bytes));
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

/// Fletcher's checksum of big-endian 16-bit words, modulo 2^16 - 1, as HDF5 has it. Modulo that number the
/// sums of words whose bytes are swapped are those of the words, with their bytes swapped. Words are added up
/// in columns, from which the weighted sum follows.
std::uint32_t fletcher32(std::span<const std::uint8_t> bytes) {
  using Pairs [[gnu::vector_size(16)]] = std::uint32_t;  // of words
  constexpr std::size_t pairs = 4, columns = 2 * pairs;
  constexpr std::size_t most = 360;  // rows whose weighted sums stay within 32 bits
  std::uint64_t sum = 0, sum_of_sums = 0;
  const std::uint8_t* at = bytes.data();
  std::size_t left = bytes.size() / 2;
  while (left >= columns) {
    const std::size_t rows = std::min(left / columns, most);
    Pairs even{}, odd{}, evens{}, odds{};  // sums of the columns, and of these sums
    for (std::size_t r = 0; r < rows; ++r) {
      Pairs words;
      std::memcpy(&words, at, sizeof words);
      even += words & 0xffffU;
      odd += words >> 16U;
      evens += even;
      odds += odd;
      at += sizeof words;
    }
    sum_of_sums += rows * columns * sum;
    for (std::size_t j = 0; j < pairs; ++j) {
      const std::uint64_t first = even[j], second = odd[j];
      sum += first + second;
      sum_of_sums += columns * (std::uint64_t{evens[j]} + odds[j]) - 2 * j * first - (2 * j + 1) * second;
    }
    sum = folded(sum);
    sum_of_sums = folded(sum_of_sums);
    left -= rows * columns;
  }
  const auto add = [&](std::uint16_t last) {
    sum = folded(sum + last);
    sum_of_sums = folded(sum_of_sums + sum);
  };
  for (; left > 0; --left) {
    std::uint16_t last = 0;
    std::memcpy(&last, at, sizeof last);
    add(last);
    at += sizeof last;
  }
  if (bytes.size() % 2 != 0) add(*at);
  const auto swapped = [](std::uint64_t s) { return (s << 8U & 0xff00U) | s >> 8U; };
  return static_cast<std::uint32_t>(swapped(sum_of_sums) << 16U | swapped(sum));
}

void append(std::vector<std::uint8_t>& bytes, std::span<const std::uint8_t> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

/// As zlib does (RFC 1950). Empty: the stream would be longer than the planes.
std::vector<std::uint8_t> deflated(std::span<std::uint8_t> planes) {
  thread_local std::vector<std::uint8_t> room, tables(ISAL_DEF_LVL1_DEFAULT);
  room.resize(planes.size());
  isal_zstream stream;
  isal_deflate_stateless_init(&stream);
  stream.level = level;
  stream.level_buf = tables.data();
  stream.level_buf_size = static_cast<std::uint32_t>(tables.size());
  stream.gzip_flag = IGZIP_ZLIB;
  stream.flush = NO_FLUSH;
  stream.end_of_stream = 1;
  stream.next_in = planes.data();
  stream.avail_in = static_cast<std::uint32_t>(planes.size());
  stream.next_out = room.data();
  stream.avail_out = static_cast<std::uint32_t>(room.size());
  if (isal_deflate_stateless(&stream) != COMP_OK) return {};
  return {room.begin(), room.begin() + stream.total_out};
}

/// The values of a chunk through all filters.
StoredChunk filtered(std::span<const std::uint8_t> values, std::size_t element_size, bool compress) {
  constexpr std::size_t checksum = 4;
  StoredChunk chunk;
  if (compress) {
    const std::span<std::uint8_t> planes = shuffled(values, element_size);
    chunk.bytes = deflated(planes);
    chunk.deflated = !chunk.bytes.empty();
    if (!chunk.deflated) append(chunk.bytes, planes);
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
      stored[k] = filtered(chunks[k].values(), element_size, compress);
  };
  std::vector<std::future<void>> others;
  for (std::size_t k = 1; k < std::min(static_cast<std::size_t>(threads), chunks.size()); ++k)
    others.push_back(std::async(std::launch::async, work));
  work();
  for (std::future<void>& other : others) other.get();
  return stored;
}

}  // namespace graze
