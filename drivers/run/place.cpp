#include "drivers/run/place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "drivers/command/array_values.hpp"

namespace graze {
namespace {

constexpr double chaotic_periods = 30;  // shown of a motion that is not periodic
constexpr double shown_orbits = 2;

double forcing_period(const Case& c, const MotionPlace& place) {
  std::vector<double> values = c.problem.model->values();
  for (const auto& [name, value] : place.parameters) {
    const int index = c.problem.model->parameter_index(name);
    if (index >= 0) values[static_cast<std::size_t>(index)] = value;
  }
  const std::unique_ptr<System> system = c.problem.model->system(values, c.problem.tolerance);
  return system ? system->period() : 0;
}

/// A time with whole forcing periods taken off, which only count.
double phase_time(double time, double period) {
  if (!(period > 0)) return 0;
  const double turns = time / period;
  const double rest = (turns - std::floor(turns)) * period;
  const bool whole = std::abs(turns - std::round(turns)) < 1e-9 * std::max(1.0, std::abs(turns));
  return whole ? 0 : rest;
}

/// A table of a case file; what is in it stands on one line each.
std::string table_text(const std::string& name, const Value& table) {
  std::string text = fmt::format("\n[{}]\n", name);
  for (const auto& [key, value] : table.table(name)) text += fmt::format("{} = {}\n", key, value.toml());
  return text;
}

}  // namespace

MotionPlace place_at(const Dataset& data, const Points& points, std::size_t point) {
  MotionPlace place;
  std::size_t row = point;
  for (auto parameter = points.parameters().rbegin(); parameter != points.parameters().rend(); ++parameter) {
    const std::size_t size = data.elements(**parameter);
    place.parameters.emplace(place.parameters.begin(), (*parameter)->name, number(**parameter, row % size));
    row /= size;
  }
  const Array* states = points.find("map_state", {"iterate", "state"});
  if (states == nullptr) throw InputError("the file has no states of the motion (map_state)");
  const std::size_t iterates = data.size("iterate");
  const std::size_t width = data.size("state");
  for (std::size_t k = 0; k < width; ++k)
    place.state.push_back(number(*states, point * iterates * width + k));
  if (std::any_of(place.state.begin(), place.state.end(), [](double x) { return !std::isfinite(x); }))
    throw InputError("there is no motion at this place: the point failed or has not been computed yet");
  const Array* times = points.find("map_time", {"iterate"});
  const Array* period = points.find("period");
  const Array* forcing = points.find("forcing_periods");
  if (times != nullptr) place.time = number(*times, point * iterates);
  const double closes = period == nullptr ? 0 : number(*period, point);
  if (closes >= 1 && forcing != nullptr) place.forcing_periods = std::round(number(*forcing, point));
  if (times != nullptr && iterates > 1) {
    const std::size_t last = closes >= 1 && closes < static_cast<double>(iterates)
                                 ? static_cast<std::size_t>(closes)
                                 : iterates - 1;
    place.duration = number(*times, point * iterates + last) - place.time;
  }
  return place;
}

MotionPlace place_on_branch(const Dataset& data, const std::string& parameter, std::size_t point) {
  MotionPlace place;
  place.parameters = {{parameter, number(data.at(parameter), point)}};
  const std::size_t width = data.size("state");
  const std::size_t iterates = data.size("iterate");
  for (std::size_t s = 0; s < width; ++s)
    place.state.push_back(number(data.at("orbit_state"), point * iterates * width + s));
  place.forcing_periods = std::round(number(data.at("forcing_periods"), point));
  place.duration = number(data.at("orbit_time"), point);
  return place;
}

Value simulation(const Case& c, const MotionPlace& place, double periods) {
  Value analysis;
  analysis.set("name", Value("simulate"));
  if (forcing_period(c, place) > 0) {
    const double shown = place.forcing_periods >= 1 ? shown_orbits * place.forcing_periods : chaotic_periods;
    analysis.set("periods", Value(static_cast<std::int64_t>(std::ceil(periods > 0 ? periods : shown))));
  } else {
    const double duration = place.duration > 0 ? place.duration : 100;
    analysis.set("end_time", Value(duration * (periods > 0 ? periods : shown_orbits)));
    analysis.set("samples", Value(std::int64_t{4000}));
  }
  return analysis;
}

std::string motion_case(const Case& c, const MotionPlace& place, const Value& analysis) {
  const Value& root = c.file.root;
  Value model = root.at("model");
  std::string where;
  for (const auto& [name, value] : place.parameters) {
    model.set(name, Value(value));
    where += fmt::format("{}{} = {:.6g}", where.empty() ? "" : ", ", name, value);
  }
  Value initial;
  initial.set("time", Value(phase_time(place.time, forcing_period(c, place))));
  Value::Array state;
  for (const double x : place.state) state.emplace_back(x);
  initial.set("state", Value(std::move(state)));

  const std::string title = c.title + (where.empty() || c.title.empty() ? "" : ": ") + where;
  std::string text = fmt::format("graze = 1\ntitle = {}\n", Value(title).toml());
  text += table_text("model", model) + table_text("initial", initial) + table_text("analysis", analysis);
  if (const Value* tolerance = root.find("tolerance")) text += table_text("tolerance", *tolerance);
  return text;
}

}  // namespace graze
