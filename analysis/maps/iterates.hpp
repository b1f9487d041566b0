/// What a motion leaves at the meetings with a section.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/lanes/lanes.hpp"
#include "core/system/system.hpp"

namespace graze {

/// States of one motion at a section, one after the other.
class Iterates {
 public:
  struct Point {
    Eigen::Map<const Eigen::VectorXd> x;
    double time;         ///< as in HybridState
    std::int64_t turns;  ///< whole forcing periods on top of it
  };

  std::size_t size() const { return time_.size(); }
  bool empty() const { return time_.empty(); }
  void clear() {
    x_.clear();
    time_.clear();
    turns_.clear();
  }
  void reserve(std::size_t count, std::size_t states) {
    x_.reserve(count * states);
    time_.reserve(count);
    turns_.reserve(count);
  }
  void add(const HybridState& state) { add(state.x, state.time, state.turns); }
  template <class Vector>
  void add(const Vector& x, double time, std::int64_t turns) {
    x_.insert(x_.end(), x.begin(), x.end());
    time_.push_back(time);
    turns_.push_back(turns);
  }
  /// Repeats all of them until there are so many, each time after so many more turns.
  void repeat(std::size_t count, std::int64_t turns) {
    const std::size_t period = time_.size(), states = x_.size() / period;
    for (std::size_t k = period; k < count; ++k) {
      for (std::size_t i = 0; i < states; ++i) x_.push_back(x_[(k - period) * states + i]);
      time_.push_back(time_[k - period]);
      turns_.push_back(turns_[k - period] + turns);
    }
  }
  /// Those of a stroboscopic section, phase 0, the first of them after so many turns: states one after the
  /// other.
  static Iterates stroboscopic(std::vector<double> x, std::size_t count, std::int64_t turns) {
    Iterates all;
    all.x_ = std::move(x);
    all.time_.assign(count, 0.0);
    all.turns_.reserve(count);
    for (std::size_t k = 0; k < count; ++k) all.turns_.push_back(turns + static_cast<std::int64_t>(k));
    return all;
  }
  /// Those of any section, each at its time.
  static Iterates stamped(std::vector<double> x, const std::vector<LaneMotion::Stamp>& stamps) {
    Iterates all;
    all.x_ = std::move(x);
    for (const LaneMotion::Stamp& stamp : stamps) {
      all.time_.push_back(stamp.time);
      all.turns_.push_back(stamp.turns);
    }
    return all;
  }
  Point operator[](std::size_t k) const {
    const std::size_t states = x_.size() / time_.size();
    return {Eigen::Map<const Eigen::VectorXd>(x_.data() + k * states, static_cast<Eigen::Index>(states)),
            time_[k], turns_[k]};
  }
  Point front() const { return (*this)[0]; }
  /// All entries of all states.
  const std::vector<double>& x() const { return x_; }

 private:
  std::vector<double> x_, time_;
  std::vector<std::int64_t> turns_;
};

}  // namespace graze
