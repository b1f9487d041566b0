#include "analysis/continuation/observed_orbits.hpp"

#include <cstddef>
#include <memory>
#include <string>

#include "analysis/continuation/branch_data.hpp"
#include "analysis/maps/itinerary.hpp"
#include "analysis/maps/observables.hpp"

namespace graze {
namespace {

std::vector<Observed> observed_on(const Observables& observables, const Family& family,
                                  const BranchPoint& point) {
  std::vector<double> values = family.values;
  values[static_cast<std::size_t>(family.parameter)] = point.parameter;
  const std::unique_ptr<System> system = family.model->system(values, family.tolerance);
  if (!system || !point.admissible) return std::vector<Observed>(observables.size());
  HybridState start;
  start.x = family.units.out(point.state);
  start.time = time_in_period(*system, point.phase);
  Section once;
  once.kind = Section::Kind::time;
  once.interval = point.period * family.units.time;
  return observe(observables, values, *system, {&start, 1}, once);
}

}  // namespace

void add_observables(Dataset& data, const Observables& observables,
                     const std::vector<std::pair<const Family*, const BranchPoint*>>& points) {
  std::vector<std::vector<Observed>> observed;
  observed.reserve(points.size());
  for (const auto& [family, point] : points) observed.push_back(observed_on(observables, *family, *point));
  for (std::size_t i = 0; i < observables.size(); ++i) {
    const Quantity& q = observables.quantities()[i];
    for (const Observables::Part& part : Observables::parts) {
      std::vector<double> values;
      values.reserve(observed.size());
      for (const std::vector<Observed>& at : observed) values.push_back(at[i].*part.value);
      add_array(data, q.name + part.suffix, {"point"}, std::move(values),
                part.meaning + ("the orbit: " + q.meaning), {}, q.unit);
    }
  }
}

}  // namespace graze
