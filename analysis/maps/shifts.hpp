/// States but for System::shifts: bodies that nothing holds where they are, so that motions drift.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "core/system/system.hpp"

namespace graze {

/// Of each shift one entry of the state is free, the others are taken as if that were zero.
class Shifts {
 public:
  /// On a level section its coordinate is the free one, where a shift changes it.
  explicit Shifts(const System& system, const Section& section = {});

  bool none() const { return free_.empty(); }
  /// Column k changes entry free()[k] by 1 and no other free one.
  const Eigen::MatrixXd& columns() const { return columns_; }
  const std::vector<int>& free() const { return free_; }
  bool is_free(int state) const;
  /// A state, or changes of states in columns, with free entries zero.
  Eigen::VectorXd unshifted(const Eigen::VectorXd& x) const {
    return none() ? x : Eigen::VectorXd(x - columns_ * x(free_));
  }
  Eigen::MatrixXd unshifted(const Eigen::MatrixXd& x) const {
    return none() ? x : Eigen::MatrixXd(x - columns_ * x(free_, Eigen::all));
  }

 private:
  Eigen::MatrixXd columns_;
  std::vector<int> free_;
};

}  // namespace graze
