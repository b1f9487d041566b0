#include "analysis/continuation/grazing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace graze {
namespace {

using Vector = Eigen::VectorXd;

/// A vector of unknowns with the duration of one step split in two: `share` of it in a new step before it.
Vector with_step(const Shooting& shooting, const Vector& u, std::size_t step, double share) {
  const Eigen::Index k = shooting.duration_index(step);
  Vector v(u.size() + 1);
  v << u.head(k), share * u(k), (1 - share) * u(k), u.tail(u.size() - k - 1);
  return v;
}

/// The contrary: the duration of a step added to the next one's.
Vector without_step(const Shooting& shooting, const Vector& u, std::size_t step) {
  const Eigen::Index k = shooting.duration_index(step);
  Vector v(u.size() - 1);
  v << u.head(k), u.tail(u.size() - k - 1);
  v(k) += u(k);
  return v;
}

/// Another shooting of the same orbit with its nodes elsewhere: states are followed anew.
std::optional<Vector> moved(const Shooting& from, const Vector& u, const Shooting& to) {
  return to.unknowns(u.head(from.states()), from.durations(u), u(from.size()));
}

Shooting without_nodes(const Shooting& shooting) {
  return {shooting.family(), shooting.itinerary(), shooting.anchor()};
}

/// The itinerary with one more step before `step`.
Itinerary with(const Itinerary& itinerary, std::size_t step, EventKind end, int contact) {
  Itinerary more = itinerary;
  Step added = more.steps[step];
  added.end = end;
  added.contact = contact;
  added.instant = false;
  more.steps.insert(more.steps.begin() + static_cast<std::ptrdiff_t>(step), added);
  return more;
}

bool engaged_on(const System& system, std::int64_t mode, int contact) {
  if (contact < 0) return false;
  HybridState state;
  state.mode = mode;
  return system.in_contact(state, contact);
}

/// The itinerary without a step. An own leg heeds the contacts of both parts.
Itinerary without(const Itinerary& itinerary, std::size_t step) {
  Itinerary less = itinerary;
  Step& joined = less.steps[step + 1];
  if (joined.length == Leg::Length::own) joined.mode |= less.steps[step].mode;
  less.steps.erase(less.steps.begin() + static_cast<std::ptrdiff_t>(step));
  return less;
}

/// Guard of a contact on its way along a leg.
struct Sample {
  double share;  ///< of the leg's duration
  double guard;
  double rate;
};

/// The same on an own leg.
std::vector<Sample> sampled_on_own(System& system, const Leg& leg, int contact,
                                   const std::vector<double>& shares) {
  std::vector<Sample> samples;
  HybridState state = begun(system, leg);
  Section section;
  section.kind = Section::Kind::time;
  Vector gap, rate;
  double passed = 0;
  for (const double share : shares) {
    section.interval = (share - passed) * leg.duration;
    passed = share;
    if (system.advance(state, section, nullptr) != Outcome::ok) return {};
    system.gaps(state, gap, rate);
    samples.push_back({share, gap(contact), rate(contact)});
  }
  return samples;
}

std::vector<Sample> sampled(System& system, const Leg& leg, int contact, int parameter,
                            const std::vector<double>& shares) {
  if (leg.length == Leg::Length::own) return sampled_on_own(system, leg, contact, shares);
  std::vector<Leg> probes(shares.size(), leg);  // each goes on where the one before ended
  double passed = 0;
  for (std::size_t j = 0; j < shares.size(); ++j) {
    Leg& probe = probes[j];
    probe.duration *= shares[j] - passed;
    passed = shares[j];
    probe.end = EventKind::graze;
    probe.contact = contact;
    if (j == 0) continue;
    probe.state.resize(0);
    probe.time = std::numeric_limits<double>::quiet_NaN();
  }
  std::vector<Sample> samples;
  const auto course = system.follow_values(probes, {parameter});
  for (std::size_t j = 0; course && j < shares.size(); ++j)
    samples.push_back({shares[j], course->legs[j].measure, course->legs[j].guard});
  return samples;
}

/// So many places on a leg of that many of the shortest time scales; on one that lasts a part of them, few.
int intervals_of(double scales, bool brief) {
  constexpr int few = 8;
  constexpr int per_scale = 4;
  constexpr int least_short = 16;  // of a leg within one of them
  constexpr int least = 64;
  if (brief) return few;
  return std::max(scales < 1 ? least_short : least, static_cast<int>(std::ceil(per_scale * scales)));
}

/// Even places on a leg, and one right behind its beginning, where a minimum may lie; where it begins on the
/// contact, from there on ever wider ones, as behind a slow impact all happens in its own, short time.
std::vector<double> sampling(int intervals, bool begins_there) {
  constexpr double earliest = 1e-6;
  constexpr double growth = 1.2;
  std::vector<double> shares{earliest};
  for (double share = growth * earliest; begins_there && share < 1.0 / intervals; share *= growth)
    shares.push_back(share);
  for (int j = 1; j <= intervals; ++j) shares.push_back(static_cast<double>(j) / intervals);
  return shares;
}

/// Even places between two: as many at once as cost about as much as one.
std::vector<double> inside(double low, double high) {
  constexpr int count = 15;
  std::vector<double> shares;
  for (int j = 1; j <= count; ++j) shares.push_back(low + (high - low) * j / (count + 1));
  return shares;
}

/// Minima of a guard on a leg, sampled at these places, that lie below −depth. Where friction ends the leg as
/// it turns a body round, the minimum is that end; so it may be where a compliant contact ends, and what rubs
/// on it with it.
std::vector<Dip> dips_on(System& system, const Leg& leg, int contact, int parameter, double depth,
                         const std::vector<double>& shares) {
  constexpr double rounding = 1e-9;  // of the greatest rate
  std::vector<Sample> samples = sampled(system, leg, contact, parameter, shares);
  double fastest = 0;
  for (const Sample& s : samples) fastest = std::max(fastest, std::abs(s.rate));
  if (!samples.empty() && std::abs(samples.back().rate) <= rounding * fastest) samples.back().rate = 0;
  std::vector<Dip> dips;
  for (std::size_t j = 1; j < samples.size(); ++j) {
    Sample low = samples[j - 1];
    Sample high = samples[j];
    if (!(low.rate < 0 && high.rate >= 0)) continue;
    while (high.share - low.share > 1e-9) {  // no secants: rates may have corners
      const auto between = sampled(system, leg, contact, parameter, inside(low.share, high.share));
      if (between.empty()) break;
      const auto rising =
          std::find_if(between.begin(), between.end(), [](const Sample& s) { return s.rate >= 0; });
      if (rising != between.end()) high = *rising;
      if (rising != between.begin()) low = *(rising - 1);
    }
    if (std::min(low.guard, high.guard) < -depth)
      dips.push_back({0, contact, high.share, std::min(low.guard, high.guard),
                      leg.length != Leg::Length::own && engaged_on(system, leg.mode, contact)});
  }
  const bool left = contact < 0 && leg.end == EventKind::contact_end && !samples.empty();
  if (left && samples.back().rate < 0 && samples.back().guard < -depth)
    dips.push_back({0, contact, 1, samples.back().guard, false});
  return dips;
}

}  // namespace

std::vector<Dip> dips_of(const Shooting& shooting, const Vector& u, const std::vector<int>& contacts,
                         double depth) {
  constexpr double near = 1e-3;  // of the size: a gap so small is that of a contact just left
  std::vector<Dip> found;
  const auto legs = shooting.placed_legs(u);
  const std::unique_ptr<System> system = shooting.family().system(u(shooting.size()));
  if (!legs || !system) return found;
  for (std::size_t k = 0; k < legs->size(); ++k) {
    const Leg& leg = (*legs)[k];
    if (!(leg.duration > 0)) continue;
    Eigen::VectorXd gap, rate;
    HybridState state;
    state.x = leg.state;
    system->gaps(state, gap, rate);
    // Flights of a chatter sequence lead to the next zero of their contact's gap.
    const Step& step = shooting.itinerary().steps[k];
    const bool brief = Leg::finds_end(step.length);
    const double small = near * size_of(*system, leg.state);
    for (const int i : contacts) {
      if ((i >= 0 && !std::isfinite(gap(i))) || (brief && i == step.contact)) continue;
      const bool begins_there = !brief && (i < 0 || gap(i) <= small);
      const auto shares = sampling(intervals_of(leg.duration * system->rate(), brief), begins_there);
      for (Dip& dip : dips_on(*system, leg, i, shooting.family().parameter, depth, shares)) {
        dip.step = k;
        found.push_back(dip);
      }
    }
  }
  return found;
}

std::optional<Touched> with_touch(const Shooting& shooting, const Vector& u, const Dip& dip) {
  const auto touched =
      shooting_for(shooting.family(), with(shooting.itinerary(), dip.step, EventKind::graze, dip.contact),
                   shooting.anchor());
  const Shooting whole = without_nodes(shooting);
  const auto plain = moved(shooting, u, whole);
  if (!plain) return std::nullopt;
  const auto guess = moved(without_nodes(*touched), with_step(whole, *plain, dip.step, dip.share), *touched);
  if (!guess) return std::nullopt;
  return Touched{touched, *guess};
}

std::optional<Touched> without_event(const Shooting& shooting, const Vector& u, std::size_t step) {
  const Shooting whole = without_nodes(shooting);
  const auto plain = moved(shooting, u, whole);
  if (!plain) return std::nullopt;
  const auto less = shooting_for(shooting.family(), without(shooting.itinerary(), step), shooting.anchor());
  const auto guess = moved(without_nodes(*less), without_step(whole, *plain, step), *less);
  if (!guess) return std::nullopt;
  return Touched{less, *guess};
}

bool touch_instead(Itinerary& itinerary, std::vector<double>& durations, std::size_t& step) {
  std::vector<Step>& steps = itinerary.steps;
  const int contact = steps[step].contact;
  if (of_compliant(steps[step].end)) {
    const auto ends = [&](std::size_t k) {
      return k < steps.size() && steps[k].end == EventKind::contact_end && steps[k].contact == contact;
    };
    const bool before = step > 0 && ends(step - 1);
    const bool behind = ends(step + 1);
    if (!before && !behind) return false;
    const auto brief = [&](std::size_t k) { return std::abs(durations[k]); };
    if (before && (!behind || brief(step) < brief(step + 1))) --step;
    const auto gone = static_cast<std::ptrdiff_t>(step) + 1;
    durations[step + 2] += durations[step + 1];
    durations.erase(durations.begin() + gone);
    steps.erase(steps.begin() + gone);
  }
  steps[step].end = EventKind::graze;
  if (Leg::finds_end(steps[step].length)) steps[step].length = Leg::Length::given;
  return true;
}

std::optional<Touched> as_touch(const Shooting& shooting, const Vector& u, std::size_t& step) {
  Itinerary itinerary = shooting.itinerary();
  std::vector<double> durations = shooting.durations(u);
  if (!touch_instead(itinerary, durations, step)) return std::nullopt;
  const auto touched = shooting_for(shooting.family(), itinerary, shooting.anchor());
  if (touched->size() == shooting.size() && touched->inner_nodes() == shooting.inner_nodes())
    return Touched{touched, u};
  const auto there = touched->unknowns(u.head(shooting.states()), durations, u(shooting.size()));
  if (!there) return std::nullopt;
  return Touched{touched, *there};
}

std::optional<Touched> as_hit(const Shooting& shooting, const Vector& u, std::size_t& step) {
  const Family& family = shooting.family();
  const std::unique_ptr<System> system = family.system(u(shooting.size()));
  if (!system) return std::nullopt;
  Itinerary itinerary = shooting.itinerary();
  Step& hit = itinerary.steps[step];
  const bool engaged = engaged_on(*system, hit.mode, hit.contact);
  const std::int64_t other = system->with_contact(hit.mode, hit.contact, !engaged);
  if (other == hit.mode) {
    hit.end = EventKind::impact;
    return Touched{std::make_shared<Shooting>(family, itinerary, shooting.anchor(), shooting.inner_nodes()),
                   u};
  }
  Step back = hit;
  back.mode = other;
  hit.end = engaged ? EventKind::contact_end : EventKind::contact_begin;
  back.end = engaged ? EventKind::contact_begin : EventKind::contact_end;
  itinerary.steps.insert(itinerary.steps.begin() + static_cast<std::ptrdiff_t>(step) + 1, back);
  const auto hitting = shooting_for(family, itinerary, shooting.anchor());
  const Shooting whole = without_nodes(shooting);
  const auto plain = moved(shooting, u, whole);
  if (!plain) return std::nullopt;
  const auto guess = moved(without_nodes(*hitting), with_step(whole, *plain, step + 1, 0), *hitting);
  if (!guess) return std::nullopt;
  if (engaged) ++step;
  return Touched{hitting, *guess};
}

namespace {

/// Events of one contact, in order.
std::vector<EventKind> events_of(const Itinerary& itinerary, int contact) {
  std::vector<EventKind> events;
  for (const Step& step : itinerary.steps)
    if (step.contact == contact) events.push_back(step.end);
  return events;
}

/// First the contacts whose events the motion beyond has otherwise, then those that it has alike, if at other
/// instants.
std::array<std::vector<int>, 2> by_change(const Itinerary& here, const Record& beyond, int contacts) {
  std::array<std::vector<int>, 2> sorted;
  for (int i = 0; i < contacts; ++i) {
    const bool same = beyond.outcome == Outcome::ok && events_of(here, i) == events_of(beyond.itinerary, i);
    sorted[same ? 1 : 0].push_back(i);
  }
  return sorted;
}

/// A speed of no more than rounding.
double no_speed(const Metric& metric) { return 1e-9 * metric.size / metric.time; }

/// Looks between a point of a branch and the solution of the same equations a step further.
class TouchSearch {
 public:
  TouchSearch(const Solution& from, const Closing& over, double step, const Metric& metric)
      : from_(from), over_(over), step_(step), metric_(metric) {}

  const std::vector<Grazing>& found() const { return found_; }

  /// The first of what was found.
  std::optional<Grazing> first() const {
    const auto least = std::min_element(found_.begin(), found_.end(),
                                        [](const Grazing& a, const Grazing& b) { return a.place < b.place; });
    if (least == found_.end()) return std::nullopt;
    Grazing first = *least;
    constexpr double near = 1e-8;  // of arclength
    for (const Grazing& other : found_) {
      const bool here = other.gained == first.gained && other.place - first.place <= near;
      if (here && other.contact != first.contact) first.others.push_back(other.contact);
    }
    return first;
  }

  /// Hits outside of chatter that have no speed left at the end; compliant contacts that do not end any more
  /// as they did, their force no longer falling through zero.
  void lost(const Equations& here) {
    const Shooting& shooting = *from_.shooting;
    const std::vector<bool> inside = chattering(shooting.itinerary(), here.measure);
    for (std::size_t k = 0; k < inside.size(); ++k) {
      const Step& s = shooting.itinerary().steps[k];
      const Eigen::Index row = static_cast<Eigen::Index>(k);
      if (inside[k] || !loses(k)) continue;
      const double share = here.measure(row) / (here.measure(row) - over_.equations.measure(row));
      Grazing g;
      g.contact = s.contact;
      g.step = k;
      const Closing closing = solve_measure(shooting, from_.u + share * (over_.u - from_.u), k);
      if (!closing.ok) continue;
      g.place = metric_.dot(shooting, closing.u - from_.u, from_.tangent);
      Itinerary itinerary = shooting.itinerary();
      std::vector<double> durations = shooting.durations(closing.u);
      std::size_t touch = k;
      const bool in_contact =
          s.end == EventKind::contact_end || (touch_instead(itinerary, durations, touch) && touch < k);
      if (in_contact) g.kind = BifurcationKind::rising_border;
      offer(std::move(g), from_.shooting, closing);
    }
  }
  /// A touch at a place where a guard is crossed at the end.
  void gained(const Dip& t) {
    const Shooting& shooting = *from_.shooting;
    const auto touched = with_touch(shooting, over_.u, t);
    if (!touched) return;
    Grazing g;
    g.contact = t.contact;
    g.step = t.step;
    g.gained = true;
    g.kind = t.closed ? BifurcationKind::rising_border : BifurcationKind::grazing;
    const Closing closing = solve_measure(*touched->shooting, touched->u, t.step);
    if (!closing.ok) return;
    g.place = step_ * share(*touched->shooting, closing.u);
    offer(std::move(g), touched->shooting, closing);
  }

 private:
  /// Whether the hit of a step, or the end of a compliant contact whose hits have kept their speeds, loses
  /// its measure.
  bool loses(std::size_t step) const {
    const std::vector<Step>& steps = from_.shooting->itinerary().steps;
    const auto gone = [&](std::size_t k) {
      return k < steps.size() && over_.equations.measure(static_cast<Eigen::Index>(k)) <= 0;
    };
    const auto hit_gone = [&](std::size_t k) {
      return gone(k) && is_hit(steps[k].end) && steps[k].contact == steps[step].contact;
    };
    if (is_hit(steps[step].end)) return gone(step);
    const bool by_hits = hit_gone(step + 1) || (step > 0 && hit_gone(step - 1));
    return steps[step].end == EventKind::contact_end && gone(step) && !by_hits;
  }
  /// Whether a hit outside of chatter is slower than not at all: one of another grazing, which comes first.
  bool another_lost_before(const Shooting& shooting, const Equations& there) const {
    return slowest_single_hit(shooting.itinerary(), there.measure) < -no_speed(metric_);
  }
  void offer(Grazing g, const std::shared_ptr<const Shooting>& shooting, const Closing& closing) {
    const Eigen::Index n = shooting->states();
    constexpr double here = 1e-9;  // arclength: what lies further behind has been passed
    if (g.place < -here || g.place > 1.05 * step_) return;
    if (another_lost_before(*shooting, closing.equations)) return;
    g.solution = from_;
    g.solution.shooting = shooting;
    g.solution.u = closing.u;
    g.solution.point.parameter = closing.u(shooting->size());
    g.solution.point.state = closing.u.head(n);
    g.solution.point.period = shooting->turn(closing.u);
    g.solution.tangent =
        tangent_of(*shooting, closing.equations,
                   metric_.state_plane(*shooting, from_.tangent.head(n), from_.parameter_slope()), metric_);
    found_.push_back(std::move(g));
  }
  /// How far other unknowns are on the way to the end, by their first state and the parameter.
  double share(const Shooting& shooting, const Vector& u) const {
    const Eigen::Index n = shooting.states();
    const Eigen::Index m = from_.shooting->size();
    const Vector state = over_.u.head(n) - from_.start();
    const double parameter = over_.u(m) - from_.u(m);
    const Vector normal = metric_.state_plane(*from_.shooting, state, parameter);
    const auto along = [&](const Vector& x, double p) { return normal.head(n).dot(x) + normal(m) * p; };
    return along(u.head(n) - from_.start(), u(shooting.size()) - from_.u(m)) / along(state, parameter);
  }

  const Solution& from_;
  const Closing& over_;
  double step_;
  const Metric& metric_;
  std::vector<Grazing> found_;
};

}  // namespace

std::optional<Grazing> first_grazing(const Solution& from, double step, const Metric& metric,
                                     const Record& beyond) {
  constexpr double depth = 1e-12;  // of the orbit's size: deeper is no rounding
  const Shooting& shooting = *from.shooting;
  const Closing over =
      solve_plane(shooting, from.u + step * from.tangent, metric.plane(shooting, from.tangent));
  const auto here = shooting.equations(from.u);
  if (!over.ok || !here) return std::nullopt;
  TouchSearch search(from, over, step, metric);
  search.lost(*here);
  const int count = static_cast<int>(shooting.family().model->contacts().size());
  for (std::vector<int>& contacts : by_change(shooting.itinerary(), beyond, count)) {
    for (const Grazing& lost : search.found()) std::erase(contacts, lost.contact);
    for (const Dip& t : dips_of(shooting, over.u, contacts, depth * metric.size)) search.gained(t);
    if (!search.found().empty()) break;
  }
  return search.first();
}

Closing behind_at_speed(const Grazing& grazing, const Solution& behind, double speed) {
  const Shooting& shooting = *behind.shooting;
  const auto equations = shooting.equations(behind.u);
  if (!equations) return {};
  const Eigen::Index flight = shooting.duration_index(grazing.step);
  const double braking = equations->measure_slope(static_cast<Eigen::Index>(grazing.step), flight);
  if (!(braking < 0)) return {};
  Vector guess = behind.u;  // before the body has turned
  guess(flight) += speed / braking;
  guess(flight + 1) -= speed / braking;
  return solve_measure(shooting, guess, grazing.step, speed);
}

namespace {

/// At a grazing, with the tangent along which the measure of a step grows.
std::optional<Solution> heading_away(const Grazing& grazing, const Touched& there, std::size_t step,
                                     const Metric& metric) {
  const auto equations = there.shooting->equations(there.u);
  if (!equations) return std::nullopt;
  Solution behind = grazing.solution;
  behind.shooting = there.shooting;
  behind.u = there.u;
  const Vector growth = equations->measure_slope.row(static_cast<Eigen::Index>(step)).transpose();
  const bool alike = grazing.solution.shooting->size() == there.shooting->size();
  const Vector normal = alike ? metric.plane(*there.shooting, grazing.solution.tangent) : growth;
  behind.tangent = tangent_of(*there.shooting, *equations, normal, metric);
  if (growth.dot(behind.tangent) < 0) behind.tangent = -behind.tangent;
  constexpr double open = 1e-6;  // of the size
  if (!(equations->residual.cwiseAbs().maxCoeff() <= open * metric.size)) return std::nullopt;
  return behind;
}

/// Impacts that have no speed left where that of a grazing has none, it among them, the last first.
std::vector<std::size_t> lost_at(const Grazing& grazing, const Metric& metric) {
  const Solution& at = grazing.solution;
  std::vector<std::size_t> lost{grazing.step};
  const std::vector<Step>& steps = at.shooting->itinerary().steps;
  const auto equations = at.shooting->equations(at.u);
  for (std::size_t k = 0; equations && k < steps.size(); ++k) {
    const bool loses = steps[k].end == EventKind::impact &&
                       std::abs(equations->measure(static_cast<Eigen::Index>(k))) <= no_speed(metric);
    if (loses && std::ranges::count(grazing.others, steps[k].contact) > 0) lost.push_back(k);
  }
  std::sort(lost.rbegin(), lost.rend());
  return lost;
}

/// The branch without hits that have no speed left.
std::optional<Solution> behind_loss(const Grazing& grazing, const Metric& metric) {
  std::vector<std::size_t> lost = lost_at(grazing, metric);
  std::optional<Touched> there = Touched{grazing.solution.shooting, grazing.solution.u};
  std::size_t touch = grazing.step;
  for (std::size_t& step : lost) {
    const bool first = step == grazing.step;
    there = as_touch(*there->shooting, there->u, step);
    if (!there) return std::nullopt;
    if (first) touch = step;
  }
  auto behind = heading_away(grazing, *there, touch, metric);
  if (!behind) return std::nullopt;
  // The touches are no events: off with them.
  const auto without_them = [&](const Vector& u) {
    std::optional<Touched> left = Touched{behind->shooting, u};
    for (const std::size_t step : lost) {
      if (left) left = without_event(*left->shooting, left->u, step);
    }
    return left;
  };
  constexpr double ahead = 1e-6;
  const auto here = without_them(behind->u);
  const auto there_ahead = without_them(behind->u + ahead * behind->tangent);
  if (!here || !there_ahead) return std::nullopt;
  behind->shooting = here->shooting;
  behind->u = here->u;
  const Vector along = there_ahead->u - here->u;
  behind->tangent = along / metric.norm(*behind->shooting, along);
  return behind;
}

/// The branch with hits in the place of touches.
std::optional<Solution> behind_gain(const Grazing& grazing, const Metric& metric) {
  constexpr double touching = 1e-9;  // of the size
  std::optional<Touched> there = Touched{grazing.solution.shooting, grazing.solution.u};
  std::size_t step = grazing.step;
  for (const int contact : grazing.others) {
    const auto dips = dips_of(*there->shooting, there->u, {contact}, -touching * metric.size);
    if (dips.empty() || !(std::abs(dips.front().guard) <= touching * metric.size)) continue;
    there = with_touch(*there->shooting, there->u, dips.front());
    std::size_t other = dips.front().step;
    if (there) there = as_hit(*there->shooting, there->u, other);
    if (!there) return std::nullopt;
    if (other <= step) ++step;
  }
  there = as_hit(*there->shooting, there->u, step);
  return there ? heading_away(grazing, *there, step, metric) : std::nullopt;
}

}  // namespace

std::optional<Solution> behind_grazing(const Grazing& grazing, const Metric& metric) {
  const Solution& at = grazing.solution;
  const Step& event = at.shooting->itinerary().steps[grazing.step];
  if (is_closed(event.mode, grazing.contact) || event.end == EventKind::contact_end) return std::nullopt;
  return grazing.gained ? behind_gain(grazing, metric) : behind_loss(grazing, metric);
}

}  // namespace graze
