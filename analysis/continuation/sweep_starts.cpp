#include "analysis/continuation/sweep_starts.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "analysis/maps/attractor.hpp"
#include "analysis/maps/shifts.hpp"

namespace graze {
namespace {

template <class T>
const std::vector<T>& column(const Dataset& data, const char* name, const Value& key) {
  const Array* array = data.find(name);
  if (array != nullptr) {
    if (const auto* values = std::get_if<std::vector<T>>(&array->values)) return *values;
  }
  throw InputError(key.place(), "analysis.sweep", key.toml(),
                   std::string("the file is no sweep: it has no array ") + name);
}

}  // namespace

SweepStarts::SweepStarts(const Dataset& data, const Family& family, const Value& key)
    : family_(family),
      attractor_(column<std::int8_t>(data, "attractor", key)),
      period_(column<std::int32_t>(data, "period", key)),
      forcing_periods_(column<double>(data, "forcing_periods", key)),
      states_(&column<double>(data, "map_state", key)),
      times_(&column<double>(data, "map_time", key)) {
  const std::string& name = family.model->parameters()[static_cast<std::size_t>(family.parameter)].name;
  const std::vector<std::string>& over = data.at("attractor").dimensions;
  const bool one = over.back() == name && (over.size() == 1 || (over.size() == 2 && over.front() == "start"));
  if (!one) {
    throw InputError(key.place(), "analysis.sweep", key.toml(), "must be a sweep over " + name + " alone");
  }
  values_ = column<double>(data, name.c_str(), key);
  count_ = attractor_.size();
  record_ = data.size("iterate");
  if (states_->size() != count_ * record_ * family.model->states().size()) {
    throw InputError(key.place(), "analysis.sweep", key.toml(), "is a sweep of another model");
  }
}

Start SweepStarts::start(std::size_t point) const {
  Start start;
  start.parameter = parameter(point);
  if (attractor_[point] != static_cast<std::int8_t>(AttractorClass::periodic)) return start;
  const auto system = family_.system(start.parameter);
  if (!system) return start;
  const bool forced = system->period() > 0;
  start.periods = forced ? static_cast<int>(std::lround(forcing_periods_[point])) : period_[point];
  const std::size_t n = static_cast<std::size_t>(system->states());
  HybridState state;
  state.x =
      Eigen::Map<const Eigen::VectorXd>(states_->data() + point * record_ * n, static_cast<Eigen::Index>(n));
  if (forced) {
    state.time = std::fmod((*times_)[point * record_], system->period());
    const double phase = state.time / system->period();
    const bool at_zero = std::min(phase, 1 - phase) < 1e-9;
    if (at_zero) state.time = 0;
    if (!at_zero && system->advance(state, Section{}, nullptr) != Outcome::ok) start.periods = 0;
    start.turn = start.periods * system->period();
  }
  const double begin = state.time;
  for (int k = 0; k < start.periods; ++k) {
    start.orbit.push_back(Shifts(*system).unshifted(state.x));
    if (system->advance(state, family_.section, nullptr) != Outcome::ok) start.periods = 0;
  }
  if (!forced) start.turn = state.time - begin;
  return start;
}

std::vector<Start> SweepStarts::all(const std::string& origin) const {
  std::vector<Start> starts;
  starts.reserve(size());
  for (std::size_t k = 0; k < size(); ++k) {
    starts.push_back(start(k));
    starts.back().origin = origin + " at " + Value(parameter(k)).toml();
  }
  return starts;
}

}  // namespace graze
