#include "analysis/continuation/continuation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "analysis/continuation/beginning.hpp"
#include "analysis/continuation/branch.hpp"
#include "analysis/continuation/neimark_sacker.hpp"
#include "analysis/continuation/slip_border.hpp"

namespace graze {
namespace {

using Vector = Eigen::VectorXd;

constexpr std::ptrdiff_t most_crowded = 60;  // changes within crowd_width that are followed

/// Whether a multiplier of an orbit comes near to that border.
bool nears(BifurcationKind kind, const BranchPoint& p) {
  constexpr double near = 1e-2;
  return std::any_of(p.multipliers.begin(), p.multipliers.end(),
                     [kind](const std::complex<double>& m) { return away_from_border(kind, m) < near; });
}

/// Whether two neighbours of a branch lie on both sides of an orbit of half as many periods, where the branch
/// has its birth: behind it come the same orbits, their halves exchanged. At phase zero an impact may lie
/// between these.
bool turns_into_itself(const Family& family, const BranchPoint& before, const BranchPoint& after) {
  const std::size_t half = before.orbit.size() / 2;
  if (half == 0 || before.orbit.size() != 2 * half || after.orbit.size() != 2 * half) return false;
  if (!(before.fold * after.fold < 0)) return false;
  const auto apart = [&](const BranchPoint& p) -> Vector {
    return before.phase == after.phase ? halves_apart(family, p) : p.orbit[half] - p.orbit[0];
  };
  const Vector a = apart(before), b = apart(after);
  return a.size() == b.size() && a.dot(b) < 0;
}

}  // namespace

Continuation::Continuation(const Family& family, Solution start, int direction,
                           const ContinuationOptions& options)
    : family_(family),
      options_(options),
      now_(std::move(start)),
      step_(options.first_step),
      least_size_(now_.point.size + tiny),
      size_(least_size_),
      time_(now_.point.period) {
  now_.shooting = std::make_shared<Shooting>(family_, now_.shooting->itinerary(), now_.shooting->anchor(),
                                             now_.shooting->inner_nodes());
  take_stability(now_);
  face(now_, direction != 0 ? direction : now_.parameter_slope());
  heading_ = now_.point.fold < 0 ? -1 : 1;
}

/// Makes the tangent one long, and turns it so that the parameter changes in the sense of `sense`.
void Continuation::face(Solution& s, double sense) const {
  const Metric metric = this->metric();
  s.tangent /= metric.norm(*s.shooting, s.tangent);
  if (sense * s.parameter_slope() < 0) s.tangent = -s.tangent;
  s.point.set_fold(s.parameter_slope() / metric.range);
}

/// Steps are shares of the size of the first orbit, or of the orbit here where that is greater: at a
/// resonance they would be too many.
void Continuation::measure() {
  constexpr double much = 2;
  const double size = std::max(least_size_, now_.point.size);
  if (std::max(size, size_) <= much * std::min(size, size_)) return;
  size_ = size;
  face(now_, now_.parameter_slope());
}

/// A solution of these equations, with its tangent along `normal` and what is told of it.
Solution Continuation::solution(const std::shared_ptr<const Shooting>& shooting, const Closing& closing,
                                const Vector& normal) const {
  Solution s;
  s.shooting = shooting;
  s.tangent = tangent_of(*shooting, closing.equations, normal, metric());
  take_solution(closing, metric(), s);
  s.point.state = without_rounding(s.point.state, size_);
  if (!shooting->forced())
    s.velocity =
        velocity_at(family_, s.point.parameter, s.point.state, shooting->itinerary().steps.front().mode);
  return s;
}

/// Without forcing: whether the orbit has shrunk through rest, and goes round the other way.
bool Continuation::reversed(const Solution& s) const {
  return !s.shooting->forced() && s.velocity.size() > 0 &&
         now_.shooting->anchor().normal.dot(s.velocity) <= 0;
}

/// Without forcing: whether the step has taken away so much of the orbit that it must be shorter.
bool Continuation::fades(const Solution& s) const {
  constexpr double least = 1e-4;  // a step so short may pass through rest
  constexpr double small = 1e-2;  // of the states, an orbit that is about to
  if (s.shooting->forced() || (step_ < least && now_.swing() < small * size_)) return false;
  return reversed(s) || s.swing() < 0.5 * now_.swing();
}

/// With forcing: whether an event has come to where the orbit begins.
bool Continuation::passes_beginning(const Solution& s) {
  const Shooting& shooting = *s.shooting;
  if (!shooting.forced() || shooting.steps() == 1) return false;
  return s.u(shooting.duration_index(0)) < 0 || s.u(shooting.size() - 1) < 0;
}

/// The solution in the plane across the tangent at this arclength from a point, of the same equations.
std::optional<Continuation::Trial> Continuation::solved(const Solution& from, double step) const {
  const Vector normal = metric().plane(*from.shooting, from.tangent);
  const Closing closing = solve_plane(*from.shooting, from.u + step * from.tangent, normal);
  if (!closing.ok) return std::nullopt;
  Trial trial;
  trial.iterations = closing.iterations;
  trial.solution = solution(from.shooting, closing, normal);
  trial.loses_impact = loses_impact(*from.shooting, closing.equations);
  return trial;
}

/// The same, judged.
std::optional<Continuation::Trial> Continuation::at(const Solution& from, double step) const {
  auto trial = solved(from, step);
  if (trial) judge(*trial);
  return trial;
}

/// Whether friction holds a body at rest on the orbit of the last point, but not in this motion: it is no
/// orbit, then.
bool Continuation::held_only_before(const Record& motion) const {
  if (now_.point.held == 0) return false;
  const auto system = family_.system(now_.point.parameter);
  const Record now = record_of(*system, now_.point, now_.shooting->itinerary().periods);
  return creeps(now.itinerary, motion.itinerary, *family_.model);
}

/// Compares with the motion itself, where that differs once more period by period: what rounding grows to on
/// an unstable orbit of several may be another motion at the end. Where that differs only in how many impacts
/// of a chatter sequence it follows, or in the order of events that do not matter to each other, the solution
/// is made anew, its state no further away than this share of the size.
void Continuation::judge(Trial& trial, double same) const {
  Solution& s = trial.solution;
  for (int round = 0; round < 5; ++round) {
    const std::unique_ptr<System> system = family_.system(s.point.parameter);
    if (!system || trial.loses_impact) return;
    const Record record = record_of(*system, s.point, s.shooting->itinerary().periods);
    if (round == 0 || record.outcome == Outcome::ok) trial.record = record;
    if (record.outcome != Outcome::ok) return;
    const Prescription taken = family_.prescribed(record, *system);
    const auto accept = [&](const Record& own) {
      take_events(family_, *system, own, s.point);
      trial.verdict = s.point.signature == now_.point.signature ? Verdict::same : Verdict::changed;
    };
    const bool alike = taken.itinerary == s.shooting->itinerary();
    if (alike && is_motion(s, record, taken.durations)) return accept(record);
    auto pieces = recorded_by_periods(*system, s);
    const Prescription own = pieces ? family_.prescribed(*pieces, *system) : Prescription{};
    const bool alike_in_pieces = pieces && own.itinerary == s.shooting->itinerary();
    if (alike_in_pieces && is_motion(s, *pieces, own.durations)) {
      pieces->states = states_on_section(s);
      trial.record = std::move(*pieces);
      return accept(trial.record);
    }
    if (alike) return;
    if (held_only_before(record)) {
      trial.verdict = Verdict::changed;
      return;
    }
    auto other = remade(trial, taken, same);
    if (!other && pieces && !alike_in_pieces && pieces->outcome == Outcome::ok)
      other = remade(trial, own, same);
    if (!other) return;
    s = std::move(*other);
  }
}

/// The same orbit with the events that the motion itself has; nothing when it is another orbit.
std::optional<Solution> Continuation::remade(Trial& trial, const Prescription& other, double same) const {
  const Solution& s = trial.solution;
  const auto shooting = shooting_for(family_, other.itinerary, s.shooting->anchor());
  const Vector guess = shooting->unknowns(s.point.state, other, s.point.parameter);
  const Vector normal =
      metric().state_plane(*shooting, s.tangent.head(s.shooting->states()), s.parameter_slope());
  const Closing closing = solve_plane(*shooting, guess, normal);
  if (!closing.ok) return std::nullopt;
  const Vector change = closing.u.head(shooting->states()) - s.point.state;
  if (!(change.cwiseAbs().maxCoeff() <= same * size_)) return std::nullopt;
  trial.loses_impact = loses_impact(*shooting, closing.equations);
  return solution(shooting, closing, normal);
}

/// Speeds of the impacts that belong to no chatter sequence, and their rates along the branch.
Continuation::ImpactSpeeds Continuation::impact_speeds(const Solution& s) {
  ImpactSpeeds found{s.u, s.tangent, {}, {}};
  const auto equations = s.shooting->equations(s.u);
  if (!equations) return found;
  for (const Eigen::Index k : single_hits(s.shooting->itinerary(), equations->measure)) {
    found.speeds.push_back(equations->measure(k));
    found.rates.push_back(equations->measure_slope.row(k).dot(s.tangent));
  }
  return found;
}

bool Continuation::same_equations(const Solution& a, const Solution& b) {
  return a.shooting->itinerary() == b.shooting->itinerary();
}

/// Whether the branch turns on the way from one solution of the same equations to the next.
bool Continuation::bends(const Solution& from, const Solution& next) const {
  constexpr double straight = 0.95;  // least cosine between the tangents of neighbours
  return same_equations(from, next) && metric().dot(*from.shooting, next.tangent, from.tangent) < straight;
}

/// Whether an impact may have lost its speed and got it back between two points of the same equations: the
/// cubic of its speeds and rates there becomes negative.
bool Continuation::dips_between(const Solution& next, double step) {
  constexpr int looks = 8;
  if (!same_equations(now_, next)) return false;
  const bool known =
      speeds_.u.size() == now_.u.size() && speeds_.u == now_.u && speeds_.tangent == now_.tangent;
  if (!known) speeds_ = impact_speeds(now_);
  ImpactSpeeds after = impact_speeds(next);
  bool dips = false;
  for (std::size_t k = 0; k < std::min(speeds_.speeds.size(), after.speeds.size()); ++k) {
    for (int look = 1; look < looks; ++look) {
      const double s = static_cast<double>(look) / looks;
      const double t = 1 - s;
      dips |= t * t * ((1 + 2 * s) * speeds_.speeds[k] + s * step * speeds_.rates[k]) +
                  s * s * ((1 + 2 * t) * after.speeds[k] - t * step * after.rates[k]) <
              0;
    }
  }
  if (!dips) speeds_ = std::move(after);
  return dips;
}

bool Continuation::loses_impact(const Shooting& shooting, const Equations& e) {
  return slowest_single_hit(shooting.itinerary(), e.measure) <= 0;
}

/// Where a bifurcation is, and the orbit there.
void Continuation::place(Bifurcation& b, const Solution& s, double error) const {
  b.parameter = s.point.parameter;
  b.error = error;
  b.state = s.point.state;
  b.phase = s.point.phase;
  b.periods = s.shooting->itinerary().periods;
  b.turn = s.point.period;
  b.itinerary = s.shooting->itinerary();
  b.unknowns = s.u;
  b.tangent = s.tangent;
  b.size = size_;
  b.orbit = states_from_best(s);
  if (!b.orbit.empty()) return;
  b.orbit = {b.state};
  const auto system = family_.system(b.parameter);
  if (b.phase != 0 && system) b.orbit = record_of(*system, s.point, b.periods).states;
}

/// Where a contact comes to be closed for good, its last flights are lost in rounding. The orbits behind know
/// the place: its force touches zero there.
void Continuation::locate_from_behind() {
  if (passed_.empty() || passed_.back().kind != BifurcationKind::rising_border) return;
  Bifurcation& b = passed_.back();
  constexpr double slack = 2;
  const double way = slack * std::abs((b.parameter - now_.point.parameter) / now_.parameter_slope());
  if (b.error == 0 || !(way <= options_.step)) return;
  Solution back = now_;
  back.tangent = -back.tangent;
  const auto grazing = first_grazing(back, way, metric(), {});
  if (grazing && grazing->kind == b.kind && grazing->contact == b.contact) place(b, grazing->solution, 0);
}

/// false: it has been noted before.
bool Continuation::note(BifurcationKind kind, int contact, const Solution& s, double error) {
  if (contact >= 0) changes_.push_back(s.point.parameter);
  if (contact >= 0) ++change_count_;
  if (repeated(kind, contact, s.point.parameter)) return false;
  Bifurcation b;
  b.kind = kind;
  b.contact = contact;
  place(b, s, error);
  if (jumps_over(kind)) last_jump_ = {kind, contact, b.parameter};
  passed_.push_back(std::move(b));
  return true;
}

/// Whether this is the change that the walk has just jumped over, once more: near the place where a chatter
/// sequence ends, its last impacts come and go.
bool Continuation::repeated(BifurcationKind kind, int contact, double parameter) const {
  return last_jump_ && jumps_over(kind) && last_jump_->kind == kind && last_jump_->contact == contact &&
         std::abs(last_jump_->parameter - parameter) < 0.1 * crowd_width * metric().range;
}

/// Whether many changes have come close together: impacts of a chatter sequence graze one after the other
/// where it is about to become complete, in ever shorter distances.
bool Continuation::crowded(std::ptrdiff_t count) const {
  if (static_cast<std::ptrdiff_t>(changes_.size()) < count) return false;
  const auto [low, high] = std::minmax_element(changes_.end() - count, changes_.end());
  return *high - *low < crowd_width * (options_.to - options_.from);
}

bool Continuation::next() {
  if (!advance()) return false;
  locate_from_behind();
  const BranchPoint& first = way_.front();
  const BranchPoint& before = way_.back();
  if (loses_periods(before, now_.point)) {
    passed_.clear();
    end_ = "an orbit of fewer periods, passed through several times";
    return false;
  }
  const auto in_sense = [&](const BranchPoint& p) { return p.fold * first.fold >= 0; };
  const auto is_closed = [&] {  // a step over a change may lead past the first point
    return (in_sense(before) && lies_between(first, before, now_.point)) ||
           (in_sense(now_.point) && lies_between(now_.point, first, way_[1]));
  };
  if (count_ > 10 && is_closed()) {
    end_ = closed_branch;
    return false;
  }
  return true;
}

bool Continuation::advance() {
  passed_.clear();
  if (!end_.empty()) return false;
  if (++count_ > options_.points) {
    end_ = "as many points as allowed";
    return false;
  }
  measure();
  way_.push_back(now_.point);
  if (is_at_border()) return false;
  if (crowded(most_crowded)) return pass_crowd();
  const double range = options_.to - options_.from;
  if (looked_count_ != change_count_) {
    looked_count_ = change_count_;
    const Passed passed = pass_accumulation(crowd_width * range);
    if (passed != Passed::not_found) return passed == Passed::on;
    if (recedes()) changes_.clear();
  }
  if (auto begun = begun_elsewhere(now_, metric())) now_ = std::move(*begun);
  constexpr int easy = 3;
  constexpr int hard = 6;
  constexpr double coarse = 1e-4;
  const auto keeps_sheet = [&](Solution& next) {
    take_stability(next);
    return step_ <= coarse || next.point.branching * now_.point.branching > 0;
  };
  const auto keeps_to_plane = [&](const Solution& next) {
    constexpr double aside = 2;  // of the step
    const Vector moved = next.point.state - now_.point.state;
    const double ahead = next.point.parameter - now_.point.parameter;
    const Vector normal = metric().state_plane(*now_.shooting, now_.tangent.head(now_.shooting->states()),
                                               now_.parameter_slope());
    const bool backward = normal.head(moved.size()).dot(moved) + normal(now_.shooting->size()) * ahead < 0;
    return !backward && std::hypot(moved.norm() / (2 * size_), ahead / range) <= aside * step_;
  };
  while (step_ >= options_.least_step) {
    auto trial = at(now_, step_);
    if (!trial && leaves_domain(2 * step_)) return to_border(step_);
    if (!trial || trial->iterations > 2 * hard) {
      step_ /= 2;
      continue;
    }
    if (fades(trial->solution) || passes_beginning(trial->solution)) {
      step_ /= 2;
      continue;
    }
    if (trial->verdict != Verdict::same) {
      const Passed passed = pass_end_of_stick(*trial);
      if (passed == Passed::comes_later) {
        step_ /= 4;
        continue;
      }
      if (passed != Passed::not_found) return passed == Passed::on;
    }
    const double parameter = trial->solution.point.parameter;
    const bool outside = parameter < options_.from || parameter > options_.to;
    if (trial->verdict == Verdict::open && !outside) {
      if (looks_closer(*trial)) continue;
      return end_.empty();
    }
    const bool may_halve = step_ > 100 * options_.least_step;
    const bool aside = !keeps_to_plane(trial->solution) || bends(now_, trial->solution);
    if ((may_halve && aside) || (step_ > coarse && dips_between(trial->solution, step_))) {
      step_ /= 2;
      continue;
    }
    if (outside) return to_border(step_);
    if (trial->verdict == Verdict::changed) {
      const auto half = step_ > coarse ? at(now_, step_ / 2) : trial;
      if (half && half->verdict != Verdict::open && keeps_sheet(trial->solution))
        return pass_change(*trial, step_);
      step_ /= 2;  // it may be another branch that the motion takes
      continue;
    }
    if (step_ > coarse && loses_periods(now_.point, trial->solution.point)) {
      step_ /= 2;
      continue;
    }
    take_stability(trial->solution);
    const Tests tests = tests_between(now_, trial->solution, step_);
    if (!tests.all && step_ > coarse) {  // the step may have come to another branch
      step_ /= 4;
      continue;
    }
    if (trial->iterations <= easy) step_ = std::min(options_.step, 1.6 * step_);
    if (trial->iterations >= hard) step_ /= 2;
    return accept(std::move(*trial), tests);
  }
  constexpr double near = 1e-2;  // of the range
  const Passed passed = pass_border_within(near * range);
  if (passed != Passed::not_found) return passed == Passed::on;
  return pass_stop();
}

/// Over more changes than are followed one by one.
bool Continuation::pass_crowd() {
  const Solution last = now_;
  changes_.clear();
  if (jump(last, crowd_width)) {
    note_between(last, now_);
    return true;
  }
  end_ = "more changes of its events than are followed";
  return false;
}

namespace {

/// Whether a contact that chatters leaves for a short time only between two sticks, within the turn.
bool leaves_briefly(const Solution& s, double brief) {
  const std::vector<Step>& steps = s.shooting->itinerary().steps;
  const std::vector<double> durations = s.shooting->durations(s.u);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (steps[k].end != EventKind::release) continue;
    double away = 0;
    for (std::size_t later = k + 1; later < steps.size() && away <= brief; ++later) {
      away += durations[later];
      if (steps[later].contact != steps[k].contact) continue;
      if (steps[later].end == EventKind::chatter_complete && away <= brief) return true;
      if (!is_hit(steps[later].end)) break;
    }
  }
  return false;
}

/// Whether it sticks for a short time only.
bool sticks_briefly(const Solution& s, double brief) {
  const std::vector<ChatterStick> sticks = chatter_sticks(s.shooting->itinerary());
  return std::any_of(sticks.begin(), sticks.end(), [&](const ChatterStick& stick) {
    const Eigen::Index first = s.shooting->duration_index(stick.complete + 1);
    const Eigen::Index count = static_cast<Eigen::Index>(stick.release - stick.complete);
    return s.u.segment(first, count).sum() <= brief;
  });
}

}  // namespace

/// Over what stops Newton's method, if it is found behind: where a contact that chatters sticks or leaves for
/// a short time only, or another one chatters with it; and, where orbits are solved by the system's own
/// motion, whatever takes its map's derivative.
bool Continuation::pass_stop() {
  const double brief = 1e-2 * now_.point.period;
  const bool own = moves_by_itself(now_.shooting->itinerary());
  const bool leaves = leaves_briefly(now_, brief);
  const int touching = nearly_grazing();
  const BifurcationKind kind = own      ? BifurcationKind::grazing
                               : leaves ? BifurcationKind::rising_border
                                        : BifurcationKind::chatter_border;
  const bool apart =  // from where impacts accumulate, and branches turn often
      changes_.empty() || std::abs(changes_.back() - now_.point.parameter) > crowd_width * metric().range;
  const Solution last = now_;
  const bool together = chatters_at_once(now_.shooting->itinerary());
  const bool may_jump = own || leaves || together || sticks_briefly(now_, brief);
  const bool goes_on =
      (may_jump && jump(last, least_way(kind))) ||
      (own && touching < 0 && ((apart && turn_back()) || (!crowded(crowd) && jump_back(last, 1e-8))));
  if (touching >= 0) {
    note(BifurcationKind::grazing, touching, last);
    if (!goes_on) end_ = no_way_on(kind, touching);
    return goes_on;
  }
  const bool alike = goes_on && last.point.signature == now_.point.signature;
  const bool may_touch = !alike && !family_.model->jumps().empty();
  const auto change = own && (!goes_on || may_touch) ? change_ahead(last) : std::nullopt;
  const auto tell = [&] { note(change->kind, change->contact, change->solution, change->error); };
  if (goes_on) {
    if (change && !change->jumps) {
      tell();
    } else {
      note_between(last, now_);
    }
    return true;
  }
  if (change) {
    tell();
    end_ = no_way_on(change->kind, change->contact, change->jumps ? jumps_there : no_orbit);
    return false;
  }
  end_ = "Newton's method finds no further point";
  if (together)
    end_ += ": two contacts chatter at once, the order of their impacts changes more often than is followed";
  return false;
}

/// Notes what has changed between two orbits with different events, as near as it is known where; of
/// grazings, of which there may be many between them, none.
void Continuation::note_between(const Solution& before, const Solution& after) {
  if (before.point.signature == after.point.signature) return;
  const auto [kind, contact] = change_between(before.point.signature, after.point.signature,
                                              static_cast<int>(family_.model->contacts().size()));
  if (kind == BifurcationKind::grazing) return;
  const double ahead = after.point.parameter - before.point.parameter;
  const bool turned = ahead * before.parameter_slope() < 0;  // both ways lie on one side of the change
  const Bracket bracket = turned ? Bracket{before, std::abs(ahead)} : bracketed(before, after);
  note(kind, contact, bracket.solution, bracket.error);
}

bool Continuation::accept(Trial trial, const Tests& tests) {
  if (reversed(trial.solution)) {
    note_hopf();
    end_ = shrinks_to_rest;
    return false;
  }
  if (turns_into_itself(family_, now_.point, trial.solution.point)) {
    end_ = mirrored_branch;
    return false;
  }
  note(tests);
  const double progress = trial.solution.point.parameter - now_.point.parameter;
  if (std::abs(progress) > crowd_width * (options_.to - options_.from)) heading_ = progress < 0 ? -1 : 1;
  now_ = std::move(trial.solution);
  if (!now_.shooting->forced()) anchor_here();
  return true;
}

/// Orbits near a Hopf point are too small to be solved for; the equilibrium there is not. Over it the
/// parameter is even in the arclength, so that the last orbit is at hand.
void Continuation::note_hopf() {
  Solution rest = now_;
  BranchPoint& p = rest.point;
  const auto hopf = hopf_near(family_, {p.parameter, p.state, p.period},
                              rest.shooting->itinerary().steps.front().mode, metric().range);
  constexpr double at_hand = 1e-3;  // of the range
  if (!hopf || std::abs(hopf->parameter - p.parameter) > at_hand * metric().range) return;
  p.parameter = hopf->parameter;
  p.state = hopf->state;
  if (!note(BifurcationKind::hopf, -1, rest)) return;
  passed_.back().orbit = {p.state};
  passed_.back().turn = hopf->turn;
}

/// Without forcing: goes on in the plane across the flow at the last point.
void Continuation::anchor_here() {
  if (!(now_.velocity.norm() > 0)) return;
  const Anchor anchor{now_.point.state, now_.velocity.normalized()};
  const auto shooting =
      std::make_shared<Shooting>(family_, now_.shooting->itinerary(), anchor, now_.shooting->inner_nodes());
  const auto equations = shooting->equations(now_.u);
  if (!equations) return;
  const Vector tangent = tangent_of(*shooting, *equations, metric().plane(*shooting, now_.tangent), metric());
  now_.tangent = in_sense_of(now_.tangent.head(shooting->states()), now_.parameter_slope(), *shooting,
                             metric(), tangent);
  now_.shooting = shooting;
}

/// Whether an orbit lies between two neighbours.
bool Continuation::lies_between(const BranchPoint& p, const BranchPoint& a, const BranchPoint& b) const {
  if (!(p.signature == a.signature) && !(p.signature == b.signature)) return false;
  if ((p.parameter - a.parameter) * (p.parameter - b.parameter) > 0) return false;
  const double share = (p.parameter - a.parameter) / (b.parameter - a.parameter);
  if (a.orbit.empty() || b.orbit.empty()) return false;
  const Vector way = b.orbit.front() - a.orbit.front();
  const Vector there = a.orbit.front() + share * way;
  const double length =
      way.cwiseAbs().maxCoeff() / size_ + std::abs(b.parameter - a.parameter) / metric().range;
  double away = std::numeric_limits<double>::infinity();
  for (const Vector& state : p.orbit) away = std::min(away, (there - state).cwiseAbs().maxCoeff());
  if (away <= 0.1 * length * size_) return true;
  if (!(away <= length * size_)) return false;
  const BranchPoint ends[] = {a, b};  // where the branch is curved, the orbit there tells
  return distance_to(family_, ends, p.parameter, p.orbit, p.signature.periods, length) <= 1e-6 * p.size;
}

/// Whether an orbit lies on the way that has just been walked.
bool Continuation::walked(const BranchPoint& p) const {
  for (std::size_t k = 1; k < way_.size(); ++k) {
    if (lies_between(p, way_[k - 1], way_[k])) return true;
  }
  return false;
}

/// What test functions tell between two points, in order along the branch.
auto Continuation::tests_between(const Solution& before, const Solution& after, double step) const -> Tests {
  using Kind = BifurcationKind;
  Tests tests;
  const auto look = [&](Kind kind, double BranchPoint::*test) {
    if (!(before.point.*test * after.point.*test < 0)) return true;
    auto found = locate(kind, before, after, step, test);
    const bool solved = found && found->error == 0;
    if (found) tests.located.push_back({kind, std::move(*found)});
    return solved;
  };
  const bool folds = look(Kind::fold, &BranchPoint::fold);
  const bool branches = look(Kind::branch_point, &BranchPoint::branching);
  tests.all = folds && branches;
  // A branch that crosses another one where its parameter turns, as broken symmetry comes back, has no fold.
  constexpr double same = 1e-2;  // of the step
  if (tests.located.size() == 2 &&
      std::abs(tests.located[0].place.way - tests.located[1].place.way) <= same * step)
    tests.located.erase(tests.located.begin());
  look(Kind::period_doubling, &BranchPoint::doubling);
  look(Kind::neimark_sacker, &BranchPoint::torus);
  std::stable_sort(tests.located.begin(), tests.located.end(),
                   [](const Located& a, const Located& b) { return a.place.way < b.place.way; });
  return tests;
}

void Continuation::note(const Tests& tests) {
  for (const Located& at : tests.located) note(at.kind, -1, at.place.solution, at.place.error);
}

void Continuation::locate_tests(const Solution& before, const Solution& after, double step) {
  note(tests_between(before, after, step));
}

/// Where the equations are singular, as where branches cross, from orbits beside: their test function,
/// interpolated inversely. Nothing: they do not tell either.
auto Continuation::between_orbits(const Solution& before, double place, double step,
                                  double BranchPoint::*test) const -> std::optional<Place> {
  constexpr int places[] = {-3, -2, -1, 1, 2, 3};
  for (const double apart : {step / 16, step / 4, step / 64}) {
    std::vector<Solution> beside;
    for (const int k : places) {
      auto trial = solved(before, place + k * apart);
      if (!trial || !(trial->solution.shooting->itinerary() == before.shooting->itinerary())) break;
      take_stability(trial->solution);
      beside.push_back(std::move(trial->solution));
    }
    if (beside.size() < std::size(places)) continue;
    Place found;
    Vector u = Vector::Zero(before.u.size()), tangent = u;
    for (std::size_t i = 0; i < beside.size(); ++i) {
      double share = 1;
      for (std::size_t j = 0; j < beside.size(); ++j) {
        const double other = beside[j].point.*test;
        if (j != i) share *= other / (other - beside[i].point.*test);
      }
      found.way += share * (place + places[i] * apart);
      u += share * beside[i].u;
      tangent += share * beside[i].tangent;
    }
    const auto equations = before.shooting->equations(u);
    if (!equations || !(std::abs(found.way - place) < 3 * apart)) continue;
    const double residual = equations->residual.cwiseAbs().maxCoeff();
    if (!(residual <= 1e-9 * size_)) continue;
    found.solution.shooting = before.shooting;
    found.solution.tangent = tangent / metric().norm(*before.shooting, tangent);
    found.solution.velocity = beside.front().velocity;
    take_solution({true, 0, residual, u, *equations}, metric(), found.solution);
    return found;
  }
  return std::nullopt;
}

/// Secants for the zero of a test function beside an orbit, in the orbit's own equations.
std::optional<Solution> Continuation::zero_beside(const Solution& near, double step,
                                                  double BranchPoint::*test) const {
  constexpr int most = 8;
  constexpr double least = 1e-15;
  double last = 0;
  double at_last = near.point.*test;
  Solution found = near;
  for (int k = 0; k < most && at_last != 0 && std::abs(step - last) > least; ++k) {
    auto trial = solved(near, step);
    if (!trial) return std::nullopt;
    take_stability(trial->solution);
    const double value = trial->solution.point.*test;
    if (k > 0 && !(std::abs(value) < std::abs(at_last))) break;
    found = std::move(trial->solution);
    const double next = step - value * (step - last) / (value - at_last);
    last = std::exchange(step, next);
    at_last = value;
  }
  return found;
}

/// Regula falsi (Illinois) for the zero of a test function between two points; the first of them where no
/// orbit between is solved for. Nothing: no orbit that a motion takes.
auto Continuation::locate(BifurcationKind kind, const Solution& before, const Solution& after, double step,
                          double BranchPoint::*test) const -> std::optional<Place> {
  double low = 0;
  double high = step;
  double at_low = before.point.*test;
  double at_high = after.point.*test;
  const auto [least, greatest] = std::minmax({std::abs(at_low), std::abs(at_high)});
  Trial found;
  bool beside_zero = false;
  double place = 0;
  int side = 0;
  for (int k = 0; k < 80 && high - low > 1e-15; ++k) {
    place = (low * at_high - high * at_low) / (at_high - at_low);
    if (!(place > low && place < high) || k % 8 == 7) place = (low + high) / 2;
    auto trial = solved(before, place);
    if (!trial) {
      auto beside = between_orbits(before, place, step, test);
      if (!beside && !nears(kind, before.point) && !nears(kind, after.point)) return std::nullopt;
      if (!beside) return Place{0, before, std::abs(after.point.parameter - before.point.parameter)};
      place = beside->way;
      found.solution = std::move(beside->solution);
      take_stability(found.solution);
      beside_zero = true;
      break;
    }
    found = std::move(*trial);
    if (kind != BifurcationKind::fold) take_stability(found.solution);
    const double value = found.solution.point.*test;
    if (value == 0) break;
    if (value * at_high < 0) {
      if (side == 1) at_high /= 2;
      low = place;
      at_low = value;
      side = 1;
    } else {
      if (side == -1) at_low /= 2;
      high = place;
      at_high = value;
      side = -1;
    }
  }
  // A sign may change without a zero: at a pole, or for two real multipliers of product one. At the crossing
  // of branches itself the test is rounding; the orbits beside have told that it is no pole.
  if (!beside_zero && !(std::abs(found.solution.point.*test) <= 1e-4 * least + 1e-9 * greatest))
    return std::nullopt;
  judge(found);
  if (!same_equations(found.solution, before)) {  // made anew with the events of the motion: a little beside
    take_stability(found.solution);
    auto zero = zero_beside(found.solution, 1e-3 * step, test);
    if (!zero) return std::nullopt;
    found.solution = std::move(*zero);
    judge(found);
  }
  constexpr double born = 1e-6;  // where a branch of doubled orbits has its birth, they are known so well
  const BranchPoint& there = found.solution.point;
  if (found.verdict == Verdict::open || repeats(there.orbit, there.phase, there.size, born))
    return std::nullopt;
  take_stability(found.solution);
  if (!is_on_border(kind, found.solution.point.multipliers)) return std::nullopt;
  return Place{place, std::move(found.solution), 0};
}

/// Whether such a step leads to where the parameter has no values.
bool Continuation::leaves_domain(double step) const {
  const Eigen::Index m = now_.shooting->size();
  return !domain().contains(now_.u(m) + step * now_.tangent(m));
}

/// Ends where a change has led to a border of the range itself.
bool Continuation::is_at_border() {
  const double border = now_.parameter_slope() > 0 ? options_.to : options_.from;
  if (way_.size() > 1 && now_.point.parameter == border) end_ = range_end(border);
  return !end_.empty();
}

std::string Continuation::range_end(double border) const {
  const bool of_domain = border == domain().low || border == domain().high;
  return "end of the range" +
         (of_domain ? ", and of the values that the parameter may have: " + domain().text() : "");
}

/// The last point before the parameter leaves its range.
bool Continuation::to_border(double step) {
  const Eigen::Index m = now_.shooting->size();
  const double border = now_.u(m) + step * now_.tangent(m) > now_.u(m) ? options_.to : options_.from;
  end_ = range_end(border);
  const double way = (border - now_.u(m)) / now_.tangent(m);
  if (!(way > 1e-12)) return false;
  Vector guess = now_.u + way * now_.tangent;
  guess(m) = border;
  const Closing closing = solve_fixed(*now_.shooting, guess);
  if (!closing.ok) return false;
  Trial trial;
  trial.solution = solution(now_.shooting, closing, metric().plane(*now_.shooting, now_.tangent));
  trial.loses_impact = loses_impact(*now_.shooting, closing.equations);
  judge(trial);
  if (trial.verdict == Verdict::same) {
    take_stability(trial.solution);
    const Tests tests = tests_between(now_, trial.solution, way);
    return accept(std::move(trial), tests);
  }
  end_.clear();
  const Passed passed = pass_end_of_stick(trial);
  if (passed == Passed::not_found) return pass_change(trial, way);
  if (passed != Passed::comes_later) return passed == Passed::on;
  step_ = way / 4;
  return advance();
}

}  // namespace graze
