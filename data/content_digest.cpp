#include "data/content_digest.hpp"

#include <array>
#include <bit>
#include <cstdio>
#include <type_traits>
#include <vector>

namespace graze {
namespace {

/// FNV-1a, 64 bits (Fowler, Noll, Vo), of texts each of which ends with a zero byte.
class TextHash {
 public:
  TextHash& add(std::string_view text) {
    for (const char c : text) byte(static_cast<unsigned char>(c));
    byte(0);
    return *this;
  }
  TextHash& add(std::size_t number) { return add(std::to_string(number)); }
  std::uint64_t value() const { return value_; }

 private:
  void byte(unsigned char b) {
    value_ ^= b;
    value_ *= 0x100000001b3U;
  }
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

/// The output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): one to one, every bit of the result
/// depends on all bits of the argument.
[[gnu::always_inline]] inline std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

/// A number of its own for each array of a file, to which the places of its values are added.
std::uint64_t key_of(std::string_view place, const Array& array) {
  return TextHash().add(place).add(array.name).value();
}

template <class T>
[[gnu::always_inline]] inline std::uint64_t bits(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<std::uint64_t>(value);
  else
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

template <class T>
[[gnu::always_inline]] inline std::uint64_t sum_of(std::uint64_t first, const T* values, std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < count; ++k) sum += mixed(bits(values[k]) ^ mixed(first + k));
  return sum;
}

#if defined(__x86_64__)
/// The same with instructions that multiply eight numbers of 64 bits at once.
template <class T>
[[gnu::target("avx512f,avx512dq")]] std::uint64_t wide_sum_of(std::uint64_t first, const T* values,
                                                              std::size_t count) {
  return sum_of(first, values, count);
}
#endif

template <class T>
std::uint64_t row_sum(std::uint64_t first, const T* values, std::size_t count) {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
  if (wide) return wide_sum_of(first, values, count);
#endif
  return sum_of(first, values, count);
}

}  // namespace

void ContentDigest::text(std::string_view place, std::string_view name, std::string_view value) {
  sum_ += mixed(TextHash().add(place).add("").add(name).add(value).value());
}

void ContentDigest::header(std::string_view place, const Array& array, const h5::Extents& extents) {
  TextHash hash;
  hash.add(place).add(array.name).add(array.values.index());
  for (std::size_t d = 0; d < extents.size(); ++d) hash.add(array.dimensions[d]).add(extents[d]);
  hash.add(array.unit).add(array.long_name);
  for (const std::string& flag : array.flags) hash.add(flag);
  for (const auto& [name, text] : array.attributes) hash.add(name).add(text);
  sum_ += mixed(hash.value());
}

void ContentDigest::values(std::string_view place, const Array& array, const h5::Extents& extents,
                           const Box& box) {
  const std::size_t width = extents.empty() ? 1 : box.count.back();
  const std::size_t rows = width == 0 ? 0 : box.points() / width;
  const std::uint64_t key = key_of(place, array);
  std::vector<std::size_t> at = box.offset;
  for (std::size_t row = 0; row < rows; ++row) {
    std::size_t index = 0;
    for (std::size_t d = 0; d < extents.size(); ++d) index = index * extents[d] + at[d];
    std::visit([&](const auto& v) { sum_ += row_sum(key + index, v.data() + row * width, width); },
               array.values);
    for (std::size_t d = extents.size() < 2 ? 0 : extents.size() - 1; d-- > 0;) {  // to the next row
      if (++at[d] < box.offset[d] + box.count[d]) break;
      at[d] = box.offset[d];
    }
  }
}

void ContentDigest::whole(std::string_view place, const Array& array, const h5::Extents& extents) {
  header(place, array, extents);
  values(place, array, extents, {h5::Extents(extents.size(), 0), extents});
}

std::string ContentDigest::hex() const {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(sum_));
  return text.data();
}

}  // namespace graze
