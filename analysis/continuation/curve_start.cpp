#include "analysis/continuation/curve_start.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "analysis/continuation/beginning.hpp"
#include "analysis/continuation/grazing.hpp"
#include "analysis/continuation/slip_border.hpp"
#include "analysis/continuation/switching.hpp"

namespace graze {
namespace {

using Vector = Eigen::VectorXd;
using Kind = BifurcationKind;

/// Real part of the pair nearest to the unit circle.
double cosine_of(const std::vector<std::complex<double>>& multipliers) {
  double best = 0;
  double away = 1e300;
  for (const std::complex<double>& m : multipliers) {
    const double distance = std::abs(std::abs(m) - 1);
    if (m.imag() == 0 || !(distance < away)) continue;
    away = distance;
    best = m.real() / std::abs(m);
  }
  return best;
}

/// Whether events come together at points of this kind, which other pairs of events may do near by.
bool of_instants(Kind kind) {
  return of_slip(kind) || kind == Kind::simultaneous || kind == Kind::release_moves;
}

/// Whether orbits of these points are solved with all that frictions do prescribed. Not where a force comes
/// to its end: a body that rests on a stop is held by frictions, too.
bool is_full(Kind kind) { return of_instants(kind) || kind == Kind::stick_border; }

/// Equations of the orbit near a seed with the events that the motion has there, and their unknowns.
struct SeedOrbit {
  Family family;
  std::shared_ptr<const Shooting> shooting;
  Vector u;
  double size = 1;

  Prescription taken() const { return {shooting->itinerary(), shooting->durations(u), {}, {}}; }
};

std::optional<SeedOrbit> orbit_at(const Plane& plane, const CurveSeed& seed, SeedOrbit& o) {
  o.family = plane.at(seed.second);
  const auto system = o.family.system(seed.orbit.parameter);
  if (!system) return std::nullopt;
  NearOrbit near = seed.orbit;
  if (near.phase == 0) {
    const auto begun = between_events(o.family, near);
    if (!begun) return std::nullopt;
    near = *begun;
  }
  const Record record = record_turn(*system, near.state, near.periods, near.turn / near.periods, near.phase);
  if (record.outcome != Outcome::ok) return std::nullopt;
  const Prescription taken = o.family.prescribed(record, *system);
  const Itinerary& itinerary = taken.itinerary;
  Anchor anchor = anchor_at(o.family, near.parameter, near.state, itinerary.steps.front().mode);
  anchor.phase = near.phase;
  o.shooting = shooting_for(o.family, itinerary, anchor);
  const auto u = o.shooting->unknowns(near.state, taken.durations, near.parameter);
  if (!u) return std::nullopt;
  o.u = *u;
  o.size = record.size + tiny;
  return o;
}

/// Between a seed and a point, in the parameters and units of their ranges.
double distance(const Plane& plane, const CurveSeed& seed, const CurveSolution& s) {
  return plane.distance({s.point.orbit.parameter, s.point.second}, {seed.orbit.parameter, seed.second});
}

/// Of solved points the one nearest to a seed, in the parameters; none that is far.
class Nearest {
 public:
  Nearest(const Plane& plane, const CurveSeed& seed) : plane_(plane), seed_(seed) {}
  void take(std::optional<CurveSolution> s) {
    const double near = of_instants(seed_.kind) ? 1e-4 : 1e-2;  // of the ranges
    if (!s) return;
    const double away = distance(plane_, seed_, *s);
    if (!(away < std::min(near, best_))) return;
    best_ = away;
    solution = std::move(s);
  }
  bool close() const { return best_ < 1e-6; }
  std::optional<CurveSolution> solution;

 private:
  const Plane& plane_;
  const CurveSeed& seed_;
  double best_ = 1e300;
};

std::optional<CurveSolution> solve_orbit(const Plane& plane, const CurveSeed& seed, const SeedOrbit& o,
                                         const Shooting& shooting, const Vector& u, CurveCondition condition,
                                         double extra = 0) {
  condition.kind = seed.kind;
  if (condition.contact < 0) condition.contact = seed.contact;
  return solve_near(plane, shooting.itinerary(), shooting.anchor(), condition, u, seed.second, extra, o.size);
}

/// Whether a hit that loses its speed may be a point of this kind: flights between compliant contacts vanish
/// where the force of the contact touches zero.
bool touched_by(Kind kind, EventKind hit) {
  return kind == Kind::grazing || (kind == Kind::rising_border && of_compliant(hit));
}

constexpr double shallow = 2e-2;  // of the size: minima so near to zero are tried

/// Minima of guards, those nearest to zero first.
void take_dips(const Plane& plane, const CurveSeed& seed, const SeedOrbit& o, std::vector<Dip> dips,
               Nearest& nearest) {
  std::sort(dips.begin(), dips.end(),
            [](const Dip& a, const Dip& b) { return std::abs(a.guard) < std::abs(b.guard); });
  if (dips.size() > 4) dips.resize(4);
  for (const Dip& dip : dips) {
    const auto touch = with_touch(*o.shooting, o.u, dip);
    if (!touch) continue;
    const Closing closing = solve_measure(*touch->shooting, touch->u, dip.step);
    nearest.take(solve_orbit(plane, seed, o, *touch->shooting, closing.ok ? closing.u : touch->u,
                             {.contact = dip.contact, .step = dip.step}));
    if (nearest.close()) return;
  }
}

/// A guard that touches zero: at a hit without speed, or where it has a minimum.
void take_touches(const Plane& plane, const CurveSeed& seed, const SeedOrbit& o, Nearest& nearest) {
  const auto equations = o.shooting->equations(o.u);
  if (!equations) return;
  std::vector<std::size_t> hits;
  const std::vector<Step>& steps = o.shooting->itinerary().steps;
  for (std::size_t k = 0; k < steps.size(); ++k)
    if (is_hit(steps[k].end) && steps[k].contact == seed.contact) hits.push_back(k);
  const auto speed = [&](std::size_t k) { return equations->measure(static_cast<Eigen::Index>(k)); };
  std::sort(hits.begin(), hits.end(), [&](std::size_t a, std::size_t b) { return speed(a) < speed(b); });
  if (hits.size() > 3) hits.resize(3);
  for (std::size_t k : hits) {
    if (!touched_by(seed.kind, steps[k].end) || steps[k].instant) continue;
    const auto touch = as_touch(*o.shooting, o.u, k);
    if (!touch) continue;
    nearest.take(solve_orbit(plane, seed, o, *touch->shooting, touch->u, {.step = k}));
    if (nearest.close()) return;
  }
  std::vector<Dip> dips = dips_of(*o.shooting, o.u, {seed.contact}, -shallow * o.size);
  std::erase_if(dips, [&](const Dip& d) { return d.closed != (seed.kind == Kind::rising_border); });
  take_dips(plane, seed, o, std::move(dips), nearest);
}

/// Where a friction begins or ceases to slide.
void take_slips(const Plane& plane, const CurveSeed& seed, const SeedOrbit& o, double brief,
                Nearest& nearest) {
  const double apart = brief * o.shooting->turn(o.u);
  for (const SlipForm& form : slip_forms(o.taken(), apart, apart)) {
    const auto shooting = shooting_for(o.family, form.itinerary, o.shooting->anchor());
    const auto u =
        shooting->unknowns(o.u.head(o.shooting->states()), form.durations, o.u(o.shooting->size()));
    if (!u) continue;
    const int place = form.itinerary.steps[form.step].contact;
    nearest.take(solve_orbit(plane, seed, o, *shooting, *u, {.contact = place, .step = form.step}));
    if (nearest.close()) return;
  }
  take_dips(plane, seed, o, dips_of(*o.shooting, o.u, friction_places(*o.family.model), -shallow * o.size),
            nearest);
}

/// Sticks without chatter that are released at once.
void take_sticks(const Plane& plane, const CurveSeed& seed, const SeedOrbit& o, Nearest& nearest) {
  const std::vector<Step>& steps = o.shooting->itinerary().steps;
  for (std::size_t k = 0; k + 1 < steps.size(); ++k) {
    const bool released = steps[k + 1].end == EventKind::release && steps[k + 1].contact == seed.contact;
    if (steps[k].end != EventKind::stick || steps[k].contact != seed.contact || !released) continue;
    nearest.take(solve_orbit(plane, seed, o, *o.shooting, o.u, {.step = k + 1}));
    if (nearest.close()) return;
  }
}

/// Two events at one instant, of those that come within `brief`.
void take_coincidences(const Plane& plane, const CurveSeed& seed, const SeedOrbit& o, double brief,
                       Nearest& nearest) {
  Itinerary itinerary = o.shooting->itinerary();
  const std::vector<Step>& steps = itinerary.steps;
  std::vector<std::size_t> places;
  for (std::size_t k = 1; k + 1 < steps.size(); ++k) {
    const bool impacts = is_hit(steps[k].end) && is_hit(steps[k - 1].end);
    const bool release = steps[k].end == EventKind::release || steps[k - 1].end == EventKind::release;
    const bool slips = of_friction(steps[k].end) || of_friction(steps[k - 1].end);
    const bool fits = seed.kind == Kind::simultaneous ? impacts || slips : release && !impacts;
    if (fits && steps[k].contact != steps[k - 1].contact && !Leg::finds_end(steps[k].length))
      places.push_back(k);
  }
  const auto duration = [&](std::size_t k) { return o.u(o.shooting->duration_index(k)); };
  const double longest = brief * o.shooting->turn(o.u);
  std::erase_if(places, [&](std::size_t k) { return !(duration(k) <= longest); });
  std::sort(places.begin(), places.end(),
            [&](std::size_t a, std::size_t b) { return duration(a) < duration(b); });
  if (places.size() > 3) places.resize(3);
  for (const std::size_t k : places) {
    Itinerary apart = itinerary;
    apart.steps[k].instant = false;
    const auto shooting = shooting_for(o.family, apart, o.shooting->anchor());
    if (shooting->size() != o.shooting->size()) continue;
    nearest.take(solve_orbit(plane, seed, o, *shooting, o.u, {.contact = steps[k].contact, .step = k}));
    if (nearest.close()) return;
  }
}

/// Orbits beside a seed, on both sides of it in the first parameter, until one has led to a point.
template <class Take>
void take_beside(const Plane& plane, const CurveSeed& seed, const Nearest& nearest, const Take& take) {
  const Family family = plane.at(seed.second);
  for (const double away : {1e-5, -1e-5, 1e-4, -1e-4, 3e-4, -3e-4, 1e-3, -1e-3, 5e-3, -5e-3, 2e-2, -2e-2}) {
    if (nearest.solution) return;
    NearOrbit near = seed.orbit;
    near.parameter += away * plane.widths[0];
    if (const auto orbit = find_orbit(family, near)) take(family, *orbit);
  }
}

/// An orbit beside a seed as one at it, of a family that stays.
SeedOrbit beside_seed(const Family& family, const Solution& beside) {
  const Shooting& at = *beside.shooting;
  SeedOrbit o{family, nullptr, beside.u, beside.point.size + tiny};
  o.shooting = std::make_shared<Shooting>(family, at.itinerary(), at.anchor(), at.inner_nodes());
  return o;
}

/// A motion near an orbit as one of its points: what the border of a chatter sequence is looked for from.
Solution as_solution(const SeedOrbit& o) {
  Solution s;
  s.shooting = o.shooting;
  s.u = o.u;
  s.point.parameter = o.u(o.shooting->size());
  s.point.size = o.size;
  s.point.period = o.shooting->turn(o.u);
  return s;
}

/// The border of a chatter sequence of an orbit, or of a motion that is one nearly.
void take_borders(const Plane& plane, const CurveSeed& seed, const Solution& orbit, Nearest& nearest) {
  const Metric metric{orbit.point.size + tiny, orbit.point.period, plane.widths[0]};
  std::vector<ChatterBorder> borders;
  for (const ChatterStick& stick : chatter_sticks(orbit.shooting->itinerary())) {
    if (orbit.shooting->itinerary().steps[stick.impact].contact != seed.contact) continue;
    if (auto border = border_of_stick(orbit, stick, metric)) borders.push_back(std::move(*border));
  }
  if (borders.empty()) borders = borders_of_sequences(orbit, metric);
  for (const ChatterBorder& b : borders) {
    if (b.contact != seed.contact) continue;
    const Shooting& shooting = *b.solution.shooting;
    for (const ChatterStick& stick : chatter_sticks(shooting.itinerary())) {
      if (shooting.itinerary().steps[stick.impact].contact != seed.contact) continue;
      CurveCondition condition{seed.kind, seed.contact, 0, stick};
      nearest.take(solve_near(plane, shooting.itinerary(), shooting.anchor(), condition, b.solution.u,
                              seed.second, 0, metric.size));
      if (nearest.close()) return;
    }
  }
}

/// Why the events of a system are left to its motion.
std::string not_prescribed(const Model& model) {
  return model.frictions().empty()
             ? "the events of this system cannot be prescribed"
             : "sticking and sliding by the frictions of this system cannot be prescribed";
}

/// The nearest point of the curve, of orbits with what frictions do prescribed or left to the motion.
CurveStart start_in(Plane plane, const CurveSeed& seed, bool full) {
  plane.family.in_full = full;
  Nearest nearest(plane, seed);
  SeedOrbit orbit;
  if (!orbit_at(plane, seed, orbit)) return {std::nullopt, "the motion from this point breaks off"};
  if (moves_by_itself(orbit.shooting->itinerary()) && !is_spectral(seed.kind) && seed.kind != Kind::grazing)
    return {std::nullopt, not_prescribed(*plane.family.model)};
  // Of the orbit at the seed, then of orbits beside it, with what is brief there.
  const auto brief = [](bool at) { return at ? 1e-4 : 3e-2; };
  const auto take_both = [&](const auto& take) {
    take(orbit, true);
    take_beside(plane, seed, nearest, [&](const Family& family, const Solution& beside) {
      take(beside_seed(family, beside), false);
    });
  };
  switch (seed.kind) {
    case Kind::grazing:
    case Kind::rising_border:
      take_both([&](const SeedOrbit& o, bool) { take_touches(plane, seed, o, nearest); });
      break;
    case Kind::stick_border:
      take_both([&](const SeedOrbit& o, bool) { take_sticks(plane, seed, o, nearest); });
      break;
    case Kind::slip_border:
    case Kind::reversal_border:
      take_both([&](const SeedOrbit& o, bool at) { take_slips(plane, seed, o, brief(at), nearest); });
      break;
    case Kind::simultaneous:
    case Kind::release_moves:
      take_both([&](const SeedOrbit& o, bool at) { take_coincidences(plane, seed, o, brief(at), nearest); });
      break;
    case Kind::chatter_border:
      // An orbit that repels is not found from the motion beside the border.
      take_borders(plane, seed, as_solution(orbit), nearest);
      take_beside(plane, seed, nearest,
                  [&](const Family&, const Solution& beside) { take_borders(plane, seed, beside, nearest); });
      break;
    default: {
      const double extra =
          seed.kind == Kind::neimark_sacker ? cosine_of(orbit_multipliers(*orbit.shooting, orbit.u)) : 0;
      nearest.take(solve_orbit(plane, seed, orbit, *orbit.shooting, orbit.u, {}, extra));
    }
  }
  if (nearest.solution) return {std::move(nearest.solution), ""};
  return {std::nullopt, "Newton's method finds no point of the curve near it"};
}

}  // namespace

CurveSeed seed_at(const Bifurcation& located, double second) {
  const Bifurcation& b = located;
  return {b.kind, b.contact, {b.parameter, b.state, b.periods, b.turn, b.phase}, second};
}

CurveStart start_curve(const Plane& plane, const CurveSeed& seed) {
  constexpr double at_seed = 1e-4;  // of the ranges
  if (!has_curve(seed.kind))
    return {std::nullopt, "points of this kind have no defining equations of their own"};
  const bool rubs = !plane.family.model->frictions().empty();
  const bool either = seed.kind == Kind::grazing || is_spectral(seed.kind);
  if (is_full(seed.kind) || (rubs && !either)) return start_in(plane, seed, true);
  if (rubs) {
    // Prescribed, frictions leave Newton's method more room; it may find another point, too.
    CurveStart start = start_in(plane, seed, true);
    if (start.solution && distance(plane, seed, *start.solution) < at_seed) return start;
  }
  return start_in(plane, seed, false);
}

std::optional<Codim2> halves_meet_near(const CurveSolution& doubled, const CurveOptions& options) {
  constexpr double near = 2e-2;    // of the ranges
  constexpr double at_end = 1e-3;  // the same where the curve has come to its end
  constexpr int points = 30;       // at most, in either direction
  const Plane& plane = doubled.equations->plane();
  const BranchPoint& p = doubled.point.orbit;
  const Vector apart = halves_apart(plane.at(doubled.point.second), p);
  if (apart.size() == 0) return std::nullopt;
  const CurveCondition& condition = doubled.equations->condition();
  const bool grazes = condition.kind == Kind::grazing;
  const auto meets = [&](Codim2Kind kind) {
    switch (condition.kind) {
      case Kind::fold:
        return kind == Codim2Kind::generalized_period_doubling;
      case Kind::neimark_sacker:
        return kind == Codim2Kind::flip_neimark_sacker || kind == Codim2Kind::resonance_1_2;
      default:
        return kind == Codim2Kind::resonant_grazing;
    }
  };
  const Vector middle = p.state + apart / 2;
  const int periods = doubled.equations->itinerary().periods / 2;
  const CurveStart start =
      start_curve(plane, {grazes ? Kind::grazing : Kind::period_doubling,
                          grazes ? condition.contact : -1,
                          {p.parameter, middle, periods, p.period / 2, std::fmod(p.phase, periods)},
                          doubled.point.second});
  if (!start.solution) return std::nullopt;
  std::optional<Codim2> nearest;
  double least = grazes ? at_end : near;
  for (const int direction : {-1, 1}) {
    CurveWalk walk(*start.solution, direction, options);
    for (int k = 0; k < points && walk.next(); ++k) {
      for (const Codim2& c : walk.passed()) {
        const double away = plane.distance({c.at.parameter, c.second}, {p.parameter, doubled.point.second});
        if (!meets(c.kind) || !(away <= least)) continue;
        nearest = c;
        least = away;
      }
    }
  }
  return nearest;
}

namespace {

/// A point of a curve of doubled orbits that emanates from a point on a curve of period doublings: on the
/// branch of the doubled orbits one is near. Nearer to the point the equations are singular, further away the
/// motion may take another way.
std::optional<CurveSolution> of_doubled(const Plane& plane, const Codim2& c, Kind kind) {
  Bifurcation at = c.at;
  at.kind = Kind::period_doubling;  // whichever curve has led there
  const Family family = plane.at(c.second);
  const auto way = way_across(family, at, plane.widths[0]);
  if (!way) return std::nullopt;
  const Shooting shooting(family, way->itinerary, way->anchor);
  const Metric metric{at.size, shooting.turn(way->u), plane.widths[0]};
  const Vector normal = metric.plane(shooting, way->direction);
  const auto in_pieces = shooting_for(family, way->itinerary, way->anchor);
  for (const double step : {3e-2, 1e-2, 3e-3, 1e-3, 3e-4}) {
    const Closing doubled = solve_plane(shooting, way->u + step * way->direction, normal);
    if (!doubled.ok) continue;
    const auto u = in_pieces->unknowns(doubled.u.head(shooting.states()), shooting.durations(doubled.u),
                                       doubled.u(shooting.size()));
    if (!u) continue;
    const double extra = kind == Kind::neimark_sacker ? cosine_of(orbit_multipliers(*in_pieces, *u)) : 0;
    auto s = solve_near(plane, way->itinerary, way->anchor, {kind, -1, 0, {}}, *u, c.second, extra, at.size);
    if (!s || !CurveWalk(*s, 1, {}).point().orbit.admissible) continue;
    const double apart = halves_apart(plane.at(s->point.second), s->point.orbit).norm();
    if (apart > 0.1 * step * at.size) return s;
  }
  return std::nullopt;
}

}  // namespace

std::vector<CurveSolution> emanating(const Plane& plane_of, const Codim2& c) {
  std::vector<CurveSolution> starts;
  const Bifurcation& at = c.at;
  Plane plane = plane_of;
  plane.family.in_full = !plane.family.model->frictions().empty() && !moves_by_itself(at.itinerary);
  Anchor anchor = anchor_at(plane.at(c.second), at.parameter, at.state, at.itinerary.steps.front().mode);
  anchor.phase = at.phase;
  const auto add_any = [&](Kind kind, const Itinerary& itinerary, const Vector& u, std::size_t step,
                           double extra) {
    const int contact = is_spectral(kind) ? -1 : at.contact;
    auto s = solve_near(plane, itinerary, anchor, {kind, contact, step, {}}, u, c.second, extra, at.size);
    if (s) starts.push_back(std::move(*s));
  };
  const auto add = [&](Kind kind, const Itinerary& itinerary, const Vector& u, std::size_t step,
                       double extra) {
    if (kind != at.kind) add_any(kind, itinerary, u, step, extra);
  };
  const auto same = [&](Kind kind, double extra = 0) { add(kind, at.itinerary, at.unknowns, 0, extra); };
  const auto doubled = [&](Kind kind) {
    if (auto s = of_doubled(plane, c, kind)) starts.push_back(std::move(*s));
  };
  const auto of_pair = [&] {
    const Family family = plane.at(c.second);
    const auto shooting = shooting_for(family, at.itinerary, anchor);
    same(Kind::neimark_sacker, cosine_of(orbit_multipliers(*shooting, at.unknowns)));
  };
  const auto plain = [&](Kind kind, double extra = 0) {
    const Family family = plane.at(c.second);
    const Shooting shooting(family, at.itinerary, anchor,
                            shooting_for(family, at.itinerary, anchor)->inner_nodes());
    const auto less = without_event(shooting, at.unknowns, c.step);
    if (less) add(kind, less->shooting->itinerary(), less->u, 0, extra);
  };
  const auto changed = [&](auto change, Kind kind, std::size_t step) {
    const Family family = plane.at(c.second);
    const auto other = change(*shooting_for(family, at.itinerary, anchor), at.unknowns, step);
    if (other) add(kind, other->shooting->itinerary(), other->u, is_spectral(kind) ? 0 : step, 0);
  };
  // The orbit with a touch where a further gap comes to zero; `step`: that of the touch.
  const auto further_touch = [&](const Shooting& shooting, std::size_t& step) -> std::optional<Touched> {
    constexpr double all = std::numeric_limits<double>::infinity();
    const std::vector<Dip> dips = dips_of(shooting, at.unknowns, {at.contact}, -all);
    const auto least = std::min_element(dips.begin(), dips.end(), [&](const Dip& a, const Dip& b) {
      const auto order = [&](const Dip& d) { return std::pair(d.step != c.other, std::abs(d.guard)); };
      return order(a) < order(b);
    });
    if (least == dips.end() || least->closed) return std::nullopt;
    step = least->step;
    return with_touch(shooting, at.unknowns, *least);
  };
  const auto touching = [&] {
    std::size_t step = 0;
    const Family family = plane.at(c.second);
    const auto touched = further_touch(*shooting_for(family, at.itinerary, anchor), step);
    if (touched) add(Kind::grazing, touched->shooting->itinerary(), touched->u, step, 0);
  };
  // Where two touches meet: the curves of either, the other being nothing or a hit.
  const auto crossing = [&] {
    constexpr double met = 1e-6;  // of speeds
    const Family family = plane.at(c.second);
    const auto shooting = shooting_for(family, at.itinerary, anchor);
    const auto system = family.system(at.parameter);
    const auto equations = shooting->equations(at.unknowns);
    if (!system || !equations) return;
    const Step& there = at.itinerary.steps[c.other];
    const double speed = equations->measure(static_cast<Eigen::Index>(c.other));
    const bool hits =
        is_hit(there.end) && there.contact == at.contact && std::abs(speed) <= met * at.size * system->rate();
    std::size_t touches[2] = {c.step, c.other};
    const auto both =
        hits ? as_touch(*shooting, at.unknowns, touches[1]) : further_touch(*shooting, touches[1]);
    if (!both) return;
    // One contact's own would be followed by those with ever more of its impacts.
    if (both->shooting->itinerary().steps[touches[1]].contact == at.itinerary.steps[c.step].contact) return;
    const std::size_t steps = both->shooting->itinerary().steps.size();
    if (touches[1] <= c.step) touches[0] += steps - at.itinerary.steps.size();
    for (const std::size_t kept : {0, 1}) {
      for (const bool hit : {false, true}) {
        std::size_t step = touches[kept], other = touches[1 - kept];
        const bool before = other < step;
        const auto one =
            hit ? as_hit(*both->shooting, both->u, other) : without_event(*both->shooting, both->u, other);
        if (!one) continue;
        const Itinerary& itinerary = one->shooting->itinerary();
        if (before) step += itinerary.steps.size() - steps;
        const CurveCondition condition{Kind::grazing, itinerary.steps[step].contact, step, {}};
        auto s = solve_near(plane, itinerary, anchor, condition, one->u, c.second, 0, at.size);
        if (s) starts.push_back(std::move(*s));
      }
    }
  };
  const bool grazing = at.kind == Kind::grazing;
  const auto sticking = [&] {
    constexpr double met = 1e-6;  // of forces, as accelerations
    Plane full = plane;
    full.family.in_full = true;
    const Family family = full.at(c.second);
    const Shooting shooting(family, at.itinerary, anchor,
                            shooting_for(family, at.itinerary, anchor)->inner_nodes());
    const auto system = family.system(at.parameter);
    const auto equations = shooting.equations(at.unknowns);
    if (!system || !equations || !ends_sliding(at.itinerary.steps[c.other].end)) return;
    const double left = equations->measure(static_cast<Eigen::Index>(c.other));
    if (!(std::abs(left) <= met * at.size * system->rate() * system->rate())) return;
    const CurveCondition condition{slip_kind(shooting, at.unknowns, c.other), at.contact, c.other, {}};
    auto s = solve_near(full, at.itinerary, anchor, condition, at.unknowns, c.second, 0, at.size);
    if (s) starts.push_back(std::move(*s));
  };
  switch (c.kind) {
    case Codim2Kind::generalized_period_doubling:
      // The folds may have led here, and no curve of period doublings be known.
      add_any(Kind::period_doubling, at.itinerary, at.unknowns, 0, 0);
      doubled(Kind::fold);
      break;
    case Codim2Kind::fold_flip:
      same(Kind::fold);
      same(Kind::period_doubling);
      break;
    case Codim2Kind::resonance_1_1:
      same(Kind::fold);
      same(Kind::neimark_sacker, 1);
      break;
    case Codim2Kind::resonance_1_2:
      same(Kind::period_doubling);
      same(Kind::neimark_sacker, -1);
      doubled(Kind::neimark_sacker);
      break;
    case Codim2Kind::fold_neimark_sacker:
      same(Kind::fold);
      of_pair();
      break;
    case Codim2Kind::flip_neimark_sacker:
      same(Kind::period_doubling);
      of_pair();
      doubled(Kind::neimark_sacker);
      break;
    case Codim2Kind::resonant_grazing:
      if (grazing)
        changed(as_hit, c.sense > 0 ? Kind::fold : Kind::period_doubling, c.step);
      else
        changed(as_touch, Kind::grazing, c.other);
      break;
    case Codim2Kind::grazing_fold:
      grazing ? plain(Kind::fold) : touching();
      break;
    case Codim2Kind::grazing_period_doubling:
      grazing ? plain(Kind::period_doubling) : touching();
      break;
    case Codim2Kind::grazing_neimark_sacker:
      if (!grazing) touching();
      break;
    case Codim2Kind::double_grazing:
      crossing();
      break;
    case Codim2Kind::stick_corner:
      sticking();
      break;
    default:
      break;
  }
  return starts;
}

}  // namespace graze
