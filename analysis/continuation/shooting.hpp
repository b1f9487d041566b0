/// Periodic orbits as a boundary-value problem over their events (multiple shooting), one parameter free.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/maps/itinerary.hpp"
#include "core/contact/friction_mode.hpp"
#include "core/system/model.hpp"
#include "core/system/scaled_system.hpp"

namespace graze {

/// What is prescribed of an orbit: all its events; or, where the system cannot follow such legs, its own
/// motion from impact to impact, so that these may lose their speed. Chatter, rest and friction are left to
/// the motion: so is the contact of an own leg with `Step::mode`, the contacts that it heeds.
struct Prescription {
  Itinerary itinerary;
  std::vector<double> durations;          ///< of all legs
  std::vector<double> speeds;             ///< approach speed of impacts, else 0
  std::vector<Eigen::VectorXd> behind{};  ///< states right behind all events; none where it moves by itself
};

/// A model with one parameter free.
struct Family {
  std::shared_ptr<const Model> model;
  std::vector<double> values;  ///< of all parameters; that of `parameter` does not count
  int parameter = 0;           ///< index into Model::parameters()
  Tolerance tolerance;
  Section section = {};  ///< where states are told; stroboscopic when the model is forced
  bool in_full = false;  ///< frictions are prescribed, too, where systems can follow them
  Units units = {};      ///< of states and times, those of the section, too

  /// nullptr where the parameter makes no system.
  std::unique_ptr<System> system(double parameter_value) const;
  /// What is solved for an orbit with the events of this record, of a system of the family.
  Prescription prescribed(const Record& record, const System& at) const;
};

/// All equations at one place, with derivatives by all unknowns.
struct Equations {
  Eigen::VectorXd residual;
  Eigen::MatrixXd slope;          ///< one column more than rows, the parameter's; then a second one's
  Eigen::VectorXd measure;        ///< of each step: positive while its event is one (core/system/segment)
  Eigen::MatrixXd measure_slope;  ///< by all unknowns, one row per step
};

/// Where an orbit begins: with forcing at an instant of it, without in a plane, normal · (x − state) = 0.
struct Anchor {
  Eigen::VectorXd state;
  Eigen::VectorXd normal;  ///< no entries: with forcing
  double phase = 0;  ///< in forcing periods, from the orbit's first phase zero on; less than its periods
};

/// Rate of change of a state in a mode, without forcing; no entries where it cannot be followed.
Eigen::VectorXd velocity_at(const Family& family, double parameter, const Eigen::VectorXd& state,
                            std::int64_t mode);
/// Across the flow at a state in a mode; none where the system is forced.
Anchor anchor_at(const Family& family, double parameter, const Eigen::VectorXd& state, std::int64_t mode);

/// Of the modes of a model's legs.
ModeLayout layout_of(const Model& model);

/// F(u) = 0 for orbits of one itinerary. Unknowns u: the state at the beginning and at every further node,
/// the durations of all legs, the parameter. Equations: the guard of every step is zero where it ends (of an
/// instant step: the duration is), all legs together last the periods of the forcing (without forcing: the
/// beginning lies in the anchor's plane), legs join at the nodes, the end is the start. Everything is smooth
/// where an impact loses its speed; beyond, its speed is negative and the orbit is not admissible.
class Shooting {
 public:
  /// `nodes`: further steps before which the state is an unknown of its own.
  /// The family is kept by reference.
  Shooting(const Family& family, Itinerary itinerary, Anchor anchor, std::vector<std::size_t> nodes = {});
  Shooting(Family&&, Itinerary, Anchor, std::vector<std::size_t> = {}) = delete;

  const Family& family() const { return *family_; }
  const Itinerary& itinerary() const { return itinerary_; }
  const Anchor& anchor() const { return anchor_; }
  bool forced() const { return anchor_.normal.size() == 0; }
  /// Steps before which a state is an unknown, without the first.
  std::vector<std::size_t> inner_nodes() const { return {nodes_.begin() + 1, nodes_.end()}; }
  /// Number of equations; there is one unknown more.
  Eigen::Index size() const { return states_ * static_cast<Eigen::Index>(nodes_.size()) + steps(); }
  Eigen::Index states() const { return states_; }
  Eigen::Index steps() const { return static_cast<Eigen::Index>(itinerary_.steps.size()); }
  /// Time of one turn.
  double turn(const Eigen::VectorXd& u) const { return u.segment(duration_index(0), steps()).sum(); }
  /// Of all legs.
  std::vector<double> durations(const Eigen::VectorXd& u) const {
    const auto all = u.segment(duration_index(0), steps());
    return {all.begin(), all.end()};
  }
  /// Place of the duration of a step among the unknowns.
  Eigen::Index duration_index(std::size_t step) const {
    return states_ * static_cast<Eigen::Index>(nodes_.size()) + static_cast<Eigen::Index>(step);
  }
  /// Place of the guard of a step, which ends by itself and is no section, among the equations.
  Eigen::Index guard_row(std::size_t step) const;

  /// In so many combinations of states the orbit closes whatever the unknowns are: bodies that friction holds
  /// at rest, or together. `slope`: of equations.
  int held(const Eigen::MatrixXd& slope) const;
  /// With these terms bodies that are `held` stay where they are in the solution of slope x = right: added to
  /// the part of `slope` that belongs to the closing and the states where the orbit begins, and to that of
  /// `right`.
  void hold(const Eigen::MatrixXd& slope, const Eigen::VectorXd& right, Eigen::Ref<Eigen::MatrixXd> by_start,
            Eigen::Ref<Eigen::VectorXd> closing) const;
  /// The solution of (slope; further) x = right, where `slope` is that of equations, with bodies that are
  /// `held` where they are; the shortest, if there are many still.
  Eigen::VectorXd solve(const Eigen::MatrixXd& slope, const Eigen::RowVectorXd& further,
                        const Eigen::VectorXd& right) const;

  /// Unknowns from a state, durations of all events' legs and parameter; states at nodes follow from them.
  /// Nothing: it cannot be followed.
  std::optional<Eigen::VectorXd> unknowns(const Eigen::VectorXd& start, const std::vector<double>& durations,
                                          double parameter) const;
  /// The same of the motion that its itinerary has been taken from, from that state on.
  Eigen::VectorXd unknowns(const Eigen::VectorXd& start, const Prescription& taken, double parameter) const;
  /// `second`: further parameter by which derivatives are taken; its value is the family's.
  std::optional<Equations> equations(const Eigen::VectorXd& u, std::optional<int> second = {}) const;
  /// The legs of an orbit with the states at their beginnings. Nothing: they cannot be followed.
  std::optional<std::vector<Leg>> placed_legs(const Eigen::VectorXd& u) const;
  /// How far apart nearby orbits are after each leg, and how much later it ends (the last entry): compared
  /// event by event, as slow impacts demand, at the end of the turn at equal times; without forcing, there
  /// where the coordinate that the flow changes most is the same, whose row is then zero. Nothing: an event
  /// without speed.
  std::optional<std::vector<Eigen::MatrixXd>> transitions(const Eigen::VectorXd& u) const;

 private:
  Eigen::MatrixXd kept(const Eigen::MatrixXd& slope) const;
  Eigen::VectorXd between_nodes(const Eigen::VectorXd& start, const std::vector<double>& durations,
                                double parameter) const;
  std::vector<Leg> legs(const Eigen::VectorXd& u, const System& system) const;
  bool returns(std::size_t step) const;

  const Family* family_;
  Itinerary itinerary_;
  Anchor anchor_;
  /// A step that finds its end itself: nothing but its own equation, 1 of it, depends on its duration.
  struct Found {
    Eigen::Index row;     ///< of the equation
    Eigen::Index column;  ///< of the duration
  };
  void sort_unknowns();

  std::vector<std::size_t> nodes_;  ///< 0 first
  Eigen::Index states_;
  std::vector<Found> found_;
  std::vector<Eigen::Index> joins_;         ///< first rows of the equations that join legs at nodes
  bool may_be_held_ = false;                ///< bodies by friction, for the whole turn
  std::vector<Eigen::Index> live_columns_;  ///< of all other unknowns
  std::vector<Eigen::Index> live_rows_;     ///< of all other equations
};

/// One more equation at unknowns whose equations are given: its value, zero where it holds (NaN where it has
/// no meaning), and its slope by all unknowns.
struct ConditionValue {
  double value = 0;
  Eigen::RowVectorXd slope;
};
using Condition = std::function<ConditionValue(const Eigen::VectorXd& u, const Equations& equations)>;

/// Newton's method with step halving for F(u) = 0 together with one more equation.
struct Closing {
  bool ok = false;
  int iterations = 0;
  double residual = 0;  ///< greatest entry of F
  Eigen::VectorXd u;
  Equations equations;
};

/// Steps that end with an impact of a chatter sequence, by the measures of all steps, as equations give them.
std::vector<bool> chattering(const Itinerary& itinerary, const Eigen::VectorXd& measure);
/// The impacts and contacts begun that belong to no chatter sequence.
std::vector<Eigen::Index> single_hits(const Itinerary& itinerary, const Eigen::VectorXd& measure);
/// The least speed of these, below zero where one is lost; infinite where there are none.
double slowest_single_hit(const Itinerary& itinerary, const Eigen::VectorXd& measure);

/// Together with that condition.
Closing solve_with(const Shooting& shooting, const Eigen::VectorXd& guess, const Condition& condition);
/// With the parameter as it is.
Closing solve_fixed(const Shooting& shooting, const Eigen::VectorXd& guess);
/// In the plane through `guess` with this normal (one entry per unknown).
Closing solve_plane(const Shooting& shooting, const Eigen::VectorXd& guess, const Eigen::VectorXd& normal);
/// Where the measure of a step has a value.
Closing solve_measure(const Shooting& shooting, const Eigen::VectorXd& guess, std::size_t step,
                      double value = 0);

/// Multipliers of a solved orbit by products over `segments` groups of legs; 0: each leg by itself. Without
/// forcing one less than states: that along the flow, 1, is left out.
std::vector<std::complex<double>> orbit_multipliers(const Shooting& shooting, const Eigen::VectorXd& u,
                                                    int segments = 0);

}  // namespace graze
