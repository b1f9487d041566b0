#include "data/repeats.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace graze {
namespace {

static_assert(std::endian::native == std::endian::little, "the first of eight bytes are the last of a word");

constexpr std::size_t word = sizeof(std::uint64_t);
constexpr std::size_t longest = 258;     // repeat that one code says
constexpr std::size_t farthest = 32768;  // back

/// Bits as they follow each other in the stream, the first one lowest.
struct Code {
  std::uint32_t bits = 0;
  unsigned count = 0;
  constexpr Code then(Code next) const { return {bits | next.bits << count, count + next.count}; }
};

/// Of a code of Huffman, which begins with its highest bit.
constexpr Code reversed(std::uint32_t bits, unsigned count) {
  Code code{0, count};
  for (unsigned k = 0; k < count; ++k) code.bits |= (bits >> k & 1U) << (count - 1 - k);
  return code;
}

/// The fixed code of a byte, of the end of the part (256) or of a length (RFC 1951, 3.2.6).
constexpr Code symbol(std::uint32_t value) {
  if (value < 144) return reversed(0x30 + value, 8);
  if (value < 256) return reversed(0x190 + value - 144, 9);
  if (value < 280) return reversed(value - 256, 7);
  return reversed(0xc0 + value - 280, 8);
}

constexpr std::array<Code, 256> literals = [] {
  std::array<Code, 256> list;
  for (std::uint32_t value = 0; value < list.size(); ++value) list[value] = symbol(value);
  return list;
}();

/// Codes of the lengths from 3 on: after the first eight there are four for each power of two, with what is
/// beyond them in further bits; 258 has one of its own (3.2.5).
constexpr std::array<Code, longest + 1> lengths = [] {
  std::array<Code, longest + 1> list;
  for (std::uint32_t length = 3; length < longest; ++length) {
    const std::uint32_t beyond = length - 3;
    const unsigned more = beyond < 8 ? 0 : static_cast<unsigned>(std::bit_width(beyond)) - 3;
    const std::uint32_t group = 4 * more + (beyond >> more);
    list[length] = symbol(257 + group).then({beyond & ((1U << more) - 1), more});
  }
  list[longest] = symbol(285);
  return list;
}();

/// The same of distances: two codes for each power of two.
Code distance_code(std::size_t distance) {
  const auto beyond = static_cast<std::uint32_t>(distance - 1);
  const unsigned more = beyond < 4 ? 0 : static_cast<unsigned>(std::bit_width(beyond)) - 2;
  return reversed(2 * more + (beyond >> more), 5).then({beyond & ((1U << more) - 1), more});
}

class BitStream {
 public:
  explicit BitStream(std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}
  void add(Code code) {
    held_ |= std::uint64_t{code.bits} << count_;
    for (count_ += code.count; count_ >= 8; count_ -= 8) {
      bytes_.push_back(static_cast<std::uint8_t>(held_));
      held_ >>= 8U;
    }
  }
  /// To the next whole byte.
  void fill() { add({0, (8 - count_) % 8}); }

 private:
  std::vector<std::uint8_t>& bytes_;
  std::uint64_t held_ = 0;
  unsigned count_ = 0;
};

std::uint64_t word_at(const std::uint8_t* bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

/// How many bytes are the same there and there, up to `most`.
std::size_t common(const std::uint8_t* one, const std::uint8_t* other, std::size_t most) {
  std::size_t count = 0;
  for (; count + word <= most; count += word) {
    const std::uint64_t change = word_at(one + count) ^ word_at(other + count);
    if (change != 0) return count + static_cast<std::size_t>(std::countr_zero(change)) / 8;
  }
  while (count < most && one[count] == other[count]) ++count;
  return count;
}

void add_repeat(std::size_t length, std::size_t distance, BitStream& out) {
  const Code back = distance_code(distance);
  for (; length > longest + 2; length -= longest) {
    out.add(lengths[longest]);
    out.add(back);
  }
  if (length > longest) {  // what is left must not be shorter than 3
    out.add(lengths[length - 3]);
    out.add(back);
    length = 3;
  }
  out.add(lengths[length]);
  out.add(back);
}

}  // namespace

bool deflate_repeats(std::span<const std::uint8_t> bytes, std::vector<std::uint8_t>& stream) {
  constexpr unsigned table_bits = 12;
  constexpr std::size_t patience = 2048;  // bytes of the stream until it is to be seen that they are few
  const std::size_t begin = stream.size();
  const auto is_too_long = [&](std::size_t done) {
    return stream.size() - begin > std::min(bytes.size() / 4, patience + done / 4);
  };
  std::array<std::uint32_t, std::size_t{1} << table_bits> seen{};  // where a word was, by a number made of it
  BitStream out(stream);
  out.add({2, 3});  // not the last part; fixed codes
  for (std::size_t at = 0; at < bytes.size();) {
    if (is_too_long(at)) {
      stream.resize(begin);
      return false;
    }
    if (at + word <= bytes.size()) {
      const std::uint64_t here = word_at(&bytes[at]);
      std::uint32_t& place = seen[here * 0x9e3779b97f4a7c15U >> (64 - table_bits)];
      const std::size_t before = place;
      place = static_cast<std::uint32_t>(at);
      if (before < at && at - before <= farthest && word_at(&bytes[before]) == here) {
        const std::size_t length = common(&bytes[before], &bytes[at], bytes.size() - at);
        add_repeat(length, at - before, out);
        at += length;
        continue;
      }
    }
    out.add(literals[bytes[at++]]);
  }
  out.add(symbol(256));
  out.add({0, 3});  // a part of no stored bytes begins at a whole byte
  out.fill();
  for (const int byte : {0x00, 0x00, 0xff, 0xff}) stream.push_back(static_cast<std::uint8_t>(byte));
  return true;
}

}  // namespace graze
