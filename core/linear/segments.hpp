/// Legs of a linear system with stops (core/course).
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/contact/chatter.hpp"
#include "core/contact/follow_segments.hpp"
#include "core/linear/motion.hpp"
#include "core/math/complementarity.hpp"
#include "core/math/root_search.hpp"
#include "core/system/segment.hpp"

namespace graze {

/// One leg, with scalar S of the state; the system depends on one parameter,
/// the last direction of S. Inner order: positions, then velocities.
template <class S, int Dofs, int Harmonics, int Contacts, int Frictions>
class LinearLeg {
 public:
  using Dynamics = LinearDynamics<Dual<1>, Dofs, Harmonics, Contacts, Frictions>;
  using Mode = LinearMode<Dual<1>, Dofs, Harmonics, Contacts, Frictions>;
  using Row = typename Mode::Row;
  using Rows = ContactRows<Dual<1>, Dofs, Mode::Z>;
  using State = Eigen::Matrix<S, Mode::X, 1>;
  using Extended = Eigen::Matrix<S, Mode::Z, 1>;

  LinearLeg(Dynamics& dynamics, const Leg& leg)
      : system_(dynamics.system()),
        mode_(dynamics.mode(of_flow(dynamics.system(), leg.mode))),
        free_(dynamics.mode(0)) {
    for (int i = 0; i < static_cast<int>(mode_.contacts.size()); ++i) {
      if (is_closed(leg.mode, i)) closed_.push_back(i);
    }
    if constexpr (Frictions != 0) {
      const ModeLayout layout = layout_of(system_);
      for (int k = 0; k < static_cast<int>(layout.frictions); ++k) {
        if (layout.sliding(leg.mode, k) == Sliding::stuck) stuck_.push_back(k);
      }
      if (rubs(leg)) rubbing_ = &rubbing_in(dynamics, leg);
    }
  }

  State x;  ///< in: at the beginning; out: after the event
  S time{0};
  Ending<S> ending;

  /// Flows for `duration` or to the gap's zero, then does what the leg's end says. false: more than a cell
  /// backwards, or no zero.
  bool follow(const Leg& leg, const S& duration) {
    rest_on_closed();
    if (Leg::finds_end(leg.length)) return meet(leg);
    const double length = value_of(duration);
    if (!(length >= -mode_.cell)) return false;
    const bool returns = leg.length == Leg::Length::returning && at_abutment(leg);
    const S depth = returns ? penetration(leg.contact) : S(0);
    if (returns && length < mode_.cell) mean_approach_ = mean_approach_within_cell(leg.contact, duration);
    const long cells = std::lround(std::max(0.0, length) / mode_.cell);
    const double fraction = length / mode_.cell - static_cast<double>(cells);
    x = within_cell(mode_, after_cells(mode_, extended(), cells), fraction);
    time += S(length);
    drift(duration - S(length));
    if (returns && !mean_approach_) mean_approach_ = (penetration(leg.contact) - depth) / duration;
    if (leg.contact >= 0) return finish(leg);
    if constexpr (Frictions != 0) {
      if (rubs(leg)) rub(leg);
    }
    return true;
  }

 private:
  using Friction = FrictionRows<Dual<1>, Dofs, Mode::Z>;
  /// Whether a leg ends with an event of a friction; of which.
  static bool rubs(const Leg& leg) { return leg.contact < 0 && leg.end != EventKind::section; }
  static int friction_of(const Leg& leg) { return -1 - leg.contact; }
  bool sticks(int k) const { return std::find(stuck_.begin(), stuck_.end(), k) != stuck_.end(); }
  /// What the friction of a leg's end does while it sticks, all else as it is.
  static const Mode& rubbing_in(Dynamics& dynamics, const Leg& leg) {
    const ModeLayout layout = layout_of(dynamics.system());
    return dynamics.mode(of_flow(dynamics.system(), layout.with(leg.mode, friction_of(leg), Sliding::stuck)));
  }
  S sliding_speed(int k) const { return system_.sliding.col(k).dot(x.tail(dofs())); }
  void stop(const Friction& friction, int k) {
    const S speed = sliding_speed(k);
    x.tail(dofs()) -= friction.reaction.transpose() * speed;
  }
  /// Guard and measure of an event of a friction, as accelerations along it.
  void rub(const Leg& leg) {
    const int k = friction_of(leg);
    const std::size_t place = static_cast<std::size_t>(k);
    const Friction& sliding = mode_.frictions[place];
    if (leg.end == EventKind::graze && !sticks(k)) {
      ending.guard = rate(sliding.guard[0]);
      ending.measure = dot(sliding.guard[0]);
      return;
    }
    const Friction& rest = rubbing_->frictions[place];
    const Eigen::Matrix<Dual<1>, Dofs, 1> along = system_.sliding.col(k);
    const Dual<1> mobility =
        along.dot(Eigen::Matrix<Dual<1>, Dofs, 1>(matrix_product(inverse_of(system_.mass), along)));
    const bool first = value_of(dot(rest.guard[0])) < value_of(dot(rest.guard[1]));
    const Row& bound = rest.guard[first ? 0 : 1];  // the nearer one
    const S left = S(mobility) * dot(bound);
    switch (leg.end) {
      case EventKind::slip_to_stick:
      case EventKind::slip_reversal:
        ending.guard = dot(sliding.guard[0]);
        ending.measure = leg.end == EventKind::slip_to_stick ? left : S(-left);
        stop(rest, k);
        break;
      case EventKind::stick_to_slip:
        ending.guard = left;
        ending.measure = -S(mobility) * rate(bound);
        break;
      default:
        ending.guard = S(mobility) * rate(bound);
        ending.measure = left;
    }
  }

  /// The mode that flows alike: compliant stops without a force are open.
  static std::int64_t of_flow(const typename Dynamics::System& system, std::int64_t mode) {
    const ModeLayout layout = layout_of(system);
    for (std::int64_t i = 0; i < layout.springs; ++i) {
      if (layout.spring(mode, i) != Spring::engaged) mode = layout.with_spring(mode, i, Spring::open);
    }
    return mode;
  }
  /// A contact that never opens would leave the place where its body rests free, were it not put there.
  void rest_on_closed() {
    for (const int i : closed_) {
      const auto normal = system_.normal.col(i);
      rest(mode_.contacts[static_cast<std::size_t>(i)],
           S(S(system_.position(i)) - normal.dot(x.head(dofs()))), S(normal.dot(x.tail(dofs()))));
    }
    if constexpr (Frictions != 0) {
      for (const int k : stuck_) stop(mode_.frictions[static_cast<std::size_t>(k)], k);
    }
  }
  void drift(const S& late) {
    add_rate(mode_, values_of(extended()).eval(), late, x);
    time += late;
  }
  /// To the zero of the gap.
  bool meet(const Leg& leg) {
    const auto& row = mode_.contacts[static_cast<std::size_t>(leg.contact)].guard;
    const Extended z = extended();
    Eigen::Matrix<double, Mode::Z, 1> term = values_of(z);
    Eigen::Matrix<double, Mode::Z, 1> next = term;
    const Eigen::Matrix<double, 1, Mode::Z> guard_row = values_of(row);
    const auto A = values_of(mode_.A).eval();
    std::array<double, taylor_terms> gap_on_cell{};
    gap_on_cell[0] = leg.length == Leg::Length::rebound ? 0 : guard_row.dot(term);
    for (int k = 1; k < taylor_terms; ++k) {
      rate_of(A, dofs(), mode_.states(), term, mode_.cell / k, next);
      term.swap(next);
      gap_on_cell[static_cast<std::size_t>(k)] = guard_row.dot(term);
    }
    const auto end = end_of_flight(gap_on_cell, leg.length == Leg::Length::rebound);
    if (!end) return false;
    const double s = *end;
    x = within_cell(mode_, z, s);
    time += S(s * mode_.cell);
    const S gap = dot(row);
    drift((S(value_of(gap)) - gap) / S(polynomial_slope(gap_on_cell, s) / mode_.cell));
    return finish(leg);
  }
  Extended extended() const {
    const auto phases = forcing_phases(system_, time);
    Extended z(x.size() + phases.size() + 1);
    z << x, phases, S(1);
    return z;
  }
  Eigen::Index dofs() const { return system_.mass.rows(); }
  S dot(const Row& row) const { return product(row, extended()); }

  /// δ, how deep the body is in a compliant contact.
  S penetration(int i) const { return S(approach_of(i, x.head(dofs())) - S(system_.position(i))); }
  template <class Column>
  S approach_of(int i, const Column& velocity) const {
    return system_.normal.col(i).dot(velocity);
  }
  /// F = P + k δ + c δ'.
  S stop_force(int i) const {
    return S(system_.preload(i)) + S(system_.stop_stiffness(i)) * penetration(i) +
           S(system_.stop_damping(i)) * approach_of(i, x.tail(dofs()));
  }
  /// Whether a compliant contact always ends where its gap opens.
  bool ends_at_abutment(int i) const {
    return system_.law_of(i) == StopLaw::release_by_gap || value_of(system_.stop_damping(i)) == 0;
  }
  /// Whether a leg that begins with an event of its compliant contact begins at the abutment: not where the
  /// force has let go inside.
  bool at_abutment(const Leg& leg) const {
    if constexpr (may_comply<Contacts>)
      return leg.end == EventKind::contact_end || opens_last(leg.contact);
    else
      return false;
  }
  /// (δ(T) − δ(0))/T = δ'(0) + T Σ_k≥2 δ^(k)(0) T^(k−2)/k!, which T may be zero or below.
  S mean_approach_within_cell(int i, const S& duration) const {
    const double T = value_of(duration);
    Extended term = extended();
    Extended next = term;
    rate_of(mode_.A, dofs(), mode_.states(), term, 1, next);
    const S first = approach_of(i, next.head(dofs()));
    S sum(0);
    double sum_by_duration = 0;
    const std::size_t terms = terms_within(T / mode_.cell);
    for (std::size_t k = 2; k < terms; ++k) {
      term.swap(next);
      const double order = static_cast<double>(k);
      rate_of(mode_.A, dofs(), mode_.states(), term, (k == 2 ? 1 : T) / order, next, false);
      const S part = approach_of(i, next.head(dofs()));
      sum += part;
      sum_by_duration += (order - 1) * value_of(part);
    }
    return first + S(T) * sum + (duration - S(T)) * S(sum_by_duration);
  }

  bool finish(const Leg& leg) {
    const auto& contact = mode_.contacts[static_cast<std::size_t>(leg.contact)];
    const Eigen::Matrix<Dual<1>, Dofs, 1> normal = system_.normal.col(leg.contact);
    const bool closed = is_closed(leg.mode, leg.contact);
    // Of the guard per acceleration: a force of one along the normal.
    const S compliance =
        closed || engaged(leg)
            ? S(normal.dot(Eigen::Matrix<Dual<1>, Dofs, 1>(matrix_product(inverse_of(system_.mass), normal))))
            : S(1);
    const S approach = normal.dot(x.tail(dofs()));
    const S value = compliance * dot(contact.guard);
    switch (leg.end) {
      case EventKind::impact:
        ending.guard = value;
        ending.measure = approach;
        x.head(dofs()) += contact.push * value;  // exactly on the contact, where the next flight begins
        return strike(leg, S((S(1) + S(system_.restitution(leg.contact))) * approach));
      case EventKind::graze:
        if constexpr (may_comply<Contacts>) {
          if (engaged(leg)) {
            tell_touch(leg, contact, compliance);
            break;
          }
        }
        ending.guard = closed ? S(compliance * rate(contact.guard)) : S(-approach);
        ending.measure = value;
        break;
      case EventKind::release:
        ending.guard = value;
        ending.measure = -compliance * rate(contact.guard);
        break;
      case EventKind::chatter_complete:
        ending.guard = value;
        ending.measure = dot(contact.pressing);
        complete(leg, contact, approach);
        break;
      case EventKind::stick:
        ending.guard = -approach;
        ending.measure = dot(contact.pressing);
        rest(contact, value, approach);
        break;
      case EventKind::contact_begin:
      case EventKind::contact_end:
        if constexpr (may_comply<Contacts>) tell_compliant(leg, contact, compliance);
        break;
      default:
        break;
    }
    return true;
  }
  /// Guard and measure of a compliant contact that begins or ends.
  void tell_compliant(const Leg& leg, const Rows& contact, const S& compliance) {
    const int i = leg.contact;
    const S approach = approach_of(i, x.tail(dofs()));
    const GuardOf of_gap = mean_approach_ ? GuardOf::mean_speed : GuardOf::gap;
    if (leg.end == EventKind::contact_begin && is_closed(leg.mode, i)) {
      ending.guard = compliance * dot(contact.second);
      ending.measure = -compliance * rate(contact.second);
      ending.guard_of = GuardOf::force;
    } else if (leg.end == EventKind::contact_begin) {
      ending.guard = mean_approach_ ? S(-*mean_approach_) : S(-penetration(i));
      ending.measure = approach;
      ending.guard_of = of_gap;
    } else if (!engaged(leg) || opens_last(i)) {
      ending.guard = mean_approach_ ? *mean_approach_ : penetration(i);
      ending.measure = -approach;
      ending.guard_of = of_gap;
    } else {
      ending.guard = compliance * stop_force(i);
      ending.measure = -compliance * rate(contact.guard);
      ending.guard_of = GuardOf::force;
    }
  }
  /// The same of a touch of what keeps a contact engaged: of its force or, where that ends it, its gap.
  void tell_touch(const Leg& leg, const Rows& contact, const S& compliance) {
    const int i = leg.contact;
    const bool opens = opens_last(i);
    ending.guard = opens ? S(approach_of(i, x.tail(dofs()))) : S(compliance * rate(contact.guard));
    ending.measure = opens ? penetration(i) : S(compliance * stop_force(i));
    if (!opens) ending.guard_of = GuardOf::force;
  }
  bool engaged(const Leg& leg) const {
    return layout_of(system_).spring(leg.mode, leg.contact) == Spring::engaged;
  }
  /// Whether what ends an engaged contact is its gap, not its force: with a preload and a damper the first of
  /// them.
  bool opens_last(int i) const {
    if (ends_at_abutment(i)) return true;
    return value_of(system_.preload(i)) > 0 &&
           value_of(system_.stop_stiffness(i)) * value_of(penetration(i)) < value_of(stop_force(i));
  }
  /// An impact; closed contacts hold or are freed as when the contact is approached (core/newton_contacts).
  bool strike(const Leg& leg, const S& speed) {
    if (closed_.empty()) {
      x.tail(dofs()) -= mode_.contacts[static_cast<std::size_t>(leg.contact)].push * speed;
      return true;
    }
    std::vector<int> touching{leg.contact};
    touching.insert(touching.end(), closed_.begin(), closed_.end());
    const auto push = [&](std::size_t k) -> const auto& {
      return free_.contacts[static_cast<std::size_t>(touching[k])].push;
    };
    const Eigen::Index n = static_cast<Eigen::Index>(touching.size());
    Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic> G(n, n);
    Eigen::Matrix<S, Eigen::Dynamic, 1> q = Eigen::Matrix<S, Eigen::Dynamic, 1>::Constant(n, S(0));
    q(0) = -speed;
    for (Eigen::Index k = 0; k < n; ++k) {
      for (Eigen::Index j = 0; j < n; ++j)
        G(k, j) = S(
            system_.normal.col(touching[static_cast<std::size_t>(k)]).dot(push(static_cast<std::size_t>(j))));
    }
    const auto impulses = impulses_of(G, q, -Eigen::VectorXd::Unit(n, 0));
    if (!impulses) return false;
    for (std::size_t k = 0; k < touching.size(); ++k) {
      if (impulses->carries[k]) x.tail(dofs()) -= push(k) * impulses->strength[k];
    }
    return true;
  }
  S rate(const Row& row) const {
    const Row derived = matrix_product(row, mode_.A);
    return dot(derived);
  }
  void rest(const Rows& contact, const S& gap, const S& approach) {
    x.head(dofs()) += contact.push * gap;
    x.tail(dofs()) -= contact.push * approach;
  }
  void complete(const Leg& leg, const Rows& contact, const S& approach) {
    const Rebound<S> rebound{S(-approach), S(system_.restitution(leg.contact)), ending.measure, S(0), S(0)};
    const S felt = chatter_gap_integral(rebound);
    rest(contact, ending.guard, approach);
    x.head(dofs()) += contact.gap_to_position * felt;
    x.tail(dofs()) += contact.gap_to_velocity * felt;
  }

  const typename Dynamics::System& system_;
  const Mode& mode_;
  const Mode& free_;  ///< all contacts open
  std::vector<int> closed_;
  std::vector<int> stuck_;          ///< frictions
  const Mode* rubbing_ = nullptr;   ///< the leg's, but that the friction of its end sticks
  std::optional<S> mean_approach_;  ///< of a returning leg
};

}  // namespace graze
