/// A model at one set of parameter values, ready to move: what analyses see of a motion, whatever engine
/// is behind it. One virtual call per map iterate.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/system/energy.hpp"
#include "core/system/event.hpp"
#include "core/system/linear_law.hpp"
#include "core/system/mode.hpp"
#include "core/system/outcome.hpp"
#include "core/system/segment.hpp"
#include "core/system/series_law.hpp"

namespace graze {

/// How a contact stands at the start of an arc, beyond what the state tells: the number of leading
/// derivatives of its gap that are zero by what has just happened there. Alike for what else is watched.
struct Touch {
  int order = 0;  ///< 0: apart; 1: just rebounded; 2: just let go by a jump; 3: let go by a vanishing force
  double speed = 0;  ///< order 1: speed with which the gap opens, exact where the state has lost digits
  double root = 0;   ///< of a compliant contact: root of its penetration, likewise
};

/// Where a motion stands.
struct HybridState {
  double time = 0;             ///< at most one forcing period beyond the start where the forcing is periodic
  std::int64_t turns = 0;      ///< whole forcing periods on top of `time`
  Eigen::VectorXd x;           ///< one entry per state of the model
  std::int64_t mode = 0;       ///< which contacts are closed (bit i: contact i) and, above, model-defined
  std::vector<Touch> touches;  ///< per contact; then two per friction; then what an engine adds
  bool settled = false;        ///< false: mode and touches are still to be found from x (a fresh start)
  /// Rigid contacts that can be met, bit by bit; the motion passes through the others. Where some are passed,
  /// one that has been released is passed from then on.
  std::int64_t heeded = all_contacts;
  static constexpr std::int64_t all_contacts = -1;
};

/// A surface that ends a map iterate.
struct Section {
  enum class Kind {
    stroboscopic,   ///< the forcing is at `phase` again (autonomous: after `interval`)
    impact_before,  ///< contact `contact` is about to be hit
    impact_after,   ///< contact `contact` has just been hit
    level,          ///< state `coordinate` passes `level`, rising (direction +1) or falling (-1)
    time            ///< after `interval`
  };
  Kind kind = Kind::stroboscopic;
  int contact = 0;
  int coordinate = 0;
  double level = 0;
  int direction = 1;
  double interval = std::numeric_limits<double>::infinity();
  double phase = 0;  ///< in periods, at least 0, less than 1
  /// > 0, of a motion that is forced, `stroboscopic`: met before where `time` is a multiple of this and no
  /// rigid contact is closed.
  double flights = 0;
};

/// What may be added to a state without changing anything else of the motion: analyses that ask whether a
/// motion comes back ask it but for that, and but for System::shifts.
enum class Symmetry {
  none,
  turn  ///< whole turns, 2π: an angle
};

/// Derivatives carried along a motion, one direction per column: of the state, the time and the parameters.
struct Tangent {
  Eigen::MatrixXd state;      ///< states x directions; in: at the start, out: at the section
  Eigen::RowVectorXd time;    ///< of the time at which the section is met
  Eigen::MatrixXd parameter;  ///< parameters x directions; not changed; those without a row are fixed
};

class System {
 public:
  virtual ~System() = default;

  virtual int states() const = 0;
  virtual int contacts() const = 0;
  /// Frictions whose sticking is told, in the order of Model::frictions().
  virtual int frictions() const { return 0; }
  /// Whether friction `k` does not slide.
  virtual bool sticks(const HybridState& state, int k) {
    static_cast<void>(state);
    static_cast<void>(k);
    return false;
  }
  /// Whether contact `i` is closed or, compliant, engaged.
  virtual bool in_contact(const HybridState& state, int i) const { return is_closed(state.mode, i); }
  /// Normal force of every contact, ≥ 0 but for rounding: of a closed one the force that holds it, of a
  /// compliant one its law, of an open one 0. The state is one that this system has moved.
  virtual Eigen::VectorXd contact_forces(const HybridState& state) = 0;
  /// Forcing period, 0 when autonomous.
  virtual double period() const = 0;
  /// Whether the right-hand side has this period exactly (all forcing frequencies are multiples of one).
  virtual bool periodic() const = 0;
  /// The fastest rate of the system, 1/time: its highest natural, damping or forcing frequency.
  virtual double rate() const = 0;
  /// What those ask for who move many motions at a time, valid as long as the system is. Nothing: it is not
  /// linear, or has frictions or compliant stops, at its values.
  virtual std::optional<LinearLaw> linear_law() const { return std::nullopt; }
  /// The same of a system whose equations are text and not linear.
  virtual std::optional<SeriesLaw> series_law() const { return std::nullopt; }

  /// Moves from where `state` stands to the next meeting with the section, events reported to `observer`
  /// (nullptr: none). On an outcome other than ok the state is where the motion broke off.
  virtual Outcome advance(HybridState& state, const Section& section, Observer* observer) = 0;
  /// The same with derivatives through every event on the way.
  virtual Outcome advance(HybridState& state, const Section& section, Tangent& tangent) = 0;
  /// Whether this system follows legs by prescription, with derivatives by this parameter.
  virtual bool prescribes(int parameter) const {
    static_cast<void>(parameter);
    return false;
  }
  /// The same of legs along which frictions stick and slide as modes say.
  virtual bool prescribes_slip(int parameter) const { return prescribes(parameter); }
  /// Whether legs, with their derivatives by these parameters, go as their modes say and not by themselves.
  bool prescribed(std::span<const Leg> legs, const std::vector<int>& parameters) const {
    const bool own = !legs.empty() && legs.front().length == Leg::Length::own;
    return !own && std::all_of(parameters.begin(), parameters.end(),
                               [&](int parameter) { return prescribes_slip(parameter); });
  }
  /// The mode of a leg with friction `k` stuck.
  virtual std::int64_t with_stick(std::int64_t mode, int k) const {
    static_cast<void>(k);
    return mode;
  }
  /// The same with compliant contact `i` engaged or not; with a rigid one as it is.
  virtual std::int64_t with_contact(std::int64_t mode, int i, bool engaged) const {
    static_cast<void>(i);
    static_cast<void>(engaged);
    return mode;
  }
  /// Whether this system's own motion can pass through contacts and be struck at them by prescription.
  virtual bool passes_contacts() const { return false; }
  /// Ends an own leg: moves the time by its shift, then does what its kind says: impact or nothing. After an
  /// impact the state is a fresh start.
  virtual Outcome end_leg(HybridState& state, LegEnd& end, Tangent& tangent);
  /// Derivative of the forcing period by a parameter.
  virtual double period_slope(int parameter) const;
  /// Follows legs with their derivatives, also by parameters (their indices in Model::parameters()). Nothing:
  /// a leg that this system cannot follow. Every forced system follows own legs.
  virtual std::optional<Course> follow(std::span<const Leg> legs, const std::vector<int>& parameters);
  /// The same without derivatives, or with them.
  virtual std::optional<Course> follow_values(std::span<const Leg> legs, const std::vector<int>& parameters) {
    return follow(legs, parameters);
  }
  /// Gap of every contact (>= 0 while open) and its rate at a state.
  virtual void gaps(const HybridState& state, Eigen::VectorXd& gap, Eigen::VectorXd& rate) const = 0;
  /// Energy at a state that has been moved. Nothing: the system does not tell it.
  virtual std::optional<Energy> energy(const HybridState& state) {
    static_cast<void>(state);
    return std::nullopt;
  }
  /// Derivatives of the gap of one contact by the states and, last, by time.
  virtual Eigen::RowVectorXd gap_gradient(const HybridState& state, int contact) const = 0;
  virtual Symmetry symmetry(int state) const {
    static_cast<void>(state);
    return Symmetry::none;
  }
  /// Directions of the state space, independent, in columns: any multiple of them may be added to a state
  /// without changing anything else of the motion, as where bodies are nowhere fixed.
  virtual Eigen::MatrixXd shifts() const { return Eigen::MatrixXd(states(), 0); }
  /// How much of a state counts as much as 1 of a position: rate() of a velocity; of a state that is no
  /// coordinate what moves the positions by about 1.
  virtual double unit(int state) const {
    static_cast<void>(state);
    return 1;
  }
};

/// Size of a state, or of a difference of states, in the unit of positions: the greatest entry, each over
/// System::unit.
double size_of(const System& system, const Eigen::VectorXd& x);

/// Where an own leg begins, of a forced system; the leg has its state and its time.
HybridState begun(const System& system, const Leg& leg);

/// Whether a motion may begin at a state: the rule by which the engine itself begins one, which takes what
/// lies behind a contact by no more than rounding as on it.
bool may_start(System& system, HybridState state);

}  // namespace graze
