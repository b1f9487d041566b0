#include "drivers/command/array_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <type_traits>

#include "core/settings/value.hpp"

namespace graze {

const Dataset& group_of(const Dataset& data, std::string_view name) {
  const Dataset* group = data.group(name);
  if (group == nullptr) throw InputError(fmt::format("the file has no group {}", name));
  return *group;
}

const Array& array_of(const Dataset& data, std::string_view name) {
  const Array* array = data.find(name);
  if (array == nullptr) throw InputError(fmt::format("the file has no array {}", name));
  return *array;
}

std::string name_at(double index, const std::vector<std::string>& names) {
  return index >= 0 ? names.at(static_cast<std::size_t>(index)) : "";
}

double number(const Array& array, std::size_t i) {
  return std::visit(
      [i](const auto& values) {
        const auto value = values[i];
        const bool missing = std::is_integral_v<decltype(value)> && value < 0;
        return missing ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(value);
      },
      array.values);
}

std::vector<double> numbers(const Array& array) {
  std::vector<double> result(std::visit([](const auto& values) { return values.size(); }, array.values));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = number(array, i);
  return result;
}

std::string class_name(const Array& array, std::size_t element) {
  const double value = number(array, element);
  const bool known = value >= 0 && value < static_cast<double>(array.flags.size());
  return known ? array.flags[static_cast<std::size_t>(value)] : std::string();
}

std::vector<std::string> index_names(const Dataset& data, std::string_view dimension) {
  const std::size_t size = data.size(dimension);
  std::vector<std::string> names;
  const Array* coordinate = data.find(dimension);
  for (std::size_t i = 0; i < size; ++i) {
    const bool known = coordinate != nullptr && coordinate->dimensions.size() == 1;
    const std::string name = known ? class_name(*coordinate, i) : std::string();
    names.push_back(
        !name.empty() ? name : fmt::format("{}", known ? number(*coordinate, i) : static_cast<double>(i)));
  }
  return names;
}

void refuse_name(const std::vector<std::string>& names, const std::string& name, std::string_view what) {
  const std::string nearest = nearest_name(name, names);
  throw InputError(fmt::format("no {} {} in this file; {}there is: {}", what, name,
                               nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest),
                               names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

std::size_t index_of(const std::vector<std::string>& names, const std::string& name, std::string_view what) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) refuse_name(names, name, what);
  return static_cast<std::size_t>(found - names.begin());
}

Value text_list(const std::vector<std::string>& texts) {
  return Value(Value::Array(texts.begin(), texts.end()));
}

std::string spaced(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  constexpr std::string_view plain = "neimark sacker";
  const std::size_t at = text.find(plain);
  return at == std::string::npos ? text : text.replace(at, plain.size(), "Neimark-Sacker");
}

std::string named(std::string_view what, const std::string& name) {
  const bool is_number = name.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? fmt::format("{} {}", what, name) : name;
}

}  // namespace graze
