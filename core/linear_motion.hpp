/// The motion of a linear system with stops: flow to the next event, apply it, repeat.
///
///     x⁻ ──arc──▶ first guard at zero ──▶ impact | release | graze ──▶ chatter complete? ──▶ settle ──▶ x⁺
///
/// Rules at an instant (each has its test):
/// - Impact: a gap reaches zero with approach speed w > 0. All contacts at zero gap take part: closed ones,
///   and open ones that approach. Their normal velocities after obey 0 ≤ Λ ⊥ u⁺ + r u⁻ ≥ 0 (Newton's law for
///   each that carries an impulse, in no particular order); a stop on one coordinate of a system with
///   diagonal mass changes that coordinate only.
/// - Graze: the gap touches zero and would not have gone deeper than rounding. The velocity loses its normal
///   part, nothing else happens.
/// - After an impact a sequence that certainly accumulates is completed (core/chatter).
/// - Settle: contacts at zero gap and zero normal speed stay closed where that takes a pressing force
///   (0 ≤ λ ⊥ g'' ≥ 0), and open otherwise. No force at all: the rate of the force decides.
/// - Release: the force of a closed contact falls through zero. A force that only touches zero goes on.
/// - A start on a contact is put exactly on it: approaching it is an impact at the start, at rest it settles,
///   leaving it leaves. An impact at the very instant of a section belongs to the iterate that ends there.
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

#include "core/chatter.hpp"
#include "core/complementarity.hpp"
#include "core/dual.hpp"
#include "core/linear_flow.hpp"
#include "core/linear_mode.hpp"
#include "core/linear_system.hpp"
#include "core/model.hpp"
#include "core/root_search.hpp"
#include "core/system.hpp"

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
class LinearMotion {
 public:
  using Plain = LinearDynamics<double, Dofs, Harmonics, Contacts>;
  using Carried = LinearDynamics<P, Dofs, Harmonics, Contacts>;
  using Mode = LinearMode<P, Dofs, Harmonics, Contacts>;
  static constexpr int Z = Mode::Z;
  using State = Eigen::Matrix<S, Mode::X, 1>;
  using Extended = Eigen::Matrix<S, Z, 1>;
  using TaylorRows = typename Mode::TaylorRows;

  /// `plain` finds the events, `carried` carries the state through them (the same object when P is double).
  LinearMotion(Plain& plain, Carried& carried, const Tolerance& tolerance, double rate)
      : plain_(plain), carried_(carried), tolerance_(tolerance), rate_(rate) {}

  /// Inside, positions come first and velocities after them; outside, each position is followed by its
  /// velocity: entry i outside is entry inner(i) inside.
  static Eigen::Index inner(Eigen::Index outer, Eigen::Index dofs) { return outer / 2 + (outer % 2) * dofs; }

  State x;  ///< inner order
  S time{0};

  /// Takes over everything of a state but x and time.
  void place(const HybridState& from) {
    turns_ = from.turns;
    mode_ = from.mode;
    settled_ = from.settled;
    touches_.assign(count(), {});
    for (std::size_t i = 0; i < from.touches.size(); ++i) {
      touches_[i] = {from.touches[i].order, S(from.touches[i].speed)};
    }
  }
  void report(HybridState& to) const {
    to.turns = turns_;
    to.mode = mode_;
    to.settled = settled_;
    to.touches.resize(count());
    for (std::size_t i = 0; i < count(); ++i) {
      to.touches[i] = {touches_[i].order, value_of(touches_[i].speed)};
    }
  }

  /// x without derivatives, in the outer order.
  void outer_state(Eigen::VectorXd& y) const {
    y.resize(x.size());
    for (Eigen::Index i = 0; i < x.size(); ++i) y(i) = value_of(x(inner(i, dofs())));
  }

  /// `section.coordinate` counts in the inner order.
  Outcome advance(const Section& section, Observer* observer);

 private:
  struct ExactTouch {
    int order = 0;
    S speed{0};
  };
  struct Touching {
    int contact;
    S speed;    ///< of approach, before
    S rebound;  ///< of opening, after
  };
  struct Crossing {
    enum class Kind { none, contact, level, arm } kind = Kind::none;
    int contact = -1;
    long cell = 0;
    double fraction = 0;
    double slope = 0;  ///< of the guard, per time
  };

  std::size_t count() const { return static_cast<std::size_t>(plain_.system().position.size()); }
  Eigen::Index dofs() const { return plain_.system().mass.rows(); }
  bool closed(int i) const { return ((mode_ >> i) & 1) != 0; }
  bool exists(int i) const { return std::isfinite(plain_.system().position(i)); }
  double absolute(double t) const { return t + static_cast<double>(turns_) * value_of(carried_.period()); }
  const ContactRows<P, Dofs, Z>& rows(int i) {
    return carried_.mode(mode_).contacts[static_cast<std::size_t>(i)];
  }
  auto normal(int i) const { return carried_.system().normal.col(i); }

  Extended extended() const;
  void move(const Crossing& c);
  void drift(const S& shift);
  S event_shift(const Crossing& c, const Section& section);
  S dot(const Eigen::Matrix<P, 1, Z>& row, const Extended& z) const { return row.lazyProduct(z)(0, 0); }
  S approach(int i) const { return normal(i).dot(x.tail(dofs())); }
  S gap(int i) const { return S(carried_.system().position(i)) - normal(i).dot(x.head(dofs())); }
  /// Size of rounding in the gap of contact i.
  double gap_rounding(int i) const;

  void wrap(S& deadline);
  S deadline(const Section& section) const;
  Crossing search(double horizon, const Section& section, Observer* observer);
  void search_guards(Crossing& first, bool fresh);
  void search_level(const TaylorRows& rows, Crossing& first, double end);
  void watch(Observer& observer, double end);

  /// The state for an observer; nothing when there is none.
  Eigen::VectorXd snapshot(const Observer* observer) const {
    Eigen::VectorXd y;
    if (observer != nullptr) outer_state(y);
    return y;
  }
  void put_on(int i);
  Outcome start(Observer* observer);
  Outcome meet(const Crossing& c, Observer* observer);
  Outcome hit(int i, Observer* observer);
  Outcome impulses();
  void complete_chatter(int i, Observer* observer);
  Outcome settle(Observer* observer);
  void decide_without_force(int i, Observer* observer);
  void close(int i, Observer* observer, double event_time);
  void open(int i, int order, Observer* observer);
  void tell(Observer* observer, EventKind kind, int contact, const Eigen::VectorXd& before, double event_time,
            double speed = std::numeric_limits<double>::quiet_NaN()) const;

  Plain& plain_;
  Carried& carried_;
  Tolerance tolerance_;
  double rate_;
  std::int64_t turns_ = 0;
  std::int64_t mode_ = 0;
  bool settled_ = false;
  bool on_level_ = false;  ///< the arc starts exactly on the section's level
  std::vector<ExactTouch> touches_;
  bool touched_ = false;            ///< some contact has been left at the start of this arc
  std::vector<int> resting_;        ///< contacts at zero gap and zero normal speed, to be settled
  std::vector<Touching> touching_;  ///< contacts that take part in an impact
  LinearFlow<Dofs, Harmonics, Contacts> flow_;
  Extended arc_start_;
};

template <class S, class P, int D, int H, int C>
auto LinearMotion<S, P, D, H, C>::extended() const -> Extended {
  using std::cos;
  using std::sin;
  const auto& sys = carried_.system();
  const Eigen::Index h = sys.frequency.size();
  Extended z(2 * dofs() + 2 * h + 1);
  z.head(2 * dofs()) = x;
  for (Eigen::Index j = 0; j < h; ++j) {
    const S phase = S(sys.frequency(j)) * time;
    z(2 * dofs() + j) = cos(phase);
    z(2 * dofs() + h + j) = sin(phase);
  }
  z(z.size() - 1) = S(1);
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

/// How the instant of a crossing just moved to depends on what the motion is differentiated by: one Newton
/// step of the guard in dual numbers.
template <class S, class P, int D, int H, int C>
S LinearMotion<S, P, D, H, C>::event_shift(const Crossing& c, const Section& section) {
  const S guard = c.kind == Crossing::Kind::contact
                      ? dot(rows(c.contact).guard, extended())
                      : S(section.direction) * (S(section.level) - x(section.coordinate));
  return (S(value_of(guard)) - guard) / S(c.slope);
}

template <class S, class P, int D, int H, int C>
double LinearMotion<S, P, D, H, C>::gap_rounding(int i) const {
  const double size = normal(i)
                          .unaryExpr([](const P& a) { return std::abs(value_of(a)); })
                          .dot(x.head(dofs()).unaryExpr([](const S& a) { return std::abs(value_of(a)); }));
  return 8 * std::numeric_limits<double>::epsilon() *
         (std::abs(value_of(carried_.system().position(i))) + size);
}

/// Where this iterate ends at the latest, on the clock of `time`.
template <class S, class P, int D, int H, int C>
S LinearMotion<S, P, D, H, C>::deadline(const Section& section) const {
  const S period(carried_.period());
  const bool forced = period > S(0);
  switch (section.kind) {
    case Section::Kind::stroboscopic:
      if (forced) return carried_.system().commensurate ? period : S(time + period);
      return time + S(section.interval);
    case Section::Kind::time:
      return time + S(section.interval);
    default:
      return time + S(tolerance_.patience * (forced ? value_of(period) : 2 * M_PI / rate_));
  }
}

/// Counts whole forcing periods apart, so that the phase keeps its digits however long the run.
template <class S, class P, int D, int H, int C>
void LinearMotion<S, P, D, H, C>::wrap(S& deadline) {
  if (!carried_.system().commensurate) return;
  const S period(carried_.period());
  while (period > S(0) && time >= period) {
    time -= period;
    deadline -= period;
    ++turns_;
  }
}

template <class S, class P, int D, int H, int C>
Outcome LinearMotion<S, P, D, H, C>::advance(const Section& section, Observer* observer) {
  S end = deadline(section);
  const bool strobe = section.kind == Section::Kind::stroboscopic;
  const bool to_phase_zero = strobe && carried_.system().commensurate && carried_.period() > P(0);
  on_level_ = section.kind == Section::Kind::level && value_of(x(section.coordinate)) == section.level;
  if (!settled_) {
    const Outcome outcome = start(observer);
    if (outcome != Outcome::ok) return outcome;
  }
  for (std::int64_t events = 0; events < tolerance_.events; ++events) {
    if (!to_phase_zero) wrap(end);
    const S left = end - time;
    Crossing c;
    if (left > S(0)) {
      arc_start_ = extended();
      c = search(value_of(left), section, observer);
    }
    if (c.kind == Crossing::Kind::none) {
      if (left > S(0)) {
        move(c);
        if constexpr (!std::is_same_v<S, double>) drift(left - S(value_of(left)));
      }
      if (!x.unaryExpr([](const S& a) { return value_of(a); }).allFinite()) return Outcome::non_finite;
      if (!strobe && section.kind != Section::Kind::time) return Outcome::no_return;
      if (to_phase_zero) {
        time = S(0);
        ++turns_;
      } else {
        time = end;
      }
      return Outcome::ok;
    }
    move(c);
    if constexpr (!std::is_same_v<S, double>) {
      if (c.kind != Crossing::Kind::arm && c.slope != 0) drift(event_shift(c, section));
    }
    if (!x.unaryExpr([](const S& a) { return value_of(a); }).allFinite()) return Outcome::non_finite;
    if (c.kind == Crossing::Kind::arm) {
      on_level_ = true;
      continue;
    }
    if (c.kind == Crossing::Kind::level) {
      x(section.coordinate) = S(section.level);
      on_level_ = true;
      wrap(end);
      return Outcome::ok;
    }
    const bool target = section.contact == c.contact && !closed(c.contact);
    if (target && section.kind == Section::Kind::impact_before) {
      put_on(c.contact);
      wrap(end);
      settled_ = false;
      return Outcome::ok;
    }
    const Outcome outcome = meet(c, observer);
    if (outcome != Outcome::ok) return outcome;
    if (target && section.kind == Section::Kind::impact_after) {
      wrap(end);
      return Outcome::ok;
    }
  }
  return Outcome::event_limit;
}

/// The first crossing on the arc from arc_start_ within `horizon`; kind none: where the horizon lies.
template <class S, class P, int D, int H, int C>
auto LinearMotion<S, P, D, H, C>::search(double horizon, const Section& section, Observer* observer)
    -> Crossing {
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
    if (section.kind == Section::Kind::level) search_level(level, first, first.fraction);
    if (observer != nullptr) watch(*observer, first.fraction);
    if (first.kind != Crossing::Kind::none || last) return first;
    flow_.next();
  }
}

/// The first guard at zero on this cell; `fresh`: contacts may just have been left.
template <class S, class P, int D, int H, int C>
void LinearMotion<S, P, D, H, C>::search_guards(Crossing& first, bool fresh) {
  const double cell = plain_.scan(mode_).mode.cell;
  for (int contact = 0; contact < static_cast<int>(count()); ++contact) {
    const ExactTouch touch = fresh ? touches_[static_cast<std::size_t>(contact)] : ExactTouch{};
    if (touch.order == 0 && flow_.clear(contact)) continue;
    auto c = flow_.coefficients(contact);
    std::size_t zeros = static_cast<std::size_t>(touch.order);
    if (zeros == 0 && c[0] <= 0 && c[1] > 0) zeros = 1;
    if (touch.order == 1 && touch.speed > S(0)) c[1] = value_of(touch.speed) * cell;
    const auto zero = first_zero(std::span<const double>(c).subspan(zeros), first.fraction);
    if (!zero) continue;
    std::fill(c.begin(), c.begin() + static_cast<std::ptrdiff_t>(zeros), 0.0);
    first.kind = Crossing::Kind::contact;
    first.contact = contact;
    first.fraction = *zero;
    first.slope = polynomial_slope(c, *zero) / cell;
  }
}

/// The section's level on this cell: armed while the state is on the side it is to come from.
template <class S, class P, int D, int H, int C>
void LinearMotion<S, P, D, H, C>::search_level(const TaylorRows& rows, Crossing& first, double end) {
  Eigen::Matrix<double, taylor_terms, 1> c = rows * flow_.z();
  const bool here = on_level_ && flow_.cell() == 0;
  if (here) c(0) = 0;
  const bool armed = here ? c(1) > 0 : c(0) > 0;
  if (!armed) c = -c;
  const std::span<const double> all(c.data(), static_cast<std::size_t>(c.size()));
  const auto zero = first_zero(here ? all.subspan(1) : all, end);
  if (!zero) return;
  first.kind = armed ? Crossing::Kind::level : Crossing::Kind::arm;
  first.contact = -1;
  first.fraction = *zero;
  first.slope = polynomial_slope(all, *zero) / plain_.scan(mode_).mode.cell;
}

/// Reports what the open gaps do on this cell up to the fraction `end`.
template <class S, class P, int D, int H, int C>
void LinearMotion<S, P, D, H, C>::watch(Observer& observer, double end) {
  const double cell = plain_.scan(mode_).mode.cell;
  const double begin = value_of(time) + static_cast<double>(flow_.cell()) * cell;
  for (int i = 0; i < static_cast<int>(count()); ++i) {
    const bool falls = flow_.slope(i) < 0;
    const bool turns = falls != (flow_.next_slope(i) < 0);
    // Where the gap may be small even a cell that falls at both ends is looked into.
    if (closed(i) || (!turns && (!falls || flow_.clear(i)))) continue;
    auto c = flow_.coefficients(i);
    if (!falls) {
      for (double& a : c) a = -a;
    }
    const auto turn = first_minimum(c, end);
    if (!turn) continue;
    const double extreme = polynomial(c, *turn);
    if (!falls) {
      observer.excursion(i, absolute(begin + *turn * cell), -extreme);
    } else if (extreme > 0) {
      observer.near_miss(i, absolute(begin + *turn * cell),
                         std::sqrt(2 * extreme * std::max(0.0, polynomial_curvature(c, *turn))) / cell);
    }
  }
}

/// Exactly onto contact i: what rounding left of the gap goes, along the contact's own push.
template <class S, class P, int D, int H, int C>
void LinearMotion<S, P, D, H, C>::put_on(int i) {
  for (int pass = 0; pass < 2; ++pass) x.head(dofs()) += rows(i).push * gap(i);
}

template <class S, class P, int D, int H, int C>
Outcome LinearMotion<S, P, D, H, C>::start(Observer* observer) {
  constexpr double slack = 1e-12;
  mode_ = 0;
  touches_.assign(count(), {});
  resting_.clear();
  settled_ = true;
  int approaching = -1;
  const double speed_scale =
      x.tail(dofs()).unaryExpr([](const S& a) { return std::abs(value_of(a)); }).maxCoeff();
  const double length_scale =
      x.head(dofs()).unaryExpr([](const S& a) { return std::abs(value_of(a)); }).maxCoeff();
  for (int i = 0; i < static_cast<int>(count()); ++i) {
    if (!exists(i)) continue;
    const double g = value_of(gap(i));
    const double rounding = slack * (std::abs(value_of(carried_.system().position(i))) + length_scale);
    if (g < -rounding) return Outcome::bad_start;
    if (g > rounding) continue;
    put_on(i);
    const S w = approach(i);
    if (value_of(w) > slack * speed_scale) {
      if (approaching < 0) approaching = i;
    } else if (value_of(w) >= -slack * speed_scale) {
      x.tail(dofs()) -= rows(i).push * w;
      resting_.push_back(i);
    } else {
      touches_[static_cast<std::size_t>(i)] = {1, -w};
    }
  }
  if (approaching >= 0) return hit(approaching, observer);
  return settle(observer);
}

template <class S, class P, int D, int H, int C>
Outcome LinearMotion<S, P, D, H, C>::meet(const Crossing& c, Observer* observer) {
  if (!closed(c.contact)) return hit(c.contact, observer);
  if (c.slope < 0) {
    open(c.contact, 3, observer);
  } else {
    touches_[static_cast<std::size_t>(c.contact)] = {2, S(0)};  // the force only touches zero
  }
  return Outcome::ok;
}

/// Contact i is met with its gap at zero.
template <class S, class P, int D, int H, int C>
Outcome LinearMotion<S, P, D, H, C>::hit(int i, Observer* observer) {
  put_on(i);
  const Eigen::VectorXd before = snapshot(observer);
  const S w = approach(i);
  const S a = dot(rows(i).pressing, extended());
  if (!(w > S(0)) ||
      (!(a > S(0)) && value_of(w) * value_of(w) <= 2 * std::abs(value_of(a)) * gap_rounding(i))) {
    x.tail(dofs()) -= rows(i).push * w;
    resting_.push_back(i);
    tell(observer, EventKind::graze, i, before, value_of(time), std::max(0.0, value_of(w)));
    return settle(observer);
  }
  touching_.clear();
  for (int j = 0; j < static_cast<int>(count()); ++j) {
    if (!exists(j)) continue;
    const bool meets =
        j == i || closed(j) || (std::abs(value_of(gap(j))) <= gap_rounding(j) && approach(j) > S(0));
    if (!meets) continue;
    if (j != i) put_on(j);
    touching_.push_back({j, closed(j) ? S(0) : approach(j), S(0)});
  }
  const Outcome outcome = impulses();
  if (outcome != Outcome::ok) return outcome;
  for (const Touching& t : touching_) {
    const bool was_closed = closed(t.contact);
    if (!was_closed) tell(observer, EventKind::impact, t.contact, before, value_of(time), value_of(t.speed));
    if (t.rebound > S(0)) {
      if (was_closed) open(t.contact, 1, observer);
      touches_[static_cast<std::size_t>(t.contact)] = {1, t.rebound};
    } else if (!was_closed) {
      resting_.push_back(t.contact);
    }
  }
  for (const Touching& t : touching_) {
    if (touches_[static_cast<std::size_t>(t.contact)].order == 1) complete_chatter(t.contact, observer);
  }
  return settle(observer);
}

/// Velocities after an impact: 0 ≤ Λ ⊥ u⁺ + r u⁻ ≥ 0 over the touching contacts, u = −approach speed.
template <class S, class P, int D, int H, int C>
Outcome LinearMotion<S, P, D, H, C>::impulses() {
  const auto& sys = carried_.system();
  if (touching_.size() == 1) {
    Touching& t = touching_.front();
    t.rebound = S(sys.restitution(t.contact)) * t.speed;
    x.tail(dofs()) -= rows(t.contact).push * S(t.speed + t.rebound);
    return Outcome::ok;
  }
  const Eigen::Index n = static_cast<Eigen::Index>(touching_.size());
  Eigen::Matrix<P, D, Eigen::Dynamic> N(dofs(), n);
  Eigen::Matrix<S, Eigen::Dynamic, 1> q(n);
  for (Eigen::Index k = 0; k < n; ++k) {
    const Touching& t = touching_[static_cast<std::size_t>(k)];
    N.col(k) = normal(t.contact);
    q(k) = -(S(1) + S(sys.restitution(t.contact))) * t.speed;
  }
  const Eigen::Matrix<P, D, Eigen::Dynamic> response = sys.mass.inverse() * N;
  const Eigen::Matrix<P, Eigen::Dynamic, Eigen::Dynamic> G = N.transpose() * response;
  const auto carries = carrying_contacts(values_of(G), values_of(q));
  if (!carries) return Outcome::painleve;
  std::vector<Eigen::Index> set;
  for (Eigen::Index k = 0; k < n; ++k) {
    if ((*carries)[static_cast<std::size_t>(k)]) set.push_back(k);
  }
  const Eigen::Matrix<P, Eigen::Dynamic, Eigen::Dynamic> block = G(set, set);
  const Eigen::Matrix<P, Eigen::Dynamic, Eigen::Dynamic> inverse = block.inverse();
  const Eigen::Matrix<S, Eigen::Dynamic, 1> impulse = -inverse.lazyProduct(q(set).eval());
  for (std::size_t k = 0; k < set.size(); ++k) {
    x.tail(dofs()) -= response.col(set[k]) * impulse(static_cast<Eigen::Index>(k));
  }
  for (std::size_t k = 0; k < touching_.size(); ++k) {
    Touching& t = touching_[k];
    t.rebound = (*carries)[k] ? S(sys.restitution(t.contact)) * t.speed : S(-approach(t.contact));
  }
  return Outcome::ok;
}

/// If the impacts of contact i from here on certainly accumulate at once: puts the body at rest there and
/// gives the rest of the system what it would have felt.
template <class S, class P, int D, int H, int C>
void LinearMotion<S, P, D, H, C>::complete_chatter(int i, Observer* observer) {
  const ContactRows<P, D, Z>& contact = rows(i);
  const Extended z = extended();
  const Rebound<S> rebound{touches_[static_cast<std::size_t>(i)].speed, S(carried_.system().restitution(i)),
                           dot(contact.pressing, z), dot(contact.rate, z), S(contact.damping)};
  if (!chatter_completes(rebound, rate_, tolerance_.chatter, tolerance_.turn)) return;
  const Eigen::VectorXd before = snapshot(observer);
  const S felt = chatter_gap_integral(rebound);
  x.tail(dofs()) -= contact.push * approach(i);
  x.head(dofs()) += contact.gap_to_position * felt;
  x.tail(dofs()) += contact.gap_to_velocity * felt;
  touches_[static_cast<std::size_t>(i)] = {};
  const double accumulation = value_of(time) + value_of(chatter_duration(rebound));
  tell(observer, EventKind::chatter_complete, i, before, accumulation);
  close(i, observer, accumulation);
}

/// Which of the contacts at rest stay closed.
template <class S, class P, int D, int H, int C>
Outcome LinearMotion<S, P, D, H, C>::settle(Observer* observer) {
  if (mode_ == 0 && resting_.empty()) return Outcome::ok;
  std::vector<int> candidates = std::move(resting_);
  resting_.clear();
  for (int j = 0; j < static_cast<int>(count()); ++j) {
    if (closed(j)) candidates.push_back(j);
  }
  const auto& sys = plain_.system();
  const Eigen::Index n = static_cast<Eigen::Index>(candidates.size());
  const Eigen::VectorXd z = values_of(extended());
  Eigen::MatrixXd N(dofs(), n);
  for (Eigen::Index k = 0; k < n; ++k) N.col(k) = sys.normal.col(candidates[static_cast<std::size_t>(k)]);
  const Eigen::MatrixXd G = N.transpose() * sys.mass.inverse() * N;
  const auto free = plain_.scan(0).mode.A.middleRows(dofs(), dofs());
  const Eigen::VectorXd pressing = N.transpose() * (free * z);
  const Eigen::VectorXd size = N.cwiseAbs().transpose() * (free.cwiseAbs() * z.cwiseAbs());
  const auto carries = carrying_contacts(G, -pressing);
  if (!carries) return Outcome::painleve;
  for (Eigen::Index k = 0; k < n; ++k) {
    const int i = candidates[static_cast<std::size_t>(k)];
    if (n == 1 && std::abs(pressing(k)) <= 1e-14 * size(k)) {
      decide_without_force(i, observer);
    } else if ((*carries)[static_cast<std::size_t>(k)]) {
      if (!closed(i)) close(i, observer, value_of(time));
    } else {
      open(i, 2, observer);
    }
  }
  for (int i = 0; i < static_cast<int>(count()); ++i) {
    if (closed(i)) put_on(i);
  }
  return Outcome::ok;
}

/// A contact at rest on which no force acts: it closes when the force is about to press.
template <class S, class P, int D, int H, int C>
void LinearMotion<S, P, D, H, C>::decide_without_force(int i, Observer* observer) {
  const std::int64_t others = mode_ & ~(std::int64_t{1} << i);
  const auto& row = plain_.scan(others).mode.contacts[static_cast<std::size_t>(i)].rate;
  if (row.dot(values_of(extended())) > 0) {
    if (!closed(i)) close(i, observer, value_of(time));
    touches_[static_cast<std::size_t>(i)] = {1, S(0)};
  } else {
    open(i, 3, observer);
  }
}

template <class S, class P, int D, int H, int C>
void LinearMotion<S, P, D, H, C>::close(int i, Observer* observer, double event_time) {
  mode_ |= std::int64_t{1} << i;
  const Eigen::VectorXd now = snapshot(observer);
  tell(observer, EventKind::stick, i, now, event_time);
}

template <class S, class P, int D, int H, int C>
void LinearMotion<S, P, D, H, C>::open(int i, int order, Observer* observer) {
  touches_[static_cast<std::size_t>(i)] = {order, S(0)};
  if (!closed(i)) return;
  mode_ &= ~(std::int64_t{1} << i);
  const Eigen::VectorXd now = snapshot(observer);
  tell(observer, EventKind::release, i, now, value_of(time));
}

template <class S, class P, int D, int H, int C>
void LinearMotion<S, P, D, H, C>::tell(Observer* observer, EventKind kind, int contact,
                                       const Eigen::VectorXd& before, double event_time, double speed) const {
  if (observer == nullptr) return;
  const Eigen::VectorXd after = snapshot(observer);
  Event event;
  event.time = absolute(event_time);
  event.kind = kind;
  event.contact = contact;
  event.approach_speed = speed;
  event.before = {before.data(), static_cast<std::size_t>(before.size())};
  event.after = {after.data(), static_cast<std::size_t>(after.size())};
  observer->event(event);
}

}  // namespace graze
