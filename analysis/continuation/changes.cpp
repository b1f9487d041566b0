/// How a branch goes on where the events of its orbits change.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/continuation/beginning.hpp"
#include "analysis/continuation/continuation.hpp"
#include "analysis/continuation/grazing.hpp"
#include "analysis/continuation/slip_border.hpp"
#include "analysis/maps/multipliers.hpp"

namespace graze {

namespace {

/// The greatest difference of two orbits' states.
double state_distance(const Solution& a, const Solution& b) {
  return (a.point.state - b.point.state).cwiseAbs().maxCoeff();
}

/// Whether an orbit lies where the tangent at another one leads.
bool is_straight_ahead(const Solution& found, const Solution& last) {
  constexpr double aside = 0.05;  // of the way
  const double along = (found.point.parameter - last.point.parameter) / last.parameter_slope();
  const Eigen::VectorXd way = along * last.tangent.head(last.point.state.size());
  const Eigen::VectorXd off = found.point.state - last.point.state - way;
  return off.cwiseAbs().maxCoeff() <= aside * way.cwiseAbs().maxCoeff();
}

}  // namespace

/// The place where an impact loses its speed or a guard touches, if that is what happens between the last
/// point and that arclength; then on with the other itinerary.
Continuation::Passed Continuation::pass_grazing(const Trial& beyond, double step) {
  const auto grazing = first_grazing(now_, step, metric(), beyond.record);
  if (!grazing || !reaches(*grazing)) return Passed::not_found;
  const Told before = told();
  locate_before(*grazing);
  note(grazing->kind, grazing->contact, grazing->solution);
  for (const int contact : grazing->others) note(grazing->kind, contact, grazing->solution);
  const auto behind = behind_grazing(*grazing, metric());
  if (!behind && grazing->kind == BifurcationKind::rising_border) {
    if (jump(now_, least_way(grazing->kind))) return Passed::on;
    end_ = no_way_on(grazing->kind, grazing->contact, jumps_at(grazing->solution) ? jumps_there : no_orbit);
    return Passed::ended;
  }
  const auto loses = [&] {
    end_ = "at this grazing it is an orbit of fewer periods, passed through several times";
    return Passed::ended;
  };
  if (repeats(states_on_section(grazing->solution), grazing->solution.point.phase, size_)) return loses();
  if (!behind) return Passed::not_found;
  const Solution last = now_;
  const double taken = step_;
  const Told noted = told();
  Passed passed = leave(*behind);
  if (passed == Passed::not_found && grazing->gained) passed = leave_at_speed(*grazing, *behind);
  if (passed == Passed::on && loses_periods(last.point, now_.point)) {
    now_ = last;
    take_back_to(noted);
    return loses();
  }
  if (passed == Passed::on && !keeps_or_turns(last, *grazing)) {
    now_ = last;
    step_ = taken;
    take_back_to(before);
    return Passed::not_found;
  }
  return passed;
}

void Continuation::take_back_to(Told before) {
  passed_ = std::move(before.passed);
  changes_ = std::move(before.changes);
  last_jump_ = before.last_jump;
  change_count_ = before.count;
}

/// A change is looked at from no nearer than this, of arclength.
constexpr double closest = 1e-5;

/// Goes over the change between the last point and the next. true: where that is not clear, something else
/// may come before it; then it takes a shorter step instead.
bool Continuation::looks_closer(const Trial& beyond) {
  const Told before = told();
  if (pass_grazing(beyond, step_) != Passed::not_found) return false;
  take_back_to(before);
  if (step_ > closest) {
    step_ /= 4;
    return true;
  }
  constexpr double near = 1e-3;  // of the range
  if (pass_border_within(near * metric().range) != Passed::not_found) return false;
  pass_change(beyond, step_);
  return false;
}

/// So near to a grazing multipliers are taken that have none at it: one of them grows without bound.
constexpr double nearest_taken = 1e-7;

/// Whether the motion from an orbit closes with the parameter so much aside, of its range; the greatest
/// multiplier is known.
bool Continuation::closes(const Solution& orbit, const std::vector<std::complex<double>>& multipliers,
                          double aside) const {
  constexpr double closure = 1e-6;  // of the size
  const double growth = growth_of(multipliers);
  const auto system = family_.system(orbit.point.parameter + aside * metric().range);
  if (!system) return false;
  const Record record = record_of(*system, orbit.point, orbit.shooting->itinerary().periods);
  const double open = (record.end - orbit.point.state).cwiseAbs().maxCoeff();
  return record.outcome == Outcome::ok && open <= closure * growth * record.size;
}

/// Whether the motion where something changes, or just beside it, is the orbit there; equations know nothing
/// of other events that come before.
bool Continuation::is_taken(const Solution& there,
                            const std::vector<std::complex<double>>& multipliers) const {
  constexpr double sides[] = {0, -1e-10, 1e-10, -1e-8, 1e-8};
  return std::any_of(std::begin(sides), std::end(sides),
                     [&](double aside) { return closes(there, multipliers, aside); });
}

/// Whether the motion is the orbit on one side of a change only, however near to it.
bool Continuation::jumps_at(const Solution& there) const {
  constexpr double aside = 1e-10;
  return closes(there, now_.point.multipliers, -aside) != closes(there, now_.point.multipliers, aside);
}

/// Whether one orbit is another one so far away, not one of another part of the branch.
bool Continuation::leads_to(const Solution& orbit, const Solution& other, double away) const {
  constexpr double most = 10;  // of it: the branch may bend away from its tangent
  const double parameter = std::abs(other.point.parameter - orbit.point.parameter) / metric().range;
  return std::max(parameter, state_distance(other, orbit) / size_) <= most * away;
}

/// Whether the motion takes the way to a grazing. On a long way the branch may turn, and the grazing be
/// one of another sheet.
bool Continuation::reaches(const Grazing& grazing) const {
  if (!is_taken(grazing.solution, now_.point.multipliers)) return false;
  const bool is_long = grazing.place > closest;
  if (is_long) {
    const auto half = at(now_, grazing.place / 2);
    if (!half || half->verdict != Verdict::same || bends(now_, half->solution)) return false;
  }
  constexpr double furthest = 100 * nearest_taken;  // so near to it rounding may lose so slow an impact
  for (double away = nearest_taken; away <= furthest; away *= 10) {
    const double step = grazing.place - away;
    if (!(step > nearest_taken)) return true;
    const auto before = at(now_, step);
    if (!before || before->verdict == Verdict::open) continue;
    return !(is_long && bends(now_, before->solution)) && leads_to(before->solution, grazing.solution, away);
  }
  return false;
}

/// Whether the branch goes on behind a grazing; or turns there, from this point before it, and orbits of both
/// kinds stand side by side. Else an impact has lost its speed and got it back on a part of the branch too
/// short to be seen.
bool Continuation::keeps_or_turns(const Solution& last, const Grazing& grazing) const {
  const double slope = last.parameter_slope();
  const double back = (grazing.solution.point.parameter - now_.point.parameter) / slope;
  if (now_.parameter_slope() * slope > 0 || back < 0 || back >= grazing.place) return true;
  const auto beside = at(last, grazing.place - back);
  return beside && beside->verdict != Verdict::open &&
         beside->solution.point.signature == last.point.signature;
}

/// What test functions tell between the last point and a grazing, however near to it.
void Continuation::locate_before(const Grazing& grazing) {
  constexpr double same = 1e-9;  // of the size: an orbit of fewer periods, of another branch
  for (double away = nearest_taken; away < grazing.place / 2; away *= 10) {
    const double step = grazing.place - away;
    auto trial = solved(now_, step);
    if (!trial || repeats(states_on_section(trial->solution), trial->solution.point.phase, size_, same))
      continue;
    take_stability(trial->solution);
    return locate_tests(now_, trial->solution, step);
  }
}

/// To the first admissible point behind a grazing; what test functions tell between them is noted.
Continuation::Passed Continuation::leave(const Solution& from) {
  for (double step = 1e-3; step > 1e-10; step /= 4) {
    auto trial = at(from, step);
    if (!trial || trial->verdict != Verdict::changed || bends(from, trial->solution)) continue;
    take_stability(trial->solution);
    auto begin = step > 2 * nearest_taken ? solved(from, nearest_taken) : std::nullopt;
    if (begin) {
      take_stability(begin->solution);
      locate_tests(begin->solution, trial->solution, step - nearest_taken);
    }
    now_ = std::move(trial->solution);
    step_ = std::max(step, options_.first_step);
    return Passed::on;
  }
  return Passed::not_found;
}

/// The same by the speed of an impact that was gained.
Continuation::Passed Continuation::leave_at_speed(const Grazing& grazing, const Solution& behind) {
  for (const double share : {1e-3, 1e-4, 1e-2, 1e-5}) {
    const Closing closing = behind_at_speed(grazing, behind, share * size_);
    if (!closing.ok) continue;
    Trial trial;
    trial.solution =
        solution(behind.shooting, closing, metric().plane(*behind.shooting, closing.u - behind.u));
    judge(trial);
    if (trial.verdict != Verdict::changed) continue;
    take_stability(trial.solution);
    now_ = std::move(trial.solution);
    step_ = options_.first_step;
    return Passed::on;
  }
  return Passed::not_found;
}

/// Whether an orbit may be the next one of the branch: not far away, nor one of fewer periods.
bool Continuation::may_follow(const Solution& next, const Solution& last) const {
  return state_distance(next, last) <= 0.1 * size_ && !loses_periods(last.point, next.point);
}

/// The orbit near another one, that far along its branch, as Newton's method finds it.
std::optional<Solution> Continuation::orbit_beside(const Solution& last, double parameter,
                                                   double along) const {
  auto found =
      refine_orbit(family_, {parameter, last.point.state + along * last.tangent.head(last.shooting->states()),
                             last.shooting->itinerary().periods, last.point.period, last.point.phase});
  return found && may_follow(*found, last) ? found : std::nullopt;
}

/// The same, or the orbit that the motion from there settles to, not far away.
std::optional<Solution> Continuation::orbit_near(const Solution& last, double parameter, double along) const {
  const std::unique_ptr<System> system = family_.system(parameter);
  if (!system) return std::nullopt;
  NearOrbit near{parameter, last.point.state + along * last.tangent.head(last.shooting->states()),
                 last.shooting->itinerary().periods, last.point.period, last.point.phase};
  Section period;
  period.kind = Section::Kind::time;
  period.interval = system->period() > 0 ? system->period() : near.turn / near.periods;
  const auto begun = [&](const Eigen::VectorXd& x) {
    HybridState state;
    state.x = x;
    state.time = time_in_period(*system, near.phase);
    return state;
  };
  HybridState state = begun(near.state);
  for (const int turns : {0, 0, 1, 3, 20, 100}) {
    Outcome outcome = Outcome::ok;
    for (int k = 0; k < turns * near.periods && outcome == Outcome::ok; ++k) {
      outcome = system->advance(state, period, nullptr);
    }
    near.state = state.x;
    auto found = outcome == Outcome::ok ? refine_orbit(family_, near) : std::nullopt;
    if (found && may_follow(*found, last)) return found;
    if (found || turns > 0) continue;
    state = begun(last.point.state);
  }
  return std::nullopt;
}

/// Over a change that has no equation of its own: from the last point, a little further, the motion itself
/// shows the way.
bool Continuation::jump(const Solution& last, double least) {
  for (double way = least; way < 0.02; way *= 4) {
    if (lands(last, way, 1)) return true;
  }
  return false;
}

/// The same where the branch turns at the change, as it may where its map has a kink: orbits of other events,
/// further along, where the parameter comes from.
bool Continuation::jump_back(const Solution& last, double least) {
  constexpr int looks = 8;
  double way = least;
  for (int k = 0; k < looks; ++k, way *= 4) {
    if (lands(last, way, -1)) return true;
  }
  return false;
}

/// The same where the last point is one behind such a turn already, and no orbits like it are ahead.
bool Continuation::turn_back() {
  if (way_.size() < 2) return false;  // back from the first point is the other half of the branch
  const double little = options_.first_step / 100;
  const auto ahead = at(now_, little);
  if (ahead && ahead->verdict == Verdict::same) return false;
  Solution turned = now_;
  turned.tangent = -turned.tangent;
  auto trial = at(turned, little);
  if (!trial || trial->verdict != Verdict::same || walked(trial->solution.point)) return false;
  now_ = std::move(trial->solution);
  take_stability(now_);
  step_ = options_.first_step;
  return true;
}

/// Whether orbits lead from one behind a change at this parameter to the last one before it: over a change a
/// branch is continuous, if with a square root. Else it is another branch that passes there. Very near to
/// where impacts accumulate orbits between two that belong together may not be found.
bool Continuation::leads_back(const Solution& found, const Solution& last, double change) const {
  constexpr double closer = 0.75;  // a square root: 1/2 at a quarter of the way
  constexpr double near = 1e-3;    // of the size
  constexpr int looks = 4;
  double parameter = found.point.parameter;
  double away = state_distance(found, last);
  for (int k = 0; k < looks && (k == 0 || away > near * size_); ++k) {
    parameter = change + (parameter - change) / 4;
    const auto between = orbit_beside(found, parameter, 0);
    if (!between) return k > 0 || away <= near * size_;
    const double next = state_distance(*between, last);
    if (!(next <= closer * away)) return false;
    away = next;
  }
  return true;
}

/// Whether the branch goes on behind a change from an orbit that far (of the range) from it, in the sense of
/// the parameter as before (+1) or back (-1).
bool Continuation::lands(const Solution& last, double way, int onward) {
  const double slope = last.parameter_slope();
  const double sense = slope < 0 ? -1 : 1;
  const double change = passed_.empty() ? last.point.parameter : passed_.back().parameter;
  const double parameter = change + onward * sense * way * metric().range;
  if (parameter < options_.from || parameter > options_.to) return false;
  const double along = std::clamp(onward * (parameter - last.point.parameter) / slope, -0.1, 0.1);
  auto found = onward > 0 ? orbit_near(last, parameter, along) : orbit_beside(last, parameter, along);
  if (!found || walked(found->point)) return false;
  if (onward < 0 && found->point.signature == last.point.signature) return false;
  const bool ahead = chatters_at_once(last.shooting->itinerary()) && is_straight_ahead(*found, last);
  if (!ahead && !leads_back(*found, last, change)) return false;
  now_ = std::move(*found);
  take_stability(now_);
  face(now_, onward * sense);
  step_ = options_.first_step;
  return true;
}

std::string Continuation::no_way_on(BifurcationKind kind, int contact, const char* why) const {
  const auto& contacts = family_.model->contacts();
  return bifurcation_names()[static_cast<std::size_t>(kind)] +
         (contact < 0 ? "" : " of contact " + contacts[static_cast<std::size_t>(contact)].name) + why;
}

/// Bisection as far as there are orbits of the one signature or the other.
Continuation::Bracket Continuation::bracketed(const Solution& from, const Solution& beyond) const {
  Solution low = from;
  Solution high = beyond;
  const auto apart = [&] { return std::abs(low.point.parameter - high.point.parameter); };
  for (int k = 0; k < 60 && apart() > 1e-13 * metric().range; ++k) {
    const double middle = (low.point.parameter + high.point.parameter) / 2;
    bool closer = false;
    for (Solution* side : {&low, &high}) {
      auto found = orbit_beside(*side, middle, 0);
      if (!found || !(found->point.signature == side->point.signature)) continue;
      *side = std::move(*found);
      closer = true;
      break;
    }
    if (!closer) break;
  }
  return {low, apart()};
}

namespace {

/// Impacts of a contact in one turn, those of chatter sequences included.
std::ptrdiff_t impacts_of(const Record& record, int contact) {
  const std::vector<Step>& steps = record.itinerary.steps;
  return std::count_if(steps.begin(), steps.end(),
                       [contact](const Step& s) { return is_hit(s.end) && s.contact == contact; });
}

/// Whether a contact's slowest impact outside of chatter is one about to lose its speed, or a gap is about to
/// touch.
bool nearly_grazes(const Record& record, int contact) {
  constexpr double slow = 1e-3;  // of the fastest
  const std::vector<bool> inside = chattering(record.itinerary, record.speeds);
  double slowest = std::numeric_limits<double>::infinity();
  double fastest = record.size / record.times.back();
  for (const auto& [where, speed] : record.misses)
    if (where == contact) slowest = std::min(slowest, speed);
  for (std::size_t k = 0; k < inside.size(); ++k) {
    const Step& step = record.itinerary.steps[k];
    if (!is_hit(step.end) || step.contact != contact || inside[k]) continue;
    slowest = std::min(slowest, record.speeds[k]);
    fastest = std::max(fastest, record.speeds[k]);
  }
  return slowest <= slow * fastest;
}

/// Whether an impact of a contact falls together with one of another contact: which of them comes first then
/// decides whether the second comes at all.
bool coincides(const Record& record, int contact) {
  constexpr double together = 1e-6;  // of the turn
  const std::vector<Step>& steps = record.itinerary.steps;
  for (std::size_t k = 1; k < steps.size(); ++k) {
    const bool both = is_hit(steps[k - 1].end) && is_hit(steps[k].end);
    const bool one = (steps[k - 1].contact == contact) != (steps[k].contact == contact);
    if (both && one && record.times[k] - record.times[k - 1] <= together * record.times.back()) return true;
  }
  return false;
}

/// The contact of an event just before and just behind which, no further than rounding leaves it, one
/// friction changes what it does: it gives way, or turns, at that very event. Nothing: there is none.
std::optional<int> rubs_about(const Record& record) {
  constexpr double moment = 1e-6;  // of the turn
  const std::vector<Step>& steps = record.itinerary.steps;
  const auto at_once = [&](std::size_t a, std::size_t b) {
    return std::abs(record.times[a] - record.times[b]) <= moment * record.times.back();
  };
  /// How often the friction of a step changes just then.
  const auto changes = [&](std::size_t k) {
    int count = 0;
    for (std::size_t j = 0; j < steps.size(); ++j)
      count += of_friction(steps[j].end) && steps[j].contact == steps[k].contact && at_once(j, k) ? 1 : 0;
    return count;
  };
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (!of_friction(steps[k].end)) continue;
    const auto again = [&](const Step& s) { return of_friction(s.end) && s.contact == steps[k].contact; };
    const auto found = std::find_if(steps.begin() + static_cast<std::ptrdiff_t>(k) + 1, steps.end(), again);
    const auto next = static_cast<std::size_t>(found - steps.begin());
    if (found == steps.end() || !at_once(k, next)) continue;
    if (next > k + 1) {
      const bool alike = of_friction(steps[k + 1].end) && changes(k + 1) > 1;  // along the same direction
      if (alike) continue;
      return steps[k + 1].contact;
    }
    std::size_t first = k;
    while (first > 0 && steps[first].instant) --first;
    if (!of_friction(steps[first].end)) return steps[first].contact;
  }
  return std::nullopt;
}

struct ToldChange {
  BifurcationKind kind;
  int contact;
  /// Nothing has changed: two impacts before a chatter sequence have come to equal speeds.
  bool told_otherwise = false;
};

/// What has changed between the motions on both sides of a change, as near to it as they are known.
ToldChange change_of(const Signature& signature, const Record& before, const Record& after,
                     std::size_t contacts) {
  const Signature next = signature_of(after);
  const auto [kind, contact] = change_between(signature, next, static_cast<int>(contacts));
  if (of_slip(kind)) {
    for (const Record* side : {&after, &before})
      if (const auto about = rubs_about(*side)) return {BifurcationKind::simultaneous, *about};
  }
  if (kind != BifurcationKind::grazing) return {kind, contact};
  const Record& hit = next.hits(contact) > signature.hits(contact) ? after : before;
  if (nearly_grazes(hit, contact)) return {kind, contact};
  return {coincides(hit, contact) ? BifurcationKind::simultaneous : BifurcationKind::edge, contact,
          impacts_of(before, contact) == impacts_of(after, contact)};
}

/// Whether a contact is closed by chatter less often than before.
bool unsticks(const Signature& before, const Solution& after, int contact) {
  constexpr EventKind kind = EventKind::chatter_complete;
  return after.point.signature.count(kind, contact) < before.count(kind, contact);
}

}  // namespace

/// Where orbits are solved by the system's own motion and the derivative of that has no bound: the contact
/// with an impact that is about to lose its speed, or a gap about to touch. -1: none, or solved by prescribed
/// legs.
int Continuation::nearly_grazing() const {
  const Itinerary& solved = now_.shooting->itinerary();
  if (!moves_by_itself(solved)) return -1;
  const auto system = family_.system(now_.point.parameter);
  const Record record = record_of(*system, now_.point, solved.periods);
  const int contacts = static_cast<int>(family_.model->contacts().size());
  for (int i = 0; i < contacts; ++i) {
    if (nearly_grazes(record, i)) return i;
  }
  return -1;
}

/// What the motion does from the tangent of the branch, that far ahead of an orbit.
Continuation::Trial Continuation::predicted(const Solution& from, double along) const {
  const Shooting& shooting = *from.shooting;
  Trial trial;
  trial.solution = from;
  Solution& s = trial.solution;
  s.u += along * s.tangent;
  s.point.state = s.u.head(shooting.states());
  s.point.parameter = s.u(shooting.size());
  const auto system = family_.system(s.point.parameter);
  if (!system) return trial;
  trial.record = record_of(*system, s.point, shooting.itinerary().periods);
  if (trial.record.outcome != Outcome::ok) return trial;
  trial.verdict = signature_of(trial.record) == from.point.signature ? Verdict::same : Verdict::changed;
  return trial;
}

/// Whether the motion itself changes just ahead of an orbit: jumps, or begins or ceases to meet a
/// trigger.
auto Continuation::change_ahead(const Solution& from) const -> std::optional<ChangeAhead> {
  constexpr double furthest = 1e-6, nearest = 1e-13;  // of arclength
  double low = 0;
  double high = options_.least_step;
  Trial before = predicted(from, low);
  Trial behind = predicted(from, high);
  while (behind.verdict == Verdict::same && high < furthest) behind = predicted(from, high *= 4);
  if (before.verdict != Verdict::same || behind.verdict != Verdict::changed) return std::nullopt;
  while (high - low > nearest) {
    const double middle = (low + high) / 2;
    Trial trial = predicted(from, middle);
    if (trial.verdict == Verdict::open) return std::nullopt;
    const bool same = trial.verdict == Verdict::same;
    (same ? low : high) = middle;
    (same ? before : behind) = std::move(trial);
  }
  constexpr double jump = 1e-4;  // of the size; so near to a graze its square root is far less
  const bool jumps = (before.record.end - behind.record.end).cwiseAbs().maxCoeff() > jump * size_;
  const auto [kind, contact, told_otherwise] =
      change_of(from.point.signature, before.record, behind.record, family_.model->contacts().size());
  if (told_otherwise || !(jumps || kind == BifurcationKind::jump_border)) return std::nullopt;
  // That a trigger is touched the motion sees when it passes it by more than rounding, on either side.
  const double away = jumps ? high - low : 2 * high;
  return ChangeAhead{kind, contact, jumps ? before.solution : from, away * std::abs(from.parameter_slope()),
                     jumps};
}

/// Bisection for where the motion begins to take another way than the branch, or to have another signature.
Continuation::Change Continuation::narrowed(const Trial& beyond, double step) const {
  Change change;
  change.last.solution = now_;
  change.beyond = beyond;
  double high = step;
  const auto apart = [&] {  // what no motion takes may lie anywhere beside the branch
    const double parameters =
        std::abs(change.beyond.solution.point.parameter - change.last.solution.point.parameter);
    return std::min(parameters, (high - change.way) * metric().range);
  };
  const auto land = [&] {
    if (change.beyond.verdict != Verdict::changed) return;
    change.landing = change.beyond.solution;
    change.gap = high;
  };
  for (int k = 0; k < 60 && high - change.way > 1e-14 && apart() > 1e-13 * metric().range; ++k) {
    const double middle = (change.way + high) / 2;
    auto trial = at(now_, middle);
    if (!trial) break;
    if (trial->verdict == Verdict::same) {
      change.way = middle;
      change.last = std::move(*trial);
    } else {
      land();
      high = middle;
      change.beyond = std::move(*trial);
    }
  }
  land();
  change.gap -= change.way;
  if (change.landing && !(change.landing->point.signature == signature_of(change.beyond.record)))
    change.landing.reset();
  if (change.last.record.times.empty()) {
    const auto system = family_.system(now_.point.parameter);
    change.last.record = record_of(*system, now_.point, now_.shooting->itinerary().periods);
  }
  change.error = apart();
  return change;
}

/// Whether the landing may be an orbit of the same branch: over a change it goes on as the square root of the
/// way at most.
bool Continuation::is_continuous(const Change& change) const {
  constexpr double steepest = 10;
  const double parameter =
      std::abs(change.landing->point.parameter - change.last.solution.point.parameter) / metric().range;
  const double away = std::max(state_distance(*change.landing, change.last.solution) / size_, parameter);
  return away <= steepest * std::sqrt(std::max(change.gap, change.error / metric().range));
}

/// The motion takes another way than the branch, or has another signature: where from, and how on.
bool Continuation::pass_change(const Trial& beyond, double step) {
  if (beyond.verdict == Verdict::open) {
    const Passed passed = pass_grazing(beyond, step);
    if (passed != Passed::not_found) return passed == Passed::on;
  }
  Change change = narrowed(beyond, step);
  Solution& last = change.last.solution;
  const Signature before = now_.point.signature;
  const auto [kind, contact, told_otherwise] =
      change_of(before, change.last.record, change.beyond.record, family_.model->contacts().size());
  take_stability(last);
  const bool apart = of_slip(kind) && change.landing && !is_continuous(change);
  constexpr double at_border = 1e-9;
  const Tests tests = tests_between(now_, last, change.way);
  if (apart && change.way > at_border)  // Newton's method went over to an orbit that lies beside this one
    return accept(std::move(change.last), tests);
  note(tests);
  const bool noted = !told_otherwise && note(kind, contact, last, change.error);
  if (held_only_before(change.beyond.record)) {
    end_ = no_way_on(kind, contact, ": behind it a body creeps to where friction holds it again");
    return false;
  }
  if (apart) {
    end_ = no_way_on(kind, contact, jumps_there);
    return false;
  }
  // As a stick grows from nothing with a square root, the tangent there leads nowhere; nor does it among the
  // folds that accumulate where chatter is no longer complete.
  constexpr double steep = 0.1;
  const bool astray =
      change.landing &&
      (of_slip(kind) ? std::abs(change.landing->parameter_slope()) < steep * std::abs(last.parameter_slope())
                     : kind == BifurcationKind::chatter_border && unsticks(before, *change.landing, contact));
  const bool exchanged = kind == BifurcationKind::simultaneous;
  const bool jumped = ((!change.landing || astray) && jump(last, least_way(kind))) ||
                      (!change.landing && exchanged && jump_back(last, least_way(kind)));
  if (jumped) {
    if (noted) tell_again(before);
    return true;
  }
  if (!change.landing) {
    end_ = no_way_on(kind, contact);
    return false;
  }
  now_ = std::move(*change.landing);
  take_stability(now_);
  step_ = std::max(step_ / 4, options_.first_step);
  // Feigin: behind a kink orbits are on the same side as before if det(I - P) has the other sign.
  if (last.point.determinant() * now_.point.determinant() < 0) turn_back();
  return true;
}

/// The last change by the orbits on both sides: a motion that closes nowhere may have gone another way still.
void Continuation::tell_again(const Signature& before) {
  const Signature& now = now_.point.signature;
  if (now == before) {
    passed_.pop_back();  // nothing has changed after all
  } else if (now.periods == before.periods) {
    Bifurcation& told = passed_.back();
    std::tie(told.kind, told.contact) =
        change_between(before, now, static_cast<int>(family_.model->contacts().size()));
  }
}

}  // namespace graze
