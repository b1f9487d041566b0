/// A flight (or rest) of a linear system, cell by cell, with the certified answer whether a guard can have
/// reached zero in a cell. Plain numbers only: derivatives are carried afterwards.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/linear/mode.hpp"

namespace graze {

/// Rows of z whose zeros are looked for while a mode lasts, with what certifies a cell clear of them.
template <int Dofs, int Harmonics, int Count>
struct Watched {
  static constexpr int Z = extended_size<Dofs, Harmonics>;
  static constexpr int X = state_size<Dofs>;
  static constexpr int Ends = Count == Eigen::Dynamic ? Eigen::Dynamic : 2 * Count;
  static constexpr int Step = Dofs == Eigen::Dynamic || Count == Eigen::Dynamic ? Eigen::Dynamic : X + Ends;
  using Row = Eigen::Matrix<double, 1, Z>;

  template <int Contacts, int Frictions>
  [[gnu::cold]] Watched(const LinearMode<double, Dofs, Harmonics, Contacts, Frictions>& mode,
                        const Eigen::Matrix<double, Harmonics, 1>& frequency, const std::vector<Row>& rows);

  Eigen::Matrix<double, Ends, Z> ends;    ///< first two Bernstein coefficients of each row's cubic
  Eigen::Matrix<double, Step, Z> step;    ///< from z: the states one cell later and the last two coefficients
  Eigen::Matrix<double, Count, Z> doubt;  ///< error bound of the cubic per |z|
  Eigen::Matrix<double, Harmonics, 1> cosine, sine;            ///< of the forcing phases' advance per cell
  std::vector<Eigen::Matrix<double, taylor_terms, Z>> taylor;  ///< of each row on a cell
};

/// A mode with everything the search needs, made once per system and mode.
template <int Dofs, int Harmonics, int Contacts, int Frictions = 0>
struct ScanMode {
  using Mode = LinearMode<double, Dofs, Harmonics, Contacts, Frictions>;
  using Guards = Watched<Dofs, Harmonics, guard_count<Contacts, Frictions>>;

  Mode mode;
  Guards guards;

  ScanMode(const LinearSystem<double, Dofs, Harmonics, Contacts, Frictions>& system, std::int64_t held)
      : mode(system, held), guards(mode, system.frequency, rows(layout_of(system).guards())) {}

 private:
  std::vector<typename Mode::Row> rows(std::int64_t count) const {
    std::vector<typename Mode::Row> all;
    for (std::int64_t k = 0; k < count; ++k) all.push_back(mode.guard(static_cast<std::size_t>(k)));
    return all;
  }
};

/// Walks along one arc. What it watches are the guards of the mode (of a contact its gap while open, its
/// contact force while closed; of a friction its sliding speed, or what is left of its force while it sticks)
/// or other rows.
///
/// A cell is clear for a guard g when the cubic Hermite polynomial through its ends has a positive Bernstein
/// hull by more than M4 h⁴/384, its error, where M4 bounds the fourth derivative of g on the cell for every
/// solution that starts it at z: M4 = |row A⁴| e^{|A|h} |z|, entrywise.
template <int Dofs, int Harmonics, int Count>
class LinearFlow {
 public:
  using Rows = Watched<Dofs, Harmonics, Count>;
  using Vector = Eigen::Matrix<double, Rows::Z, 1>;
  using Coefficients = std::array<double, taylor_terms>;

  /// Starts an arc at z.
  void start(const Rows& rows, const Vector& z) {
    rows_ = &rows;
    cell_ = 0;
    z_ = z;
    ends_.noalias() = rows.ends.lazyProduct(z_);
    reach();
  }
  /// Goes on to the next cell.
  void next() {
    ++cell_;
    const Eigen::Index x = states();
    const Eigen::Index n = count();
    z_ = next_z();
    ends_.head(n) = reached_.segment(x, n);
    ends_.tail(n) = 2 * reached_.segment(x, n) - reached_.tail(n);
    reach();
  }

  long cell() const { return cell_; }
  /// z at the beginning of the cell.
  const Vector& z() const { return z_; }
  /// z at its end.
  Vector next_z() const {
    const Eigen::Index x = states();
    const Eigen::Index h = rows_->cosine.size();
    Vector next = z_;
    next.head(x) = reached_.head(x);
    for (Eigen::Index j = 0; j < h; ++j) {
      const double c = z_(x + j);
      const double s = z_(x + h + j);
      next(x + j) = c * rows_->cosine(j) - s * rows_->sine(j);
      next(x + h + j) = s * rows_->cosine(j) + c * rows_->sine(j);
    }
    return next;
  }
  /// Slope of guard i per cell, at either end and, of its hull, between.
  double slope(int i) const { return 3 * (ends_(count() + i) - ends_(i)); }
  double middle_slope(int i) const { return 3 * (reached_(states() + count() + i) - ends_(count() + i)); }
  double next_slope(int i) const { return 3 * (reached_(states() + i) - reached_(states() + count() + i)); }

  /// Whether guard i is certainly positive on the whole cell.
  bool clear(int i) const {
    const Eigen::Index n = count();
    return std::min(std::min(ends_(i), ends_(n + i)),
                    std::min(reached_(states() + i), reached_(states() + n + i))) > doubt_(i);
  }
  /// Its sign on the whole cell where that is certain, otherwise 0.
  int sign(int i) const {
    if (clear(i)) return 1;
    const Eigen::Index n = count();
    const double highest = std::max(std::max(ends_(i), ends_(n + i)),
                                    std::max(reached_(states() + i), reached_(states() + n + i)));
    return highest < -doubt_(i) ? -1 : 0;
  }
  /// Whether all guards are.
  bool clear() const {
    const Eigen::Index n = count();
    const auto first = ends_.head(n).cwiseMin(ends_.tail(n));
    const auto last = reached_.segment(states(), n).cwiseMin(reached_.tail(n));
    return n == 0 || (first.cwiseMin(last) - doubt_).minCoeff() > 0;
  }
  /// Taylor coefficients of guard i on this cell, in fractions of the cell.
  Coefficients coefficients(int i) const {
    Coefficients c;
    Eigen::Map<Eigen::Matrix<double, taylor_terms, 1>>(c.data()).noalias() =
        rows_->taylor[static_cast<std::size_t>(i)].lazyProduct(z_);
    return c;
  }

 private:
  Eigen::Index count() const { return doubt_.size(); }
  Eigen::Index states() const { return reached_.size() - ends_.size(); }
  void reach() {
    reached_.noalias() = rows_->step.lazyProduct(z_);
    size_ = z_.cwiseAbs();
    doubt_.noalias() = rows_->doubt.lazyProduct(size_);
  }

  const Rows* rows_ = nullptr;
  long cell_ = 0;
  Vector z_, size_;
  Eigen::Matrix<double, Rows::Ends, 1> ends_;
  Eigen::Matrix<double, Rows::Step, 1> reached_;
  Eigen::Matrix<double, Count, 1> doubt_;
};

template <int Dofs, int Harmonics, int Count>
template <int Contacts, int Frictions>
Watched<Dofs, Harmonics, Count>::Watched(const LinearMode<double, Dofs, Harmonics, Contacts, Frictions>& mode,
                                         const Eigen::Matrix<double, Harmonics, 1>& frequency,
                                         const std::vector<Row>& rows) {
  const Eigen::Index z = mode.A.rows();
  const Eigen::Index count = static_cast<Eigen::Index>(rows.size());
  const Eigen::Matrix<double, Z, Z> a = mode.A.cwiseAbs() * mode.cell;
  // A row times e^{|A|h}, which is entrywise above every |e^{As}| with 0 <= s <= h.
  const auto grown = [&](Row row) {
    Row sum = row;
    for (int k = 1; k < 40; ++k) {
      row = (row * a / k).eval();
      sum += row;
      if (k >= z && (row.array() <= 1e-20 * sum.array()).all()) break;
    }
    return sum;
  };
  ends.resize(2 * count, z);
  doubt.resize(count, z);
  taylor.reserve(rows.size());
  for (Eigen::Index i = 0; i < count; ++i) {
    taylor.push_back(mode.taylor_rows(rows[static_cast<std::size_t>(i)]));
    const auto& terms = taylor.back();
    ends.row(i) = terms.row(0);
    ends.row(count + i) = terms.row(0) + terms.row(1) / 3;
    // terms.row(4) is row A⁴ h⁴/24; the margin covers the rounding of the steps from cell to cell.
    doubt.row(i) = grown(terms.row(4).cwiseAbs() * (24.0 / 384.0) + terms.row(0).cwiseAbs() * 1e-13);
  }
  const Eigen::Index states = mode.states();
  step.resize(states + 2 * count, z);
  step.topRows(states) = mode.step().topRows(states);
  // At the far end the second coefficient lies before the node instead of after it.
  step.middleRows(states, count) = ends.topRows(count) * mode.step();
  step.bottomRows(count) = (2 * ends.topRows(count) - ends.bottomRows(count)) * mode.step();
  cosine = (frequency * mode.cell).array().cos();
  sine = (frequency * mode.cell).array().sin();
}

}  // namespace graze
