/// Walks along curves of bifurcations over two parameters, and the points where a second condition holds.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/continuation/curve_equations.hpp"
#include "analysis/continuation/grazing.hpp"
#include "analysis/continuation/solution.hpp"

namespace graze {

/// Points of codimension two: where a curve meets a second condition.
enum class Codim2Kind : signed char {
  cusp = 0,                     ///< two folds meet
  fold_flip,                    ///< multipliers 1 and −1
  resonance_1_1,                ///< a double multiplier 1
  resonance_1_2,                ///< a double multiplier −1
  resonance_1_3,                ///< multipliers e^{±2πi/3}
  resonance_1_4,                ///< multipliers ±i
  fold_neimark_sacker,          ///< a multiplier 1 and a pair on the unit circle
  flip_neimark_sacker,          ///< a multiplier −1 and a pair on the unit circle
  generalized_period_doubling,  ///< the doubled orbit's cubic coefficient is zero
  resonant_grazing,             ///< a fold or doubling of the orbit with the impact ends on the grazing curve
  double_grazing,               ///< a second impact without speed
  grazing_fold,                 ///< a fold where another gap touches zero
  grazing_period_doubling,      ///< a doubling where another gap touches zero
  grazing_neimark_sacker,       ///< a Neimark–Sacker point where another gap touches zero
  degenerate_grazing,           ///< the acceleration away from the contact is zero, too
  rising_border,                ///< the force of a closed contact touches zero
  chatter_grazing,              ///< impacts accumulate: grazings meet a chatter border
  simultaneous,                 ///< impacts of two contacts at one instant
  release_moves,                ///< a release at the instant of another event
  stick_corner,                 ///< two borders of sticking by friction meet
  slip_grazing                  ///< a border of sliding where a gap touches zero
};

/// Names in the order of the enumeration, as written to result files.
const std::vector<std::string>& codim2_names();

/// A point of a curve. `orbit.parameter` is the first parameter; `orbit.stable`: all multipliers but those
/// that define the curve lie in the unit circle.
struct CurvePoint {
  BranchPoint orbit;
  double second = 0;
};

/// A point with all that is needed to go on from it.
struct CurveSolution {
  std::shared_ptr<const CurveEquations> equations;
  Borders borders;
  Eigen::VectorXd x;
  Eigen::VectorXd tangent;
  Eigen::VectorXd weights;
  CurveValues values;
  int iterations = 0;
  CurvePoint point;

  double size() const { return point.orbit.size; }
};

/// A located point of codimension two, with the equations of the orbit there.
struct Codim2 {
  Codim2Kind kind = Codim2Kind::cusp;
  Bifurcation at;         ///< the point as one of its curve; its parameter is the first
  double second = 0;      ///< value of the second parameter
  std::size_t step = 0;   ///< of the curve's own condition
  std::size_t other = 0;  ///< step of the event that the second condition is about
  int sense = 0;          ///< resonant_grazing: +1: a fold, −1: a doubling ends here
};

struct CurveOptions {
  double from[2]{0, 0};  ///< ranges of both parameters
  double to[2]{1, 1};
  double first_step = 1e-3;  ///< arclength; parameters count in units of their ranges
  double step = 2e-2;        ///< greatest
  double least_step = 1e-7;
  int points = 2000;    ///< at most, in one direction
  bool beyond = false;  ///< whether to go on where no motion takes the orbit (admissible = false)
};

/// Solves a curve's equations near a guess: unknowns of the orbit's equations, second parameter and further
/// unknown. `size` is that of the orbit's states. Nothing: Newton's method does not get there.
std::optional<CurveSolution> solve_near(const Plane& plane, const Itinerary& itinerary, const Anchor& anchor,
                                        const CurveCondition& condition, const Eigen::VectorXd& orbit,
                                        double second, double extra, double size);
/// States of a point's orbit on the section that are solved for: where it begins only, or all of them.
enum class States { first, all };
/// Takes what a solved point tells: orbit, multipliers, whether the motion takes it.
void take_point(CurveSolution& solution, States states = States::all);

/// Walks along a curve point by point:
///
///     CurveWalk walk(start, +1, options);
///     while (walk.next()) use(walk.point(), walk.passed());
///     say(walk.end());
///
/// Every point is compared with the motion that the system takes by itself from there. Where that has its
/// events in another order the curve goes on with it; where it has others the point of codimension two is
/// located, and the curve ends there.
class CurveWalk {
 public:
  /// `direction`: the sense along the tangent of the start, +1 or −1.
  CurveWalk(CurveSolution start, int direction, const CurveOptions& options);

  /// Goes on to the next point; false: the curve has ended.
  bool next();
  const CurvePoint& point() const { return now_.point; }
  const CurveSolution& solution() const { return now_; }
  const std::vector<Codim2>& passed() const { return passed_; }
  const std::string& end() const { return end_; }
  /// At the end: whether it is that of a fold of doubled orbits that come to one of half as many periods.
  /// There every orbit that doubles its period solves the equations, too.
  bool at_half() const { return at_half_; }

 private:
  using Vector = Eigen::VectorXd;
  /// Why no motion takes an orbit.
  struct Cause {
    enum class What { none, speed, order, slip, dip, other } what = What::none;
    std::size_t step = 0;
    Dip dip{};
  };
  struct Located {
    double place = 0;
    CurveSolution solution;
    double value = 0;
  };
  using Function = std::function<double(const CurveSolution&)>;

  std::optional<CurveSolution> at(const CurveSolution& from, double step, States states = States::all) const;
  Cause cause_of(CurveSolution& solution) const;
  /// What is solved where the motion is told anew.
  struct Retold {
    Prescription taken;
    CurveCondition condition;
  };
  std::optional<Retold> retold(const CurveSolution& solution, const Vector& start, double phase,
                               double shift) const;
  std::optional<CurveSolution> solved(const CurveSolution& solution, const Retold& retold,
                                      const Vector& start, const Anchor& anchor) const;
  std::optional<CurveSolution> remade(const CurveSolution& solution) const;
  std::optional<CurveSolution> begun_anew(const CurveSolution& solution) const;
  std::optional<CurveSolution> crossed_anew(const CurveSolution& solution) const;
  Vector flow_at(const CurveSolution& solution) const;
  double crossing(const CurveSolution& solution) const;
  bool is_nearly_at_rest(const CurveSolution& solution) const;
  std::optional<CurveSolution> followed_as_far(const CurveSolution& solution) const;
  std::optional<Located> root(const CurveSolution& from, double step, const Function& function, double before,
                              double after) const;
  void locate_tests(const CurveSolution& after, double step);
  bool pass(const Cause& cause, const CurveSolution& beyond, double step);
  std::optional<CurveSolution> in_form(const Retold& form, const CurveSolution& beyond, double within) const;
  bool pass_corner(const Cause& cause, const CurveSolution& beyond, double step);
  void go_on_with(CurveSolution s);
  bool pass_pair(const Cause& cause, const CurveSolution& beyond, double step);
  bool to_border(const CurveSolution& beyond);
  bool outside(const CurveSolution& s) const;
  bool leaves_circle(const CurveSolution& next);
  void note(Codim2Kind kind, const CurveSolution& at, std::size_t other, int contact, int sense = 0);
  bool accept(CurveSolution trial, double step, const Vector& apart);
  Vector halves_of(const CurveSolution& s) const;

  CurveOptions options_;
  CurveSolution now_;
  std::vector<double> tests_;
  double step_;
  double speed_ = 0;  ///< of a chatter border: of the last impact that is followed, at the first point
  Vector apart_;      ///< the halves of a doubled orbit
  static constexpr double never = std::numeric_limits<double>::infinity();
  double meet_ = never;  ///< arclength to where they would be the same
  bool at_half_ = false;
  int count_ = 0;
  int changes_ = 0;
  std::vector<Codim2> passed_;
  std::string end_;
};

}  // namespace graze
