/// Pseudo-arclength continuation of periodic orbits in one parameter, through impacts, point by point.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/continuation/bifurcation.hpp"
#include "analysis/continuation/chatter_border.hpp"
#include "analysis/continuation/grazing.hpp"
#include "analysis/continuation/solution.hpp"

namespace graze {

/// Why a branch ends that has come back to its first point.
inline const std::string closed_branch = "the branch is closed";
/// … that would go on as it came, half a turn later.
inline const std::string mirrored_branch =
    "an orbit of half as many periods: behind it come the same orbits, half a turn later";

struct ContinuationOptions {
  double from = 0;  ///< range of the parameter, from < to
  double to = 1;
  double first_step = 1e-3;  ///< arclength; the parameter counts in units of its range, states of their size
  double step = 2e-2;        ///< greatest
  double least_step = 1e-9;
  int points = 2000;  ///< at most, in one direction
};

/// Walks along a branch:
///
///     Continuation walk(family, start, +1, options);
///     while (walk.next()) use(walk.point(), walk.passed());
///     say(walk.end());
///
/// Every point is solved over the events of the orbit (Shooting) and compared with the motion that the
/// system takes by itself from there. Where that has another itinerary, the place of the change is located
/// and the branch goes on with the new one.
class Continuation {
 public:
  /// Share of the range within which `crowd` changes of the impacts are crowded, as where infinitely many of
  /// them accumulate at the border of a chatter sequence.
  static constexpr double crowd_width = 3e-4;
  static constexpr std::ptrdiff_t crowd = 6;

  /// `direction`: +1 towards greater parameters, −1 towards smaller ones; 0: along the tangent as it is.
  Continuation(const Family& family, Solution start, int direction, const ContinuationOptions& options);

  /// Goes on to the next point; false: the branch has ended.
  bool next();
  const BranchPoint& point() const { return now_.point; }
  const Solution& solution() const { return now_; }
  /// Points located between the last point and this one.
  const std::vector<Bifurcation>& passed() const { return passed_; }
  /// Why the branch has ended.
  const std::string& end() const { return end_; }

 private:
  enum class Verdict { same, changed, open };
  struct Trial {
    Solution solution;
    Verdict verdict = Verdict::open;
    Record record;  ///< of the motion itself
    int iterations = 0;
    bool loses_impact = false;  ///< an impact that belongs to no chatter sequence has no speed left
  };
  /// Change of the state, of its size, when only chatter is counted anew.
  static constexpr double same_orbit = 1e-6;
  bool advance();
  Metric metric() const { return {size_, time_, options_.to - options_.from}; }
  void face(Solution& solution, double sense) const;
  void measure();
  Solution solution(const std::shared_ptr<const Shooting>& shooting, const Closing& closing,
                    const Eigen::VectorXd& normal) const;
  std::optional<Trial> solved(const Solution& from, double step) const;
  std::optional<Trial> at(const Solution& from, double step) const;
  bool held_only_before(const Record& motion) const;
  void judge(Trial& trial, double same = same_orbit) const;
  std::optional<Solution> remade(Trial& trial, const Prescription& other, double same) const;
  bool reversed(const Solution& solution) const;
  bool fades(const Solution& solution) const;
  static bool passes_beginning(const Solution& solution);
  struct ImpactSpeeds {
    Eigen::VectorXd u, tangent;  ///< of the solution that they are of
    std::vector<double> speeds, rates;
  };
  static ImpactSpeeds impact_speeds(const Solution& solution);
  static bool same_equations(const Solution& a, const Solution& b);
  bool bends(const Solution& from, const Solution& next) const;
  bool dips_between(const Solution& next, double step);
  static bool loses_impact(const Shooting& shooting, const Equations& equations);
  void anchor_here();
  void note_hopf();
  bool lies_between(const BranchPoint& p, const BranchPoint& a, const BranchPoint& b) const;
  bool walked(const BranchPoint& p) const;
  /// Where a test function changes its sign: arclength from the point before, and the orbit there.
  struct Place {
    double way = 0;
    Solution solution;
    double error = 0;  ///< of the parameter, where the orbit could not be solved for; 0: rounding
  };
  struct Located {
    BifurcationKind kind;
    Place place;
  };
  /// What test functions tell between two points.
  struct Tests {
    std::vector<Located> located;
    bool all = true;  ///< each fold and branch point that must be there has been solved for
  };
  Tests tests_between(const Solution& before, const Solution& after, double step) const;
  void note(const Tests& tests);
  void locate_tests(const Solution& before, const Solution& after, double step);
  bool accept(Trial trial, const Tests& tests);
  std::optional<Place> locate(BifurcationKind kind, const Solution& before, const Solution& after,
                              double step, double BranchPoint::*test) const;
  std::optional<Place> between_orbits(const Solution& before, double place, double step,
                                      double BranchPoint::*test) const;
  std::optional<Solution> zero_beside(const Solution& near, double step, double BranchPoint::*test) const;
  /// A change of the motion between the last point and one beyond it, as near as it is known.
  struct Change {
    Trial last;                       ///< the last orbit before it
    double way = 0;                   ///< arclength to there
    Trial beyond;                     ///< what the motion does behind it
    std::optional<Solution> landing;  ///< the nearest orbit with these events
    double gap = 0;                   ///< arclength between the last orbit and the landing
    double error = 0;                 ///< of the parameter
  };
  Change narrowed(const Trial& beyond, double step) const;
  bool is_continuous(const Change& change) const;
  void tell_again(const Signature& before);
  bool pass_change(const Trial& beyond, double step);
  int nearly_grazing() const;
  Trial predicted(const Solution& from, double along) const;
  /// A change of the motion next to an orbit.
  struct ChangeAhead {
    BifurcationKind kind;
    int contact;
    Solution solution;
    double error;  ///< of the parameter
    bool jumps;    ///< the motion does; else a trigger is touched
  };
  std::optional<ChangeAhead> change_ahead(const Solution& from) const;
  /// What has become of a change: the branch goes on behind it, ends there, there is none that it could pass,
  /// or something else comes before it.
  enum class Passed { on, ended, not_found, comes_later };
  Passed pass_grazing(const Trial& beyond, double step);
  bool looks_closer(const Trial& beyond);
  bool leads_to(const Solution& orbit, const Solution& other, double away) const;
  bool reaches(const Grazing& grazing) const;
  bool keeps_or_turns(const Solution& last, const Grazing& grazing) const;
  void locate_before(const Grazing& grazing);
  Passed leave(const Solution& at_grazing);
  Passed leave_at_speed(const Grazing& grazing, const Solution& behind);
  bool loses_periods(const BranchPoint& before, const BranchPoint& after) const {
    return repeats(after.orbit, after.phase, size_) && !repeats(before.orbit, before.phase, size_);
  }
  bool may_follow(const Solution& next, const Solution& last) const;
  std::optional<Solution> orbit_beside(const Solution& last, double parameter, double along) const;
  std::optional<Solution> orbit_near(const Solution& last, double parameter, double along) const;
  static constexpr const char* no_orbit = ": no orbit of the same period is found behind it";
  static constexpr const char* jumps_there = ": the motion jumps there";
  std::string no_way_on(BifurcationKind kind, int contact, const char* why = no_orbit) const;
  bool jump(const Solution& last, double least);
  bool jump_back(const Solution& last, double least);
  bool turn_back();
  bool leads_back(const Solution& found, const Solution& last, double change) const;
  bool lands(const Solution& last, double way, int onward);
  bool pass_crowd();
  bool pass_stop();
  bool lies_ahead(const ChatterBorder& border, double sense, double reach) const;
  bool is_taken(const ChatterBorder& border) const;
  bool closes(const Solution& orbit, const std::vector<std::complex<double>>& multipliers,
              double aside) const;
  bool jumps_at(const Solution& there) const;
  bool is_taken(const Solution& there, const std::vector<std::complex<double>>& multipliers) const;
  bool approaches(const ChatterBorder& border);
  bool recedes() const;
  std::optional<ChatterBorder> end_of_stick(const Signature* beyond, double reach) const;
  Passed pass_end_of_stick(const Trial& beyond);
  Passed pass_border_within(double reach);
  Passed pass_accumulation(double reach);
  Passed leave_stick(const ChatterBorder& border);
  bool cross(const ChatterBorder& border, double sense);
  double next_change_from(const ChatterBorder& border, double sense) const;
  std::optional<Trial> ahead(const Solution& from, double along) const;
  std::optional<Solution> orbit_behind(const ChatterBorder& border, double sense) const;
  /// Changes without an equation of their own, over which the walk jumps.
  static bool jumps_over(BifurcationKind kind) {
    return kind == BifurcationKind::chatter_border || kind == BifurcationKind::edge;
  }
  /// How far behind a change to look for the orbit there first, of the range: beside a chatter border further
  /// changes accumulate.
  static double least_way(BifurcationKind kind) {
    return kind == BifurcationKind::chatter_border ? 1e-4 : 1e-6;
  }
  bool repeated(BifurcationKind kind, int contact, double parameter) const;
  bool crowded(std::ptrdiff_t count) const;
  /// A place between two orbits of different signatures, and how far the change may be from it.
  struct Bracket {
    Solution solution;
    double error = 0;
  };
  Bracket bracketed(const Solution& from, const Solution& beyond) const;
  void note_between(const Solution& before, const Solution& after);
  /// The values that the parameter may have at all.
  const Range& domain() const {
    return family_.model->parameters()[static_cast<std::size_t>(family_.parameter)].range;
  }
  bool leaves_domain(double step) const;
  bool is_at_border();
  std::string range_end(double border) const;
  bool to_border(double step);
  bool note(BifurcationKind kind, int contact, const Solution& solution, double error = 0);
  void place(Bifurcation& bifurcation, const Solution& solution, double error) const;
  void locate_from_behind();

  Family family_;
  ContinuationOptions options_;
  Solution now_;
  double step_;
  int count_ = 0;
  int change_count_ = 0;
  int looked_count_ = 0;          ///< change_count_ when accumulations were last looked for
  double least_size_, size_;      ///< of states, for the arclength
  double time_;                   ///< of durations
  std::vector<BranchPoint> way_;  ///< the points so far, in order
  std::vector<double> changes_;   ///< parameters of the last changes of the itinerary
  double heading_ = 1;            ///< sign of the parameter's change on the way so far
  /// The last change that was jumped over.
  struct Jump {
    BifurcationKind kind;
    int contact;
    double parameter;
  };
  std::optional<Jump> last_jump_;
  /// What has been told of changes, to be taken back.
  struct Told {
    std::vector<Bifurcation> passed;
    std::vector<double> changes;
    std::optional<Jump> last_jump;
    int count = 0;
  };
  Told told() const { return {passed_, changes_, last_jump_, change_count_}; }
  void take_back_to(Told before);
  /// A sequence of impacts that may become complete, as last looked at.
  struct Sequence {
    int contact;
    double border;  ///< parameter
    double magnification;
    bool approached;
    int looked;  ///< change_count_ then
  };
  std::vector<Sequence> sequences_;
  ImpactSpeeds speeds_;
  std::vector<Bifurcation> passed_;
  std::string end_;
};

}  // namespace graze
