#include "drivers/command/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "analysis/maps/attractor.hpp"
#include "core/system/outcome.hpp"
#include "drivers/command/array_values.hpp"
#include "drivers/library/text.hpp"

namespace graze {
namespace {

constexpr const char* missing = "missing";

bool is_coordinate(const Array& array) {
  return array.dimensions.size() == 1 && array.dimensions.front() == array.name;
}

void print_advice(std::FILE* to, const ClassCount& failed) {
  const std::vector<std::string>& names = outcome_names();
  const auto place = std::find(names.begin(), names.end(), failed.name);
  if (place == names.end() || place == names.begin()) return;  // of a newer version, or ok
  fmt::print(to, "  {}: {}\n", points_text(failed.count),
             advice(static_cast<Outcome>(place - names.begin())));
}

/// Undetermined points whose exponent is minus infinity: their motions come to rest and repeat themselves,
/// but not within the digits of a double.
std::size_t count_at_rest(const Dataset& data, const Array& attractor) {
  const Array* exponent = data.find("lyapunov");
  if (exponent == nullptr || exponent->dimensions != attractor.dimensions) return 0;
  const std::string& name = attractor_names()[static_cast<std::size_t>(AttractorClass::undetermined)];
  std::size_t count = 0;
  for (std::size_t k = 0; k < data.elements(attractor); ++k)
    if (class_name(attractor, k) == name && number(*exponent, k) == -std::numeric_limits<double>::infinity())
      ++count;
  return count;
}

void print_undetermined(std::FILE* to, const Dataset& data, const Array& attractor) {
  const std::vector<ClassCount> counts = class_counts(attractor);
  const std::string& name = attractor_names()[static_cast<std::size_t>(AttractorClass::undetermined)];
  for (const ClassCount& c : counts) {
    if (c.name != name) continue;
    fmt::print(
        to,
        "  {}: No period was found, and no exponent that is clearly positive or zero; raise "
        "analysis.extension for motions that converge slowly, analysis.max_period and analysis.record for "
        "long periods.\n",
        points_text(c.count));
    if (const std::size_t resting = count_at_rest(data, attractor); resting > 0)
      fmt::print(to,
                 "  {} of them come to rest now and then and forget what was before: orbits of so many "
                 "periods that rounding errors decide over them. More iterates do not help; a smaller "
                 "restitution or more damping makes the periods shorter.\n",
                 resting);
  }
}

}  // namespace

std::vector<ClassCount> class_counts(const Array& array) {
  std::vector<ClassCount> counts;
  for (const std::string& flag : array.flags) counts.push_back({flag, 0});
  if (counts.empty()) return counts;
  counts.push_back({missing, 0});
  std::visit(
      [&](const auto& values) {
        for (const auto value : values) {
          const bool known = value >= 0 && static_cast<std::size_t>(value) + 1 < counts.size();
          ++(known ? counts[static_cast<std::size_t>(value)] : counts.back()).count;
        }
      },
      array.values);
  std::erase_if(counts, [](const ClassCount& c) { return c.count == 0; });
  return counts;
}

std::vector<std::string> classifying(const std::vector<Array>& arrays) {
  std::vector<std::string> names;
  for (const Array& array : arrays) {
    if (!array.flags.empty() && !is_coordinate(array)) names.push_back(array.name);
  }
  return names;
}

std::vector<std::string> summarised(const std::vector<Array>& arrays) {
  std::vector<std::string> names = classifying(arrays);
  names.emplace_back("lyapunov");
  return names;
}

void print_summary(std::FILE* to, const Dataset& data) {
  for (const std::string& name : classifying(data.arrays)) {
    const Array& array = data.at(name);
    const std::vector<ClassCount> counts = class_counts(array);
    if (counts.empty()) continue;
    fmt::print(to, "{}:", array.name);
    const char* separator = " ";
    for (const ClassCount& c : counts) {
      fmt::print(to, "{}{} {}", separator, c.count, c.name);
      separator = ", ";
    }
    fmt::print(to, "\n");
    if (array.name == "attractor") print_undetermined(to, data, array);
    if (array.name != "outcome") continue;
    for (const ClassCount& c : counts) print_advice(to, c);
  }
}

Exit exit_of(const Dataset& data) {
  const Dataset* map = data.group("map");  // of a chart: that there are no curves is an answer
  const Array* outcome = (map != nullptr ? *map : data).find("outcome");
  if (outcome == nullptr) return Exit::done;
  std::size_t all = 0;
  std::size_t good = 0;
  for (const ClassCount& c : class_counts(*outcome)) {
    if (c.name == missing) continue;
    all += c.count;
    if (c.name == outcome_names().front()) good += c.count;
  }
  if (all > 0 && good == all) return Exit::done;
  return good == 0 ? Exit::no_point : Exit::some_failed;
}

}  // namespace graze
