#include "drivers/python/system.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/system/event.hpp"

namespace graze::python {
namespace {

/// Keeps the events of a motion.
class EventKeeper final : public Observer {
 public:
  void event(const Event& e) override {
    const auto kept = [](std::span<const double> x) {
      return Eigen::VectorXd(
          Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size())));
    };
    events.push_back({e.time, event_names()[static_cast<std::size_t>(e.kind)], e.contact, e.friction, e.jump,
                      e.approach_speed, e.force, kept(e.before), kept(e.after)});
  }

  std::vector<KeptEvent> events;
};

void require(Outcome outcome) {
  if (outcome == Outcome::ok) return;
  throw MotionError(outcome_names()[static_cast<std::size_t>(outcome)], advice(outcome));
}

}  // namespace

MovingSystem::MovingSystem(Case given, std::optional<Section> section)
    : case_(std::move(given)), problem_(case_.problem), section_(section) {
  system_ = problem_.model->system(problem_.model->values(), problem_.tolerance);
  if (!system_) require(Outcome::bad_parameters);
}

HybridState MovingSystem::state_at(const Eigen::VectorXd& x, double time) const {
  if (x.size() != system_->states())
    throw InputError(
        fmt::format("a state of {} has {} entries, not {}", case_.model->name, system_->states(), x.size()));
  HybridState state;
  state.x = x;
  if (system_->period() > 0) {
    state.turns = static_cast<std::int64_t>(std::floor(time / system_->period()));
    state.time = time - static_cast<double>(state.turns) * system_->period();
  } else {
    state.time = time;
  }
  return state;
}

double MovingSystem::time_of(const HybridState& state) const {
  return state.time + static_cast<double>(state.turns) * system_->period();
}

const Section& MovingSystem::section() const {
  if (section_) return *section_;
  throw InputError(case_.model->name +
                   ": has no forcing at these values, so its map needs a section: map = \"impact\" or "
                   "\"section\"");
}

Moved MovingSystem::moved(HybridState state, const Section& section) {
  EventKeeper keeper;
  require(system_->advance(state, section, &keeper));
  return {std::move(state), std::move(keeper.events)};
}

Moved MovingSystem::advance(HybridState state, double duration) {
  Section to;
  to.kind = Section::Kind::time;
  to.interval = duration;
  const std::lock_guard lock(hand_);
  return moved(std::move(state), to);
}

Mapped MovingSystem::map(const HybridState& state) {
  const std::lock_guard lock(hand_);
  const PoincareMap map(*system_, section());
  Mapped result;
  result.jacobian = Eigen::MatrixXd::Identity(map.dimension(), map.dimension());
  HybridState with_directions = state;
  require(map.iterate(with_directions, result.jacobian));
  result.to = moved(state, section());
  return result;
}

Orbit MovingSystem::orbit(const HybridState& guess, int period) {
  const std::lock_guard lock(hand_);
  Orbit orbit = refine_orbit(PoincareMap(*system_, section()), guess, period);
  if (!orbit.closed)
    throw MotionError(
        "not_closed",
        fmt::format("no orbit of period {} near this state: Newton's method ends at a distance of "
                    "{:.3g} of the orbit's size; begin nearer, with iterates of the map",
                    period, orbit.residual));
  return orbit;
}

std::pair<Eigen::VectorXd, Eigen::VectorXd> MovingSystem::gaps(const HybridState& state) {
  const std::lock_guard lock(hand_);
  std::pair<Eigen::VectorXd, Eigen::VectorXd> result;
  system_->gaps(state, result.first, result.second);
  return result;
}

std::unique_ptr<Family> MovingSystem::family(const std::string& parameter) const {
  const int index = model().parameter_index(parameter);
  if (index < 0) {
    std::vector<std::string> names;
    for (const Parameter& p : model().parameters()) names.push_back(p.name);
    const std::string nearest = nearest_name(parameter, names);
    throw InputError(fmt::format("{} has no parameter {}; {}", case_.model->name, parameter,
                                 nearest.empty() ? fmt::format("there are: {}", fmt::join(names, ", "))
                                                 : fmt::format("did you mean {}?", nearest)));
  }
  return std::make_unique<Family>(
      Family{problem_.model, problem_.model->values(), index, problem_.tolerance, section()});
}

Solution MovingSystem::orbit_of(const Family& family, const HybridState& guess, int period) {
  const Orbit orbit = this->orbit(guess, period);
  NearOrbit near;
  near.parameter = family.values[static_cast<std::size_t>(family.parameter)];
  near.state = orbit.start.x;
  near.periods = period;
  if (!(system_->period() > 0)) {
    HybridState end = orbit.start;
    const std::lock_guard lock(hand_);
    for (int k = 0; k < period; ++k) require(system_->advance(end, section(), nullptr));
    near.turn = time_of(end) - time_of(orbit.start);
  }
  std::optional<Solution> found = find_orbit(family, near);
  if (!found)
    throw MotionError("not_closed",
                      "the orbit at this state cannot be continued: its events have no equations");
  return std::move(*found);
}

BranchWalk::BranchWalk(MovingSystem& system, const std::string& parameter, const HybridState& guess,
                       int period, int direction, const ContinuationOptions& options)
    : family_(system.family(parameter)) {
  if (system.period() > 0 && family_->section.kind != Section::Kind::stroboscopic)
    throw InputError(
        "branches of a forced model need the stroboscopic map: their orbits are given at phase zero");
  walk_.emplace(*family_, system.orbit_of(*family_, guess, period), direction, options);
}

bool BranchWalk::next() {
  const std::lock_guard lock(hand_);
  return walk_->next();
}

}  // namespace graze::python
