#include "drivers/explore/frame.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "data/json.hpp"
#include "drivers/command/array_values.hpp"

namespace graze {
namespace {

static_assert(std::endian::native == std::endian::little, "values are written as they lie in memory");

Value whole(std::size_t value) { return Value(Value::Data(static_cast<std::int64_t>(value))); }

void pad(std::string& bytes, char with) { bytes.resize((bytes.size() + 7) / 8 * 8, with); }

template <class To, class From>
void append(std::string& bytes, const std::vector<From>& values) {
  const std::vector<To> converted(values.begin(), values.end());
  bytes.append(reinterpret_cast<const char*>(converted.data()), converted.size() * sizeof(To));
}

/// Appends values and says as which type.
template <class T>
const char* append_values(std::string& bytes, const std::vector<T>& values, bool small) {
  if constexpr (sizeof(T) < 8) {
    append<T>(bytes, values);
    return sizeof(T) == 4 ? "i32" : "i8";
  } else if (small) {
    append<float>(bytes, values);
    return "f32";
  } else {
    append<double>(bytes, values);
    return "f64";
  }
}

Value described(const Array& array, std::string& bytes, bool small_samples) {
  Value result;
  result.set("name", Value(array.name));
  result.set("dimensions", text_list(array.dimensions));
  result.set("at", whole(bytes.size()));
  const bool small = small_samples && !array.dimensions.empty() && array.dimensions.front() == "sample";
  std::size_t count = 0;
  const char* type = std::visit(
      [&](const auto& values) {
        count = values.size();
        return append_values(bytes, values, small);
      },
      array.values);
  pad(bytes, '\0');
  result.set("type", Value(type));
  result.set("count", whole(count));
  result.set("unit", Value(array.unit));
  result.set("long_name", Value(array.long_name));
  if (!array.flags.empty()) result.set("flags", text_list(array.flags));
  return result;
}

void describe(const Dataset& data, Value& to, std::string& bytes, bool small_samples) {
  Value dimensions{Value::Table{}}, attributes{Value::Table{}}, groups{Value::Table{}};
  for (const Dimension& dimension : data.dimensions) dimensions.set(dimension.name, whole(dimension.size));
  for (const auto& [name, value] : data.attributes) attributes.set(name, Value(value));
  Value::Array arrays;
  for (const Array& array : data.arrays) arrays.push_back(described(array, bytes, small_samples));
  for (const Group& group : data.groups) {
    Value part;
    describe(group.data, part, bytes, small_samples);
    groups.set(group.name, std::move(part));
  }
  to.set("dimensions", std::move(dimensions));
  to.set("attributes", std::move(attributes));
  to.set("arrays", Value(std::move(arrays)));
  to.set("groups", std::move(groups));
}

}  // namespace

std::string frame(const Dataset& data, const Value& more, bool small_samples) {
  Value header = more;
  std::string bytes;
  describe(data, header, bytes, small_samples);
  std::string head = json_text(header);
  pad(head, ' ');
  constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
  if (head.size() > most || bytes.size() > most)
    throw std::length_error("the result is too large to be shown");
  std::string result(8, '\0');
  const auto head_size = static_cast<std::uint32_t>(head.size());
  const auto bytes_size = static_cast<std::uint32_t>(bytes.size());
  std::memcpy(result.data(), &head_size, 4);
  std::memcpy(result.data() + 4, &bytes_size, 4);
  return result + head + bytes;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  result.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) {
      return i + k < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i + k])) : 0U;
    };
    const std::uint32_t three = byte(0) << 16U | byte(1) << 8U | byte(2);
    for (std::size_t k = 0; k < 4; ++k)
      result += i + k > bytes.size() ? '=' : letters[three >> (18 - 6 * k) & 63U];
  }
  return result;
}

}  // namespace graze
