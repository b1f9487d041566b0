#include "analysis/continuation/curve.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

#include "analysis/continuation/beginning.hpp"
#include "analysis/continuation/slip_border.hpp"
#include "analysis/maps/multipliers.hpp"
#include "core/math/dense.hpp"
#include "core/math/spectra.hpp"

namespace graze {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using Kind = BifurcationKind;
using Multipliers = std::vector<std::complex<double>>;

constexpr int most_changes = 200;  // of the events, on one curve in one direction

/// The multipliers but those that define a curve.
Multipliers others(Multipliers all, Kind kind) {
  const auto drop = [&](const std::complex<double>& at) {
    const auto nearest = std::min_element(all.begin(), all.end(), [&](const auto& a, const auto& b) {
      return std::abs(a - at) < std::abs(b - at);
    });
    if (nearest != all.end()) all.erase(nearest);
  };
  if (kind == Kind::fold || kind == Kind::branch_point) drop(1);
  if (kind == Kind::period_doubling) drop(-1);
  if (kind != Kind::neimark_sacker) return all;
  const auto nearest = std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
    const auto away = [](const std::complex<double>& m) {
      return std::abs(std::abs(m) - 1) + (m.imag() == 0 ? 1e-3 : 0);
    };
    return away(a) < away(b);
  });
  if (nearest == all.end()) return all;
  const std::complex<double> pair = *nearest;
  drop(pair);
  drop(std::conj(pair));
  return all;
}

/// Π(μ_i μ_j − 1) over pairs.
double torus_function(const Multipliers& m) {
  std::complex<double> product = 1;
  for (std::size_t i = 0; i < m.size(); ++i)
    for (std::size_t j = i + 1; j < m.size(); ++j) product *= m[i] * m[j] - 1.0;
  return product.real();
}

/// The orbit's own record without what belongs to the curve's condition, to be compared with its word:
/// touches may or may not come out as hits, with hardly any speed.
Itinerary without_touches(Prescription taken, int contact, double slow) {
  Itinerary& itinerary = taken.itinerary;
  for (std::size_t k = itinerary.steps.size(); k-- > 0;) {
    const Step& step = itinerary.steps[k];
    if (!is_hit(step.end) || step.contact != contact || !(taken.speeds[k] <= slow)) continue;
    std::size_t touch = k;
    touch_instead(itinerary, taken.durations, touch);
    k = touch;
  }
  std::vector<Step> kept;
  for (const Step& step : itinerary.steps) {
    if (step.end == EventKind::graze) continue;
    kept.push_back(step);
    if (step.length == Leg::Length::own) kept.back().mode = 0;  // what it heeds hangs on where it is cut
  }
  itinerary.steps = std::move(kept);
  return itinerary;
}

/// What the word of a solution would leave as a record.
Record told(const CurveSolution& s) {
  Record r;
  r.itinerary = s.equations->itinerary();
  double time = 0;
  for (std::size_t k = 0; k < r.itinerary.steps.size(); ++k) {
    r.times.push_back(time += s.x(s.equations->duration_index(k)));
    r.speeds.push_back(is_hit(r.itinerary.steps[k].end) ? s.values.orbit.measure(static_cast<Eigen::Index>(k))
                                                        : 0);
  }
  return r;
}

/// Whether what holds a body begins or ceases to along a curve: beside it the motion has events near the
/// condition's that it has not on the other side.
bool of_hold(Kind kind) { return of_slip(kind) || kind == Kind::stick_border; }

bool touches(Kind kind) { return kind == Kind::grazing || kind == Kind::rising_border; }

/// Direction of the curve: the null vector of the slope, of length one in the weights.
Vector null_direction(const CurveValues& v, const Vector& weights) {
  const Matrix scaled = v.slope * weights.cwiseInverse().asDiagonal();
  return right_singular_vectors(scaled).rightCols(1).col(0).cwiseQuotient(weights);
}

/// The same near a known direction.
Vector direction_along(const CurveValues& v, const Vector& weights, const Vector& about) {
  const Eigen::Index n = v.slope.cols();
  Matrix all(n, n);
  all << v.slope, weights.cwiseAbs2().cwiseProduct(about).transpose();
  const Vector t = shortest_solution(all, Vector::Unit(n, n - 1));
  return t / weights.cwiseProduct(t).norm();
}

Eigen::RowVectorXd plane(const Vector& weights, const Vector& direction) {
  return weights.cwiseAbs2().cwiseProduct(direction).transpose();
}

/// A function along a kind of curve that is zero at points of codimension two.
struct Test {
  Codim2Kind kind;
  int sense;
  double (*function)(const CurveSolution&);
};

double cusp(const CurveSolution& s) {
  const Eigen::Index m = s.equations->orbit_size();
  const Vector w = s.values.right.col(0).cwiseQuotient(s.weights.head(m));
  return -s.values.slope.row(m).head(m).dot(w);
}
/// uᵀ E w: a second multiplier at the same place.
double double_multiplier(const CurveSolution& s) {
  const Eigen::Index m = s.equations->orbit_size();
  const Eigen::Index n = s.equations->states();
  const Vector w = s.values.right.col(0).cwiseQuotient(s.weights.head(m));
  return s.values.left.col(0).tail(n).dot(w.head(n));
}
double unit_determinant(const CurveSolution& s) { return s.equations->determinant(s.values.orbit, false); }
double flip_determinant(const CurveSolution& s) { return s.equations->determinant(s.values.orbit, true); }
double other_torus(const CurveSolution& s) {
  return torus_function(others(s.point.orbit.multipliers, s.equations->condition().kind));
}
template <int Numerator, int Denominator>
double cosine(const CurveSolution& s) {
  return s.equations->extra(s.x) - static_cast<double>(Numerator) / Denominator;
}
double torus_and_fold(const CurveSolution& s) { return unit_determinant(s) / (1 - s.equations->extra(s.x)); }
double torus_and_flip(const CurveSolution& s) { return flip_determinant(s) / (1 + s.equations->extra(s.x)); }

/// Whether the hit at the end of a step changes velocities or accelerations: not that of a compliant contact
/// whose force begins from zero. Frictions, too, may change there; of these only the contact's share counts.
bool has_force_from_the_first(const Touched& hit, std::size_t step) {
  constexpr double rounding = 1e-9;
  const Shooting& shooting = *hit.shooting;
  const double parameter = hit.u(shooting.size());
  const auto system = shooting.family().system(parameter);
  if (!system) return false;
  const Step& own = shooting.itinerary().steps[step];
  const std::int64_t open = moves_by_itself(shooting.itinerary()) ? 0 : own.mode;
  const std::int64_t engaged = system->with_contact(open, own.contact, true);
  if (engaged == open) return true;  // rigid
  const auto legs = shooting.placed_legs(hit.u);
  if (!legs) return false;
  const auto rate = [&](std::int64_t mode) {
    return velocity_at(shooting.family(), parameter, (*legs)[step + 1].state, mode);
  };
  const Vector before = rate(open), behind = rate(engaged);
  return before.size() > 0 && behind.size() > 0 && (behind - before).norm() > rounding * before.norm();
}

/// Determinant of the equations with a hit where the guard touches zero. None where it is zero all along the
/// curve: where the hit is a contact whose forces begin from zero, as the parameter is even in its speed;
/// where a turn forgets how it began, as one that sticks does, and the hit with it; and in the plane without
/// forcing, where a touch changes the velocity along the flow.
double with_hit(const CurveSolution& s, bool doubling) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  constexpr double forgotten = 1e-12;
  const Multipliers& multipliers = s.point.orbit.multipliers;
  if (!multipliers.empty() && std::abs(multipliers.front()) < forgotten) return none;
  const CurveEquations& eq = *s.equations;
  const double second = eq.second(s.x);
  const Family family = eq.plane().at(second);
  if (eq.states() == 2 && !eq.shooting(family).forced()) return none;
  std::size_t step = eq.condition().step;
  const auto there = as_hit(eq.shooting(family), eq.orbit_of(s.x), step);
  if (!there) return none;
  if (!has_force_from_the_first(*there, eq.condition().step)) return none;
  const CurveEquations hit(eq.plane(), there->shooting->itinerary(), eq.anchor(), {});
  const auto at = hit.orbit_values(hit.unknowns(there->u, second));
  return at ? hit.determinant(*at, doubling) : none;
}
double hit_fold(const CurveSolution& s) { return with_hit(s, false); }
double hit_flip(const CurveSolution& s) { return with_hit(s, true); }
bool is_touch(const CurveSolution& s) {
  return s.equations->itinerary().steps[s.equations->condition().step].end == EventKind::graze;
}
/// How fast what is left of the bound grows where sliding ends.
double stick_rate(const CurveSolution& s) {
  if (is_touch(s)) return std::numeric_limits<double>::quiet_NaN();
  const Family family = s.equations->plane().at(s.equations->second(s.x));
  return bound_rate(s.equations->shooting(family), s.equations->orbit_of(s.x), s.equations->condition().step);
}
/// Acceleration of the guard where it touches.
double guard_acceleration(const CurveSolution& s) {
  const Family family = s.equations->plane().at(s.equations->second(s.x));
  const std::size_t step = s.equations->condition().step;
  if (!is_touch(s)) return std::numeric_limits<double>::quiet_NaN();
  return s.values.orbit.slope(s.equations->shooting(family).guard_row(step),
                              s.equations->duration_index(step));
}
/// uᵀ [F'''www/6 + F''(w, h)], A h = −F''ww/2: the cubic coefficient of the doubled orbit. None where no two
/// steps agree about it: so near to a border at which the motion changes.
double doubling_coefficient(const CurveSolution& s) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  constexpr double agree = 1e-2;
  constexpr int looks = 4;
  const CurveEquations& eq = *s.equations;
  const Eigen::Index m = eq.orbit_size();
  const Vector w = s.values.right.col(0).cwiseQuotient(s.weights.head(m));
  const Vector u = s.values.left.col(0);
  const double length = s.values.right.col(0).norm();
  double size = 0;  // of its two parts
  const auto coefficient = [&](double step) {
    Vector moved = s.x;
    moved.head(m) += step * w;
    const auto ahead = eq.orbit_values(moved);
    moved.head(m) = s.x.head(m) - step * w;
    const auto behind = eq.orbit_values(moved);
    if (!ahead || !behind) return none;
    const Matrix change = (ahead->slope - behind->slope).leftCols(m) / (2 * step);
    const Matrix curvature =
        (ahead->slope - 2 * s.values.orbit.slope + behind->slope).leftCols(m) / (step * step);
    const Vector h = linear_solve(Matrix(s.values.orbit.slope.leftCols(m)), Vector(-0.5 * change * w));
    size = std::abs(u.dot(curvature * w / 6)) + std::abs(u.dot(change * h));
    return u.dot(curvature * w / 6 + change * h);
  };
  const auto extrapolated = [](double coarse, double fine) { return (4 * fine - coarse) / 3; };  // Richardson
  double step = 2e-3 / length;
  double coarse = coefficient(step), fine = coefficient(step / 2);
  for (int k = 0; k < looks; ++k) {
    const double finer = coefficient(step / 4);
    const double value = extrapolated(coarse, fine);
    if (std::abs(extrapolated(fine, finer) - value) <= agree * size) return value;
    coarse = fine;
    fine = finer;
    step /= 2;
  }
  return none;
}

const std::vector<Test>& tests_of(Kind kind) {
  static const std::vector<Test> fold = {{Codim2Kind::cusp, 0, cusp},
                                         {Codim2Kind::fold_flip, 0, flip_determinant},
                                         {Codim2Kind::resonance_1_1, 0, double_multiplier},
                                         {Codim2Kind::fold_neimark_sacker, 0, other_torus}};
  static const std::vector<Test> doubling = {
      {Codim2Kind::fold_flip, 0, unit_determinant},
      {Codim2Kind::resonance_1_2, 0, double_multiplier},
      {Codim2Kind::generalized_period_doubling, 0, doubling_coefficient},
      {Codim2Kind::flip_neimark_sacker, 0, other_torus}};
  static const std::vector<Test> torus = {{Codim2Kind::resonance_1_1, 0, cosine<1, 1>},
                                          {Codim2Kind::resonance_1_2, 0, cosine<-1, 1>},
                                          {Codim2Kind::resonance_1_3, 0, cosine<-1, 2>},
                                          {Codim2Kind::resonance_1_4, 0, cosine<0, 1>},
                                          {Codim2Kind::fold_neimark_sacker, 0, torus_and_fold},
                                          {Codim2Kind::flip_neimark_sacker, 0, torus_and_flip}};
  static const std::vector<Test> grazing = {{Codim2Kind::resonant_grazing, 1, hit_fold},
                                            {Codim2Kind::resonant_grazing, -1, hit_flip},
                                            {Codim2Kind::grazing_fold, 0, unit_determinant},
                                            {Codim2Kind::grazing_period_doubling, 0, flip_determinant},
                                            {Codim2Kind::grazing_neimark_sacker, 0, other_torus},
                                            {Codim2Kind::degenerate_grazing, 0, guard_acceleration}};
  static const std::vector<Test> rising = {{Codim2Kind::degenerate_grazing, 0, guard_acceleration}};
  static const std::vector<Test> slip = {{Codim2Kind::stick_corner, 0, stick_rate},
                                         {Codim2Kind::degenerate_grazing, 0, guard_acceleration}};
  static const std::vector<Test> none;
  switch (kind) {
    case Kind::fold:
      return fold;
    case Kind::period_doubling:
      return doubling;
    case Kind::neimark_sacker:
      return torus;
    case Kind::grazing:
      return grazing;
    case Kind::rising_border:
      return rising;
    case Kind::slip_border:
    case Kind::reversal_border:
      return slip;
    default:
      return none;
  }
}

std::vector<double> tests_at(const CurveSolution& s) {
  std::vector<double> values;
  for (const Test& test : tests_of(s.equations->condition().kind)) values.push_back(test.function(s));
  return values;
}

/// Whether an impact has lost its speed: there every multiplier solves the equations of a spectral curve
/// whose orbit ends in a resonant grazing, and equations with a contact that begins and ends there are
/// singular, so that tests of further multipliers say nothing.
bool has_lost_impact(const CurveSolution& s) {
  constexpr double slow = 1e-6;  // of the greatest state
  const Kind kind = s.equations->condition().kind;
  if (!is_spectral(kind) && kind != Kind::grazing) return false;
  return slowest_single_hit(s.equations->itinerary(), s.values.orbit.measure) <= slow * s.size();
}

/// The same point in another form, its tangent in the sense of the curve so far.
std::optional<CurveSolution> in_sense_of(const CurveSolution& s, std::optional<CurveSolution> again) {
  if (!again) return std::nullopt;
  const auto parameters = [](const CurveSolution& c) -> Eigen::Vector2d {
    const Eigen::Index m = c.equations->orbit_size();
    return c.tangent.segment(m, 2).cwiseProduct(c.weights.segment(m, 2));
  };
  if (parameters(*again).dot(parameters(s)) < 0) again->tangent = -again->tangent;
  again->point.orbit.admissible = s.point.orbit.admissible;
  return again;
}

/// Impacts of two contacts in the order of their times, beside the instant at which they coincide; the places
/// of a chatter sequence with them. Nothing: other events have exchanged their order.
std::optional<Prescription> put_in_order(Prescription form, ChatterStick& stick) {
  std::vector<Step>& steps = form.itinerary.steps;
  std::vector<double>& durations = form.durations;
  for (int exchanges = 0; exchanges < most_changes; ++exchanges) {
    std::size_t k = 0;
    while (k < steps.size() && (steps[k].instant || !(durations[k] < 0))) ++k;
    if (k == steps.size()) return form;
    const bool impacts = k > 0 && steps[k].end == EventKind::impact && steps[k - 1].end == EventKind::impact;
    if (!impacts || steps[k].contact == steps[k - 1].contact || steps[k + 1].instant) return std::nullopt;
    std::swap(steps[k - 1].contact, steps[k].contact);
    for (std::size_t i = k - 1; i <= k + 1; ++i) steps[i].length = Leg::Length::given;
    durations[k - 1] += durations[k];
    durations[k + 1] += durations[k];
    durations[k] = -durations[k];
    if (stick.impact == k - 1)
      stick.impact = k;
    else if (stick.impact == k)
      stick.impact = k - 1;
  }
  return std::nullopt;
}

/// On a border of chatter: speed of the last impact that is followed.
double last_speed(const CurveSolution& s) {
  return s.values.orbit.measure(static_cast<Eigen::Index>(s.equations->condition().stick.impact));
}

/// The curve of a further multiplier, or pair of them, that meets a curve at such a point; nothing: none.
std::optional<Kind> spectral_curve(Codim2Kind kind, Kind curve) {
  const bool torus = curve == Kind::neimark_sacker;
  switch (kind) {
    case Codim2Kind::grazing_fold:
      return Kind::fold;
    case Codim2Kind::grazing_period_doubling:
      return Kind::period_doubling;
    case Codim2Kind::grazing_neimark_sacker:
      return Kind::neimark_sacker;
    case Codim2Kind::fold_neimark_sacker:
      return torus ? Kind::fold : Kind::neimark_sacker;
    case Codim2Kind::flip_neimark_sacker:
      return torus ? Kind::period_doubling : Kind::neimark_sacker;
    default:
      return std::nullopt;
  }
}

std::string corner_of(const Model& model, int place) {
  return codim2_names()[static_cast<std::size_t>(Codim2Kind::stick_corner)] + " of friction " +
         model.frictions()[static_cast<std::size_t>(-1 - place)].name;
}

/// Solved and told where Newton's method has come to.
CurveSolution told_at(const std::shared_ptr<const CurveEquations>& equations, const Borders& borders,
                      const Vector& weights, NewtonResult<CurveValues> found, double size,
                      const Vector& about) {
  CurveSolution s;
  s.equations = equations;
  s.weights = weights;
  s.x = std::move(found.x);
  s.values = std::move(*found.values);
  s.borders = equations->renewed(borders, s.values);
  s.iterations = found.iterations;
  s.tangent = direction_along(s.values, weights, about);
  s.point.orbit.size = size;
  return s;
}

/// Why a curve of Neimark-Sacker points ends at a resonance.
std::string no_pair_behind(Codim2Kind resonance) {
  return codim2_names()[static_cast<std::size_t>(resonance)] +
         ": behind it no pair of multipliers lies on the unit circle";
}

}  // namespace

const std::vector<std::string>& codim2_names() {
  static const std::vector<std::string> names = {"cusp",
                                                 "fold_flip",
                                                 "resonance_1_1",
                                                 "resonance_1_2",
                                                 "resonance_1_3",
                                                 "resonance_1_4",
                                                 "fold_neimark_sacker",
                                                 "flip_neimark_sacker",
                                                 "generalized_period_doubling",
                                                 "resonant_grazing",
                                                 "double_grazing",
                                                 "grazing_fold",
                                                 "grazing_period_doubling",
                                                 "grazing_neimark_sacker",
                                                 "degenerate_grazing",
                                                 "rising_border",
                                                 "chatter_grazing",
                                                 "simultaneous",
                                                 "release_moves",
                                                 "stick_corner",
                                                 "slip_grazing"};
  return names;
}

std::optional<CurveSolution> solve_near(const Plane& plane_of, const Itinerary& itinerary,
                                        const Anchor& anchor, const CurveCondition& condition,
                                        const Vector& orbit, double second, double extra, double size) {
  const auto equations = std::make_shared<const CurveEquations>(plane_of, itinerary, anchor, condition);
  const Vector guess = equations->unknowns(orbit, second, extra);
  const Vector weights = equations->weights(guess, size);
  const auto borders = equations->borders(guess, weights);
  if (!borders) return std::nullopt;
  const auto there = equations->values(guess, *borders, weights);
  if (!there) return std::nullopt;
  const Vector along = null_direction(*there, weights);
  auto found = solve_curve(*equations, *borders, weights, guess, plane(weights, along));
  if (!found.ok) return std::nullopt;
  CurveSolution s = told_at(equations, *borders, weights, std::move(found), size, along);
  take_point(s);
  return s;
}

void take_point(CurveSolution& s, States states) {
  const CurveEquations& eq = *s.equations;
  BranchPoint& p = s.point.orbit;
  const Family family = eq.plane().at(eq.second(s.x));
  Solution orbit;
  orbit.shooting = std::make_shared<Shooting>(eq.shooting(family));
  orbit.u = eq.orbit_of(s.x);
  p.parameter = eq.first(s.x);
  s.point.second = eq.second(s.x);
  p.state = without_rounding(s.x.head(eq.states()), p.size);
  p.phase = eq.anchor().phase;
  p.period = orbit.shooting->turn(orbit.u);
  p.residual = s.values.residual.cwiseAbs().maxCoeff();
  p.multipliers = orbit_multipliers(*orbit.shooting, orbit.u);
  const Multipliers rest = others(p.multipliers, eq.condition().kind);
  p.stable = !p.multipliers.empty() && is_stable(rest);
  orbit.point = p;
  if (states == States::all) p.orbit = states_on_section(orbit);
  Record record = told(s);
  if (moves_by_itself(eq.itinerary())) {
    const auto system = family.system(p.parameter);
    if (system) record = record_of(*system, p, eq.itinerary().periods);
  }
  take_signature(record, family.model->contacts().size(), p);
}

CurveWalk::CurveWalk(CurveSolution start, int direction, const CurveOptions& options)
    : options_(options), now_(std::move(start)), step_(options.first_step) {
  if (direction < 0) now_.tangent = -now_.tangent;
  constexpr double rounding = 1e-9;  // of the size and the rate: it begins where an impact has no speed
  const Cause cause = cause_of(now_);
  const auto system = now_.equations->plane().at(now_.point.second).system(now_.point.orbit.parameter);
  const double fast = system ? now_.size() * system->rate() : 0;
  const bool at_end =
      cause.what == Cause::What::speed &&
      std::abs(now_.values.orbit.measure(static_cast<Eigen::Index>(cause.step))) <= rounding * fast;
  now_.point.orbit.admissible = cause.what == Cause::What::none || at_end;
  tests_ = tests_at(now_);
  apart_ = halves_of(now_);
  if (now_.equations->condition().kind != Kind::chatter_border) return;
  constexpr double slow = 1e-8;  // of the size and the rate: slower ones lose their digits
  speed_ = std::max(last_speed(now_), slow * fast);
}

/// The solution in the plane across the tangent at this arclength from a point.
std::optional<CurveSolution> CurveWalk::at(const CurveSolution& from, double step, States states) const {
  const CurveEquations& eq = *from.equations;
  const Vector guess = from.x + step * from.tangent;
  auto found = solve_curve(eq, from.borders, from.weights, guess, plane(from.weights, from.tangent));
  if (!found.ok) return std::nullopt;
  CurveSolution s =
      told_at(from.equations, from.borders, from.weights, std::move(found), from.size(), from.tangent);
  take_point(s, states);
  return s;
}

/// Why the motion does not take the orbit of a solution; none where it does.
CurveWalk::Cause CurveWalk::cause_of(CurveSolution& s) const {
  constexpr double depth = 1e-9;   // of the orbit's size: deeper is no rounding
  constexpr double hardly = 1e-4;  // speed of a touch that comes out as an impact, of the size and the rate
  const CurveEquations& eq = *s.equations;
  const CurveCondition& condition = eq.condition();
  const Family family = eq.plane().at(s.point.second);
  const BranchPoint& p = s.point.orbit;
  const std::vector<Step>& steps = eq.itinerary().steps;
  const auto system = family.system(p.parameter);
  if (!system) return {Cause::What::other};
  const Vector& measure = s.values.orbit.measure;
  const std::vector<bool> inside = chattering(eq.itinerary(), measure);
  const bool holds =
      family.in_full && (of_hold(condition.kind) || (system->frictions() > 0 && !touches(condition.kind) &&
                                                     condition.kind != Kind::chatter_border));
  // Of a motion that is its own mirror two events come to a border at once.
  const double none = depth * p.size * system->rate() * system->rate();
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const bool own =
        !is_spectral(condition.kind) &&
        (k == condition.step || (k + 1 == condition.step && condition.kind == Kind::stick_border));
    const double value = measure(static_cast<Eigen::Index>(k));
    const bool slips = of_friction(steps[k].end);
    if (is_hit(steps[k].end) && !inside[k] && !(value > 0) && !(own && touches(condition.kind)))
      return {Cause::What::speed, k};
    if (!is_hit(steps[k].end) && steps[k].end != EventKind::section && steps[k].end != EventKind::graze &&
        !(value > 0) && condition.kind != Kind::chatter_border && !(own && of_hold(condition.kind)) && !slips)
      return {Cause::What::other, k};
    if (slips && !own && !(value > -none)) return {Cause::What::slip, k};
    const double early = slips ? depth * p.period : 0;
    if (s.x(eq.duration_index(k)) < -early && !steps[k].instant && !(own && !of_slip(condition.kind)))
      return {Cause::What::order, k};
  }
  bool closes = true;
  if (condition.kind != Kind::chatter_border) {
    const Record record = record_of(*system, p, eq.itinerary().periods);
    const int contact = touches(condition.kind) ? condition.contact : -1;
    const double slow = hardly * p.size * system->rate();
    if (record.outcome == Outcome::ok) {
      const Prescription taken = family.prescribed(record, *system);
      const auto beside = [&](const Prescription& any, int touched, double speed) {
        constexpr double brief = 1e-4;
        return holds ? without_brief(any, brief * p.period) : without_touches(any, touched, speed);
      };
      const Itinerary own = beside(taken, contact, slow);
      const Itinerary word =
          beside({eq.itinerary(), eq.shooting(family).durations(eq.orbit_of(s.x)), {}, {}}, -1, 0);
      const double open = (record.end - p.state).cwiseAbs().maxCoeff() / (record.size + tiny);
      const double worst = growth_of(p.multipliers);
      const double closure = contact >= 0 ? 1e-5 : 1e-8;
      constexpr double far = 1e-3;  // more than a touch that comes out as an impact, or does not, may do
      closes = open <= far * worst;
      if (own == word && open <= closure * worst) return {};
      if (holds && open <= closure * worst &&
          goes_along(*system, eq.shooting(family), eq.orbit_of(s.x), p, closure * worst))
        return {};
      if (!touches(condition.kind) && signature_of(record) == p.signature && open <= 1e-5 * worst) {
        if (auto again = remade(s)) s = std::move(*again);
        return {};
      }
    }
  }
  if (moves_by_itself(eq.itinerary())) return {Cause::What::other};
  std::vector<int> contacts(family.model->contacts().size());
  std::iota(contacts.begin(), contacts.end(), 0);
  if (family.in_full) {
    const std::vector<int> frictions = friction_places(*family.model);
    contacts.insert(contacts.end(), frictions.begin(), frictions.end());
  }
  const std::vector<Dip> dips = dips_of(eq.shooting(family), eq.orbit_of(s.x), contacts, depth * p.size);
  if (dips.empty()) return {holds || !closes ? Cause::What::other : Cause::What::none};
  const auto deepest = std::min_element(dips.begin(), dips.end(),
                                        [](const Dip& a, const Dip& b) { return a.guard < b.guard; });
  return {Cause::What::dip, deepest->step, *deepest};
}

/// The equations of the curve with the events that the motion itself has from a beginning on, `shift` later
/// in the turn than that of the solution; nothing where the condition has no event there.
std::optional<CurveWalk::Retold> CurveWalk::retold(const CurveSolution& s, const Vector& start, double phase,
                                                   double shift) const {
  const CurveEquations& eq = *s.equations;
  CurveCondition condition = eq.condition();
  const Family family = eq.plane().at(s.point.second);
  if (condition.kind == Kind::chatter_border) {
    auto ordered = put_in_order({eq.itinerary(), eq.shooting(family).durations(eq.orbit_of(s.x)), {}, {}},
                                condition.stick);
    if (!ordered) return std::nullopt;
    return Retold{std::move(*ordered), condition};
  }
  const auto system = family.system(s.point.orbit.parameter);
  if (!system) return std::nullopt;
  BranchPoint from = s.point.orbit;
  from.state = start;
  from.phase = phase;
  Record record = record_of(*system, from, eq.itinerary().periods);
  if (record.outcome != Outcome::ok) return std::nullopt;
  std::vector<Step>& steps = record.itinerary.steps;
  const std::vector<Step>& old = eq.itinerary().steps;
  const double turn = s.point.orbit.period;
  if (of_slip(condition.kind)) {
    const auto form = slip_form_at(family.prescribed(record, *system), condition.contact, is_touch(s),
                                   told(s).times[condition.step] - shift);
    if (!form) return std::nullopt;
    condition.step = form->step;
    return Retold{{form->itinerary, form->durations, {}, {}}, condition};
  }
  if (is_spectral(condition.kind)) return Retold{family.prescribed(record, *system), condition};
  const auto end_of = [](const std::vector<double>& durations, std::size_t k) {
    return std::accumulate(durations.begin(), durations.begin() + static_cast<std::ptrdiff_t>(k) + 1, 0.0);
  };
  const double told_time = told(s).times[condition.step] - shift;
  const double time = shift > 0 && told_time < 0 ? told_time + turn : told_time;
  const int contact = old[condition.step].contact;
  constexpr double near = 1e-2, same = 1e-9;  // of the turn
  const auto nearest_of = [&](const std::vector<Step>& all, const std::vector<double>& durations,
                              double instant, double within, const auto& fits) {
    std::size_t nearest = all.size();
    double away = within * turn;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const double distance = std::abs(end_of(durations, k) - instant);
      if (all[k].contact != contact || !fits(all[k]) || !(distance < away)) continue;
      away = distance;
      nearest = k;
    }
    return nearest;
  };
  if (!touches(condition.kind)) {
    Retold r{family.prescribed(record, *system), condition};
    std::vector<Step>& taken = r.taken.itinerary.steps;
    const std::vector<double>& durations = r.taken.durations;
    const auto alike = [&](const Step& step) { return step.end == old[condition.step].end; };
    std::size_t nearest = nearest_of(taken, durations, time, near, alike);
    if (nearest >= taken.size()) return std::nullopt;
    // Of two events at one instant the later is the condition's, whichever it is.
    const bool coincides = condition.kind != Kind::stick_border;
    if (coincides && nearest + 1 < taken.size() && durations[nearest + 1] < durations[nearest]) ++nearest;
    r.condition.step = nearest;
    taken[nearest].instant = false;
    return r;
  }
  constexpr double slow = 1e-2;
  const auto hits = [](const Step& step) { return is_hit(step.end); };
  const std::size_t nearest = nearest_of(steps, record.durations, time, near, hits);
  if (nearest < steps.size() && record.speeds[nearest] < slow * s.size() * system->rate()) {
    condition.step = nearest;
  } else {
    std::size_t k = 0;
    while (k + 1 < steps.size() && end_of(record.durations, k) < time) ++k;
    const double begin = end_of(record.durations, k) - record.durations[k];
    Step touch = steps[k];
    touch.end = EventKind::impact;
    touch.contact = condition.contact;
    touch.instant = false;
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(k), touch);
    record.durations[k] -= time - begin;
    record.durations.insert(record.durations.begin() + static_cast<std::ptrdiff_t>(k), time - begin);
    record.speeds.insert(record.speeds.begin() + static_cast<std::ptrdiff_t>(k), 0.0);
    condition.step = k;
  }
  const double touch_time = end_of(record.durations, condition.step);
  Retold r{family.prescribed(record, *system), condition};
  std::vector<Step>& taken = r.taken.itinerary.steps;
  r.condition.step = nearest_of(taken, r.taken.durations, touch_time, same, hits);
  if (r.condition.step >= taken.size()) return std::nullopt;
  if (!touch_instead(r.taken.itinerary, r.taken.durations, r.condition.step)) return std::nullopt;
  return r;
}

std::optional<CurveSolution> CurveWalk::solved(const CurveSolution& s, const Retold& r, const Vector& start,
                                               const Anchor& anchor) const {
  const CurveEquations& eq = *s.equations;
  const Family family = eq.plane().at(s.point.second);
  const auto shooting = shooting_for(family, r.taken.itinerary, anchor);
  const auto u = shooting->unknowns(start, r.taken.durations, s.point.orbit.parameter);
  if (!u) return std::nullopt;
  return solve_near(eq.plane(), r.taken.itinerary, anchor, r.condition, *u, s.point.second,
                    eq.has_extra() ? eq.extra(s.x) : 0, s.size());
}

/// The same curve with the events that the motion itself has; nothing where they are those of another.
std::optional<CurveSolution> CurveWalk::remade(const CurveSolution& s) const {
  const CurveEquations& eq = *s.equations;
  const auto r = retold(s, s.point.orbit.state, eq.anchor().phase, 0);
  if (!r || r->taken.itinerary == eq.itinerary()) return std::nullopt;
  auto again = solved(s, *r, s.point.orbit.state, eq.anchor());
  if (!again) return std::nullopt;
  // As a stick grows from nothing the derivative of the turn has a pole: the bordered matrix is zero there,
  // too.
  const Kind kind = eq.condition().kind;
  if (is_spectral(kind) && !is_on_border(kind, again->point.orbit.multipliers)) return std::nullopt;
  const double change = eq.plane().distance({again->point.orbit.parameter, again->point.second},
                                            {s.point.orbit.parameter, s.point.second});
  const double moved = (again->point.orbit.state - s.point.orbit.state).cwiseAbs().maxCoeff();
  if (!(change <= 2 * options_.step && moved <= 0.2 * s.size())) return std::nullopt;
  const Eigen::Index p = s.equations->orbit_size();
  const Eigen::Index q = again->equations->orbit_size();
  const Eigen::Index n = eq.states();
  const double size = s.size();
  const double along =
      s.tangent.head(n).dot(again->tangent.head(n)) / (size * size) +
      s.tangent(p) * again->tangent(q) / (eq.plane().widths[0] * eq.plane().widths[0]) +
      s.tangent(p + 1) * again->tangent(q + 1) / (eq.plane().widths[1] * eq.plane().widths[1]);
  if (along < 0) again->tangent = -again->tangent;
  return again;
}

/// The same point begun in the middle of its longest leg, if an event has come near to where it begins.
std::optional<CurveSolution> CurveWalk::begun_anew(const CurveSolution& s) const {
  const CurveEquations& eq = *s.equations;
  const Family family = eq.plane().at(s.point.second);
  const Shooting shooting = eq.shooting(family);
  const auto begun = begun_between(shooting, eq.orbit_of(s.x));
  if (!begun) return std::nullopt;
  Anchor anchor = anchor_at(family, eq.first(s.x), begun->start, begun->itinerary.steps.front().mode);
  if (shooting.forced()) anchor.phase = begun->phase;
  std::optional<Retold> r;
  if (moves_by_itself(eq.itinerary())) {
    const int periods = eq.itinerary().periods;
    const double later = begun->phase - eq.anchor().phase;
    r = retold(s, begun->start, anchor.phase,
               (later < 0 ? later + periods : later) * s.point.orbit.period / periods);
  } else {
    r = Retold{{begun->itinerary, begun->durations, {}}, eq.condition()};
    const std::size_t events = std::max<std::size_t>(1, eq.itinerary().steps.size() - 1);
    const auto moved = [&](std::size_t step) { return (step + events - begun->first) % events; };
    CurveCondition& condition = r->condition;
    condition.step = moved(condition.step);
    condition.stick = {moved(condition.stick.impact), moved(condition.stick.complete),
                       moved(condition.stick.release)};
    if (condition.kind == Kind::chatter_border && !(condition.stick.impact < condition.stick.complete &&
                                                    condition.stick.complete < condition.stick.release))
      return std::nullopt;
  }
  if (!r) return std::nullopt;
  return in_sense_of(s, solved(s, *r, begun->start, anchor));
}

/// Without forcing: the same point with the plane in which its orbit begins across the flow there, if that
/// has turned; small orbits would not meet it any more.
std::optional<CurveSolution> CurveWalk::crossed_anew(const CurveSolution& s) const {
  constexpr double turned = 0.9;  // cosine
  const CurveEquations& eq = *s.equations;
  const Family family = eq.plane().at(s.point.second);
  const Shooting shooting = eq.shooting(family);
  if (shooting.forced() || !(crossing(s) < turned)) return std::nullopt;
  const Vector u = eq.orbit_of(s.x);
  const Vector& start = s.point.orbit.state;
  const Anchor anchor = anchor_at(family, eq.first(s.x), start, eq.itinerary().steps.front().mode);
  return in_sense_of(
      s, solved(s, {{eq.itinerary(), shooting.durations(u), {}, {}}, eq.condition()}, start, anchor));
}

/// The flow where an orbit begins.
CurveWalk::Vector CurveWalk::flow_at(const CurveSolution& s) const {
  const CurveEquations& eq = *s.equations;
  return velocity_at(eq.plane().at(s.point.second), eq.first(s.x), s.point.orbit.state,
                     eq.itinerary().steps.front().mode);
}

/// Without forcing: the cosine between the flow where an orbit begins and the normal of the plane there.
double CurveWalk::crossing(const CurveSolution& s) const {
  const Vector flow = flow_at(s);
  return s.equations->anchor().normal.dot(flow) / flow.norm();
}

bool CurveWalk::is_nearly_at_rest(const CurveSolution& s) const {
  constexpr double small = 0.05;  // way of one turn, of the size
  const bool forced = s.equations->anchor().normal.size() == 0;
  return !forced && flow_at(s).norm() * s.point.orbit.period < small * s.size();
}

/// On a border of chatter: as many impacts before the accumulation are followed as bring their speed to about
/// that of the first point, for the equation is right to what is left of it, short ones by their own ends.
/// Nothing: so they are.
std::optional<CurveSolution> CurveWalk::followed_as_far(const CurveSolution& s) const {
  const CurveEquations& eq = *s.equations;
  CurveCondition condition = eq.condition();
  if (condition.kind != Kind::chatter_border) return std::nullopt;
  const std::size_t last = condition.stick.impact;
  const auto& hits = eq.itinerary().steps;
  const auto is_followed = [&](std::size_t k) {
    return is_hit(hits[k].end) && hits[k].contact == hits[last].contact && !hits[k].instant;
  };
  if (last < 2 || !is_followed(last - 1)) return std::nullopt;
  const double ratio = last_speed(s) / s.values.orbit.measure(static_cast<Eigen::Index>(last) - 1);
  if (!(ratio > 0 && ratio < 1)) return std::nullopt;
  auto more = std::lround(std::log(speed_ / last_speed(s)) / std::log(ratio));
  std::size_t first = last;  // of those that can be left out
  while (more < 0 && first > 2 && is_followed(first - 1) && is_followed(first - 2)) --first;
  more = std::max(more, static_cast<long>(first) - static_cast<long>(last));
  Prescription form{eq.itinerary(), {}, {}, {}};
  std::vector<Step>& steps = form.itinerary.steps;
  const Family family = eq.plane().at(s.point.second);
  form.durations = eq.shooting(family).durations(eq.orbit_of(s.x));
  const auto place = static_cast<std::ptrdiff_t>(last) + 1;
  if (more < 0) {
    steps.erase(steps.begin() + place + more, steps.begin() + place);
    form.durations.erase(form.durations.begin() + place + more, form.durations.begin() + place);
  } else {
    Step rebound = steps[last];
    rebound.length = Leg::Length::rebound;
    steps.insert(steps.begin() + place, static_cast<std::size_t>(more), rebound);
    double flight = form.durations[last];
    for (long k = 0; k < more; ++k)
      form.durations.insert(form.durations.begin() + place + k, flight *= ratio);
  }
  const auto moved = [&](std::size_t k) { return static_cast<std::size_t>(static_cast<long>(k) + more); };
  condition.stick = {moved(last), moved(condition.stick.complete), moved(condition.stick.release)};
  const auto system = family.system(s.point.orbit.parameter);
  if (!system) return std::nullopt;
  for (std::size_t k = 1; k <= condition.stick.impact; ++k)
    tell_rebound(steps[k - 1], steps[k], form.durations[k], system->rate());
  if (form.itinerary == eq.itinerary()) return std::nullopt;
  return in_sense_of(s, solved(s, {form, condition}, s.point.orbit.state, eq.anchor()));
}

bool CurveWalk::outside(const CurveSolution& s) const {
  const double p[2] = {s.point.orbit.parameter, s.point.second};
  return p[0] < options_.from[0] || p[0] > options_.to[0] || p[1] < options_.from[1] || p[1] > options_.to[1];
}

/// Zero of a function along a curve between a point and one `step` further (Illinois, bisection
/// where it has no value).
std::optional<CurveWalk::Located> CurveWalk::root(const CurveSolution& from, double step,
                                                  const Function& function, double before,
                                                  double after) const {
  double low = 0;
  double high = step;
  double at_low = before;
  double at_high = after;
  const double least = std::min(std::abs(before), std::abs(after));
  constexpr double at_hand = 1e-3;
  std::optional<Located> best;
  int side = 0;
  for (int k = 0; k < 60 && high - low > 1e-14; ++k) {
    double place = (low * at_high - high * at_low) / (at_high - at_low);
    if (!(place > low && place < high) || k % 8 == 7) place = (low + high) / 2;
    auto s = at(from, place, States::first);
    // The equations may be singular at the zero itself.
    if (!s && best && std::abs(best->value) <= at_hand * least) break;
    if (!s) return std::nullopt;
    const double value = function(*s);
    best = Located{place, std::move(*s), value};
    if (value == 0 || std::abs(value) < 1e-15 * least) break;
    const bool is_high = std::isfinite(value) ? value * after > 0 : before > 0;
    if (is_high) {
      if (side == -1) at_low /= 2;
      high = place;
      at_high = std::isfinite(value) ? value : -before;
      side = -1;
    } else {
      if (side == 1) at_high /= 2;
      low = place;
      at_low = value;
      side = 1;
    }
  }
  if (best) take_point(best->solution, States::all);
  return best;
}

void CurveWalk::note(Codim2Kind kind, const CurveSolution& s, std::size_t other, int contact, int sense) {
  Codim2 c;
  c.kind = kind;
  c.second = s.point.second;
  c.step = s.equations->condition().step;
  c.other = other;
  c.sense = sense;
  Bifurcation& b = c.at;
  b.kind = s.equations->condition().kind;
  b.contact = contact;
  b.parameter = s.point.orbit.parameter;
  b.state = s.point.orbit.state;
  b.phase = s.point.orbit.phase;
  b.periods = s.equations->itinerary().periods;
  b.turn = s.point.orbit.period;
  b.itinerary = s.equations->itinerary();
  b.unknowns = s.equations->orbit_of(s.x);
  b.size = s.size();
  b.orbit = s.point.orbit.orbit;
  // At another phase a state says nothing.
  if (b.orbit.empty()) b.orbit = {Vector::Constant(b.state.size(), std::numeric_limits<double>::quiet_NaN())};
  passed_.push_back(std::move(c));
}

/// Whether a curve that begins at a resonance goes on with real multipliers, whose product is 1, this way.
bool CurveWalk::leaves_circle(const CurveSolution& next) {
  constexpr double rounding = 1e-8;
  if (now_.equations->condition().kind != Kind::neimark_sacker) return false;
  const double here = now_.equations->extra(now_.x), there = next.equations->extra(next.x);
  if (!(std::abs(there) > 1 && std::abs(here) > 1 - rounding)) return false;
  end_ = no_pair_behind(here > 0 ? Codim2Kind::resonance_1_1 : Codim2Kind::resonance_1_2);
  return true;
}

/// Notes the zeros of test functions between the last point and the next, in order.
void CurveWalk::locate_tests(const CurveSolution& after, double step) {
  const Kind curve = after.equations->condition().kind;
  const auto& tests = tests_of(curve);
  const std::vector<double> there = tests_at(after);
  struct Found {
    Located located;
    const Test* test;
  };
  std::vector<Found> found;
  for (std::size_t k = 0; k < tests.size() && tests_.size() == there.size(); ++k) {
    if (!(tests_[k] * there[k] < 0)) continue;
    auto located = root(now_, step, tests[k].function, tests_[k], there[k]);
    if (!located) continue;
    // A sign may change without a zero: at a pole.
    const auto [least, greatest] = std::minmax({std::abs(tests_[k]), std::abs(there[k])});
    if (!(std::abs(located->value) <= 1e-4 * least + 1e-9 * greatest)) continue;
    if (has_lost_impact(located->solution)) continue;
    const Multipliers& multipliers = located->solution.point.orbit.multipliers;
    const auto crossed = spectral_curve(tests[k].kind, curve);
    if (crossed && !is_on_border(*crossed, others(multipliers, curve))) continue;
    found.push_back({std::move(*located), &tests[k]});
  }
  std::sort(found.begin(), found.end(),
            [](const Found& a, const Found& b) { return a.located.place < b.located.place; });
  for (Found& f : found) {
    const CurveCondition& condition = f.located.solution.equations->condition();
    note(f.test->kind, f.located.solution, condition.step, condition.contact, f.test->sense);
    const bool ends = curve == Kind::neimark_sacker && (f.test->kind == Codim2Kind::resonance_1_1 ||
                                                        f.test->kind == Codim2Kind::resonance_1_2);
    const bool corner = f.test->kind == Codim2Kind::stick_corner;
    if (!ends && !corner && f.test->kind != Codim2Kind::degenerate_grazing) continue;
    end_ = ends     ? no_pair_behind(f.test->kind)
           : corner ? corner_of(*now_.equations->plane().family.model, condition.contact)
                    : "degenerate_grazing: the guard has no minimum there";
    f.located.solution.point.orbit.admissible = now_.point.orbit.admissible;
    now_ = std::move(f.located.solution);
    return;
  }
}

/// The last point in another form, its tangent towards `beyond`. Nothing: it is not found within an
/// arclength.
std::optional<CurveSolution> CurveWalk::in_form(const Retold& form, const CurveSolution& beyond,
                                                double within) const {
  auto other = solved(now_, form, now_.point.orbit.state, now_.equations->anchor());
  if (!other) return std::nullopt;
  const Eigen::Index m = now_.equations->orbit_size(), n = other->equations->orbit_size();
  const Eigen::Vector2d scales = now_.weights.segment(m, 2), here = now_.x.segment(m, 2);
  const Eigen::Vector2d way = beyond.x.segment(m, 2) - here, away = other->x.segment(n, 2) - here;
  if (!(scales.cwiseProduct(away).norm() <= within)) return std::nullopt;
  if (other->tangent.segment(n, 2).dot(scales.cwiseAbs2().cwiseProduct(way)) < 0)
    other->tangent = -other->tangent;
  return other;
}

/// Where the condition's event and another of its friction come together: on the curve of the orbits with one
/// event there, which are regular. true: the curve ends there.
bool CurveWalk::pass_corner(const Cause& cause, const CurveSolution& beyond, double step) {
  constexpr double furthest = 4;  // steps
  const CurveEquations& eq = *now_.equations;
  const Family family = eq.plane().at(now_.point.second);
  const auto form =
      form_at_corner({eq.itinerary(), eq.shooting(family).durations(eq.orbit_of(now_.x)), {}, {}},
                     eq.condition().step, cause.step);
  if (!form) return false;
  Retold retold{{form->itinerary, form->durations, {}, {}}, eq.condition()};
  retold.condition.step = form->step;
  const auto other = in_form(retold, beyond, furthest * step);
  if (!other) return false;
  const double before = stick_rate(*other);
  std::optional<Located> located;
  for (double ahead = step; ahead <= furthest * step && !located; ahead *= 2) {
    const auto there = at(*other, ahead);
    const double after = there ? stick_rate(*there) : before;
    if (before * after < 0) located = root(*other, ahead, stick_rate, before, after);
  }
  if (!located) return false;
  const CurveCondition& condition = located->solution.equations->condition();
  note(Codim2Kind::stick_corner, located->solution, condition.step, condition.contact);
  end_ = corner_of(*family.model, condition.contact);
  located->solution.point.orbit.admissible = now_.point.orbit.admissible;
  now_ = std::move(located->solution);
  return true;
}

/// From an orbit that the motion takes.
void CurveWalk::go_on_with(CurveSolution s) {
  now_ = std::move(s);
  now_.point.orbit.admissible = true;
  tests_ = tests_at(now_);
}

/// Where a short stick or slide of another friction vanishes: on the curve of the orbits without it, which
/// are regular there. true: the curve goes on with them.
bool CurveWalk::pass_pair(const Cause& cause, const CurveSolution& beyond, double step) {
  constexpr double furthest = 4;       // steps
  constexpr double short_time = 2e-2;  // of the turn
  const CurveEquations& eq = *now_.equations;
  const std::size_t k = cause.step;
  const bool slips = cause.what == Cause::What::slip;
  if (!eq.plane().family.in_full || !(slips || cause.what == Cause::What::order)) return false;
  const Family family = eq.plane().at(now_.point.second);
  const Prescription word{eq.itinerary(), eq.shooting(family).durations(eq.orbit_of(now_.x)), {}, {}};
  if (!slips && k == 0) return false;
  const std::size_t first = slips ? k : k - 1, own = eq.condition().step;
  if (first == own || first + 1 == own) return false;
  auto form = form_without_pair(word, first);
  const bool brief = form && word.durations[first + 1] < short_time * now_.point.orbit.period;
  if (!brief || ++changes_ > most_changes) return false;
  Retold retold{{std::move(form->itinerary), std::move(form->durations), {}, {}}, eq.condition()};
  if (retold.condition.step > form->step) --retold.condition.step;
  const auto other = in_form(retold, beyond, step);
  if (!other) return false;
  const auto place = static_cast<Eigen::Index>(form->step);
  const Function left = [place](const CurveSolution& s) { return s.values.orbit.measure(place); };
  const double before = left(*other);
  for (double ahead = step / 4; before < 0 && ahead <= furthest * step; ahead *= 2) {
    auto there = at(*other, ahead);
    if (!there) return false;
    if (!(left(*there) > 0)) continue;
    const auto located = root(*other, ahead, left, before, left(*there));
    if (!located) return false;
    note(Codim2Kind::stick_corner, located->solution, form->step,
         located->solution.equations->itinerary().steps[form->step].contact);
    if (auto again = remade(*there)) there = std::move(again);
    if (cause_of(*there).what != Cause::What::none) {
      passed_.pop_back();
      return false;
    }
    go_on_with(std::move(*there));
    return true;
  }
  return false;
}

/// Locates where the motion ceases to take the orbits of the curve; true: the curve goes on.
bool CurveWalk::pass(const Cause& cause, const CurveSolution& beyond, double step) {
  const std::size_t k = cause.step;
  const Kind kind = now_.equations->condition().kind;
  Function function;
  int contact =
      cause.what == Cause::What::dip ? cause.dip.contact : now_.equations->itinerary().steps[k].contact;
  const auto same = now_.equations->itinerary() == beyond.equations->itinerary();
  if (of_slip(kind)) {
    const bool own_dip =
        cause.what == Cause::What::dip && contact == now_.equations->condition().contact && same;
    if (own_dip) locate_tests(beyond, step);  // right behind the event, where the force turns
    if (!end_.empty() || pass_corner(cause, beyond, step)) return false;
  }
  if (same && pass_pair(cause, beyond, step)) return true;
  if (same && (cause.what == Cause::What::speed || cause.what == Cause::What::slip))
    function = [k](const CurveSolution& s) { return s.values.orbit.measure(static_cast<Eigen::Index>(k)); };
  if (same && cause.what == Cause::What::order)
    function = [k](const CurveSolution& s) { return s.x(s.equations->duration_index(k)); };
  if (same && cause.what == Cause::What::dip) {
    function = [&](const CurveSolution& s) {
      const Family family = s.equations->plane().at(s.point.second);
      constexpr double all = std::numeric_limits<double>::infinity();
      double value = std::numeric_limits<double>::quiet_NaN();
      double away = all;
      for (const Dip& dip :
           dips_of(s.equations->shooting(family), s.equations->orbit_of(s.x), {cause.dip.contact}, -all)) {
        if (dip.step != k || !(std::abs(dip.share - cause.dip.share) < away)) continue;
        away = std::abs(dip.share - cause.dip.share);
        value = dip.guard;
      }
      return value;
    };
  }
  if (!function) {
    end_ = "the motion takes another way than the curve's orbits";
    return false;
  }
  double before = function(now_);
  const double after = function(beyond);
  if (!std::isfinite(before) || before < 0) before = std::abs(after);
  const auto located = after < 0 ? root(now_, step, function, before, after) : std::nullopt;
  if (!located) {
    end_ = "the motion takes another way than the curve's orbits";
    return false;
  }
  locate_tests(located->solution, located->place);
  if (!end_.empty()) return false;
  Codim2Kind what = Codim2Kind::double_grazing;
  int sense = 0;
  const auto& steps = now_.equations->itinerary().steps;
  const bool slips = cause.what == Cause::What::slip || (cause.what == Cause::What::dip && contact < 0);
  if (cause.what == Cause::What::order) {
    const bool releases =
        steps[k].end == EventKind::release || (k > 0 && steps[k - 1].end == EventKind::release);
    const bool alike = k > 0 && contact < 0 && steps[k - 1].contact == contact;
    what = alike ? Codim2Kind::stick_corner : releases ? Codim2Kind::release_moves : Codim2Kind::simultaneous;
  } else if (slips) {
    const bool at_end = cause.what == Cause::What::dip && cause.dip.share == 1;  // of the contact
    what = at_end ? Codim2Kind::simultaneous : Codim2Kind::stick_corner;
  } else if (of_slip(kind)) {
    what = Codim2Kind::slip_grazing;
  } else if (cause.what == Cause::What::dip && cause.dip.closed) {
    what = Codim2Kind::rising_border;
  } else if (kind == Kind::neimark_sacker) {
    what = Codim2Kind::grazing_neimark_sacker;
  } else if (kind == Kind::fold || kind == Kind::branch_point) {
    what = cause.what == Cause::What::speed ? Codim2Kind::resonant_grazing : Codim2Kind::grazing_fold;
    sense = 1;
  } else if (kind == Kind::period_doubling) {
    what =
        cause.what == Cause::What::speed ? Codim2Kind::resonant_grazing : Codim2Kind::grazing_period_doubling;
    sense = -1;
  } else if (kind == Kind::chatter_border) {
    what = Codim2Kind::chatter_grazing;
  }
  note(what, located->solution, k, contact, sense);
  CurveSolution there = located->solution;
  there.point.orbit.admissible = true;
  at_half_ =
      what == Codim2Kind::double_grazing && meet_ < never && halves_of(there).norm() < apart_.norm() / 2;
  if ((cause.what == Cause::What::order || slips) && ++changes_ <= most_changes) {
    for (const double share : {1.0, 1e-1, 1e-2, 1e-3}) {  // of the way behind it
      const auto behind = at(now_, located->place + share * (step - located->place));
      auto other = behind ? remade(*behind) : std::nullopt;
      if (!other || cause_of(*other).what != Cause::What::none) continue;
      go_on_with(std::move(*other));
      return true;
    }
  }
  const Model& model = *now_.equations->plane().family.model;
  end_ = what == Codim2Kind::stick_corner ? corner_of(model, contact)
                                          : codim2_names()[static_cast<std::size_t>(what)];
  if (contact >= 0) end_ += " of contact " + model.contacts()[static_cast<std::size_t>(contact)].name;
  now_ = std::move(there);
  return false;
}

/// The point where the curve leaves the range. false: there is none, or something changes before it.
bool CurveWalk::to_border(const CurveSolution& beyond) {
  const CurveEquations& eq = *now_.equations;
  const double p[2] = {beyond.point.orbit.parameter, beyond.point.second};
  Vector guess;
  Eigen::Index which = 0;
  double nearest = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 2; ++k) {
    if (p[k] >= options_.from[k] && p[k] <= options_.to[k]) continue;
    const double border = p[k] < options_.from[k] ? options_.from[k] : options_.to[k];
    const Eigen::Index i = eq.orbit_size() + k;
    const double share = (border - now_.x(i)) / (beyond.x(i) - now_.x(i));
    if (!(share < nearest)) continue;
    nearest = share;
    which = i;
    guess = now_.x + share * (beyond.x - now_.x);
    guess(i) = border;
  }
  const std::string end = "end of the range";
  if (!(nearest > 1e-9)) {
    end_ = end;
    return false;
  }
  auto found = solve_curve(eq, now_.borders, now_.weights, guess,
                           Eigen::RowVectorXd::Unit(eq.size(), which) * now_.weights(which));
  if (!found.ok) return false;
  CurveSolution s =
      told_at(now_.equations, now_.borders, now_.weights, std::move(found), now_.size(), now_.tangent);
  take_point(s);
  const Cause cause = cause_of(s);
  s.point.orbit.admissible = cause.what == Cause::What::none;
  if (!s.point.orbit.admissible && !options_.beyond) return false;
  locate_tests(s, plane(now_.weights, now_.tangent).dot(s.x - now_.x));
  if (!end_.empty()) return true;
  end_ = end;
  now_ = std::move(s);
  return true;
}

bool CurveWalk::next() {
  passed_.clear();
  if (!end_.empty()) return false;
  if (++count_ > options_.points) {
    end_ = "as many points as allowed";
    return false;
  }
  for (const auto form : {&CurveWalk::begun_anew, &CurveWalk::crossed_anew, &CurveWalk::followed_as_far}) {
    auto other = (this->*form)(now_);
    if (!other) continue;
    now_ = std::move(*other);
    tests_ = tests_at(now_);
    apart_ = halves_of(now_);
    if (apart_.size() == 0) meet_ = never;
  }
  constexpr int easy = 5;
  constexpr int hard = 8;
  constexpr double straight = 0.95;      // least cosine between the tangents of neighbours
  constexpr double half_reached = 1e-3;  // of the size, between the halves of a doubled orbit
  constexpr double half_near = 0.3;
  constexpr double half_left = 0.1;  // least share of it that a step leaves
  // Where these come to be the same both halves graze, and the curve ends by that.
  const bool grazes = now_.equations->condition().kind == Kind::grazing;
  while (step_ >= options_.least_step) {
    if (meet_ < never && !grazes) {
      step_ = std::min(step_, meet_ / 2);
      at_half_ = apart_.norm() <= half_reached * now_.size();
      if (at_half_) break;
    }
    auto trial = at(now_, step_);
    if (!trial || trial->iterations > hard) {
      // Behind the border the model may have no system.
      CurveSolution ahead = now_;
      ahead.x += step_ * now_.tangent;
      ahead.point.orbit.parameter = ahead.equations->first(ahead.x);
      ahead.point.second = ahead.equations->second(ahead.x);
      if (!trial && outside(ahead)) {
        if (to_border(ahead)) return true;
        end_.clear();
      }
      step_ /= 2;
      continue;
    }
    constexpr double least_orbit = 1e-4;  // a step so short may pass through rest
    const bool unforced = now_.equations->anchor().normal.size() > 0;
    if (unforced && !(crossing(*trial) > 0)) {
      if (step_ < least_orbit) {
        end_ = shrinks_to_rest;
        return false;
      }
      step_ /= 2;
      continue;
    }
    const Vector apart = halves_of(*trial);
    const bool exchanged = !grazes && apart_.size() > 0 &&
                           (apart.size() == 0 || apart.dot(apart_) < half_left * apart_.squaredNorm());
    const Vector w2 = now_.weights.cwiseAbs2();
    const bool bends = w2.cwiseProduct(trial->tangent).dot(now_.tangent) < straight;
    if ((bends || exchanged) && step_ > 100 * options_.least_step) {
      step_ /= 2;
      continue;
    }
    if (outside(*trial)) {
      if (to_border(*trial)) return true;
      if (!end_.empty()) return false;
      step_ /= 2;  // something changes before
      continue;
    }
    if (leaves_circle(*trial)) return false;
    const Cause cause = cause_of(*trial);
    trial->point.orbit.admissible = cause.what == Cause::What::none;
    if (!now_.point.orbit.admissible && !trial->point.orbit.admissible && !options_.beyond) {
      end_ = "no motion takes the orbits of the curve this way";
      return false;
    }
    if (now_.point.orbit.admissible && !trial->point.orbit.admissible) {
      const CurveSolution before = now_;
      const bool far = step_ > 1e3 * options_.least_step;
      const bool on = !(far && cause.what == Cause::What::other) && pass(cause, *trial, step_);
      if (far && !on && passed_.empty()) {
        end_.clear();
        step_ /= 4;
        continue;
      }
      if (on) {
        step_ = std::max(step_ / 4, 10 * options_.least_step);
        return true;
      }
      if (!options_.beyond) return !passed_.empty();
      end_.clear();
      now_ = before;
    }
    const double taken = step_;
    if (trial->iterations <= easy) step_ = std::min(options_.step, 1.6 * step_);
    return accept(std::move(*trial), taken, apart);
  }
  end_ = is_nearly_at_rest(now_) ? shrinks_to_rest : "Newton's method finds no further point";
  at_half_ |= meet_ < never && apart_.norm() <= half_near * now_.size();
  return false;
}

/// Of orbits of an even number of periods, where these may come to be the same. Not of those that are so all
/// along, one of half as many periods told twice.
CurveWalk::Vector CurveWalk::halves_of(const CurveSolution& s) const {
  constexpr double same = 1e-7;  // of the size
  const Kind kind = s.equations->condition().kind;
  if (kind != Kind::fold && kind != Kind::neimark_sacker && kind != Kind::grazing) return {};
  const Vector apart = halves_apart(s.equations->plane().at(s.point.second), s.point.orbit);
  return apart.norm() <= same * s.size() ? Vector() : apart;
}

/// `apart`: its halves where it was solved; told anew it may begin elsewhere.
bool CurveWalk::accept(CurveSolution trial, double step, const Vector& apart) {
  const bool goes_on = trial.equations == now_.equations;
  if (goes_on) {
    locate_tests(trial, step);
    if (!end_.empty()) return true;
  }
  const double nearer = goes_on && apart.size() > 0 && apart_.size() > 0 ? apart_.norm() - apart.norm() : 0;
  meet_ = nearer > 0 ? apart.norm() * step / nearer : never;
  apart_ = goes_on ? apart : halves_of(trial);
  now_ = std::move(trial);
  now_.weights = now_.equations->weights(now_.x, now_.size());
  now_.tangent /= now_.weights.cwiseProduct(now_.tangent).norm();
  tests_ = tests_at(now_);
  return true;
}

}  // namespace graze
