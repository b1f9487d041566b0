/// Quantities that a case names itself, and what they do along a motion.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "analysis/run/points.hpp"
#include "core/equations/program.hpp"
#include "core/settings/parameter.hpp"
#include "core/system/event.hpp"
#include "core/system/model.hpp"

namespace graze {

/// What an observable was over a time.
struct Observed {
  double mean = std::numeric_limits<double>::quiet_NaN();
  double least = std::numeric_limits<double>::quiet_NaN();
  double greatest = std::numeric_limits<double>::quiet_NaN();
};

/// The tables [[observable]] of a case.
class Observables {
 public:
  /// What results have of an observable: the end of the array's name, what it is of some time.
  struct Part {
    const char* suffix;
    const char* meaning;
    double Observed::*value;
  };
  static constexpr std::array<Part, 3> parts = {{{"_mean", "time mean over ", &Observed::mean},
                                                 {"_min", "least value on ", &Observed::least},
                                                 {"_max", "greatest value on ", &Observed::greatest}}};

  /// For states, parameters and time of this model. Throws InputError with the place in the expression.
  Observables(const Value::Array& given, const Model& model);

  const std::vector<Quantity>& quantities() const { return quantities_; }
  std::size_t size() const { return quantities_.size(); }
  /// At one instant, with these values of the model's parameters.
  std::vector<double> at(std::span<const double> parameters, double time,
                         std::span<const double> state) const;

  /// Arrays <name>_mean, _min and _max over the points of a result; `time` says over what.
  void add_arrays(PointArrays& arrays, const std::string& time) const;
  /// Writes them at one point of a block.
  void store(std::span<const Observed> observed, std::size_t point, Dataset& block) const;

 private:
  friend class Observation;
  std::vector<double> fixed_at(std::span<const double> parameters) const;

  std::vector<Quantity> quantities_;
  std::vector<FixedOperation> operations_;
  Program program_;  ///< of all, from time and states
};

/// Keys of such a table.
std::vector<Key> observable_keys();

/// Listens to a motion: time means and extrema of all observables.
///
/// On each piece of the motion states are polynomials of time, and so, by its power series, is an observable;
/// a piece is halved until the series has ended. Means are integrals of the polynomials, extrema their values
/// where their slopes have zeros: nothing is sampled.
class Observation final : public Observer {
 public:
  Observation(const Observables& observables, std::span<const double> parameters);

  void event(const Event&) override {}
  bool follows_pieces() const override { return true; }
  void piece(const MotionPiece& piece) override;

  /// Of what has been heard so far, in the order of the observables.
  std::vector<Observed> result() const;

 private:
  using Polynomial = std::vector<double>;  ///< of s in [0, 1]
  struct Sum {
    double integral = 0;
    double least = std::numeric_limits<double>::infinity();
    double greatest = -std::numeric_limits<double>::infinity();
  };

  void add(const std::vector<Polynomial>& inputs, int halvings);
  bool has_ended(const Polynomial& value, const Sum& sum) const;
  static void add_extrema(const Polynomial& value, Sum& sum);

  const Observables& observables_;
  std::vector<double> fixed_;
  std::vector<Polynomial> rows_;
  std::vector<Sum> sums_;
  double duration_ = 0;
};

/// Iterates of a map, each from its own start: what the observables were on the way. NaN: a motion broke off.
std::vector<Observed> observe(const Observables& observables, std::span<const double> parameters,
                              System& system, std::span<const HybridState> starts, const Section& section);

}  // namespace graze
