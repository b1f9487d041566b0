#include "analysis/solution.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/multipliers.hpp"

namespace graze {
namespace {

using Vector = Eigen::VectorXd;

constexpr std::size_t steps_per_node = 24;

/// Multipliers and test functions, but the one that needs the tangent.
void take_multipliers(BranchPoint& point) {
  point.stable = is_stable(point.multipliers) && !point.multipliers.empty();
  std::complex<double> doubling = 1;
  std::complex<double> torus = 1;
  for (std::size_t i = 0; i < point.multipliers.size(); ++i) {
    doubling *= 1.0 + point.multipliers[i];
    for (std::size_t j = i + 1; j < point.multipliers.size(); ++j) {
      torus *= point.multipliers[i] * point.multipliers[j] - 1.0;
    }
  }
  point.doubling = doubling.real();
  point.torus = torus.real();
}

}  // namespace

std::vector<Vector> told_states(const Family& family, System& system, const Vector& start, int periods,
                                double turn) {
  std::vector<Vector> states;
  HybridState state;
  state.x = start;
  const bool forced = system.period() > 0;
  if (forced) states.push_back(start);
  while (states.size() < static_cast<std::size_t>(periods) &&
         system.advance(state, family.section, nullptr) == Outcome::ok) {
    if (!forced && state.time > turn) break;
    states.push_back(state.x);
  }
  return states;
}

void BranchPoint::set_fold(double direction) {
  fold = direction;
  std::complex<double> product = 1;
  for (const std::complex<double>& m : multipliers) product *= 1.0 - m;
  branching = product.real() / fold;
}

std::shared_ptr<const Shooting> shooting_for(const Family& family, const Itinerary& itinerary,
                                             const Anchor& anchor) {
  // Chatter sequences are no place for a node: what they do depends on the one state they begin with.
  std::vector<std::size_t> nodes;
  std::size_t since = 0;
  for (std::size_t k = 1; k < itinerary.steps.size(); ++k) {
    const Step& step = itinerary.steps[k];
    if (step.length != Leg::Length::given || step.instant || ++since < steps_per_node) continue;
    nodes.push_back(k);
    since = 0;
  }
  return std::make_shared<Shooting>(family, itinerary, anchor, std::move(nodes));
}

Vector without_rounding(const Vector& state, double size) {
  constexpr double rounding = 1e-14;
  return state.unaryExpr([&](double x) { return std::abs(x) <= rounding * size ? 0.0 : x; });
}

Record record_of(System& system, const BranchPoint& point, int periods) {
  return record_turn(system, point.state, periods, point.period / periods);
}

void take_events(const Family& family, System& system, const Record& record, BranchPoint& point) {
  point.signature = signature_of(record);
  point.size = record.size;
  point.orbit = record.states;
  if (!(system.period() > 0)) {
    point.orbit = told_states(family, system, record.states.front(), record.itinerary.periods, point.period);
  }
  point.impacts.assign(family.model->contacts().size(), 0);
  for (const Step& step : record.itinerary.steps) {
    if (step.end == EventKind::impact) ++point.impacts[static_cast<std::size_t>(step.contact)];
  }
}

void take_solution(const Closing& closing, const Metric& metric, Solution& s) {
  const Shooting& shooting = *s.shooting;
  s.u = closing.u;
  BranchPoint& p = s.point;
  p.parameter = s.u(shooting.size());
  p.state = s.start();
  p.period = shooting.turn(s.u);
  p.residual = closing.residual;
  p.fold = s.parameter_slope() / metric.range;
}

void take_stability(Solution& s) {
  BranchPoint& p = s.point;
  if (!p.multipliers.empty()) return;
  p.multipliers = orbit_multipliers(*s.shooting, s.u);
  take_multipliers(p);
  p.set_fold(p.fold);
}

std::optional<Solution> find_orbit(const Family& family, const NearOrbit& near) {
  auto found = refine_orbit(family, near);
  if (found) take_stability(*found);
  return found;
}

std::optional<Solution> refine_orbit(const Family& family, const NearOrbit& near) {
  const std::unique_ptr<System> system = family.system(near.parameter);
  if (!system) return std::nullopt;
  Vector start = near.state;
  double turn = near.turn;
  for (int attempt = 0; attempt < 4; ++attempt) {
    const Record record = record_turn(*system, start, near.periods, turn / near.periods);
    if (record.outcome != Outcome::ok) return std::nullopt;
    const Itinerary itinerary = family.solved(record.itinerary, *system);
    const Anchor anchor = anchor_at(family, near.parameter, start, itinerary.steps.front().mode);
    Solution s;
    s.shooting = shooting_for(family, itinerary, anchor);
    const auto guess = s.shooting->unknowns(start, record.durations, near.parameter);
    if (!guess) return std::nullopt;
    const Closing closing = solve_fixed(*s.shooting, *guess);
    if (!closing.ok) return std::nullopt;
    start = without_rounding(closing.u.head(s.shooting->states()), record.size);
    turn = s.shooting->turn(closing.u);
    const Record own = record_turn(*system, start, near.periods, turn / near.periods);
    if (own.outcome != Outcome::ok || !(family.solved(own.itinerary, *system) == itinerary)) continue;
    const Eigen::Index m = s.shooting->size();
    const Metric metric{own.size + tiny, turn, 1};
    s.tangent = tangent_of(*s.shooting, closing.equations, Vector::Unit(m + 1, m), metric);
    take_solution(closing, metric, s);
    s.point.state = start;
    take_events(family, *system, own, s.point);
    return s;
  }
  return std::nullopt;
}

std::optional<NearOrbit> between_events(const Family& family, const NearOrbit& near) {
  const std::unique_ptr<System> system = family.system(near.parameter);
  if (!system) return std::nullopt;
  if (system->period() > 0) return near;
  const Record record = record_turn(*system, near.state, 1, near.turn);
  if (record.outcome != Outcome::ok) return std::nullopt;
  const auto longest = std::max_element(record.durations.begin(), record.durations.end());
  Section middle;
  middle.interval = *longest / 2;
  for (auto before = record.durations.begin(); before != longest; ++before) middle.interval += *before;
  HybridState state;
  state.x = near.state;
  if (system->advance(state, middle, nullptr) != Outcome::ok) return std::nullopt;
  return NearOrbit{near.parameter, state.x, near.periods, near.turn};
}

}  // namespace graze
