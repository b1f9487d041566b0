#include "analysis/continuation/settled_start.hpp"

#include "analysis/maps/shifts.hpp"

namespace graze {

void check_continued(const Value& table, const Family& family, double parameter) {
  const auto system = family.system(parameter);
  if (!system) return;  // the model says why at the values where it is needed
  const auto refuse = [&](const char* key, const char* rule) {
    throw InputError(table.at(key).place(), std::string("analysis.") + key, table.at(key).toml(), rule);
  };
  if (system->period() > 0 && family.section.kind != Section::Kind::stroboscopic)
    refuse("map", "a forced model needs the stroboscopic map: its orbits are given at phase zero");
  if (!system->periodic()) refuse("name", "needs a model whose forcing repeats");
  if (!Shifts(*system).none() && !(system->period() > 0)) {
    refuse("name",
           "without forcing, needs a model whose motions come back: nothing holds these bodies where they "
           "are, so they drift");
  }
  if (!system->prescribes_slip(family.parameter) && !(system->period() > 0))
    refuse("name", "this model can be continued only with forcing");
}

Start settled_start(const Family& family, double parameter, const HybridState& begin,
                    const AttractorOptions& options, const std::string& origin) {
  Start start;
  start.parameter = parameter;
  start.origin = origin;
  const auto system = family.system(parameter);
  if (!system) return start;
  const Attractor found = find_attractor(PoincareMap(*system, family.section), begin, options);
  if (found.kind != AttractorClass::periodic) return start;
  start.periods = found.orbit.period;
  start.turn = found.end_time - found.start_time;
  const Shifts shifts(*system);
  for (int k = 0; k < found.orbit.period; ++k)
    start.orbit.push_back(shifts.unshifted(Eigen::VectorXd(found.points[static_cast<std::size_t>(k)].x)));
  return start;
}

}  // namespace graze
