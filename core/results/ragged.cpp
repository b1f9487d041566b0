#include "core/results/ragged.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace graze {
namespace {

const std::string texts_attribute = "texts";

std::string attribute_of(const Array& array, std::string_view name) {
  for (const auto& [key, text] : array.attributes)
    if (key == name) return text;
  return {};
}

}  // namespace

std::vector<Part> parts_from(const Array& counts) {
  std::vector<Part> parts;
  std::size_t next = 0;
  std::visit(
      [&](const auto& values) {
        for (const auto count : values) {
          const std::size_t size = count > 0 ? static_cast<std::size_t>(count) : 0;
          parts.push_back({next, size});
          next += size;
        }
      },
      counts.values);
  return parts;
}

Dataset slice(const Dataset& data, std::string_view dimension, const Part& part) {
  const std::size_t whole = data.size(dimension);
  if (part.first > whole || part.size > whole - part.first)
    throw std::out_of_range("dimension " + std::string(dimension) + " is shorter than the counts say");
  Dataset result;
  result.dimensions = data.dimensions;
  for (Dimension& d : result.dimensions)
    if (d.name == dimension) d.size = part.size;
  result.attributes = data.attributes;
  for (const Array& array : data.arrays) {
    Array cut = array;
    if (!array.dimensions.empty() && array.dimensions.front() == dimension) {
      const std::size_t width = whole == 0 ? 0 : data.elements(array) / whole;
      std::visit(
          [&](auto& values) {
            const auto begin = values.begin() + static_cast<std::ptrdiff_t>(part.first * width);
            values =
                std::decay_t<decltype(values)>(begin, begin + static_cast<std::ptrdiff_t>(part.size * width));
          },
          cut.values);
    }
    result.arrays.push_back(std::move(cut));
  }
  return result;
}

Array text_array(const std::string& name, std::vector<std::string> dimensions,
                 const std::vector<std::string>& texts, const std::string& meaning) {
  std::map<std::string, std::int32_t> known;
  std::vector<std::int32_t> numbers;
  std::string lines;
  for (const std::string& text : texts) {
    const auto [at, is_new] = known.emplace(text, static_cast<std::int32_t>(known.size()));
    if (is_new) lines += (known.size() > 1 ? "\n" : "") + text;
    numbers.push_back(at->second);
  }
  return {name, std::move(dimensions), std::move(numbers), "1", meaning, {}, {{texts_attribute, lines}}};
}

std::string text_at(const Array& array, std::size_t k) {
  const auto number =
      std::visit([&](const auto& values) { return static_cast<double>(values.at(k)); }, array.values);
  std::istringstream lines(attribute_of(array, texts_attribute));
  std::string line;
  for (double n = 0; std::getline(lines, line); ++n)
    if (n == number) return line;
  return {};
}

}  // namespace graze
