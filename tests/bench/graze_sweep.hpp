/// The same work with graze, the way a user of the library writes it: a model and the analysis `sweep`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/run/analysis.hpp"
#include "core/system/model.hpp"
#include "tests/bench/work.hpp"

namespace graze::bench {

/// What the sweep says of one parameter value.
struct Finding {
  bool periodic = false;
  int period = 0;              ///< forcing periods after which the orbit closes
  double impacts = 0;          ///< per forcing period, all contacts
  std::vector<double> points;  ///< states at phase zero, one recorded period after another
};

class GrazeSweep {
 public:
  /// `model` is table [model], with the key `name`; `frequency` names the parameter that is swept, evenly
  /// from `from` to `to`. Throws InputError as the program would.
  GrazeSweep(const Value& model, std::vector<double> start, const std::string& frequency, double from,
             double to, std::int64_t values);

  /// The swept frequencies.
  const std::vector<double>& frequencies() const { return frequencies_; }
  /// The whole sweep on so many threads, results kept in memory.
  std::vector<Dataset> run(int threads) const;
  /// What such a run found, one entry per frequency.
  std::vector<Finding> findings(const std::vector<Dataset>& blocks) const;
  /// The plain motion at one frequency, without the questions that the sweep asks about it.
  Orbit follow(double frequency) const;
  /// The recorded periods alone, from the start state, plain or with the derivatives by all states and
  /// parameters; the state they lead to.
  std::vector<double> turn(double frequency, bool with_derivatives) const;
  /// States and parameters: by how much motions are differentiated.
  std::size_t directions() const { return problem_.start_state.size() + problem_.model->values().size(); }

 private:
  std::unique_ptr<System> system(double frequency) const;

  Problem problem_;
  std::unique_ptr<Analysis> analysis_;
  std::vector<Box> blocks_;
  std::size_t parameter_ = 0;  ///< index of the swept one
  std::vector<double> frequencies_;
};

}  // namespace graze::bench
