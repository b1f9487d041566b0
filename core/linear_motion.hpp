/// The motion of a linear system with stops: exact flow between the instants of core/newton_contacts.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/dual.hpp"
#include "core/linear_flow.hpp"
#include "core/linear_mode.hpp"
#include "core/linear_system.hpp"
#include "core/newton_contacts.hpp"

namespace graze {

/// Modes made when first met, kept for the life of a system.
template <class Mode>
class ModeCache {
 public:
  template <class System>
  const Mode& get(const System& system, std::int64_t closed) {
    for (const auto& [key, mode] : modes_) {
      if (key == closed) return *mode;
    }
    modes_.emplace_back(closed, std::make_unique<Mode>(system, closed));
    return *modes_.back().second;
  }

 private:
  std::vector<std::pair<std::int64_t, std::unique_ptr<Mode>>> modes_;
};

/// A linear system and its modes. `P` is the scalar of its parameters.
template <class P, int Dofs, int Harmonics, int Contacts>
class LinearDynamics {
 public:
  using System = LinearSystem<P, Dofs, Harmonics, Contacts>;
  using Mode = std::conditional_t<std::is_same_v<P, double>, ScanMode<Dofs, Harmonics, Contacts>,
                                  LinearMode<P, Dofs, Harmonics, Contacts>>;

  explicit LinearDynamics(System system) : system_(std::move(system)) {}
  const System& system() const { return system_; }
  const LinearMode<P, Dofs, Harmonics, Contacts>& mode(std::int64_t closed) {
    if constexpr (std::is_same_v<P, double>) {
      return scan(closed).mode;
    } else {
      return modes_.get(system_, closed);
    }
  }
  const ScanMode<Dofs, Harmonics, Contacts>& scan(std::int64_t closed) requires std::is_same_v<P, double> {
    return modes_.get(system_, closed);
  }
  /// Forcing period, 0 when autonomous.
  P period() const {
    if (!(system_.base_frequency > P(0))) return P(0);
    return P(2 * M_PI) / system_.base_frequency;
  }

 private:
  System system_;
  ModeCache<Mode> modes_;
};

/// One moving point. `S` is the scalar of the state, `P` of the parameters (double with plain or dual S; or
/// both the same dual).
template <class S, class P, int Dofs, int Harmonics, int Contacts>
class LinearMotion : public NewtonContacts<LinearMotion<S, P, Dofs, Harmonics, Contacts>, S,
                                           Eigen::Matrix<S, LinearMode<P, Dofs, Harmonics, Contacts>::X, 1>> {
 public:
  using Mode = LinearMode<P, Dofs, Harmonics, Contacts>;
  using Rules = NewtonContacts<LinearMotion, S, Eigen::Matrix<S, Mode::X, 1>>;
  using Loop = typename Rules::Loop;
  using Plain = LinearDynamics<double, Dofs, Harmonics, Contacts>;
  using Carried = LinearDynamics<P, Dofs, Harmonics, Contacts>;
  static constexpr int Z = Mode::Z;
  static constexpr int Phases = Harmonics == Eigen::Dynamic ? Eigen::Dynamic : 2 * Harmonics;
  using Extended = Eigen::Matrix<S, Z, 1>;
  using TaylorRows = typename Mode::TaylorRows;
  using Loop::time;
  using Loop::x;

  /// `plain` finds the events, `carried` carries the state through them (the same object when P is double).
  LinearMotion(Plain& plain, Carried& carried, const Tolerance& tolerance, double rate)
      : Rules(tolerance), plain_(plain), carried_(carried), rate_(rate) {}

  /// Inside, positions come first and velocities after them; outside, each position is followed by its
  /// velocity: entry i outside is entry inner(i) inside.
  static Eigen::Index inner(Eigen::Index outer, Eigen::Index dofs) { return outer / 2 + (outer % 2) * dofs; }

 private:
  friend Loop;
  friend Rules;
  using Loop::closed;
  using Loop::mode_;
  using Loop::on_level_;
  using Loop::search_guard;
  using Loop::search_level;
  using Loop::touches_;
  using Loop::watch_gap;
  using typename Loop::ExactTouch;

  S period() const { return S(carried_.period()); }
  bool commensurate() const { return carried_.system().commensurate; }
  double fastest_rate() const { return rate_; }

  int count() const { return static_cast<int>(plain_.system().position.size()); }
  Eigen::Index dofs() const { return plain_.system().mass.rows(); }
  bool exists(int i) const { return std::isfinite(plain_.system().position(i)); }
  bool reaches(int) const { return true; }
  void pass_by(int) {}
  bool any_closed() const { return mode_ != 0; }
  const ContactRows<P, Dofs, Z>& rows(int i) {
    return carried_.mode(mode_).contacts[static_cast<std::size_t>(i)];
  }
  auto normal(int i) const { return carried_.system().normal.col(i); }

  Extended extended();
  typename Loop::OuterState outer_state() const {
    typename Loop::OuterState y(x.size());
    for (Eigen::Index i = 0; i < x.size(); ++i) y(i) = value_of(x(inner(i, dofs())));
    return y;
  }
  void move(const Crossing& c);
  void drift(const S& shift);
  void drift_time(const S& shift) { drift(shift); }
  S guard(int k) { return dot(rows(k).guard, extended()); }
  S dot(const Eigen::Matrix<P, 1, Z>& row, const Extended& z) const { return row.lazyProduct(z)(0, 0); }
  S approach(int i) const { return normal(i).dot(x.tail(dofs())); }
  S gap(int i) const { return S(carried_.system().position(i)) - normal(i).dot(x.head(dofs())); }
  double reach(int i) const;
  double length() const { return size_of(x.head(dofs())); }
  double speed() const { return size_of(x.tail(dofs())); }
  template <class Vector>
  static double size_of(const Vector& v) {
    return v.unaryExpr([](const S& a) { return std::abs(value_of(a)); }).maxCoeff();
  }
  S restitution(int i) const { return S(carried_.system().restitution(i)); }
  void kick(int i, const S& speed) { x.tail(dofs()) -= rows(i).push * speed; }
  S response(int i, int j) { return S(normal(i).dot(rows(j).push)); }
  S pressing(int i) { return dot(rows(i).pressing, extended()); }
  Rebound<S> rebound(int i, const S& speed);
  void pass_on(int i, const S& integral);
  FreePressing free_pressing(int i);
  double press_rate(int i);

  Crossing search(double horizon, const Section& section, Observer* observer);
  void search_guards(Crossing& first, bool fresh);
  void watch(Observer& observer, double end);

  void put_on(int i);

  Plain& plain_;
  Carried& carried_;
  double rate_;
  bool touched_ = false;  ///< some contact has been left at the start of this arc
  LinearFlow<Dofs, Harmonics, Contacts> flow_;
  Extended arc_start_;
  Eigen::Matrix<S, Phases, 1> phases_;  ///< cos Ω_j t, then sin Ω_j t, at …
  S phases_at_{std::numeric_limits<double>::quiet_NaN()};
};

template <class S, class P, int D, int H, int C>
auto LinearMotion<S, P, D, H, C>::extended() -> Extended {
  using std::cos;
  using std::sin;
  const auto& sys = carried_.system();
  const Eigen::Index h = sys.frequency.size();
  if (!identical(phases_at_, time)) {
    phases_.resize(2 * h);
    phases_at_ = time;
    for (Eigen::Index j = 0; j < h; ++j) {
      const S phase = S(sys.frequency(j)) * time;
      phases_(j) = cos(phase);
      phases_(h + j) = sin(phase);
    }
  }
  Extended z(2 * dofs() + 2 * h + 1);
  z << x, phases_, S(1);
  return z;
}

/// To the place of a crossing.
template <class S, class P, int D, int H, int C>
void LinearMotion<S, P, D, H, C>::move(const Crossing& c) {
  const Mode& mode = carried_.mode(mode_);
  if (c.cell > 0 || c.fraction > 0) std::fill(touches_.begin(), touches_.end(), ExactTouch{});
  on_level_ = false;
  if constexpr (std::is_same_v<S, double>) {
    // From the nearer end of the cell: fewer terms.
    x = c.fraction > 0.5 ? within_cell(mode, flow_.next_z(), c.fraction - 1)
                         : within_cell(mode, flow_.z(), c.fraction);
  } else {
    x = within_cell(mode, after_cells(mode, arc_start_, c.cell), c.fraction);
  }
  time += S((static_cast<double>(c.cell) + c.fraction) * mode.cell);
}

/// A shift of time of value zero: what the derivatives of an instant do to the state there.
template <class S, class P, int D, int H, int C>
void LinearMotion<S, P, D, H, C>::drift(const S& shift) {
  x += carried_.mode(mode_).A.topRows(2 * dofs()).lazyProduct(extended()).eval() * shift;
  time += shift;
}

template <class S, class P, int D, int H, int C>
double LinearMotion<S, P, D, H, C>::reach(int i) const {
  const double size = normal(i)
                          .unaryExpr([](const P& a) { return std::abs(value_of(a)); })
                          .dot(x.head(dofs()).unaryExpr([](const S& a) { return std::abs(value_of(a)); }));
  return std::abs(value_of(carried_.system().position(i))) + size;
}

/// The first crossing on the arc from here within `horizon`; kind none: where the horizon lies.
template <class S, class P, int D, int H, int C>
Crossing LinearMotion<S, P, D, H, C>::search(double horizon, const Section& section, Observer* observer) {
  arc_start_ = extended();
  const auto& scan = plain_.scan(mode_);
  const double cell = scan.mode.cell;
  touched_ = std::any_of(touches_.begin(), touches_.end(), [](const ExactTouch& t) { return t.order > 0; });
  if constexpr (std::is_same_v<S, double>) {
    flow_.start(scan, arc_start_);
  } else {
    flow_.start(scan, values_of(arc_start_));
  }
  TaylorRows level;
  if (section.kind == Section::Kind::level) {
    Eigen::Matrix<double, 1, Z> row = Eigen::Matrix<double, 1, Z>::Zero(1, flow_.z().size());
    row(section.coordinate) = -section.direction;
    row(row.size() - 1) = section.direction * section.level;
    level = scan.mode.taylor_rows(row);
  }
  while (true) {
    const double begin = static_cast<double>(flow_.cell()) * cell;
    const bool last = horizon <= begin + cell;
    Crossing first;
    first.cell = flow_.cell();
    first.fraction = last ? std::max(0.0, (horizon - begin) / cell) : 1.0;
    const bool fresh = flow_.cell() == 0 && touched_;
    if (fresh || !flow_.clear()) search_guards(first, fresh);
    if (section.kind == Section::Kind::level) {
      Eigen::Matrix<double, taylor_terms, 1> c = level * flow_.z();
      search_level({c.data(), static_cast<std::size_t>(c.size())}, flow_.cell() == 0, cell, first);
    }
    if (observer != nullptr) watch(*observer, first.fraction);
    if (first.kind != Crossing::Kind::none || last) return first;
    flow_.next();
  }
}

/// The first guard at zero on this cell; `fresh`: contacts may just have been left.
template <class S, class P, int D, int H, int C>
void LinearMotion<S, P, D, H, C>::search_guards(Crossing& first, bool fresh) {
  const double cell = plain_.scan(mode_).mode.cell;
  for (int contact = 0; contact < count(); ++contact) {
    const ExactTouch touch = fresh ? touches_[static_cast<std::size_t>(contact)] : ExactTouch{};
    if (touch.order == 0 && flow_.clear(contact)) continue;
    auto c = flow_.coefficients(contact);
    search_guard(contact, c, touch, cell, first);
  }
}

/// Reports what the open gaps do on this cell up to the fraction `end`.
template <class S, class P, int D, int H, int C>
void LinearMotion<S, P, D, H, C>::watch(Observer& observer, double end) {
  const double cell = plain_.scan(mode_).mode.cell;
  const double begin = value_of(time) + static_cast<double>(flow_.cell()) * cell;
  for (int i = 0; i < count(); ++i) {
    const bool falls = flow_.slope(i) < 0;
    const bool turns = falls != (flow_.next_slope(i) < 0);
    // Where the gap may be small even a cell that falls at both ends is looked into.
    if (closed(i) || (!turns && (!falls || flow_.clear(i)))) continue;
    watch_gap(observer, i, flow_.coefficients(i), begin, cell, end);
  }
}

/// Exactly onto contact i: what rounding left of the gap goes, along the contact's own push.
template <class S, class P, int D, int H, int C>
void LinearMotion<S, P, D, H, C>::put_on(int i) {
  for (int pass = 0; pass < 2; ++pass) x.head(dofs()) += rows(i).push * gap(i);
}

template <class S, class P, int D, int H, int C>
Rebound<S> LinearMotion<S, P, D, H, C>::rebound(int i, const S& speed) {
  const ContactRows<P, D, Z>& contact = rows(i);
  const Extended z = extended();
  return {speed, restitution(i), dot(contact.pressing, z), dot(contact.rate, z), S(contact.damping)};
}

template <class S, class P, int D, int H, int C>
void LinearMotion<S, P, D, H, C>::pass_on(int i, const S& integral) {
  x.head(dofs()) += rows(i).gap_to_position * integral;
  x.tail(dofs()) += rows(i).gap_to_velocity * integral;
}

template <class S, class P, int D, int H, int C>
auto LinearMotion<S, P, D, H, C>::free_pressing(int i) -> FreePressing {
  const auto n = plain_.system().normal.col(i);
  const auto free = plain_.scan(0).mode.A.middleRows(dofs(), dofs());
  const auto z = values_of(extended()).eval();
  return {n.dot(free * z), n.cwiseAbs().dot(free.cwiseAbs() * z.cwiseAbs())};
}

template <class S, class P, int D, int H, int C>
double LinearMotion<S, P, D, H, C>::press_rate(int i) {
  const std::int64_t others = mode_ & ~(std::int64_t{1} << i);
  const auto& row = plain_.scan(others).mode.contacts[static_cast<std::size_t>(i)].rate;
  return row.dot(values_of(extended()));
}

}  // namespace graze
