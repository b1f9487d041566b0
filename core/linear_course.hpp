/// Legs of a linear system with stops (core/course).
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>

#include "core/chatter.hpp"
#include "core/course.hpp"
#include "core/follow_legs.hpp"
#include "core/linear_motion.hpp"
#include "core/root_search.hpp"

namespace graze {

/// One leg of a system without frictions, with scalar S of the state; the system depends on one parameter,
/// the last direction of S. Inner order: positions, then velocities.
template <class S, int Dofs, int Harmonics, int Contacts, int Frictions>
class LinearLeg {
 public:
  using Dynamics = LinearDynamics<Dual<1>, Dofs, Harmonics, Contacts, Frictions>;
  using Mode = LinearMode<Dual<1>, Dofs, Harmonics, Contacts, Frictions>;
  using Row = typename Mode::Row;
  using State = Eigen::Matrix<S, Mode::X, 1>;
  using Extended = Eigen::Matrix<S, Mode::Z, 1>;

  LinearLeg(Dynamics& dynamics, const Leg& leg) : system_(dynamics.system()), mode_(dynamics.mode(leg.mode)) {
    closed_ = leg.contact >= 0 && ((leg.mode >> leg.contact) & 1) != 0;
  }

  State x;  ///< in: at the beginning; out: after the event
  S time{0};
  Ending<S> ending;

  /// Flows for `duration` or to the gap's zero, then does what the leg's end says. false: more than a cell
  /// backwards, or no zero.
  bool follow(const Leg& leg, const S& duration) {
    if (leg.length != Leg::Length::given) return meet(leg);
    const double length = value_of(duration);
    if (!(length >= -mode_.cell)) return false;
    const long cells = std::lround(std::max(0.0, length) / mode_.cell);
    const double fraction = length / mode_.cell - static_cast<double>(cells);
    x = within_cell(mode_, after_cells(mode_, extended(), cells), fraction);
    time += S(length);
    drift(duration - S(length));
    if (leg.contact >= 0) finish(leg);
    return true;
  }

 private:
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
      rate_of(A, dofs(), term, mode_.cell / k, next);
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
    finish(leg);
    return true;
  }
  Extended extended() const {
    const auto phases = forcing_phases(system_, time);
    Extended z(x.size() + phases.size() + 1);
    z << x, phases, S(1);
    return z;
  }
  Eigen::Index dofs() const { return system_.mass.rows(); }
  S dot(const Row& row) const { return product(row, extended()); }

  void finish(const Leg& leg) {
    const auto& contact = mode_.contacts[static_cast<std::size_t>(leg.contact)];
    const Eigen::Matrix<Dual<1>, Dofs, 1> normal = system_.normal.col(leg.contact);
    // Of the guard per acceleration: a force of one along the normal.
    const S compliance =
        closed_ ? S(normal.dot(Eigen::Matrix<Dual<1>, Dofs, 1>(inverse_of(system_.mass) * normal))) : S(1);
    const S approach = normal.dot(x.tail(dofs()));
    const S value = compliance * dot(contact.guard);
    switch (leg.end) {
      case EventKind::impact:
        ending.guard = value;
        ending.measure = approach;
        x.head(dofs()) += contact.push * value;  // exactly on the contact, where the next flight begins
        x.tail(dofs()) -= contact.push * S((S(1) + S(system_.restitution(leg.contact))) * approach);
        break;
      case EventKind::graze:
        ending.guard = closed_ ? S(compliance * rate(contact.guard)) : S(-approach);
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
      default:
        break;
    }
  }
  S rate(const Row& row) const {
    const Row derived = row * mode_.A;
    return dot(derived);
  }
  template <class Rows>
  void rest(const Rows& contact, const S& gap, const S& approach) {
    x.head(dofs()) += contact.push * gap;
    x.tail(dofs()) -= contact.push * approach;
  }
  template <class Rows>
  void complete(const Leg& leg, const Rows& contact, const S& approach) {
    const Rebound<S> rebound{S(-approach), S(system_.restitution(leg.contact)), ending.measure, S(0), S(0)};
    const S felt = chatter_gap_integral(rebound);
    rest(contact, ending.guard, approach);
    x.head(dofs()) += contact.gap_to_position * felt;
    x.tail(dofs()) += contact.gap_to_velocity * felt;
  }

  const typename Dynamics::System& system_;
  const Mode& mode_;
  bool closed_ = false;
};

}  // namespace graze
