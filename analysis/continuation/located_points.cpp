#include "analysis/continuation/located_points.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <stdexcept>

namespace graze {
namespace {

std::string attribute_of(const Dataset& data, std::string_view name) {
  for (const auto& [key, text] : data.attributes)
    if (key == name) return text;
  return "";
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> list;
  for (std::string word; stream >> word;) list.push_back(word);
  return list;
}

}  // namespace

std::string LocatedPoint::text() const {
  return bifurcation_names()[static_cast<std::size_t>(seed.kind)] + " at " +
         Value(seed.orbit.parameter).toml() + " of " + origin;
}

std::vector<LocatedPoint> located_points(const Dataset& branches, const Plane& plane, const Value& key) {
  const auto refuse = [&](const std::string& rule) {
    throw InputError(key.place(), "analysis.branches", key.toml(), rule);
  };
  const auto& parameters = plane.family.model->parameters();
  const std::string& first = parameters[static_cast<std::size_t>(plane.family.parameter)].name;
  const std::string& second = parameters[static_cast<std::size_t>(plane.second)].name;
  const Dataset* points = branches.group("bifurcation");
  if (points == nullptr) refuse("is not the result of a continuation");
  const std::string over = attribute_of(branches, "parameter");
  if (over != first && over != second)
    refuse("must be a continuation over " + first + " or " + second + ", not over " + over);
  double values[2] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  const std::vector<std::string> names = words(attribute_of(branches, "parameter_names"));
  const std::vector<std::string> texts = words(attribute_of(branches, "parameter_values"));
  if (names.size() != parameters.size() || texts.size() != names.size()) refuse("is of another model");
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (names[k] != parameters[k].name) refuse("is of another model");
    const double value = std::stod(texts[k]);
    if (names[k] == first) values[0] = value;
    if (names[k] == second) values[1] = value;
    if (names[k] == first || names[k] == second) continue;
    const double own = plane.family.values[k];
    if (value != own && !(std::isnan(value) && std::isnan(own)))
      refuse("was computed with " + names[k] + " = " + texts[k]);
  }
  std::vector<LocatedPoint> list;
  try {
    const auto& kind = points->values<std::int8_t>("kind");
    const auto& at = points->values<double>(over);
    const auto& contact = points->values<std::int32_t>("contact");
    const auto& branch = points->values<std::int32_t>("branch");
    const auto& periods = points->values<std::int32_t>("forcing_periods");
    const auto& states = points->values<double>("orbit_state");
    const auto& time = points->values<double>("orbit_time");
    const std::size_t n = plane.family.model->states().size();
    if (states.size() != n * kind.size()) refuse("is of another model");
    for (std::size_t k = 0; k < kind.size(); ++k) {
      LocatedPoint p;
      p.seed.kind = static_cast<BifurcationKind>(kind[k]);
      p.seed.contact = contact[k];
      values[over == first ? 0 : 1] = at[k];
      p.seed.orbit.parameter = values[0];
      p.seed.second = values[1];
      p.seed.orbit.periods = periods[k];
      p.seed.orbit.state =
          Eigen::Map<const Eigen::VectorXd>(states.data() + k * n, static_cast<Eigen::Index>(n));
      p.seed.orbit.turn = time[k];
      p.origin = "branch " + std::to_string(branch[k]);
      list.push_back(std::move(p));
    }
  } catch (const std::out_of_range& error) {
    refuse(std::string("is not the result of a continuation: ") + error.what());
  } catch (const std::invalid_argument& error) {
    refuse(std::string("is not the result of a continuation: ") + error.what());
  }
  return list;
}

}  // namespace graze
