#include "core/equations/function.hpp"

#include <algorithm>

namespace graze {

const std::vector<std::string>& function_names() {
  static const std::vector<std::string> names = {"sqrt", "exp",  "log",  "sin",  "cos",  "tan",
                                                 "asin", "acos", "atan", "sinh", "cosh", "tanh"};
  return names;
}

std::optional<Function> function_named(std::string_view name) {
  const auto& names = function_names();
  const auto place = std::find(names.begin(), names.end(), name);
  if (place == names.end()) return std::nullopt;
  return static_cast<Function>(place - names.begin());
}

}  // namespace graze
