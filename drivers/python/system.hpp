/// A model at one set of parameter values, as Python moves it.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "analysis/continuation/continuation.hpp"
#include "analysis/maps/orbit.hpp"
#include "analysis/maps/poincare_map.hpp"
#include "drivers/library/case.hpp"

namespace graze::python {

/// A motion that broke off, or an orbit that is not there.
class MotionError : public std::runtime_error {
 public:
  MotionError(std::string name, const std::string& text)
      : std::runtime_error(text), outcome(std::move(name)) {}
  std::string outcome;  ///< by name
};

/// An event that stays after the motion has gone on.
struct KeptEvent {
  double time;
  std::string kind;
  int contact;
  int friction;
  int jump;
  double approach_speed;
  double force;
  Eigen::VectorXd before, after;
};

/// Where a motion has come to, and what happened on the way.
struct Moved {
  HybridState state;
  std::vector<KeptEvent> events;
};

/// An iterate of the map with its Jacobian in the map's coordinates.
struct Mapped {
  Moved to;
  Eigen::MatrixXd jacobian;
};

/// Locks itself where it moves, since the engine behind it keeps what it has computed.
class MovingSystem {
 public:
  /// Model, start and tolerances of a case; `section`: that of the map, if it has one.
  MovingSystem(Case given, std::optional<Section> section);

  const Model& model() const { return *problem_.model; }
  const Problem& problem() const { return problem_; }
  double period() const { return system_->period(); }
  /// At the time of the start; in whole forcing periods and the rest.
  HybridState state_at(const Eigen::VectorXd& x, double time) const;
  HybridState start() const { return problem_.start(); }
  double time_of(const HybridState& state) const;

  // All of these throw MotionError where no motion may start or it breaks off.
  Moved advance(HybridState state, double duration);
  Mapped map(const HybridState& state);
  /// Throws MotionError unless Newton's method closes the orbit.
  Orbit orbit(const HybridState& guess, int period);
  /// Gaps and their rates.
  std::pair<Eigen::VectorXd, Eigen::VectorXd> gaps(const HybridState& state);
  /// The family over a parameter and its orbit near a state on the section.
  std::unique_ptr<Family> family(const std::string& parameter) const;
  Solution orbit_of(const Family& family, const HybridState& guess, int period);

 private:
  const Section& section() const;
  Moved moved(HybridState state, const Section& section);

  std::mutex hand_;
  Case case_;
  const Problem& problem_;
  std::unique_ptr<System> system_;
  std::optional<Section> section_;
};

/// A walk along a branch with all that it needs to live.
class BranchWalk {
 public:
  BranchWalk(MovingSystem& system, const std::string& parameter, const HybridState& guess, int period,
             int direction, const ContinuationOptions& options);

  /// Goes on; false: the branch has ended.
  bool next();
  const Continuation& walk() const { return *walk_; }

 private:
  std::mutex hand_;
  std::unique_ptr<Family> family_;
  std::optional<Continuation> walk_;
};

}  // namespace graze::python
