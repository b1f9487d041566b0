/// The points of a sweep as pictures see them: parameters, initial states, arrays over them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/results/dataset.hpp"
#include "drivers/plot/picture.hpp"

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
  /// Whether attractors are told apart.
  bool has_attractors() const { return attractor_ != nullptr; }
  /// Index into class_names(), -1 where it is not known.
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

/// The axis of the coordinates of a swept parameter: from … to where these are finite, else as far as there
/// are coordinates between; logarithmic when their ratios are constant. With `whole_cells` the outermost
/// points have as much room as the others. Throws InputError when no coordinate lies there.
PlotAxis parameter_axis(const Array& coordinate, std::string label, double from, double to,
                        bool whole_cells = false);

/// Which of many coordinates belong to each of a few columns of equal width: those inside the column, else
/// the nearest one; none beyond the outermost coordinates.
class Columns {
 public:
  Columns(const PlotAxis& axis, const Array& coordinate, int count);

  std::size_t count() const { return first_.size(); }
  /// Indices of the coordinates of a column.
  std::span<const std::size_t> operator[](std::size_t column) const {
    return {order_.data() + first_[column], last_[column] - first_[column]};
  }
  /// Where a column begins and ends on the axis.
  double left(std::size_t column) const { return edge(column); }
  double right(std::size_t column) const { return edge(column + 1); }
  double middle(std::size_t column) const {
    return axis_.value((static_cast<double>(column) + 0.5) / size());
  }

 private:
  double size() const { return static_cast<double>(first_.size()); }
  double edge(std::size_t k) const { return axis_.value(static_cast<double>(k) / size()); }

  PlotAxis axis_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> first_;
  std::vector<std::size_t> last_;
};

}  // namespace graze
