/// The points of a sweep as pictures see them: parameters, initial states, arrays over them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/results/dataset.hpp"

namespace graze {

/// Points are numbered start by start, and within a start as in the arrays. The dataset must outlive this.
class Points {
 public:
  /// Of a dataset with the array `attractor` or `outcome`; only initial state `start` when that is not
  /// negative. Throws InputError when there is no such start or no parameter.
  Points(const Dataset& data, int start);

  /// Coordinates of the swept parameters, outermost first.
  const std::vector<const Array*>& parameters() const { return parameters_; }
  /// The initial states to draw.
  const std::vector<std::size_t>& starts() const { return starts_; }
  /// Names of all initial states; one "" when the sweep has one.
  const std::vector<std::string>& start_names() const { return start_names_; }
  /// Number of the first point of an initial state.
  std::size_t first(std::size_t start) const { return start * per_start_; }
  /// An array over the points and these further dimensions; nullptr when there is none. Throws InputError
  /// when it has other dimensions.
  const Array* find(std::string_view name, const std::vector<std::string>& further = {}) const;
  /// Dimensions of an array beyond those of the points. Throws InputError when it is not over the points.
  std::vector<std::string> further_dimensions(const Array& array) const;
  /// Whether attractors are told apart; what follows is about them.
  bool has_attractors() const { return attractor_ != nullptr; }
  /// Index into class_names(), -1 while the point has not been computed.
  int attractor(std::size_t point) const;
  const std::vector<std::string>& class_names() const { return attractor_->flags; }
  bool is(std::size_t point, std::string_view attractor) const;

 private:
  const Dataset* data_;
  const Array* attractor_;
  const Array* leading_;  ///< whose dimensions are those of the points
  std::vector<const Array*> parameters_;
  std::vector<std::size_t> starts_;
  std::vector<std::string> start_names_;
  std::size_t per_start_ = 1;
};

}  // namespace graze
