/// A flight (or rest) of a linear system, cell by cell, with the certified answer whether a guard can have
/// reached zero in a cell. Plain numbers only: derivatives are carried afterwards.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <vector>

#include "core/linear_mode.hpp"
#include "core/system.hpp"

namespace graze {

/// A mode with everything the search needs, made once per system and mode.
template <int Dofs, int Harmonics, int Contacts>
struct ScanMode {
  using Mode = LinearMode<double, Dofs, Harmonics, Contacts>;
  static constexpr int Z = Mode::Z;

  Mode mode;
  std::vector<int> guards;  ///< contacts that exist
  Eigen::Matrix<double, Eigen::Dynamic, Z>
      ends;  ///< per guard: its value, then (further down) its slope per cell
  Eigen::Matrix<double, Eigen::Dynamic, Z> doubt;  ///< per guard: error bound of the cubic per |z|
  std::vector<Eigen::Matrix<double, taylor_terms, Z>> taylor;  ///< per guard

  ScanMode(const LinearSystem<double, Dofs, Harmonics, Contacts>& system, std::int64_t closed);
};

/// Walks along one arc.
///
/// A cell is clear for a guard when the cubic Hermite polynomial through its ends has a positive Bernstein
/// hull by more than max|g''''| h⁴/384, its error; the bound of g'''' holds for every solution that starts
/// the cell at z: |g''''| ≤ |row A⁴| e^{|A|h} |z|, entrywise.
template <int Dofs, int Harmonics, int Contacts>
class LinearFlow {
 public:
  using Scan = ScanMode<Dofs, Harmonics, Contacts>;
  using Vector = Eigen::Matrix<double, Scan::Z, 1>;
  using Coefficients = std::array<double, taylor_terms>;

  /// Starts an arc at z.
  void start(const Scan& scan, const Vector& z) {
    scan_ = &scan;
    cell_ = 0;
    z_ = z;
    ends_.noalias() = scan.ends.lazyProduct(z_);
    reach();
  }
  /// Goes on to the next cell.
  void next() {
    ++cell_;
    z_.swap(z_next_);
    ends_.swap(ends_next_);
    reach();
  }

  long cell() const { return cell_; }
  const Vector& z() const { return z_; }
  const Vector& z_next() const { return z_next_; }
  double value(int g) const { return ends_(g); }
  double slope(int g) const { return ends_(count() + g); }  ///< per cell
  double next_value(int g) const { return ends_next_(g); }
  double next_slope(int g) const { return ends_next_(count() + g); }

  /// Whether guard number g (an index into ScanMode::guards) is certainly positive on the whole cell.
  bool clear(int g) const {
    const double doubt = doubt_(g);
    return value(g) > doubt && next_value(g) > doubt && value(g) + slope(g) / 3 > doubt &&
           next_value(g) - next_slope(g) / 3 > doubt;
  }
  /// Taylor coefficients of guard g on this cell, in fractions of the cell.
  Coefficients coefficients(int g) const {
    Coefficients c;
    Eigen::Map<Eigen::Matrix<double, taylor_terms, 1>>(c.data()).noalias() =
        scan_->taylor[static_cast<std::size_t>(g)].lazyProduct(z_);
    return c;
  }

 private:
  int count() const { return static_cast<int>(scan_->guards.size()); }
  void reach() {
    z_next_.noalias() = scan_->mode.step().lazyProduct(z_);
    ends_next_.noalias() = scan_->ends.lazyProduct(z_next_);
    doubt_.noalias() = scan_->doubt.lazyProduct(z_.cwiseAbs());
  }

  const Scan* scan_ = nullptr;
  long cell_ = 0;
  Vector z_, z_next_;
  Eigen::Matrix<double, Eigen::Dynamic, 1, 0, Contacts == Eigen::Dynamic ? Eigen::Dynamic : 2 * Contacts, 1>
      ends_, ends_next_, doubt_;
};

template <int Dofs, int Harmonics, int Contacts>
ScanMode<Dofs, Harmonics, Contacts>::ScanMode(const LinearSystem<double, Dofs, Harmonics, Contacts>& system,
                                              std::int64_t closed)
    : mode(system, closed) {
  const Eigen::Index z = mode.A.rows();
  for (int i = 0; i < static_cast<int>(system.position.size()); ++i) {
    if (std::isfinite(system.position(i))) guards.push_back(i);
  }
  const Eigen::Index count = static_cast<Eigen::Index>(guards.size());
  // e^{|A|h}, entrywise above every |e^{As}| with 0 <= s <= h.
  const Eigen::Matrix<double, Z, Z> a = mode.A.cwiseAbs() * mode.cell;
  Eigen::Matrix<double, Z, Z> growth = Eigen::Matrix<double, Z, Z>::Identity(z, z);
  Eigen::Matrix<double, Z, Z> term = growth;
  for (int k = 1; k < 40; ++k) {
    term = (term * a / k).eval();
    growth += term;
  }
  ends.resize(2 * count, z);
  doubt.resize(count, z);
  for (Eigen::Index g = 0; g < count; ++g) {
    taylor.push_back(
        mode.taylor_rows(mode.contacts[static_cast<std::size_t>(guards[static_cast<std::size_t>(g)])].guard));
    const auto& rows = taylor.back();
    ends.row(g) = rows.row(0);
    ends.row(count + g) = rows.row(1);
    // rows.row(4) is row A⁴ h⁴/24; the margin covers the rounding of the steps from cell to cell.
    doubt.row(g) = (rows.row(4).cwiseAbs() * (24.0 / 384.0) + rows.row(0).cwiseAbs() * 1e-13) * growth;
  }
}

}  // namespace graze
