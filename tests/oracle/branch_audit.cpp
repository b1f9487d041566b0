/// Branches of random linear systems against the motion itself (branch_audit.hpp).
#include "tests/oracle/branch_audit.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "analysis/continuation/arclength.hpp"
#include "analysis/continuation/bifurcation.hpp"
#include "analysis/maps/orbit.hpp"
#include "analysis/maps/poincare_map.hpp"
#include "core/math/dense.hpp"
#include "core/math/spectra.hpp"
#include "core/results/ragged.hpp"
#include "tests/analyses.hpp"
#include "tests/dice.hpp"
#include "tests/family.hpp"

namespace graze::test {
namespace {

std::string axis_text(const BranchCase& c) {
  return "axis = { parameter = '" + c.parameter + "', from = " + Value(c.from).toml() +
         ", to = " + Value(c.to).toml();
}

std::string sweep_keys(const BranchCase& c) {
  return "name = 'sweep'\n" + axis_text(c) + ", points = " + std::to_string(c.sweep_points) + " }\n";
}

std::string continue_keys(const BranchCase& c) {
  return "name = 'continue'\n" + axis_text(c) + " }\n" +
         (c.sweep_points > 0 ? "start = 'from_sweep'\nsweep = 'sweep.h5'\n"
                             : "at = " + Value(c.at).toml() + "\n") +
         c.keys;
}

/// Keys without the name of the analysis.
std::string unnamed(const std::string& keys) { return keys.substr(keys.find('\n') + 1); }

std::string initial_text(const BranchCase& c) {
  if (c.start.empty()) return "";
  Value::Array state;
  for (const double x : c.start) state.emplace_back(x);
  return "[initial]\nstate = " + Value(std::move(state)).toml() + "\n";
}

template <class T>
const std::vector<T>& column(const Dataset& data, const std::string& name) {
  return std::get<std::vector<T>>(data.at(name).values);
}

/// The greatest state on the way.
class Extent final : public Observer {
 public:
  double greatest = 0;
  void event(const Event& e) override {
    take(e.before);
    take(e.after);
  }
  void take(std::span<const double> state) {
    for (const double x : state) greatest = std::max(greatest, std::abs(x));
  }
};

/// The motion from a state on, over some periods.
struct Motion {
  Outcome outcome = Outcome::ok;
  double error = 0;                     ///< |end − start|
  double size = tiny;                   ///< greatest state met
  std::vector<Eigen::VectorXd> states;  ///< at phase zero
};

Motion followed(System& system, const Eigen::VectorXd& start, int periods) {
  Motion motion;
  Extent extent;
  HybridState state;
  state.x = start;
  for (int k = 0; k < periods && motion.outcome == Outcome::ok; ++k) {
    motion.states.push_back(state.x);
    extent.take({state.x.data(), static_cast<std::size_t>(state.x.size())});
    motion.outcome = system.advance(state, {}, &extent);
  }
  motion.size += extent.greatest;
  motion.error = (state.x - start).cwiseAbs().maxCoeff();
  return motion;
}

/// Whether a closed orbit is one of fewer periods, passed through several times.
bool repeats(const Motion& orbit) {
  const std::size_t n = orbit.states.size();
  for (std::size_t shift = 1; shift < n; ++shift) {
    if (n % shift == 0 && (orbit.states[shift] - orbit.states[0]).cwiseAbs().maxCoeff() <= 1e-9 * orbit.size)
      return true;
  }
  return false;
}

/// Changes of the gaps and of their rates, of the contacts that rest at a state of a linear system, one per
/// row, for a change of each state.
Eigen::MatrixXd of_resting(const System& system, const Eigen::VectorXd& x, double size) {
  const auto seen = [&](const Eigen::VectorXd& at) {
    HybridState state;
    state.x = at;
    Eigen::VectorXd gap, rate;
    system.gaps(state, gap, rate);
    return std::pair(gap, rate);
  };
  const auto [gap, rate] = seen(x);
  Eigen::MatrixXd rows(2 * gap.size(), x.size());
  for (Eigen::Index j = 0; j < x.size(); ++j) {
    const auto [other, speed] = seen(x + Eigen::VectorXd::Unit(x.size(), j));
    rows.col(j) << other - gap, speed - rate;
  }
  for (Eigen::Index i = 0; i < gap.size(); ++i) {
    const bool rests = std::max(std::abs(gap(i)), std::abs(rate(i))) <= 1e-12 * size;
    if (rests) continue;
    rows.row(i).setZero();
    rows.row(gap.size() + i).setZero();
  }
  return rows;
}

/// A state next to an orbit that a motion may begin at; nothing: none is found. What does not change where
/// `same` is given: these functions of the state.
std::optional<Eigen::VectorXd> beside(System& system, const Eigen::VectorXd& x, double away, unsigned seed,
                                      const Eigen::MatrixXd& same = {}) {
  Dice dice(seed);
  for (int attempt = 0; attempt < 64; ++attempt) {
    Eigen::VectorXd change(x.size());
    for (double& entry : change) {
      const double side = dice.coin() ? 1 : -1;
      entry = away * side * dice.number(0.5, 1);
    }
    if (same.size() > 0) change -= same.transpose() * solve_any(same * same.transpose(), same * change);
    HybridState state;
    state.x = x + change;
    if (may_start(system, state)) return state.x;
  }
  return std::nullopt;
}

/// Greatest change after some of its periods, up to one turn, for a change of one at the start.
double magnified(System& system, const Motion& orbit) {
  HybridState state;
  state.x = orbit.states.front();
  Eigen::MatrixXd jacobian = Eigen::MatrixXd::Identity(state.x.size(), state.x.size());
  double greatest = 1;
  for (std::size_t k = 0; k < orbit.states.size(); ++k) {
    if (PoincareMap(system, {}).iterate(state, jacobian) != Outcome::ok) break;
    greatest = std::max(greatest, jacobian.cwiseAbs().rowwise().sum().maxCoeff());
  }
  return greatest;
}

/// Whether the motion from beside an orbit returns to it, within 2000 turns; nothing: it breaks off.
std::optional<bool> returns_from(System& system, const Motion& orbit, double share, unsigned seed,
                                 const Eigen::MatrixXd& same) {
  constexpr int turns = 2000;
  const double away = share * orbit.size;
  // Before it returns a change may be magnified.
  const double left = std::min(1e-2 * orbit.size, away * std::max(1e3, 10 * magnified(system, orbit)));
  const Eigen::VectorXd& x = orbit.states.front();
  const auto start = beside(system, x, away, seed, same);
  if (!start) return std::nullopt;
  HybridState state;
  state.x = *start;
  double early = 0;
  double late = 0;
  for (int turn = 0; turn < turns; ++turn) {
    for (std::size_t k = 0; k < orbit.states.size(); ++k) {
      if (system.advance(state, {}, nullptr) != Outcome::ok) return std::nullopt;
    }
    const double distance = (state.x - x).cwiseAbs().maxCoeff();
    if (distance < 1e-2 * away) return true;
    if (distance > left) return false;
    if (turn >= turns / 4 && turn < turns / 2) early = std::max(early, distance);
    if (turn >= 3 * turns / 4) late = std::max(late, distance);
  }
  // A multiplier of 0.999 makes it 0.37; a motion that has settled nearby leaves it 1.
  return late < 0.5 * early;
}

/// How far rounding takes the motion from an orbit within some turns, of its size: where an impact is about
/// to lose its speed, by the square root of what it takes the gap.
double strays(System& system, const Motion& orbit) {
  constexpr std::size_t turns = 8;
  const Eigen::VectorXd& x = orbit.states.front();
  const Motion motion = followed(system, x, static_cast<int>(turns * orbit.states.size()));
  double furthest = motion.outcome == Outcome::ok ? motion.error : 0;
  for (std::size_t k = 0; k < motion.states.size(); k += orbit.states.size())
    furthest = std::max(furthest, (motion.states[k] - x).cwiseAbs().maxCoeff());
  return furthest / orbit.size;
}

/// The same; a domain of attraction may be as narrow as a grazing is near, and narrower where two contacts
/// chatter at once (friction, seed 21: 1e-10 of the size), so what disagrees with `expected` is asked again
/// nearer by; and from some directions the motion comes very near to an orbit that is not stable. Where
/// friction holds what rests on a stop, it holds it beside the stop, too, and another impact then finds the
/// stop open (friction, seed 35): asked at last with what rests at rest. What is told stable is not asked
/// from where rounding takes the motion by itself; from what is not, rounding leads away as well.
std::optional<bool> returns(System& system, const Motion& orbit, bool expected) {
  std::optional<bool> answer;
  const double least = expected ? std::min(1e-7, 10 * strays(system, orbit)) : 0;
  for (const Eigen::MatrixXd& same :
       {Eigen::MatrixXd(), of_resting(system, orbit.states.front(), orbit.size)}) {
    for (const unsigned seed : {1u, 2u, 3u}) {
      for (const double share : {1e-6, 1e-9, 1e-10, 1e-11}) {
        if (share < least) continue;
        answer = returns_from(system, orbit, share, seed, same);
        if (answer == expected) return answer;
      }
    }
  }
  return answer;
}

/// A located point.
struct Located {
  BifurcationKind kind;
  int contact;
  int branch;
  int periods;
  double parameter;
  double error;  ///< of the parameter
  Eigen::VectorXd state;
  /// Whether a multiplier passes its border, no event changes.
  bool smooth() const { return kind <= BifurcationKind::branch_point; }
};

std::vector<Located> located_points(const Dataset& data, const std::string& parameter) {
  const auto& states = column<double>(data, "orbit_state");
  const Eigen::Index n = static_cast<Eigen::Index>(data.size("state"));
  std::vector<Located> points;
  for (std::size_t k = 0; k < data.size("point"); ++k) {
    points.push_back(
        {static_cast<BifurcationKind>(column<std::int8_t>(data, "kind")[k]),
         column<std::int32_t>(data, "contact")[k], column<std::int32_t>(data, "branch")[k],
         column<std::int32_t>(data, "forcing_periods")[k], column<double>(data, parameter)[k],
         column<double>(data, "parameter_error")[k],
         Eigen::Map<const Eigen::VectorXd>(states.data() + static_cast<Eigen::Index>(k) * n, n)});
  }
  return points;
}

/// How far these multipliers are from the border that a kind of point is named after.
template <class Multipliers>
double away_from_border(const Multipliers& multipliers, BifurcationKind kind) {
  double missed = HUGE_VAL;
  for (const std::complex<double> m : multipliers) {
    const double away = kind == BifurcationKind::neimark_sacker    ? std::abs(m) - 1
                        : kind == BifurcationKind::period_doubling ? std::abs(m + 1.0)
                                                                   : std::abs(m - 1.0);
    missed = std::min(missed, std::abs(away));
  }
  return missed;
}

/// The same of the orbit of a located point.
double missed_border(System& system, const Located& point) {
  HybridState state;
  state.x = point.state;
  Eigen::MatrixXd jacobian = Eigen::MatrixXd::Identity(state.x.size(), state.x.size());
  for (int k = 0; k < point.periods; ++k) {
    if (PoincareMap(system, {}).iterate(state, jacobian) != Outcome::ok) return HUGE_VAL;
  }
  return away_from_border(eigenvalues_of(jacobian), point.kind);
}

/// How far apart motions from around a state get in so many periods, of the greatest state.
double spread(System& system, const Motion& orbit, double away) {
  std::vector<Eigen::VectorXd> ends;
  double greatest = 0;
  for (unsigned seed = 1; seed <= 16; ++seed) {
    HybridState state;
    const auto start = beside(system, orbit.states.front(), away * orbit.size, seed);
    if (!start) continue;
    state.x = *start;
    Outcome outcome = Outcome::ok;
    for (std::size_t k = 0; k < orbit.states.size() && outcome == Outcome::ok; ++k)
      outcome = system.advance(state, {}, nullptr);
    if (outcome != Outcome::ok) continue;
    for (const Eigen::VectorXd& end : ends)
      greatest = std::max(greatest, (end - state.x).cwiseAbs().maxCoeff());
    ends.push_back(state.x);
  }
  return greatest / orbit.size;
}

/// What the audit of one case works on.
class Auditor {
 public:
  Auditor(const BranchCase& c, const Dataset& data)
      : case_(c),
        data_(data),
        family_(family(c.model, c.parameter.c_str())),
        located_(located_points(*data.group("bifurcation"), c.parameter)) {
    for (const Part& part : parts_from(data.at("points"))) branches_.push_back(slice(data, "point", part));
  }

  Audit run() {
    audit_.systems = 1;
    for (std::size_t k = 0; k < branches_.size(); ++k) look_at(static_cast<int>(k));
    for (std::size_t k = 0; k < located_.size(); ++k) look_at_located(k);
    return std::move(audit_);
  }

 private:
  void look_at(int branch);
  void look_at_stability(const std::string& where, System& system, const Motion& orbit, double greatest,
                         bool stable);
  void look_at_located(std::size_t number);
  void end(int branch, const std::string& side, double parameter, const std::string& reason);
  bool breaks_off(int branch, double parameter, const std::string& reason) const;
  bool resolved(const Located& point, double missed) const;
  void report(const std::string& text) { audit_.violations.push_back(text); }
  std::string at(double parameter) const { return case_.parameter + " = " + fmt_double(parameter); }
  double range() const { return case_.to - case_.from; }
  double growth_near(int branch, double parameter) const;
  bool on_border(double parameter, const Motion& orbit) const;
  double closing(const Located& point, double shift) const;

  const BranchCase& case_;
  const Dataset& data_;
  Family family_;
  std::vector<Dataset> branches_;  // the points of one each
  std::vector<Located> located_;
  Audit audit_;
};

/// Greatest modulus of the multipliers at a point.
double growth(const Dataset& branch, std::size_t point) {
  const std::size_t n = branch.size("multiplier");
  const auto& re = column<double>(branch, "multiplier_re");
  const auto& im = column<double>(branch, "multiplier_im");
  double greatest = 0;
  for (std::size_t k = point * n; k < (point + 1) * n; ++k) {
    if (!std::isnan(re[k])) greatest = std::max(greatest, std::hypot(re[k], im[k]));
  }
  return greatest;
}

void Auditor::end(int branch, const std::string& side, double parameter, const std::string& reason) {
  End kind = end_kind(reason);
  if (kind == End::numerical && breaks_off(branch, parameter, reason)) kind = End::broken;
  ++audit_.ends[static_cast<std::size_t>(kind)];
  if (kind != End::normal && kind != End::broken)
    audit_.abnormal_ends.push_back("branch " + std::to_string(branch) + side + at(parameter) + ": " + reason);
}

/// Whether the motion is not continuous at a located point that a branch is told to end at: where it takes
/// another way for ever smaller changes of the start, the ends do not come together, as they do by a slope or
/// by a square root. Beside slow impacts a jump is as small as they are slow.
bool Auditor::breaks_off(int branch, double parameter, const std::string& reason) const {
  return std::any_of(located_.begin(), located_.end(), [&](const Located& p) {
    if (p.branch != branch || !reason.starts_with(bifurcation_names()[static_cast<std::size_t>(p.kind)]) ||
        !(std::abs(p.parameter - parameter) <= 1e-2 * range()))
      return false;
    const auto system = family_.system(p.parameter);
    const Motion orbit = followed(*system, p.state, p.periods);
    if (orbit.outcome != Outcome::ok) return false;
    const double growth = growth_near(p.branch, p.parameter);
    constexpr double changes[] = {1e-7, 1e-8, 1e-9, 1e-10, 1e-11};  // a border is known so well
    return std::any_of(std::begin(changes), std::end(changes), [&](double small) {
      const double near = spread(*system, orbit, small);
      return near > 10 * growth * small && near > 0.5 * spread(*system, orbit, 100 * small);
    });
  });
}

/// Whether the parameter tells a located point so finely that a multiplier must be on its border: not where
/// the next values of it, 1e-12 of the range away, have others.
bool Auditor::resolved(const Located& point, double missed) const {
  for (const double shift : {-1e-12, 1e-12}) {
    const auto system = family_.system(point.parameter + shift * range());
    HybridState start;
    start.x = point.state;
    const Orbit orbit = refine_orbit(PoincareMap(*system, {}), start, point.periods);
    const bool same =
        orbit.closed && std::abs(away_from_border(orbit.multipliers, point.kind) - missed) < 0.1 * missed;
    if (!same) return false;
  }
  return true;
}

void Auditor::look_at(int branch) {
  const Dataset& b = branches_[static_cast<std::size_t>(branch)];
  ++audit_.branches;
  const auto& parameters = column<double>(b, case_.parameter);
  const auto& states = column<double>(b, "orbit_state");
  const auto& periods = column<std::int32_t>(b, "forcing_periods");
  const auto& stable = column<std::int8_t>(b, "stable");
  const std::size_t n = b.size("state");
  const std::string name = "branch " + std::to_string(branch);
  const std::size_t number = static_cast<std::size_t>(branch);
  end(branch, " begins at ", parameters.front(), text_at(data_.at("begins"), number));
  end(branch, " ends at ", parameters.back(), text_at(data_.at("ends"), number));
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    ++audit_.points;
    const std::string where = name + " point " + std::to_string(k) + " " + at(parameters[k]);
    const Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXd>(states.data() + k * b.size("iterate") * n,
                                                                static_cast<Eigen::Index>(n));
    const auto system = family_.system(parameters[k]);
    const Motion orbit = followed(*system, x, periods[k]);
    const double greatest = growth(b, k);
    const double error = orbit.error / orbit.size / std::max(1.0, greatest);
    if (orbit.outcome != Outcome::ok || !(error <= 1e-8)) {
      ++audit_.ghosts;
      report("ghost: " + where + ", the motion ends " + Value(orbit.error / orbit.size).toml() +
             " of its size away");
      continue;
    }
    if (repeats(orbit)) {
      ++audit_.ghosts;
      report("ghost: " + where + ", an orbit of fewer periods");
      continue;
    }
    audit_.worst = std::max(audit_.worst, error);
    if (std::abs(greatest - 1) < 1e-3 || on_border(parameters[k], orbit)) {
      ++audit_.neutral;
    } else {
      look_at_stability(where, *system, orbit, greatest, stable[k] != 0);
    }
  }
}

void Auditor::look_at_stability(const std::string& where, System& system, const Motion& orbit,
                                double greatest, bool stable) {
  const auto answer = returns(system, orbit, stable);
  if (!answer) {
    ++audit_.undecided;
  } else if (*answer != stable) {
    ++(*answer ? audit_.stable : audit_.unstable);
    report((*answer ? "told unstable, but the motion returns: " : "told stable, but the motion leaves: ") +
           where + ", greatest multiplier " + Value(greatest).toml());
  }
}

/// Whether an orbit is one where events change, on whatever branch that is told: the derivative is another on
/// either side.
bool Auditor::on_border(double parameter, const Motion& orbit) const {
  return std::any_of(located_.begin(), located_.end(), [&](const Located& p) {
    return !p.smooth() && std::abs(p.parameter - parameter) <= 1e-9 * range() &&
           (p.state - orbit.states.front()).cwiseAbs().maxCoeff() <= 1e-6 * orbit.size;
  });
}

/// At the point of a branch that is nearest in the parameter; at least 1.
double Auditor::growth_near(int branch, double parameter) const {
  const Dataset& b = branches_[static_cast<std::size_t>(branch)];
  const auto& parameters = column<double>(b, case_.parameter);
  const auto nearest = std::min_element(parameters.begin(), parameters.end(), [&](double x, double y) {
    return std::abs(x - parameter) < std::abs(y - parameter);
  });
  return std::max(1.0, growth(b, static_cast<std::size_t>(nearest - parameters.begin())));
}

/// Error of closing at a located point, with the parameter a little beside it.
double Auditor::closing(const Located& point, double shift) const {
  const auto system = family_.system(point.parameter + shift * range());
  const Motion orbit = followed(*system, point.state, point.periods);
  return orbit.outcome == Outcome::ok ? orbit.error / orbit.size : HUGE_VAL;
}

void Auditor::look_at_located(std::size_t number) {
  const Located& point = located_[number];
  ++audit_.located;
  const std::string where = bifurcation_names()[static_cast<std::size_t>(point.kind)] + " of contact " +
                            std::to_string(point.contact) + " on branch " + std::to_string(point.branch) +
                            " " + at(point.parameter);
  double growth = growth_near(point.branch, point.parameter);
  double error = closing(point, 0);
  // At a border rounding decides on which side the motion takes its way, and a touch of 1e-16 is an impact of
  // speed 1e-8, which the rest of the turn magnifies: beside it, on one side, there is none.
  const double beside = 1e-8;
  if (!point.smooth()) {
    double rest = HUGE_VAL;
    for (const double shift : {-beside, beside}) {
      const auto system = family_.system(point.parameter + shift * range());
      error = std::min(error, closing(point, shift));
      rest = std::min(rest, magnified(*system, followed(*system, point.state, point.periods)));
    }
    growth = std::max(growth, rest);
  }
  if (!(error <= (point.smooth() ? 1e-8 : 1e-6) * growth)) {
    ++audit_.located_ghosts;
    report("located ghost: " + where + ", the motion ends " + Value(error).toml() + " of its size away");
    return;
  }
  audit_.worst_located = std::max(audit_.worst_located, error / growth);
  const auto system = family_.system(point.parameter);
  const Motion orbit = followed(*system, point.state, point.periods);
  if (point.smooth() && !on_border(point.parameter, orbit)) {
    const double missed = missed_border(*system, point);
    if (!(missed <= 1e-5 * growth) && resolved(point, missed)) {
      ++audit_.misnamed;
      report("no multiplier there: " + where + ", the nearest is " + Value(missed).toml() + " away");
    }
  }
  for (std::size_t j = number + 1; j < located_.size(); ++j) {
    const Located& other = located_[j];
    if (other.kind != point.kind || other.contact != point.contact) continue;
    // Two changes may lie 4e-9 of the range apart, as where they accumulate; one is known better than that.
    const double known = std::min(1e-9 * range() + point.error + other.error, 1e-7 * range());
    if (!(std::abs(other.parameter - point.parameter) <= known)) continue;
    const bool met = std::any_of(orbit.states.begin(), orbit.states.end(), [&](const Eigen::VectorXd& x) {
      return (x - other.state).cwiseAbs().maxCoeff() <= 1e-6 * orbit.size;
    });
    if (!met) continue;
    ++(other.periods == point.periods ? audit_.duplicates : audit_.met_again);
    report("located twice: " + where + ", periods " + std::to_string(point.periods) + ", and on branch " +
           std::to_string(other.branch) + ", periods " + std::to_string(other.periods));
    break;
  }
}

}  // namespace

std::string case_text(const BranchCase& c) {
  const std::string model = "graze = 1\n[model]\n" + c.model + "\n" + initial_text(c);
  const std::string last = model + "[analysis]\n" + continue_keys(c);
  return c.sweep_points == 0
             ? last
             : model + "[analysis]\n" + sweep_keys(c) + "# its result is sweep.h5 of:\n" + last;
}

Dataset branches_of(const BranchCase& c) {
  Problem problem = make_problem("continue", c.model, unnamed(continue_keys(c)), c.start);
  if (c.sweep_points > 0) {
    const Problem sweep = make_problem("sweep", c.model, unnamed(sweep_keys(c)), c.start);
    problem.sweep = std::make_shared<const Dataset>(result_of(*make_analysis("sweep", sweep)));
  }
  return result_of(*make_analysis("continue", problem));
}

End end_kind(const std::string& reason) {
  if (reason == "comes back on itself") return End::turned_back;
  if (reason == "as many points as allowed" || reason == "the time allowed is used up") return End::full;
  for (const char* normal :
       {"end of the range", "the branch is closed", "goes on as branch ", "period doubling",
        "the orbit shrinks to rest", "an orbit of half as many periods", "an orbit of fewer periods",
        "at this grazing it is an orbit of fewer periods"}) {
    if (reason.starts_with(normal)) return End::normal;
  }
  if (reason.ends_with("a body creeps to where friction holds it again")) return End::normal;
  return End::numerical;
}

Audit& Audit::operator+=(const Audit& other) {
  for (int Audit::*count :
       {&Audit::systems, &Audit::branches, &Audit::points, &Audit::located, &Audit::ghosts,
        &Audit::located_ghosts, &Audit::misnamed, &Audit::duplicates, &Audit::met_again, &Audit::unstable,
        &Audit::stable, &Audit::neutral, &Audit::undecided})
    this->*count += other.*count;
  for (std::size_t k = 0; k < ends.size(); ++k) ends[k] += other.ends[k];
  worst = std::max(worst, other.worst);
  worst_located = std::max(worst_located, other.worst_located);
  violations.insert(violations.end(), other.violations.begin(), other.violations.end());
  abnormal_ends.insert(abnormal_ends.end(), other.abnormal_ends.begin(), other.abnormal_ends.end());
  return *this;
}

Audit audit(const BranchCase& c, const Dataset& branches) { return Auditor(c, branches).run(); }

}  // namespace graze::test

using namespace graze;
using namespace graze::test;

namespace {

double rounded(double x) { return std::round(x * 1000) / 1000; }

/// A coordinate or the difference of two, with a sign.
Eigen::VectorXd some_direction(Dice& dice, Eigen::Index masses) {
  Eigen::VectorXd v = Eigen::VectorXd::Zero(masses);
  const auto one = [&] {
    return static_cast<Eigen::Index>(dice.number(0, 0.999) * static_cast<double>(masses));
  };
  const Eigen::Index i = one();
  v(i) = 1;
  if (masses > 1 && dice.number(0, 1) < 0.4) v((i + 1) % masses) = -1;
  return dice.coin() ? v : Eigen::VectorXd(-v);
}

std::string numbers(const Eigen::VectorXd& v) {
  Value::Array list;
  for (const double x : v) list.emplace_back(rounded(x));
  return Value(std::move(list)).toml();
}

std::string numbers(const Eigen::MatrixXd& m) {
  std::string text;
  for (const auto& row : m.rowwise()) text += (text.empty() ? "" : ", ") + numbers(Eigen::VectorXd(row));
  return "[" + text + "]";
}

enum class Ingredients { rigid_stops, compliant_stops, friction };

constexpr unsigned all_branches = 30;  // of a random system

/// A compliant stop's keys, or a rigid one's.
std::string random_stop(Dice& dice, bool compliant) {
  const double restitution = rounded(dice.number(0.3, 0.95));
  std::string rigid = ", restitution = " + Value(restitution).toml();
  if (!compliant || dice.number(0, 1) < 0.2) return rigid;
  std::string keys = ", stiffness = " + Value(rounded(std::pow(10, dice.number(0, 2)))).toml();
  const auto some = [&](const std::string& key, double share, double low, double high) {
    const bool has = dice.number(0, 1) < share;
    const double value = rounded(std::pow(10, dice.number(low, high)));
    if (has) keys += ", " + key + " = " + Value(value).toml();
  };
  some("damping", 0.7, -1.5, 0.5);
  some("preload", 0.4, -1.3, -0.1);
  if (dice.number(0, 1) < 0.3) keys += ", release = 'gap'";
  return keys;
}

/// A chain of masses between springs and dampers, with stops, swept over the frequency of its forcing.
/// Numbers are drawn one after the other, never within one expression: compilers differ in the order there.
BranchCase random_case(unsigned seed, Ingredients with, unsigned branches = all_branches) {
  Dice dice(seed);
  const auto count = [&](int most) { return 1 + static_cast<int>(dice.number(0, 0.999) * most); };
  const Eigen::Index n = count(3);
  Eigen::VectorXd mass(n), spring(n + 1);
  for (double& m : mass) m = dice.number(0.5, 2.5);
  for (double& k : spring) k = dice.number(0.4, 3);
  if (dice.coin()) spring(n) = 0;  // the last mass is free on its other side
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    K(i, i) = rounded(spring(i)) + rounded(spring(i + 1));
    if (i > 0) K(i, i - 1) = K(i - 1, i) = -rounded(spring(i));
  }
  const double damping = std::pow(10, dice.number(-2.3, -0.3));
  BranchCase c;
  c.model = "name = 'linear_stops'\nmass = " + numbers(Eigen::MatrixXd(mass.asDiagonal())) +
            "\ndamping = " + numbers(Eigen::MatrixXd(damping * K)) + "\nstiffness = " + numbers(K) + "\n";
  const double omega = rounded(dice.number(0.5, 2) * std::sqrt(spring(0) / mass(0)));
  c.model += "omega = " + Value(omega).toml() + "\nforce = [";
  const int harmonics = count(2);
  for (int k = 1; k <= harmonics; ++k) {
    const double bound = k == 1 ? 1.2 : 0.4;
    const Eigen::VectorXd sine = (k - 1) * dice.vector(n, bound);
    const Eigen::VectorXd cosine = dice.vector(n, bound);
    c.model += "{ order = " + std::to_string(k) + ", cosine = " + numbers(cosine) +
               ", sine = " + numbers(sine) + " }, ";
  }
  c.model += "]\nstop = [";
  const int stops = count(3);
  for (int k = 0; k < stops; ++k) {
    const std::string law = random_stop(dice, with == Ingredients::compliant_stops);
    const double position = rounded(dice.number(0.03, 0.8));
    c.model += "{ normal = " + numbers(some_direction(dice, n)) + ", position = " + Value(position).toml() +
               law + " }, ";
  }
  c.model += "]\n";
  if (with == Ingredients::friction) {
    c.model += "friction = [";
    const int frictions = count(2);
    for (int k = 0; k < frictions; ++k) {
      const double amplitude = rounded(dice.number(0.02, 0.25));
      c.model += "{ direction = " + numbers(some_direction(dice, n)) +
                 ", amplitude = " + Value(amplitude).toml() + " }, ";
    }
    c.model += "]\n";
  }
  const double way = dice.number(0.4, 0.9);
  c.parameter = "omega";
  c.from = rounded(omega * (1 - way));
  c.to = rounded(omega * (1 + way));
  c.sweep_points = 81;
  c.keys = "points = 400\nbranches = " + std::to_string(branches) + "\n";
  return c;
}

/// The branches over this range from what settles at one value, instead of from a sweep.
BranchCase from_orbit(BranchCase c, double from, double to, double at) {
  c.sweep_points = 0;
  c.from = from;
  c.to = to;
  c.at = at;
  return c;
}
/// The same over the whole range.
BranchCase from_orbit(const BranchCase& c, double at) { return from_orbit(c, c.from, c.to, at); }

/// The only branch that a case asks for, of at most so many points in each direction.
Dataset one_branch_of(BranchCase& c, int points = 400) {
  c.keys = "points = " + std::to_string(points) + "\nbranches = 1\n";
  Dataset data = branches_of(c);
  REQUIRE(data.size("branch_number") == 1);
  return data;
}

void print_head() {
  std::printf(
      "  seed branches points ghosts neutral open stable unstable | located ghosts misnamed twice again |"
      " ends: normal back numerical full broken | worst closing, located\n");
}

void print_row(const std::string& name, const Audit& a) {
  std::printf("%6s %8d %6d %6d %7d %4d %6d %8d | %7d %6d %8d %5d %5d | %12d %4d %9d %4d %6d | %.0e %.0e\n",
              name.c_str(), a.branches, a.points, a.ghosts, a.neutral, a.undecided, a.stable, a.unstable,
              a.located, a.located_ghosts, a.misnamed, a.duplicates, a.met_again, a.ends[0], a.ends[1],
              a.ends[2], a.ends[3], a.ends[4], a.worst, a.worst_located);
  std::fflush(stdout);
}

void print_violations(const Audit& a) {
  for (const std::string& line : a.violations) std::printf("       %s\n", line.c_str());
  for (const std::string& line : a.abnormal_ends) std::printf("       %s\n", line.c_str());
  std::fflush(stdout);
}

Audit audit_random(unsigned first, unsigned systems, Ingredients with, unsigned branches = all_branches) {
  Audit sum;
  print_head();
  for (unsigned seed = first; seed < first + systems; ++seed) {
    const BranchCase c = random_case(seed, with, branches);
    const Audit one = audit(c, branches_of(c));
    print_row(std::to_string(seed), one);
    print_violations(one);
    if (one.faults() > 0 || !one.abnormal_ends.empty()) std::printf("%s\n", case_text(c).c_str());
    sum += one;
  }
  print_row("sum", sum);
  return sum;
}

}  // namespace

TEST_CASE("audit of as many random systems as asked for", "[.audit]") {
  const auto from_environment = [](const char* name, unsigned fallback) {
    const char* text = std::getenv(name);
    return text != nullptr ? static_cast<unsigned>(std::stoul(text)) : fallback;
  };
  const Ingredients with = from_environment("GRAZE_AUDIT_FRICTION", 0) != 0    ? Ingredients::friction
                           : from_environment("GRAZE_AUDIT_COMPLIANT", 0) != 0 ? Ingredients::compliant_stops
                                                                               : Ingredients::rigid_stops;
  const Audit sum =
      audit_random(from_environment("GRAZE_AUDIT_FIRST", 0), from_environment("GRAZE_AUDIT_COUNT", 30), with,
                   from_environment("GRAZE_AUDIT_BRANCHES", all_branches));
  CHECK(sum.faults() == 0);
}

TEST_CASE("branches of random systems: every point closes, nothing is located twice, none turns back") {
  const auto right = [](const Audit& sum) {
    CHECK(sum.faults() == 0);
    CHECK(sum.ends_of(End::turned_back) == 0);
    CHECK(sum.ends_of(End::numerical) == 0);
  };
  right(audit_random(3, 3, Ingredients::rigid_stops));
  const Audit held =
      audit_random(3, 1, Ingredients::friction);  // holds it at rest anywhere, at every frequency
  right(held);
  CHECK(held.branches == 1);
}

TEST_CASE("branches of random systems with compliant stops: every point closes, none ends at their grazings",
          "[long]") {
  const Audit sum = audit_random(2, 1, Ingredients::compliant_stops) +=
      audit_random(15, 2, Ingredients::compliant_stops);
  CHECK(sum.faults() == 0);
  CHECK(sum.ends_of(End::turned_back) == 0);
  CHECK(sum.ends_of(End::numerical) == 0);
}

// 111: a step over a fold comes to the grazing of another sheet. 129: orbits 1e-3 of their size beside the
// branch are none of its. 132: the last step leads over a change and past the first point.
TEST_CASE("branches with compliant stops do not come back on themselves, and closed ones are told so",
          "[long]") {
  for (const unsigned seed : {111u, 129u, 132u}) {
    const Audit sum = audit_random(seed, 1, Ingredients::compliant_stops, 6);
    CHECK(sum.faults() == 0);
    CHECK(sum.ends_of(End::turned_back) == 0);
    CHECK(sum.ends_of(End::numerical) == 0);
  }
}

TEST_CASE("branches of eight periods with multipliers of 1e9 are followed: none comes back on itself",
          "[long]") {
  const Audit sum = audit_random(17, 1, Ingredients::rigid_stops);
  CHECK(sum.faults() == 0);
  CHECK(sum.branches == 11);
  CHECK(sum.ends_of(End::turned_back) == 0);
  CHECK(sum.ends_of(End::numerical) == 0);
}

TEST_CASE(
    "branches go over borders of chatter from where ever more impacts follow, and none comes back on "
    "itself",
    "[long]") {
  for (const unsigned seed : {12u, 18u, 62u}) {
    const Audit sum = audit_random(seed, 1, Ingredients::rigid_stops);
    CHECK(sum.faults() == 0);
    CHECK(sum.ends_of(End::turned_back) == 0);
    CHECK(sum.ends_of(End::numerical) == 0);
  }
}

TEST_CASE("branches beside chatter borders do not step onto another sheet of theirs", "[long]") {
  const Audit sum = audit_random(15, 1, Ingredients::rigid_stops);
  CHECK(sum.faults() == 0);
  CHECK(sum.ends_of(End::turned_back) == 0);
}

TEST_CASE("branches do not turn back at grazings", "[heavy]") {
  // 14: two impacts lose their speeds one after the other within a step. 80: a doubled branch leaves a
  // grazing.
  for (const unsigned seed : {14u, 80u}) {
    const Audit sum = audit_random(seed, 1, Ingredients::rigid_stops);
    CHECK(sum.faults() == 0);
    CHECK(sum.ends_of(End::turned_back) == 0);
    CHECK(sum.ends_of(End::numerical) == 0);
  }
}

TEST_CASE("branches end where the motion breaks off, and do not go on where they have been") {
  const BranchCase c = random_case(19, Ingredients::rigid_stops);
  const Audit one = audit(c, branches_of(c));
  CHECK(one.faults() == 0);
  CHECK(one.ends_of(End::turned_back) == 0);
  CHECK(one.ends_of(End::numerical) == 0);
  CHECK(one.ends_of(End::broken) == 2);
}

TEST_CASE("branches of more random systems: every point closes, is stable as told, is located once",
          "[heavy]") {
  for (const bool friction : {false, true}) {
    const Audit sum =
        friction ? audit_random(2, 4, Ingredients::friction) : audit_random(7, 13, Ingredients::rigid_stops);
    CHECK(sum.faults() == 0);
    const int abnormal = sum.ends_of(End::turned_back) + sum.ends_of(End::numerical);
    CHECK(abnormal <= (friction ? 0.05 : 0.01) * sum.all_ends());
  }
}

TEST_CASE("orbits of several periods do not go back from a grazing where they are one of fewer", "[long]") {
  const BranchCase c = random_case(2, Ingredients::rigid_stops);
  const Audit one = audit(c, branches_of(c));
  CHECK(one.ghosts == 0);
  CHECK(one.duplicates == 0);
  CHECK(one.met_again == 0);
  CHECK(one.ends_of(End::turned_back) == 0);
}

TEST_CASE(
    "where two stops are hit at one instant, and the first hit spares the other, a branch is at its end",
    "[long]") {
  // At omega = 0.5091236 mass 2 hits mass 3 and the ground together: turned back by the ground first, it does
  // not hit mass 3. The motion is not continuous there.
  BranchCase c;
  c.model =
      "name = 'linear_stops'\nmass = [[0.937, 0, 0], [0, 1.319, 0], [0, 0, 1.786]]\n"
      "damping = [[0.137, -0.064, 0], [-0.064, 0.156, -0.092], [0, -0.092, 0.164]]\n"
      "stiffness = [[4.197, -1.96, 0], [-1.96, 4.771, -2.811], [0, -2.811, 5.022]]\n"
      "force = [{ order = 1, cosine = [-0.985, -0.73, 1.186] },\n"
      "  { order = 2, cosine = [0.188, 0.151, -0.375], sine = [-0.212, -0.209, 0.103] }]\n"
      "stop = [{ normal = [0, -1, 1], position = 0.458, restitution = 0.486 },\n"
      "  { normal = [0, -1, 1], position = 0.32, restitution = 0.552 },\n"
      "  { normal = [0, -1, 0], position = 0.603, restitution = 0.551 }]\n";
  c.parameter = "omega";
  c.from = 0.5088;
  c.to = 0.5094;
  c.at = 0.509;
  c.keys = "transient = 600\n";
  const Dataset data = branches_of(c);
  REQUIRE(data.size("branch_number") == 1);
  CHECK(text_at(data.at("ends"), 0).starts_with("simultaneous of contact 2"));
  const Dataset& points = *data.group("bifurcation");
  CHECK(column<double>(points, "omega").back() == Approx(0.5091236).margin(1e-6));
}

namespace {

/// A mass in the plane between two walls, over its friction.
BranchCase planar_between_walls(double from, double to, double at) {
  BranchCase c;
  c.model = "name = 'planar_friction'\nx_left = -0.1\nx_right = 0.1\nr = 0.7\n";
  c.parameter = "friction";
  return from_orbit(c, from, to, at);
}

}  // namespace

TEST_CASE("an impact that passes phase zero ends no branch of a system solved by its own motion") {
  // Where friction is 0.94986 the first impact is at phase zero.
  const BranchCase c = planar_between_walls(0.948, 0.952, 0.951);
  const Dataset data = branches_of(c);
  CHECK(data.size("branch_number") == 1);
  CHECK(text_at(data.at("begins"), 0) == "end of the range");
  CHECK(text_at(data.at("ends"), 0) == "end of the range");
  CHECK(audit(c, data).ghosts == 0);
}

// The time for which it sticks grows from nothing by a root.
TEST_CASE("a branch goes on where a mass in the plane begins to stick", "[heavy]") {
  const BranchCase c = planar_between_walls(1.44, 2, 1.45);
  const Dataset data = branches_of(c);
  REQUIRE(data.size("branch_number") == 1);
  CHECK(text_at(data.at("begins"), 0) == "end of the range");
  CHECK(text_at(data.at("ends"), 0) == "end of the range");
  const Dataset& points = *data.group("bifurcation");
  const std::vector<double> borders = column<double>(points, "friction");
  REQUIRE(borders.size() == 2);
  CHECK(borders[0] == Approx(1.456886185).margin(1e-8));
  CHECK(borders[1] == Approx(1.8992114).margin(1e-6));  // from where it rests for good
}

TEST_CASE("a branch of doubled orbits does not go on along the orbit that it has left", "[long]") {
  BranchCase c;
  c.model =
      "name = 'two_pendulums'\ngravity = 1\ne = 0.6\ndamping1 = 0.3\ndamping2 = 0.3\ntorque1 = 0.8\n"
      "frequency = 1\n";
  c.parameter = "frequency";
  c.start = {0, 0, 0, 0};
  c.from = 1.02;
  c.to = 1.15;
  c.at = 1.03;
  const Dataset data = branches_of(c);
  CHECK(data.size("branch_number") == 3);
  CHECK(audit(c, data).ghosts == 0);
}

// A short stick in one half of the turn is all that tells it from the other half.
TEST_CASE("just before it meets one of half as many periods no orbit is told where the motion repeats",
          "[long]") {
  BranchCase c = from_orbit(random_case(0, Ingredients::friction), 1.83255);
  const Dataset data = one_branch_of(c);
  CHECK(text_at(data.at("ends"), 0) == "an orbit of fewer periods, passed through several times");
  const auto& omega = column<double>(data, "omega");
  const auto& told = column<double>(data, "orbit_state");
  const Family of_system = family(c.model, c.parameter.c_str());
  const std::size_t stride = data.size("iterate") * data.size("state");
  for (std::size_t k = 0; k < omega.size(); ++k) {
    const Motion motion =
        followed(*of_system.system(omega[k]), Eigen::Map<const Eigen::Vector4d>(told.data() + k * stride), 4);
    INFO(omega[k]);
    CHECK(motion.outcome == Outcome::ok);
    CHECK_FALSE(repeats(motion));
  }
  CHECK(omega.back() == Approx(1.871347).margin(1e-6));
}

// One impact grazes, another one at 5e-5 of the others' speed magnifies what rounding makes of it.
TEST_CASE("a grazing before a slow impact is told where the motion closes", "[long]") {
  BranchCase c = from_orbit(random_case(10, Ingredients::friction), 1.334775);
  c.keys = "points = 400\nbranches = 2\n";
  const Audit one = audit(c, branches_of(c));
  CHECK(one.branches == 2);
  CHECK(one.located_ghosts == 0);
  CHECK(one.ghosts == 0);
}

// Chatter that a contact is hit by once more before it would have come to rest: what that would be is no
// orbit, and had no equations.
TEST_CASE("a contact that is hit again before it would let go is not taken to be at rest") {
  BranchCase c = from_orbit(random_case(72, Ingredients::rigid_stops), 0.476, 0.477, 0.4765);
  c.keys = "points = 120\nbranches = 1\n";
  const Dataset data = branches_of(c);
  REQUIRE(data.size("branch_number") == 1);
  // Two contacts chatter at once there, and the order of their impacts changes without end.
  CHECK(text_at(data.at("begins"), 0) == "as many points as allowed");
  CHECK(text_at(data.at("ends"), 0) == "as many points as allowed");
  CHECK(audit(c, data).faults() == 0);
}

// A branch of doubled orbits ends at a grazing on the branch that it has left, where that repeats.
TEST_CASE("no fold is told before a grazing at which an orbit is one of fewer periods", "[long]") {
  BranchCase c = from_orbit(random_case(180, Ingredients::rigid_stops), 0.908, 3.6, 0.98465);
  c.keys = "points = 40\nbranches = 2\n";
  const Dataset data = branches_of(c);
  REQUIRE(data.size("branch_number") == 2);
  CHECK(column<double>(data, "omega").back() == Approx(0.942813).margin(1e-6));
  CHECK(audit(c, data).faults() == 0);
}

TEST_CASE("a branch from one period doubling to another is walked once") {
  BranchCase c;
  c.model =
      "name = 'linear_stops'\nmass = [[1.079, 0], [0, 1.82]]\n"
      "damping = [[0.179034, -0.088865], [-0.088865, 0.120971]]\n"
      "stiffness = [[2.883, -1.431], [-1.431, 1.948]]\nomega = 1.549\nforce = [{ cosine = [0.832, 0.86] }]\n"
      "stop = [{ normal = [-1, 0], position = 0.301, stiffness = 26.05, damping = 0.023 }]\n";
  c.parameter = "omega";
  c.from = 1.1208;
  c.to = 1.9772;
  c.at = 1.549;
  c.keys = "points = 300\nbranches = 3\n";
  const Dataset data = branches_of(c);
  REQUIRE(data.size("branch_number") == 3);
  std::vector<double> doublings;
  const Dataset& points = *data.group("bifurcation");
  for (const Located& p : located_points(points, c.parameter))
    if (p.kind == BifurcationKind::period_doubling) doublings.push_back(p.parameter);
  std::sort(doublings.begin(), doublings.end());
  REQUIRE(doublings.size() >= 4);
  // The first two are the ends of one branch, the third is where the next one leaves.
  CHECK(column<double>(data, "least")[1] == Approx(doublings[0]).margin(1e-6));
  CHECK(column<double>(data, "greatest")[1] == Approx(doublings[1]).margin(1e-6));
  CHECK(column<double>(data, "least")[2] > doublings[1]);
}

TEST_CASE("what the limits of continue leave undone is told") {
  BranchCase ball;
  ball.model = "name = 'bouncing_ball'\ne = 0.5\n";
  ball.parameter = "Gamma";
  ball.from = 1.2;
  ball.to = 1.6;
  ball.at = 1.4;
  ball.start = {3, 1};
  const auto run = [&](const std::string& keys) {
    ball.keys = keys;
    return branches_of(ball);
  };
  const auto left = [](const Dataset& data) {
    for (const auto& [key, text] : data.attributes) {
      if (key == "left") return text;
    }
    return std::string();
  };
  CHECK(left(run("")).empty());
  const Dataset one = run("branches = 1\n");
  const std::vector<Located> located = located_points(*one.group("bifurcation"), ball.parameter);
  const auto switches = std::count_if(located.begin(), located.end(), [](const Located& p) {
    return p.kind == BifurcationKind::period_doubling || p.kind == BifurcationKind::branch_point;
  });
  CHECK(switches > 0);
  CHECK(left(one) == "0 starts and " + std::to_string(switches) +
                         " period doublings and branch points not followed: as many branches as allowed");
  CHECK(left(run("seconds = 1e-9\n")).ends_with("the time allowed is used up"));
}

// Orbits with an impact come to a fold where a friction's stick is lost; orbits without any go by at 1.5 % of
// their size, and the motion settles to these.
TEST_CASE("a branch that turns at a slip border does not go on as another one that passes there") {
  BranchCase c = from_orbit(random_case(15, Ingredients::friction), 1.385, 1.42, 1.39);
  const Dataset data = one_branch_of(c);
  const auto& omega = column<double>(data, "omega");
  CHECK(*std::max_element(omega.begin(), omega.end()) == Approx(1.403140959).margin(1e-9));
  CHECK(omega.front() == 1.385);
  CHECK(omega.back() == 1.385);
  const Audit found = audit(c, data);
  for (const std::string& line : found.violations) UNSCOPED_INFO(line);
  CHECK(found.faults() == 0);
}

// Two impacts on different masses come at one instant at 0.67420723398742; for either order there are orbits
// at lower frequencies only.
TEST_CASE("a branch turns where two impacts exchange their order") {
  BranchCase c = from_orbit(random_case(1, Ingredients::rigid_stops), 0.6697);
  c.start = {0.26126558, 0.3015314, 0.18993222, 0.1133373, -0.23128474, 0.26186748};
  const Dataset data = one_branch_of(c);
  CHECK(text_at(data.at("begins"), 0) == "the branch is closed");
  const std::vector<Located> located = located_points(*data.group("bifurcation"), c.parameter);
  const auto turn = std::find_if(located.begin(), located.end(), [](const Located& p) {
    return p.kind == BifurcationKind::simultaneous && p.parameter > 0.67;
  });
  REQUIRE(turn != located.end());
  CHECK(turn->parameter == Approx(0.67420723398742).margin(1e-11));
  CHECK(audit(c, data).faults() == 0);
}

// Behind the borders at 0.28205995 and 0.28210181, where the contact does not stick, either way along the
// branch leads to more impacts; at the second one rounding decides how the last orbit before it turns.
TEST_CASE("a branch leaves borders of chatter by the way that does not lead back to them") {
  BranchCase c = from_orbit(random_case(156, Ingredients::rigid_stops), 0.28, 0.4, 0.2818474484855381);
  c.start = {-0.491040623, -0.439091266, -1.557155468, -1.590616301, -1.55571999, -2.0283578};
  const Dataset data = one_branch_of(c);
  CHECK(text_at(data.at("begins"), 0) == "end of the range");
  CHECK(text_at(data.at("ends"), 0) == "end of the range");
  const auto& omega = column<double>(data, "omega");
  CHECK(omega.front() == 0.28);
  CHECK(omega.back() == 0.4);
  int borders = 0;
  for (const Located& p : located_points(*data.group("bifurcation"), c.parameter))
    borders += p.kind == BifurcationKind::chatter_border ? 1 : 0;
  CHECK(borders == 3);
  CHECK(audit(c, data).faults() == 0);
}

// A contact leaves for ever shorter times, until it rests for good: there the parameter has its greatest
// value on either way to it, and Newton's method also finds the orbits before.
TEST_CASE("a branch does not turn round just before a contact comes to rest for good") {
  BranchCase c = from_orbit(random_case(55, Ingredients::rigid_stops), 0.2372, 0.2396, 0.2374160902665381);
  c.start = {0.5996727184, 0.0118710308, 0.63, 0.0, 0.4175438495, -0.1678506713};
  const Dataset data = one_branch_of(c);
  CHECK(text_at(data.at("begins"), 0) == "end of the range");
  CHECK(text_at(data.at("ends"), 0) == "end of the range");
  const std::vector<Located> located = located_points(*data.group("bifurcation"), c.parameter);
  const auto border = std::find_if(located.begin(), located.end(),
                                   [](const Located& p) { return p.kind == BifurcationKind::rising_border; });
  REQUIRE(border != located.end());
  CHECK(border->parameter == Approx(0.238674592835).margin(1e-11));
  CHECK(audit(c, data).faults() == 0);
}

TEST_CASE("flights of a chatter under friction are not counted, nor what friction does in each") {
  // Up to 16 of them, fewer and fewer, are followed before the chatter ends at its border.
  BranchCase c = from_orbit(random_case(18, Ingredients::friction), 0.465);
  const Dataset data = one_branch_of(c, 14);
  CHECK(column<double>(data, "omega").back() > 0.587278);
  const auto& located = column<double>(*data.group("bifurcation"), "omega");
  REQUIRE(!located.empty());
  CHECK(located.front() == Approx(0.58727804326).margin(1e-9));
  CHECK(audit(c, data).faults() == 0);
}

TEST_CASE("a branch goes on through the impact that loses its speed first, not through a later one") {
  // Impacts are lost one after the other, at 0.300448, 0.300644, …, between two folds each.
  BranchCase c = from_orbit(random_case(150, Ingredients::rigid_stops), 0.30037);
  const Dataset data = one_branch_of(c, 25);
  const auto& omega = column<double>(data, "omega");
  CHECK(omega.front() < 0.2999);
  CHECK(omega.back() > 0.3009);
  const Audit found = audit(c, data);
  CHECK(found.faults() == 0);
  CHECK(found.ends_of(End::broken) == 0);
}

// The motion jumps at 0.57629: two contacts are hit at one instant. Beyond it there are orbits of other
// events again, a hundredth of the range away, to which none leads from there.
TEST_CASE("a branch does not leap over a range without orbits to those behind it") {
  BranchCase c = from_orbit(random_case(83, Ingredients::rigid_stops), 0.55);
  const Dataset data = one_branch_of(c);
  const auto& omega = column<double>(data, "omega");
  CHECK(omega.front() == Approx(0.491745).margin(1e-6));
  CHECK(omega.back() == Approx(0.576290).margin(1e-6));
  const Audit found = audit(c, data);
  CHECK(found.faults() == 0);
  CHECK(found.ends_of(End::broken) == 2);
}

/// Where what friction holds slips no more, between these values, by bisection.
template <class Slips>
double slips_below(double low, double high, const Slips& slips) {
  for (int k = 0; k < 60; ++k) {
    const double middle = (low + high) / 2;
    (slips(middle) ? low : high) = middle;
  }
  return low;
}

/// The only branch of a case begins where what friction holds slips, nothing else changes on it, and it has
/// no faults.
void check_begins_where_it_slips(const BranchCase& c, const Dataset& data, double slips) {
  CHECK(text_at(data.at("begins"), 0).starts_with("slip_border: behind it a body creeps"));
  CHECK(text_at(data.at("ends"), 0) == "end of the range");
  const std::vector<Located> located = located_points(*data.group("bifurcation"), c.parameter);
  REQUIRE(located.size() == 1);
  CHECK(located.front().kind == BifurcationKind::slip_border);
  CHECK(located.front().parameter == Approx(slips).margin(1e-10));
  CHECK(audit(c, data).faults() == 0);
}

// A mass that its friction holds at x1 for good, beside one that is forced: of the springs' force on it
// 3/2 x1 stays the same, and 0.3 |1 + 0.05 iω|/|2 − ω² + 0.1 iω| swings. It slips where both make 0.2.
TEST_CASE("a body that friction holds stays where it is along a branch, up to where it slips") {
  BranchCase c;
  c.model =
      "name = \"linear_stops\"\nmass = [[1, 0], [0, 1]]\ndamping = [[0.1, -0.05], [-0.05, 0.1]]\n"
      "stiffness = [[2, -1], [-1, 2]]\nomega = 2\n"
      "force = [{ order = 1, cosine = [0, 0.3], sine = [0, 0] }]\n"
      "stop = [{ normal = [0, 1], position = 9, restitution = 0.5 }]\n"
      "friction = [{ direction = [1, 0], amplitude = 0.2 }]\n";
  c.parameter = "omega";
  const double place = 0.03;
  c.start = {place, 0, 0, 0};
  c = from_orbit(c, 1.5, 3, 2.5);
  const Dataset data = one_branch_of(c);
  for (std::size_t k = 0; k < data.size("point"); ++k)
    CHECK(column<double>(data, "orbit_state")[4 * k] == Approx(place).epsilon(1e-14));
  const auto swings = [](double omega) {
    return 0.3 * std::abs(std::complex<double>(1, 0.05 * omega)) /
           std::abs(std::complex<double>(2 - omega * omega, 0.1 * omega));
  };
  const double slips = slips_below(1.5, 3, [&](double w) { return 1.5 * place + swings(w) > 0.2; });
  const auto& omega = column<double>(data, "omega");
  CHECK(omega.front() == Approx(slips).margin(1e-8));
  CHECK(omega.back() == 3);
  check_begins_where_it_slips(c, data, slips);
}

// Two masses, of 1 and 2, that friction holds together at x1 = x2 + c: on the first 3/2 c stays the same, and
// 0.3 |1 − ω² + 0.05 iω|/|2 − 3 ω² + 0.1 iω| swings. They slip where both make 0.3.
TEST_CASE("bodies that friction holds together stay so along a branch, up to where they slip") {
  BranchCase c;
  c.model =
      "name = \"linear_stops\"\nmass = [[1, 0], [0, 2]]\ndamping = [[0.1, -0.05], [-0.05, 0.1]]\n"
      "stiffness = [[2, -1], [-1, 2]]\nomega = 2\n"
      "force = [{ order = 1, cosine = [0, 0.3], sine = [0, 0] }]\n"
      "stop = [{ normal = [0, 1], position = 9, restitution = 0.5 }]\n"
      "friction = [{ direction = [1, -1], amplitude = 0.1 }, { direction = [-1, 1], amplitude = 0.2 }]\n";
  c.parameter = "omega";
  c.start = {0.03, 0, 0, 0};
  c = from_orbit(c, 0.83, 1.5, 0.95);
  const Dataset data = one_branch_of(c);
  const auto& states = column<double>(data, "orbit_state");
  const double apart = states[0] - states[2];  // what the first periods leave of it
  CHECK(apart == Approx(0.03).margin(0.01));
  for (std::size_t k = 0; k < data.size("point"); ++k)
    CHECK(states[4 * k] - states[4 * k + 2] == Approx(apart).epsilon(1e-12));
  const auto swings = [](double omega) {
    return 0.3 * std::abs(std::complex<double>(1 - omega * omega, 0.05 * omega)) /
           std::abs(std::complex<double>(2 - 3 * omega * omega, 0.1 * omega));
  };
  const double slips = slips_below(0.83, 1.5, [&](double w) { return 1.5 * apart + swings(w) > 0.3; });
  const auto& omega = column<double>(data, "omega");
  CHECK(omega.front() >= slips);
  CHECK(omega.front() < slips + 1e-3);
  const auto& stable = column<std::int8_t>(data, "stable");
  CHECK(std::all_of(stable.begin(), stable.end(), [](std::int8_t is) { return is != 0; }));
  CHECK(omega.back() == 1.5);
  check_begins_where_it_slips(c, data, slips);
}

TEST_CASE("two frictions along one direction have the branch of one of their sum") {
  const auto changes = [](const std::string& frictions) {
    BranchCase c;
    c.model =
        "name = \"linear_stops\"\nmass = [[0.706, 0], [0, 0.798]]\n"
        "damping = [[0.203, -0.152], [-0.152, 0.152]]\nstiffness = [[3.357, -2.509], [-2.509, 2.509]]\n"
        "omega = 0.6\nforce = [{ cosine = [-0.589, -1.063] }, "
        "{ order = 2, cosine = [-0.076, -0.147], sine = [0.293, -0.223] }]\n"
        "stop = [{ normal = [-1, 1], position = 0.684, restitution = 0.848 }]\nfriction = [" +
        frictions + "]\n";
    c.parameter = "omega";
    c.start = {0, 0, 0, 0};
    c = from_orbit(c, 0.25, 0.34, 0.305);
    const Dataset data = one_branch_of(c, 150);
    CHECK(audit(c, data).faults() == 0);
    return located_points(*data.group("bifurcation"), c.parameter);
  };
  const auto one = changes("{ direction = [-1, 1], amplitude = 0.208 }");
  const auto two =
      changes("{ direction = [-1, 1], amplitude = 0.119 }, { direction = [1, -1], amplitude = 0.089 }");
  CHECK(one.size() > 6);
  REQUIRE(one.size() == two.size());
  for (std::size_t k = 0; k < one.size(); ++k) {
    CHECK(one[k].kind == two[k].kind);
    CHECK(one[k].contact == two[k].contact);
    CHECK(one[k].parameter == Approx(two[k].parameter).margin(1e-8));  // some are known no better
  }
}

// Just before an impact loses its speed, at 0.14186527395, the state of the orbit that has it is, at phase
// zero, that of the orbit without it but for rounding: a motion from there is another than the one told.
TEST_CASE("a point of a branch is told where the motion from its state has its events", "[long]") {
  BranchCase c = from_orbit(random_case(83, Ingredients::friction), 0.1408);
  const Dataset data = one_branch_of(c, 70);
  CHECK(audit(c, data).faults() == 0);
}
