/// The motion of a linear system with stops and dry friction: exact flow between the instants of
/// core/contact/newton_contacts, friction_contacts and compliant_contacts.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/contact/compliant_contacts.hpp"
#include "core/contact/contact_loads.hpp"
#include "core/contact/friction_contacts.hpp"
#include "core/contact/friction_mode.hpp"
#include "core/contact/newton_contacts.hpp"
#include "core/linear/dynamics.hpp"
#include "core/linear/flow.hpp"
#include "core/linear/mode.hpp"
#include "core/linear/system.hpp"
#include "core/linear/vanishing_friction.hpp"
#include "core/math/dual.hpp"
#include "core/math/root_search.hpp"

namespace graze {

/// What decides at an instant; without frictions or compliant stops nothing of theirs is compiled in.
template <class Motion, class S, int Dofs, int Contacts, int Frictions>
using LinearRules = std::conditional_t<
    may_comply<Contacts>, CompliantContacts<Motion, S, Eigen::Matrix<S, state_size<Dofs>, 1>>,
    std::conditional_t<Frictions == 0, NewtonContacts<Motion, S, Eigen::Matrix<S, state_size<Dofs>, 1>>,
                       FrictionContacts<Motion, S, Eigen::Matrix<S, state_size<Dofs>, 1>>>>;

/// cos Ω_j t, then sin Ω_j t.
template <class S, class P, int D, int H, int C, int F>
Eigen::Matrix<S, H == Eigen::Dynamic ? H : 2 * H, 1> forcing_phases(const LinearSystem<P, D, H, C, F>& system,
                                                                    const S& time) {
  using std::cos;
  using std::sin;
  const Eigen::Index h = system.frequency.size();
  Eigen::Matrix<S, H == Eigen::Dynamic ? H : 2 * H, 1> phases(2 * h);
  for (Eigen::Index j = 0; j < h; ++j) {
    const S phase = S(system.frequency(j)) * time;
    phases(j) = cos(phase);
    phases(h + j) = sin(phase);
  }
  return phases;
}

/// One moving point. `S` is the scalar of the state, `P` of the parameters (double with plain or dual S; or
/// both the same dual).
template <class S, class P, int Dofs, int Harmonics, int Contacts, int Frictions = 0>
class LinearMotion : public LinearRules<LinearMotion<S, P, Dofs, Harmonics, Contacts, Frictions>, S, Dofs,
                                        Contacts, Frictions> {
 public:
  using Mode = LinearMode<P, Dofs, Harmonics, Contacts, Frictions>;
  using Rules = LinearRules<LinearMotion, S, Dofs, Contacts, Frictions>;
  using Rubbing = FrictionContacts<LinearMotion, S, Eigen::Matrix<S, Mode::X, 1>>;
  using Contact = NewtonContacts<LinearMotion, S, Eigen::Matrix<S, Mode::X, 1>>;
  using Loop = typename Rules::Loop;
  using Plain = LinearDynamics<double, Dofs, Harmonics, Contacts, Frictions>;
  using Carried = LinearDynamics<P, Dofs, Harmonics, Contacts, Frictions>;
  static constexpr int Z = Mode::Z;
  static constexpr int Phases = Harmonics == Eigen::Dynamic ? Eigen::Dynamic : 2 * Harmonics;
  using Extended = Eigen::Matrix<S, Z, 1>;
  using TaylorRows = typename Mode::TaylorRows;
  using Loop::time;
  using Loop::x;

  using Vanishing = VanishingAmplitudes<S, Dofs, Harmonics, Contacts, Frictions>;

  /// `plain` finds the events, `carried` carries the state through them (the same object when P is double).
  LinearMotion(Plain& plain, Carried& carried, const Tolerance& tolerance, double rate,
               const Vanishing* vanishing = nullptr, std::vector<Crossing>* found = nullptr)
      : Rules(tolerance),
        plain_(plain),
        carried_(carried),
        rate_(rate),
        vanishing_(vanishing),
        found_(found) {}

  /// Inside, positions come first and velocities after them; outside, each position is followed by its
  /// velocity: entry i outside is entry inner(i) inside. Plates come last.
  static Eigen::Index inner(Eigen::Index outer, Eigen::Index dofs) {
    return outer < 2 * dofs ? outer / 2 + (outer % 2) * dofs : outer;
  }

 private:
  friend Loop;
  friend Rules;
  friend Rubbing;
  friend Contact;
  using Loop::closed;
  using Loop::mode_;
  using Loop::on_level_;
  using Loop::search_guard;
  using Loop::search_level;
  using Loop::slopes_of;
  using Loop::touches_;
  using Loop::watch_gap;
  using typename Loop::ExactTouch;

  S period() const { return S(carried_.period()); }
  bool commensurate() const { return carried_.system().commensurate; }
  double fastest_rate() const { return rate_; }
  /// Engaged stops may be faster than all else.
  double rate_now() { return layout().springs == 0 ? rate_ : std::max(rate_, 1 / plain_.mode(mode_).cell); }

  int count() const { return static_cast<int>(plain_.system().position.size()); }
  Eigen::Index dofs() const { return plain_.system().mass.rows(); }
  auto velocities() { return x.segment(dofs(), dofs()); }
  auto velocities() const { return x.segment(dofs(), dofs()); }
  bool exists(int i) const {
    return std::isfinite(plain_.system().position(i)) && !plain_.system().compliant(i);
  }
  bool has_gap(int i) const {
    return std::isfinite(plain_.system().position(i)) && !closed(i) &&
           layout().spring(mode_, i) == Spring::open;
  }
  bool reaches(int) const { return true; }
  void pass_by(int) {}
  bool any_closed() const { return mode_ != 0; }
  bool any_rigid_closed() const { return (mode_ & ((std::int64_t{1} << count()) - 1)) != 0; }
  bool tells_idle() const { return layout().tells_idle(); }
  bool idle(int i) const { return layout().idle(mode_, i); }
  void set_idle(int i, bool idle) {
    if (tells_idle()) mode_ = layout().with_idle(mode_, i, idle);
  }
  const ContactRows<P, Dofs, Z>& rows(int i) {
    return carried_.mode(mode_).contacts[static_cast<std::size_t>(i)];
  }
  /// Of contact i, with all of them open.
  const Eigen::Matrix<P, Dofs, 1>& push_alone(int i) {
    return carried_.mode(0).contacts[static_cast<std::size_t>(i)].push;
  }
  const FrictionRows<P, Dofs, Z>& friction_rows(int k) {
    return carried_.mode(mode_).frictions[static_cast<std::size_t>(k)];
  }
  auto normal(int i) const { return carried_.system().normal.col(i); }

  Extended extended();
  Eigen::Matrix<double, Z, 1> extended_values();
  void set_phases();
  typename Loop::OuterState outer_state() const {
    typename Loop::OuterState y(x.size());
    for (Eigen::Index i = 0; i < x.size(); ++i) y(i) = value_of(x(inner(i, dofs())));
    return y;
  }
  void move(const Crossing& c);
  void drift(const S& shift);
  void drift_time(const S& shift) { drift(shift); }
  S guard(int k);
  S dot(const Eigen::Matrix<P, 1, Z>& row, const Extended& z) const { return product(row, z); }
  /// Speed at which gap i closes, of a plate the one that goes back.
  S approach(int i) const {
    const S speed = normal(i).dot(velocities());
    if constexpr (may_comply<Contacts>) {
      if (has_plate(i)) return speed + S(carried_.system().relaxation(i)) * plate(i);
    }
    return speed;
  }
  S gap(int i) const {
    const S gap = S(carried_.system().position(i)) - normal(i).dot(x.head(dofs()));
    return has_plate(i) ? S(gap + plate(i)) : gap;
  }
  double reach(int i) const;
  double length() const { return size_of(x.head(dofs())); }
  double speed() const { return size_of(velocities()); }
  template <class Vector>
  static double size_of(const Vector& v) {
    return v.unaryExpr([](const S& a) { return std::abs(value_of(a)); }).maxCoeff();
  }
  S restitution(int i) const { return S(carried_.system().restitution(i)); }
  /// What rests would creep by rounding: 1e-14 a period where friction holds a body against a spring.
  void rest_on_closed() {
    for (int i = 0; i < count(); ++i) {
      if (!closed(i)) continue;
      x.head(dofs()) += rows(i).push * gap(i);
      kick(i, approach(i));
    }
    for (int i = 0; i < static_cast<int>(layout().springs); ++i) {
      if (has_plate(i) && layout().spring(mode_, i) == Spring::engaged) x(plain_.system().plate(i)) -= gap(i);
    }
    if constexpr (Frictions != 0) {
      for (int k = 0; k < static_cast<int>(layout().frictions); ++k) {
        if (layout().sliding(mode_, k) != Sliding::stuck) continue;
        velocities() -= friction_rows(k).reaction.transpose() * sliding_speed(k);
      }
    }
  }
  void kick(int i, const S& speed) { velocities() -= rows(i).push * speed; }
  void strike(int i, const S& speed) { velocities() -= push_alone(i) * speed; }
  S response(int i, int j) { return S(normal(i).dot(push_alone(j))); }
  double pressing(int i) {
    const auto& row = plain_.mode(mode_).contacts[static_cast<std::size_t>(i)].pressing;
    return row.dot(extended_values());
  }
  Rebound<S> rebound(int i, const S& speed);
  void pass_on(int i, const S& integral);
  Onset onset(int guard, std::int64_t mode, int from);
  double guard_gain(int guard, std::int64_t mode) const;
  bool stays_at_zero(int k, std::span<const double> c) const;

  ModeLayout layout() const { return layout_of(plain_.system()); }
  /// The compliant stop that friction k is on; -1: none.
  int friction_stop(int k) const { return plain_.system().stop_of(k); }
  bool rubs(int k) const {
    const int i = friction_stop(k);
    return i >= 0 ? layout().spring(mode_, i) == Spring::engaged : plain_.system().friction(k) > 0;
  }
  S friction_limit(int k) const {
    const S limit(carried_.system().friction(k));
    if constexpr (may_comply<Contacts>) {
      if (const int i = friction_stop(k); i >= 0) {
        const auto& sys = carried_.system();
        const S force =
            S(sys.preload(i)) - S(sys.stop_stiffness(i)) * gap(i) + S(sys.stop_damping(i)) * approach(i);
        return force > S(0) ? S(limit * force) : S(0);
      }
    }
    return limit;
  }
  double limit(int k) const { return value_of(friction_limit(k)); }
  double limit_rate(int k) {
    if constexpr (may_comply<Contacts>) {
      if (const int i = friction_stop(k); i >= 0) {
        const Eigen::VectorXd normal = plain_.system().normal.col(i);
        const Eigen::VectorXd accelerations =
            plain_.mode(mode_).A.middleRows(dofs(), dofs()) * extended_values();
        return plain_.system().friction(k) * (stop_stiffness(i) * normal.dot(values_of(velocities())) +
                                              stop_damping(i) * normal.dot(accelerations));
      }
    }
    return 0;
  }
  static constexpr bool eases(int) { return false; }
  S sliding_speed(int k) const { return carried_.system().sliding.col(k).dot(velocities()); }
  bool held(int k) { return friction_rows(k).held; }
  bool of_force(int guard) const;

  bool compliant(int i) const {
    return plain_.system().compliant(i) && std::isfinite(plain_.system().position(i));
  }
  bool releases_by_gap(int i) const { return plain_.system().law_of(i) == StopLaw::release_by_gap; }
  bool has_plate(int i) const { return plain_.system().has_plate(i); }
  bool watches_depth(int i) const { return preload(i) > 0; }
  static constexpr void begin_force(int) {}
  const S& plate(int i) const { return x(plain_.system().plate(i)); }
  double preload(int i) const { return plain_.system().preload(i); }
  double stop_stiffness(int i) const { return plain_.system().stop_stiffness(i); }
  double stop_damping(int i) const { return plain_.system().stop_damping(i); }
  double stop_force(int i) const {
    return preload(i) - stop_stiffness(i) * value_of(gap(i)) + stop_damping(i) * value_of(approach(i));
  }
  double inward(int i) {
    const auto accelerations = (plain_.mode(mode_).A.middleRows(dofs(), dofs()) * extended_values()).eval();
    const double body = plain_.system().normal.col(i).dot(accelerations);
    if (!has_plate(i)) return body;
    const double rate = plain_.system().relaxation(i);
    return body - rate * rate * value_of(plate(i));
  }
  void take_gap(int i) {
    const S rest(value_of(gap(i)));
    if (has_plate(i)) {
      x(plain_.system().plate(i)) -= rest;
    } else {
      x.head(dofs()) += values_of(rows(i).push) * rest;
    }
  }
  RestProblem rest_problem(const std::vector<int>& contacts, const std::vector<int>& frictions);
  Eigen::MatrixXd rest_directions(const std::vector<int>& contacts, const std::vector<int>& frictions) const;
  void stop_sliding(const std::vector<int>& contacts, const std::vector<int>& frictions);
  void add_friction(int i, Rebound<S>& rebound);
  bool holds_also(const Eigen::Matrix<double, Dofs, 1>& change);
  void add_vanishing_friction(const Crossing& c);
  void add_vanishing_friction(int i, Rebound<S>& rebound);
  void add_vanishing_friction(int guard, S& value);

  Crossing search(double horizon, const Section& section, Observer* observer);
  void search_guards(Crossing& first, bool fresh);
  void watch(Observer& observer, const Crossing& c);
  using StateTerms = Eigen::Matrix<double, Mode::X, taylor_terms>;
  StateTerms state_terms() const;
  void tell_loads(Observer& observer, double begin, double end);
  void tell_piece(Observer& observer, double begin, double end);

  void put_on(int i);

  Plain& plain_;
  Carried& carried_;
  double rate_;
  const Vanishing* vanishing_;
  std::vector<Crossing>* found_;  ///< by other motions of the same values; this one goes on with the list
  std::size_t searches_ = 0;      ///< so many of this motion
  bool touched_ = false;          ///< some contact has been left at the start of this arc
  LinearFlow<Dofs, Harmonics, guard_count<Contacts, Frictions>> flow_;
  Extended arc_start_;
  Eigen::Matrix<S, Phases, 1> phases_;  ///< cos Ω_j t, then sin Ω_j t, at …
  S phases_at_{std::numeric_limits<double>::quiet_NaN()};
};

template <class S, class P, int D, int H, int C, int F>
void LinearMotion<S, P, D, H, C, F>::set_phases() {
  if (identical(phases_at_, time)) return;
  phases_at_ = time;
  phases_ = forcing_phases(carried_.system(), time);
}

/// z without its derivatives.
template <class S, class P, int D, int H, int C, int F>
auto LinearMotion<S, P, D, H, C, F>::extended_values() -> Eigen::Matrix<double, Z, 1> {
  set_phases();
  Eigen::Matrix<double, Z, 1> z(x.size() + phases_.size() + 1);
  z << values_of(x), values_of(phases_), 1;
  return z;
}

template <class S, class P, int D, int H, int C, int F>
auto LinearMotion<S, P, D, H, C, F>::extended() -> Extended {
  set_phases();
  Extended z(x.size() + phases_.size() + 1);
  z << x, phases_, S(1);
  return z;
}

/// To the place of a crossing.
template <class S, class P, int D, int H, int C, int F>
void LinearMotion<S, P, D, H, C, F>::move(const Crossing& c) {
  const Mode& mode = carried_.mode(mode_);
  if (c.cell > 0 || c.fraction > 0) std::fill(touches_.begin(), touches_.end(), ExactTouch{});
  on_level_ = false;
  if constexpr (std::is_same_v<S, double>) {
    // From the nearer end of the cell: fewer terms.
    x = c.fraction > 0.5 ? within_cell(mode, flow_.next_z(), c.fraction - 1)
                         : within_cell(mode, flow_.z(), c.fraction);
  } else {
    const long whole = c.fraction > 0.5 ? 1 : 0;
    x = within_cell(mode, after_cells(mode, arc_start_, c.cell + whole),
                    c.fraction - static_cast<double>(whole));
    if constexpr (may_rub<D, F>) add_vanishing_friction(c);
  }
  time += S((static_cast<double>(c.cell) + c.fraction) * mode.cell);
}

/// A shift of time of value zero: what the derivatives of an instant do to the state there.
template <class S, class P, int D, int H, int C, int F>
void LinearMotion<S, P, D, H, C, F>::drift(const S& shift) {
  add_rate(carried_.mode(mode_), extended_values(), shift, x);
  time += shift;
}

template <class S, class P, int D, int H, int C, int F>
double LinearMotion<S, P, D, H, C, F>::reach(int i) const {
  const double size = normal(i)
                          .unaryExpr([](const P& a) { return std::abs(value_of(a)); })
                          .dot(x.head(dofs()).unaryExpr([](const S& a) { return std::abs(value_of(a)); }));
  return std::abs(value_of(carried_.system().position(i))) + size;
}

/// The first crossing on the arc from here within `horizon`; kind none: where the horizon lies.
template <class S, class P, int D, int H, int C, int F>
Crossing LinearMotion<S, P, D, H, C, F>::search(double horizon, const Section& section, Observer* observer) {
  arc_start_ = extended();
  if (found_ != nullptr && searches_ < found_->size()) return (*found_)[searches_++];
  const auto& scan = plain_.scan(mode_);
  const double cell = scan.mode.cell;
  touched_ = std::any_of(touches_.begin(), touches_.end(), [](const ExactTouch& t) { return t.order > 0; });
  if constexpr (std::is_same_v<S, double>) {
    flow_.start(scan.guards, arc_start_);
  } else {
    flow_.start(scan.guards, values_of(arc_start_));
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
    if (observer != nullptr) watch(*observer, first);
    if (first.kind != Crossing::Kind::none || last) {
      if (found_ != nullptr) {
        found_->push_back(first);
        ++searches_;
      }
      return first;
    }
    flow_.next();
  }
}

template <class S, class P, int D, int H, int C, int F>
S LinearMotion<S, P, D, H, C, F>::guard(int k) {
  S value = dot(carried_.mode(mode_).guard(static_cast<std::size_t>(k)), extended());
  if constexpr (may_rub<D, F>) add_vanishing_friction(k, value);
  return value;
}

/// The first guard at zero on this cell; `fresh`: some may just have been left.
template <class S, class P, int D, int H, int C, int F>
void LinearMotion<S, P, D, H, C, F>::search_guards(Crossing& first, bool fresh) {
  const double cell = plain_.scan(mode_).mode.cell;
  const int guards = static_cast<int>(layout().guards());
  for (int guard = 0; guard < guards; ++guard) {
    const ExactTouch touch = fresh ? touches_[static_cast<std::size_t>(guard)] : ExactTouch{};
    if (touch.order == 0 && flow_.clear(guard)) continue;
    auto c = flow_.coefficients(guard);
    search_guard(guard, c, touch, cell, first);
  }
}

/// Reports what the open gaps do on this cell up to the crossing.
template <class S, class P, int D, int H, int C, int F>
void LinearMotion<S, P, D, H, C, F>::watch(Observer& observer, const Crossing& c) {
  const double end = c.fraction;
  const double cell = plain_.scan(mode_).mode.cell;
  const double begin = value_of(time) + static_cast<double>(flow_.cell()) * cell;
  const bool at_an_end = flow_.cell() == 0 || c.kind != Crossing::Kind::none;
  for (int i = 0; observer.follows_gaps() && i < count(); ++i) {
    const bool falls = flow_.slope(i) < 0;
    const bool turns = falls != (flow_.next_slope(i) < 0) || falls != (flow_.middle_slope(i) < 0);
    // Where the gap may be small, or turns just where an arc begins or ends, the cell is looked into at any
    // rate: it may end before a gap turns back.
    if (!has_gap(i)) continue;
    if (!turns && flow_.clear(i) && !at_an_end) continue;
    watch_gap(observer, i, flow_.coefficients(i), EvenClock{begin, cell}, c);
  }
  if constexpr (may_comply<C>) {
    if (layout().springs_of(mode_) != 0) tell_loads(observer, begin, end);
  }
  if (observer.follows_pieces()) tell_piece(observer, begin, end);
}

/// The states on this cell as polynomials, in the engine's own order.
template <class S, class P, int D, int H, int C, int F>
auto LinearMotion<S, P, D, H, C, F>::state_terms() const -> StateTerms {
  const auto& mode = plain_.scan(mode_).mode;
  StateTerms terms(x.size(), taylor_terms);
  for (int k = 0; k < taylor_terms; ++k) terms.col(k) = mode.taylor[static_cast<std::size_t>(k)] * flow_.z();
  return terms;
}

/// What engaged stops do on this cell up to the fraction `end`.
template <class S, class P, int D, int H, int C, int F>
void LinearMotion<S, P, D, H, C, F>::tell_loads(Observer& observer, double begin, double end) {
  const auto& system = plain_.system();
  const StateTerms terms = state_terms();
  const auto part = [&](const Eigen::Matrix<double, 1, taylor_terms>& c) {
    return polynomial_part({c.data(), c.data() + taylor_terms}, 0, end);
  };
  const auto along = [&](const auto& direction, Eigen::Index from) {
    return part(direction.transpose() * terms.middleRows(from, dofs()));
  };
  for (int i = 0; i < count(); ++i) {
    if (closed(i) || layout().spring(mode_, i) != Spring::engaged) continue;
    const auto normal = system.normal.col(i);
    LoadPiece piece;
    piece.depth = along(normal, 0);
    piece.depth[0] -= system.position(i);
    piece.rate = along(normal, dofs());
    for (std::size_t k = 0; k < piece.depth.size(); ++k) {
      piece.damping.push_back(stop_damping(i) * piece.rate[k]);
      piece.force.push_back(stop_stiffness(i) * piece.depth[k] + piece.damping[k]);
    }
    piece.force[0] += preload(i);
    piece.begin = this->absolute(begin);
    piece.duration = end * plain_.scan(mode_).mode.cell;
    const auto push = (plain_.mode(0).admissible * normal).eval();
    ContactLoad load;
    load.contact = i;
    load.normal_mobility = push.dot(normal);
    for (int k = 0; k < static_cast<int>(layout().frictions); ++k) {
      if (friction_stop(k) != i || !rubs(k)) continue;
      const auto direction = system.sliding.col(k);
      const Sliding sliding = layout().sliding(mode_, k);
      piece.slip = along(direction, dofs());
      load.slip = at_bound(sliding) ? static_cast<int>(sign_of(sliding)) : 0;
      load.slip_speed = piece.slip[0];
      load.friction = load.static_friction = system.friction(k);
      piece.friction = piece.force;
      for (double& c : piece.friction) c *= load.friction * load.slip;
      load.cross_mobility = -push.dot(direction);
      load.tangential_mobility = direction.dot(plain_.mode(0).admissible * direction);
    }
    add_loads(piece, load);
    observer.load(load);
  }
}

/// This cell up to the fraction `end`.
template <class S, class P, int D, int H, int C, int F>
void LinearMotion<S, P, D, H, C, F>::tell_piece(Observer& observer, double begin, double end) {
  const StateTerms terms = state_terms();
  MotionPiece piece;
  piece.mode = mode_;
  piece.terms = taylor_terms;
  piece.end = end;
  piece.coefficients.assign(static_cast<std::size_t>(1 + x.size()) * piece.terms, 0);
  piece.coefficients[0] = this->absolute(begin);
  piece.coefficients[1] = plain_.scan(mode_).mode.cell;
  for (std::size_t k = 0; k < piece.terms; ++k) {
    for (Eigen::Index i = 0; i < x.size(); ++i)
      piece.coefficients[static_cast<std::size_t>(1 + i) * piece.terms + k] =
          terms(inner(i, dofs()), static_cast<Eigen::Index>(k));
  }
  observer.piece(piece);
}

/// Exactly onto contact i: what rounding left of the gap goes, along the contact's own push.
template <class S, class P, int D, int H, int C, int F>
void LinearMotion<S, P, D, H, C, F>::put_on(int i) {
  for (int pass = 0; pass < 2; ++pass) x.head(dofs()) += rows(i).push * gap(i);
}

template <class S, class P, int D, int H, int C, int F>
Rebound<S> LinearMotion<S, P, D, H, C, F>::rebound(int i, const S& speed) {
  const ContactRows<P, D, Z>& contact = rows(i);
  const Extended z = extended();
  Rebound<S> rebound{speed, restitution(i), dot(contact.pressing, z), dot(contact.rate, z),
                     S(contact.damping)};
  if constexpr (F != 0) add_friction(i, rebound);
  if constexpr (may_rub<D, F>) add_vanishing_friction(i, rebound);
  return rebound;
}

/// Whether forces along `a` and along `b` move what `admissible` leaves free in one and the same way: then
/// the speeds along them turn together too.
template <class Square, class A, class B>
bool move_alike(const Square& admissible, const A& a, const B& b) {
  const auto response = (admissible * b).eval();
  const double overlap = a.dot(response);
  const double longest = a.dot(admissible * a) * b.dot(response);
  return longest > 0 && std::abs(overlap * overlap - longest) <= 1e-14 * longest;
}

/// Whether all that is held stays so when the forces on the coordinates change by this.
template <class S, class P, int D, int H, int C, int F>
bool LinearMotion<S, P, D, H, C, F>::holds_also(const Eigen::Matrix<double, D, 1>& change) {
  const auto& mode = plain_.mode(mode_);
  const auto z = extended_values();
  const auto stays = [](double now, double more) { return now > 0 && now + more > 0; };
  for (int i = 0; i < count(); ++i) {
    if (!layout().carries(mode_, i)) continue;
    const auto& contact = mode.contacts[static_cast<std::size_t>(i)];
    if (!stays(contact.guard.dot(z), contact.reaction.dot(change))) return false;
  }
  for (int k = 0; k < static_cast<int>(layout().frictions); ++k) {
    if (layout().sliding(mode_, k) != Sliding::stuck) continue;
    const auto& friction = mode.frictions[static_cast<std::size_t>(k)];
    const double more = friction.reaction.dot(change);
    if (!stays(friction.guard[0].dot(z), -more) || !stays(friction.guard[1].dot(z), more)) return false;
  }
  return true;
}

/// What frictions do while contact i chatters. Those that turn with the body's own velocity, because all else
/// that they act on is held whichever way they point, brake it on both ways; one that slides faster than the
/// chatter can turn is a constant force.
template <class S, class P, int D, int H, int C, int F>
void LinearMotion<S, P, D, H, C, F>::add_friction(int i, Rebound<S>& rebound) {
  const ContactRows<P, D, Z>& contact = rows(i);
  const double v = value_of(rebound.speed);
  const double duration = 2 * v / ((1 - value_of(rebound.restitution)) * value_of(rebound.pressing));
  const auto& mode = plain_.mode(mode_);
  const auto& system = plain_.system();
  const auto acceleration = (mode.A.middleRows(dofs(), dofs()) * extended_values()).eval();
  std::vector<int> brakes;
  Eigen::Matrix<double, D, 1> change = Eigen::Matrix<double, D, 1>::Zero(dofs());  // when they turn
  for (int k = 0; k < static_cast<int>(layout().frictions); ++k) {
    const Sliding sliding = layout().sliding(mode_, k);
    if (!at_bound(sliding)) continue;
    const auto along = system.sliding.col(k);
    if (move_alike(mode.admissible, along, system.normal.col(i))) {
      brakes.push_back(k);
      change += along * (2 * limit(k) * sign_of(sliding));
      continue;
    }
    const Eigen::Matrix<double, D, 1> push = values_of(contact.push);
    const double turn = along.dot(push);  // of the sliding speed with the body
    if (std::abs(turn) <= 1e-12 * along.norm() * push.norm()) continue;
    const double s = value_of(sliding_speed(k)) + turn * v;  // once the body rests
    const double least = 4 * std::abs(turn) * v + std::abs(along.dot(acceleration)) * duration;
    if (!(std::abs(s) > least)) rebound.steady = false;
  }
  if (!brakes.empty() && !holds_also(change)) {
    rebound.steady = false;
    return;
  }
  for (const int k : brakes) {
    const P share = carried_.system().sliding.col(k).dot(contact.push);
    const S brake = friction_limit(k) * S(contact.mobility * (share < P(0) ? -share : share));
    rebound.friction += brake;
    rebound.pressing -= brake;  // which counts it as the body leaves
  }
}

/// What frictions that vanish have done up to a crossing.
template <class S, class P, int D, int H, int C, int F>
void LinearMotion<S, P, D, H, C, F>::add_vanishing_friction(const Crossing& c) {
  if (vanishing_ == nullptr) return;
  const auto& pushed =
      vanishing_->friction->over(mode_, values_of(arc_start_), c.cell, c.fraction, vanishing_->which);
  for (std::size_t k = 0; k < vanishing_->which.size(); ++k) {
    x += pushed[vanishing_->which[k]] * vanishing_->amplitude[k];
  }
}

/// What they do while contact i chatters: those on the body brake it, the others are constant forces.
template <class S, class P, int D, int H, int C, int F>
void LinearMotion<S, P, D, H, C, F>::add_vanishing_friction(int i, Rebound<S>& rebound) {
  if (vanishing_ == nullptr) return;
  const auto& mode = plain_.mode(mode_);
  const Eigen::Matrix<double, D, 1> n = plain_.system().normal.col(i);
  const Eigen::Matrix<double, D, 1> response = mode.admissible * n;
  for (std::size_t j = 0; j < vanishing_->which.size(); ++j) {
    const std::size_t k = vanishing_->which[j];
    const auto along = vanishing_->friction->direction(k);
    const double push = along.dot(response);
    if (move_alike(mode.admissible, along, n)) {
      rebound.friction += std::abs(push) * vanishing_->amplitude[j];
    } else {
      const double sign = vanishing_->friction->sign(mode_, k, values_of(velocities()), -response);
      rebound.pressing -= sign * push * vanishing_->amplitude[j];
    }
  }
}

/// On the force of a closed contact or of a friction that sticks: against the motion when it is used up.
template <class S, class P, int D, int H, int C, int F>
void LinearMotion<S, P, D, H, C, F>::add_vanishing_friction(int guard, S& value) {
  if (vanishing_ == nullptr) return;
  const auto& mode = plain_.mode(mode_);
  Eigen::Matrix<double, 1, D> reaction = Eigen::Matrix<double, 1, D>::Zero(dofs());  // of the guard
  Eigen::Matrix<double, D, 1> leaving = Eigen::Matrix<double, D, 1>::Zero(dofs());   // the acceleration
  const int second = static_cast<int>(layout().second_guard(0));
  if (guard < count() || guard >= second) {
    const int i = guard < count() ? guard : guard - second;
    if (!layout().carries(mode_, i)) return;
    const double side = guard < count() ? 1 : -1;
    reaction = side * mode.contacts[static_cast<std::size_t>(i)].reaction;
    leaving =
        -side * (plain_.mode(mode_ & ~(std::int64_t{1} << i)).admissible * plain_.system().normal.col(i));
  } else if constexpr (F != 0) {
    const int j = (guard - count()) / 2;
    if (layout().sliding(mode_, j) != Sliding::stuck) return;
    const bool forward = (guard - count()) % 2 == 0;
    const std::int64_t after = layout().with(mode_, j, forward ? Sliding::forward : Sliding::backward);
    const double side = forward ? 1 : -1;
    reaction = -side * mode.frictions[static_cast<std::size_t>(j)].reaction;
    leaving = side * (plain_.mode(after).admissible * plain_.system().sliding.col(j));
  }
  for (std::size_t j = 0; j < vanishing_->which.size(); ++j) {
    const std::size_t k = vanishing_->which[j];
    const double sign = vanishing_->friction->sign(mode_, k, values_of(velocities()), leaving);
    value -= sign * reaction.dot(vanishing_->friction->direction(k)) * vanishing_->amplitude[j];
  }
}

/// Of these contacts and frictions, in columns.
template <class S, class P, int D, int H, int C, int F>
Eigen::MatrixXd LinearMotion<S, P, D, H, C, F>::rest_directions(const std::vector<int>& contacts,
                                                                const std::vector<int>& frictions) const {
  const auto& sys = plain_.system();
  Eigen::MatrixXd columns(dofs(), static_cast<Eigen::Index>(contacts.size() + frictions.size()));
  Eigen::Index column = 0;
  for (const int i : contacts) columns.col(column++) = sys.normal.col(i);
  for (const int k : frictions) columns.col(column++) = sys.sliding.col(k);
  return columns;
}

/// With these contacts and frictions at rest.
template <class S, class P, int D, int H, int C, int F>
RestProblem LinearMotion<S, P, D, H, C, F>::rest_problem(const std::vector<int>& contacts,
                                                         const std::vector<int>& frictions) {
  const auto& sys = plain_.system();
  const Eigen::Index n = dofs();
  using Coordinates = Eigen::Matrix<double, D, 1>;
  const Coordinates q = values_of(x.head(n));
  const Coordinates v = values_of(x.segment(n, n));
  const ActingForces<double, D> acting(sys, mode_, frictions);
  Coordinates force = acting.constant - acting.stiffness * q - acting.damping * v;
  Coordinates force_size = acting.constant.cwiseAbs() + acting.stiffness.cwiseAbs() * q.cwiseAbs() +
                           acting.damping.cwiseAbs() * v.cwiseAbs();
  Coordinates force_rate = -acting.stiffness * v;  // but for −C q''
  for (Eigen::Index j = 0; j < sys.frequency.size(); ++j) {
    const double phase = sys.frequency(j) * value_of(time);
    force += sys.cosine.col(j) * std::cos(phase) + sys.sine.col(j) * std::sin(phase);
    force_size += sys.cosine.col(j).cwiseAbs() + sys.sine.col(j).cwiseAbs();
    force_rate +=
        (sys.sine.col(j) * std::cos(phase) - sys.cosine.col(j) * std::sin(phase)) * sys.frequency(j);
  }
  for (Eigen::Index k = 0; k < sys.friction.size(); ++k) {
    force_size += sys.sliding.col(k).cwiseAbs() * limit(static_cast<int>(k));
    const bool rests = std::find(frictions.begin(), frictions.end(), k) != frictions.end();
    const Sliding sliding = layout().sliding(mode_, k);
    if (!rests && at_bound(sliding) && sys.stop_of(k) < 0)
      force -= sys.sliding.col(k) * (sys.friction(k) * sign_of(sliding));
  }
  Eigen::MatrixXd columns = rest_directions(contacts, frictions);
  const Eigen::Index count = columns.cols();
  const Eigen::Matrix<double, D, D> inverse_mass = inverse_of(sys.mass);
  Eigen::MatrixXd response = columns.transpose() * inverse_mass;
  RestProblem p(count);
  p.response = response * columns;
  p.opening = -response * force;
  p.size = response.cwiseAbs() * force_size;
  const Eigen::Index m = static_cast<Eigen::Index>(contacts.size());
  Eigen::VectorXd bound_rate = Eigen::VectorXd::Zero(count);
  for (Eigen::Index k = m; k < count; ++k)
    bound_rate(k) = limit_rate(frictions[static_cast<std::size_t>(k - m)]);
  p.rates = [columns = std::move(columns), response = std::move(response), bound_rate = std::move(bound_rate),
             inverse_mass, force, force_rate, damping = acting.damping](const Eigen::VectorXd& holding) {
    const Coordinates acceleration = inverse_mass * (force - columns * holding);
    return RestProblem::Rates{-response * (force_rate - damping * acceleration), -bound_rate, bound_rate};
  };
  for (Eigen::Index k = 0; k < m; ++k) {
    p.most(k) = std::numeric_limits<double>::infinity();
    if constexpr (may_comply<C>) {
      const int i = contacts[static_cast<std::size_t>(k)];
      if (sys.compliant(i)) p.most(k) = sys.preload(i) * (1 + static_margin);
    }
  }
  for (Eigen::Index k = m; k < count; ++k) {
    const int friction = frictions[static_cast<std::size_t>(k - m)];
    p.most(k) = limit(friction) * (1 + static_margin);
    p.least(k) = -p.most(k);
  }
  return p;
}

/// Each along its own direction, what already rests staying so.
template <class S, class P, int D, int H, int C, int F>
void LinearMotion<S, P, D, H, C, F>::stop_sliding(const std::vector<int>& contacts,
                                                  const std::vector<int>& frictions) {
  using Direction = Eigen::Matrix<double, D, 1>;
  using Square = Eigen::Matrix<double, D, D>;
  const auto& sys = plain_.system();
  const Square inverse_mass = inverse_of(sys.mass);
  Square admissible = inverse_mass;
  const auto hold = [&](const Direction& along, const S* speed) {
    const Direction direction = admissible * along;
    const double mobility = along.dot(direction);
    if (mobility <= 1e-11 * along.dot(inverse_mass * along)) return;
    const Direction push = direction / mobility;
    for (Eigen::Index i = 0; speed != nullptr && i < dofs(); ++i) x(dofs() + i) -= *speed * push(i);
    admissible -= push * (along.transpose() * admissible).eval();
  };
  for (const int i : contacts) hold(sys.normal.col(i), nullptr);
  for (const int k : frictions) {
    const S speed = sliding_speed(k);
    hold(sys.sliding.col(k), &speed);
  }
}

template <class S, class P, int D, int H, int C, int F>
void LinearMotion<S, P, D, H, C, F>::pass_on(int i, const S& integral) {
  x.head(dofs()) += rows(i).gap_to_position * integral;
  velocities() += rows(i).gap_to_velocity * integral;
}

template <class S, class P, int D, int H, int C, int F>
Onset LinearMotion<S, P, D, H, C, F>::onset(int guard, std::int64_t mode, int from) {
  const auto& scan = plain_.scan(mode);
  const TaylorRows& rows = scan.guards.taylor[static_cast<std::size_t>(guard)];
  const Eigen::Matrix<double, Z, 1> z = extended_values();
  const Eigen::Matrix<double, taylor_terms, 1> terms = rows * z;
  const Eigen::Matrix<double, taylor_terms, 1> sizes = rows.cwiseAbs() * z.cwiseAbs();
  // Where terms cancel in the rows already, these do not tell what they were: accelerations do, here and
  // within a cell.
  const double cell = scan.mode.cell;
  const auto& A = plain_.scan(layout().springs_of(mode)).mode.A;
  const Eigen::Matrix<double, Z, 1> near = z.cwiseAbs() + cell * (A.cwiseAbs() * z.cwiseAbs());
  const Eigen::Matrix<double, D, 1> accelerations = A.middleRows(dofs(), dofs()).cwiseAbs() * near;
  double size = sizes.tail(taylor_terms - 2).sum();
  const int second = static_cast<int>(layout().second_guard(0));
  if (guard < count() || guard >= second) {
    const int i = guard < count() ? guard : guard - second;
    double moved = plain_.system().normal.col(i).cwiseAbs().dot(accelerations);
    if (has_plate(i)) {
      const Eigen::Index plate = plain_.system().plate(i);
      moved += A(plate, plate) * A(plate, plate) * near(plate);
    }
    size += moved * cell * cell * guard_gain(guard, mode);
  } else if constexpr (F != 0) {
    size += plain_.system().sliding.col((guard - count()) / 2).cwiseAbs().dot(accelerations) * cell * cell;
  }
  for (int k = from; k < taylor_terms; ++k) {
    if (std::abs(terms(k)) > 1e-14 * size) return {k, terms(k)};
  }
  return {};
}

/// What a guard of contact i makes of its penetration and the rate of that, which is one over a cell at most.
template <class S, class P, int D, int H, int C, int F>
double LinearMotion<S, P, D, H, C, F>::guard_gain(int guard, std::int64_t mode) const {
  if constexpr (may_comply<C>) {
    if (guard < count() && plain_.system().compliant(guard) && !releases_by_gap(guard) &&
        layout().spring(mode, guard) == Spring::engaged)
      return stop_stiffness(guard) + stop_damping(guard) * rate_;
  }
  return 1;
}

/// Whether a guard is the force of a closed contact or what is left to that of a friction that sticks.
template <class S, class P, int D, int H, int C, int F>
bool LinearMotion<S, P, D, H, C, F>::of_force(int guard) const {
  if (guard < count()) return closed(guard);
  const int second = static_cast<int>(layout().second_guard(0));
  if (guard >= second) return closed(guard - second);
  return layout().sliding(mode_, (guard - count()) / 2) == Sliding::stuck;
}

/// The force of a contact on which nothing ever presses, or what is left to that of a friction; a compliant
/// stop that is held where it begins.
template <class S, class P, int D, int H, int C, int F>
bool LinearMotion<S, P, D, H, C, F>::stays_at_zero(int k, std::span<const double> c) const {
  bool may_stay = of_force(k);
  if constexpr (may_comply<C>) may_stay = may_stay || this->stop_of(k) >= 0;
  if (!may_stay) return false;
  double size = 0;
  for (const double a : c) size += std::abs(a);
  const auto& rows = plain_.scan(mode_).guards.taylor[static_cast<std::size_t>(k)];
  return size <= 1e-14 * (rows.cwiseAbs() * flow_.z().cwiseAbs()).sum();
}

}  // namespace graze
