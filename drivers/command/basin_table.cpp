#include "drivers/command/basin_table.hpp"

#include <fmt/format.h>

#include <cmath>

#include "drivers/command/array_values.hpp"

namespace graze {

const std::vector<std::string>& basin_arrays() {
  static const std::vector<std::string> names = {"basin_attractor",      "basin_period",
                                                 "basin_fraction",       "basin_fraction_error",
                                                 "uncertainty_exponent", "uncertainty_exponent_error"};
  return names;
}

std::vector<std::string> basin_names(const Dataset& data) {
  std::vector<std::string> names;
  const Array* kinds = data.find("basin_attractor");
  if (kinds == nullptr || data.find("basin_period") == nullptr) return names;
  const std::size_t count = data.elements(*kinds);
  for (std::size_t n = 0; n < count; ++n) {
    const double kind = number(*kinds, n);
    const double period = number(data.at("basin_period"), n);
    const bool known = kind >= 0 && kind < static_cast<double>(kinds->flags.size());
    const std::string what = period > 0 ? fmt::format("period {}", period)
                             : known    ? kinds->flags[static_cast<std::size_t>(kind)]
                                        : "unknown";
    names.push_back(fmt::format("{}: {:.1f} ± {:.1f} %", what, 100 * number(data.at("basin_fraction"), n),
                                100 * number(data.at("basin_fraction_error"), n)));
  }
  return names;
}

std::string uncertainty_text(const Dataset& data) {
  const Array* exponent = data.find("uncertainty_exponent");
  if (exponent == nullptr || !std::isfinite(number(*exponent, 0))) return {};
  const double error = number(data.at("uncertainty_exponent_error"), 0);
  const std::string text = fmt::format("{:.3f}", number(*exponent, 0));
  return std::isfinite(error) ? fmt::format("{} ± {:.3f}", text, error) : text;
}

}  // namespace graze
