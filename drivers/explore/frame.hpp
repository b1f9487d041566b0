/// Results as the page of `graze explore` reads them.
#pragma once

#include <string>
#include <string_view>

#include "core/results/dataset.hpp"
#include "core/settings/value.hpp"

namespace graze {

/// A frame: two little-endian uint32, the lengths of what follows; JSON with `more` (a table), `dimensions`,
/// `attributes`, `arrays` (name, dimensions, type, unit, long_name, flags, where its values begin) and
/// `groups`; the values, little-endian, every array at a multiple of eight bytes. int64 become float64; with
/// `small_samples` arrays over the dimension `sample` become float32. Throws std::length_error above 4 GiB.
std::string frame(const Dataset& data, const Value& more, bool small_samples = false);

/// Base64 (RFC 4648) of bytes.
std::string base64(std::string_view bytes);

}  // namespace graze
