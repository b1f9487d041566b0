/// Deflating bytes that mostly repeat.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace graze {

/// Adds bytes to a stream of deflate (RFC 1951) as a part that is not the last one and ends at a whole byte,
/// by fixed codes; what does not repeat, to a word of eight bytes at least, stands there as it is. False: it
/// would take more than a quarter of the bytes; the stream is as before.
bool deflate_repeats(std::span<const std::uint8_t> bytes, std::vector<std::uint8_t>& stream);

}  // namespace graze
