#include "analysis/continuation/solution.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/continuation/beginning.hpp"
#include "analysis/maps/multipliers.hpp"
#include "analysis/maps/shifts.hpp"

namespace graze {
namespace {

using Vector = Eigen::VectorXd;
using Multipliers = std::vector<std::complex<double>>;

constexpr std::size_t steps_per_node = 24;

/// Multipliers but those of bodies that friction holds, which are 1 but for rounding: test functions would
/// tell its sign.
Multipliers of_change(const BranchPoint& point) {
  Multipliers some = point.multipliers;
  for (int k = 0; k < point.held && !some.empty(); ++k) {
    some.erase(std::min_element(some.begin(), some.end(), [](const auto& a, const auto& b) {
      return std::abs(a - 1.0) < std::abs(b - 1.0);
    }));
  }
  return some;
}

/// Multipliers and test functions, but the one that needs the tangent.
void take_multipliers(BranchPoint& point) {
  const Multipliers multipliers = of_change(point);
  point.stable = is_stable(multipliers) && !point.multipliers.empty();
  std::complex<double> doubling = 1;
  std::complex<double> torus = 1;
  for (std::size_t i = 0; i < multipliers.size(); ++i) {
    doubling *= 1.0 + multipliers[i];
    for (std::size_t j = i + 1; j < multipliers.size(); ++j) torus *= multipliers[i] * multipliers[j] - 1.0;
  }
  point.doubling = doubling.real();
  point.torus = torus.real();
}

}  // namespace

std::vector<Vector> section_states(const Family& family, System& system, const Vector& start, int iterates,
                                   double turn) {
  std::vector<Vector> states;
  HybridState state;
  state.x = start;
  while (states.size() < static_cast<std::size_t>(iterates) &&
         system.advance(state, family.section, nullptr) == Outcome::ok && state.time <= turn) {
    states.push_back(state.x);
  }
  return states;
}

bool repeats(const std::vector<Vector>& orbit, double phase, double size, double same) {
  const std::size_t n = orbit.size();
  const std::size_t first = static_cast<std::size_t>(std::ceil(phase));
  for (std::size_t shift = 1; shift < n; ++shift) {
    if (n % shift != 0) continue;
    const Vector away = orbit[(first + shift) % n] - orbit[first % n];
    if (away.cwiseAbs().maxCoeff() <= same * size) return true;
  }
  return false;
}

void BranchPoint::set_fold(double direction) {
  fold = direction;
  std::complex<double> product = 1;
  for (const std::complex<double>& m : of_change(*this)) product *= 1.0 - m;
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

Vector halves_apart(const Family& family, const BranchPoint& p) {
  const int half = p.signature.periods / 2;
  const auto system = family.system(p.parameter);
  if (half == 0 || p.signature.periods != 2 * half || !system) return {};
  if (system->period() > 0) {
    const Record record = record_turn(*system, p.state, half, 0, p.phase - std::floor(p.phase));
    return record.outcome == Outcome::ok ? Vector(record.end - p.state) : Vector();
  }
  const auto at = [&](int k) { return p.orbit[static_cast<std::size_t>(k)]; };
  return std::ssize(p.orbit) == 2 * half ? Vector(at(half) - at(0)) : Vector();
}

Vector without_rounding(const Vector& state, double size) {
  constexpr double rounding = 1e-14;
  return state.unaryExpr([&](double x) { return std::abs(x) <= rounding * size ? 0.0 : x; });
}

Record record_of(System& system, const BranchPoint& point, int periods) {
  return record_turn(system, point.state, periods, point.period / periods, point.phase);
}

bool is_motion(const Solution& s, const Record& record, const std::vector<double>& durations) {
  constexpr double closure = 1e-8;    // of the size
  constexpr double rounding = 1e-12;  // which an unstable orbit magnifies
  constexpr double instants = 1e-6;   // of the turn: slow impacts move far for little
  const Shooting& shooting = *s.shooting;
  const std::vector<Step>& steps = shooting.itinerary().steps;
  // The equations of a stick or slide that grows from nothing have a second solution, in which it has as
  // little time before its beginning.
  const auto is_negative = [&](std::size_t k) {
    const bool pair = k > 0 && of_friction(steps[k - 1].end) && of_friction(steps[k].end) &&
                      steps[k - 1].contact == steps[k].contact;
    return pair && s.u(shooting.duration_index(k)) < 0 && durations[k] > 0;
  };
  double late = 0;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (is_negative(k)) return false;
    late += durations[k] - s.u(shooting.duration_index(k));
    if (!Leg::finds_end(steps[k].length) && std::abs(late) > instants * s.point.period) return false;
  }
  const double apart = std::max(record.apart, (record.end - s.point.state).cwiseAbs().maxCoeff());
  const double open = apart / (record.size + tiny);
  if (open <= closure) return true;
  if (!(open <= 1e-3)) return false;
  const auto multipliers = orbit_multipliers(shooting, s.u);
  return !multipliers.empty() && open <= rounding * std::abs(multipliers.front());
}

void take_signature(const Record& record, std::size_t contacts, BranchPoint& point) {
  point.signature = signature_of(record);
  point.impacts.assign(contacts, 0);
  for (const Step& step : record.itinerary.steps) {
    if (is_hit(step.end)) ++point.impacts[static_cast<std::size_t>(step.contact)];
  }
}

void take_events(const Family& family, System& system, const Record& record, BranchPoint& point) {
  take_signature(record, family.model->contacts().size(), point);
  point.size = record.size;
  point.orbit = record.states;
  if (!(system.period() > 0)) {
    point.orbit =
        section_states(family, system, record.states.front(), record.itinerary.periods, point.period);
  }
}

void take_solution(const Closing& closing, const Metric& metric, Solution& s) {
  const Shooting& shooting = *s.shooting;
  s.u = closing.u;
  BranchPoint& p = s.point;
  p.parameter = s.u(shooting.size());
  p.state = s.start();
  p.phase = shooting.anchor().phase;
  p.period = shooting.turn(s.u);
  p.residual = closing.residual;
  p.held = shooting.held(closing.equations.slope);
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

std::optional<Solution> refine_orbit(const Family& family, const NearOrbit& about) {
  const std::unique_ptr<System> system = family.system(about.parameter);
  if (!system) return std::nullopt;
  const bool at_phase_zero = system->period() > 0 && about.phase == 0;  // wherever events are
  const auto begun = at_phase_zero ? between_events(family, about) : about;
  if (!begun) return std::nullopt;
  const NearOrbit& near = *begun;
  Vector start = Shifts(*system).unshifted(near.state);
  double turn = near.turn;
  for (int attempt = 0; attempt < 4; ++attempt) {
    const Record record = record_turn(*system, start, near.periods, turn / near.periods, near.phase);
    if (record.outcome != Outcome::ok) return std::nullopt;
    const Prescription prescription = family.prescribed(record, *system);
    const Itinerary& itinerary = prescription.itinerary;
    Anchor anchor = anchor_at(family, near.parameter, start, itinerary.steps.front().mode);
    anchor.phase = near.phase;
    Solution s;
    s.shooting = shooting_for(family, itinerary, anchor);
    const auto guess = s.shooting->unknowns(start, prescription.durations, near.parameter);
    if (!guess) return std::nullopt;
    const Closing closing = solve_fixed(*s.shooting, *guess);
    if (!closing.ok) return std::nullopt;
    start = without_rounding(closing.u.head(s.shooting->states()), record.size);
    turn = s.shooting->turn(closing.u);
    const Record own = record_turn(*system, start, near.periods, turn / near.periods, near.phase);
    if (own.outcome != Outcome::ok) continue;
    const Prescription taken = family.prescribed(own, *system);
    if (!(taken.itinerary == itinerary)) continue;
    const Eigen::Index m = s.shooting->size();
    const Metric metric{own.size + tiny, turn, 1};
    s.tangent = tangent_of(*s.shooting, closing.equations, Vector::Unit(m + 1, m), metric);
    take_solution(closing, metric, s);
    s.point.state = start;
    if (!is_motion(s, own, taken.durations)) continue;
    take_events(family, *system, own, s.point);
    return s;
  }
  return std::nullopt;
}

}  // namespace graze
