/// The exact flow of a linear system while its contacts and frictions hold as a mode says, as constant
/// matrices.
///
/// With the phases of the forcing and a 1 appended, z = (q, q', plates, cos Ω_j t, sin Ω_j t, 1), the motion
/// of every mode is z' = A z, whatever the damping, rigid-body modes and resonance included: no eigenvectors
/// are needed, so none can be ill-conditioned. Time is cut into cells of length h with ‖A‖h = 1; one
/// product with e^{Ah} leads from cell to cell, and inside a cell everything is its Taylor polynomial,
/// which twenty terms give to rounding.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/contact/friction_mode.hpp"
#include "core/linear/system.hpp"
#include "core/math/dual.hpp"
#include "core/math/dual_sum.hpp"
#include "core/math/elimination.hpp"

namespace graze {

inline constexpr int taylor_terms = 20;  // 1/20! = 4e-19

template <int Dofs, int Harmonics>
inline constexpr int extended_size = (Dofs == Eigen::Dynamic) ? Eigen::Dynamic : 2 * Dofs + 2 * Harmonics + 1;
template <int Dofs>
inline constexpr int state_size = (Dofs == Eigen::Dynamic) ? Eigen::Dynamic : 2 * Dofs;
/// One guard per contact, then two per friction; without a size also ModeLayout::springs.
template <int Contacts, int Frictions>
inline constexpr int guard_count = (Contacts == Eigen::Dynamic || Frictions == Eigen::Dynamic)
                                       ? Eigen::Dynamic
                                       : Contacts + 2 * Frictions;

template <class S, int D, int H, int C, int F>
ModeLayout layout_of(const LinearSystem<S, D, H, C, F>& system) {
  return {system.position.size(), system.friction.size(),
          system.any_compliant() ? system.position.size() : 0};
}

/// Springs, dampers and constant forces that act in a mode, those of engaged stops and of what slides on them
/// included: K + Σ k_i a_i n_iᵀ, C + Σ c_i a_i n_iᵀ, f + Σ a_i (k_i d_i − P_i), a_i = n_i + Σ ±μ_k p_k.
template <class S, int Dofs>
struct ActingForces {
  Eigen::Matrix<S, Dofs, Dofs> stiffness, damping;
  Eigen::Matrix<S, Dofs, 1> constant;

  template <int H, int C, int F>
  ActingForces(const LinearSystem<S, Dofs, H, C, F>& system, std::int64_t mode,
               const std::vector<int>& at_rest = {})
      : stiffness(system.stiffness), damping(system.damping), constant(system.constant) {
    if constexpr (may_comply<C>) {
      const ModeLayout layout = layout_of(system);
      for (Eigen::Index i = 0; i < layout.springs; ++i) {
        if (layout.spring(mode, i) != Spring::engaged) continue;
        const Eigen::Matrix<S, Dofs, 1> normal = system.normal.col(i);
        Eigen::Matrix<S, Dofs, 1> along = normal;
        for (Eigen::Index k = 0; k < layout.frictions; ++k) {
          const Sliding sliding = layout.sliding(mode, k);
          const bool rests = std::find(at_rest.begin(), at_rest.end(), k) != at_rest.end();
          if (system.stop_of(k) == i && at_bound(sliding) && !rests)
            along += system.sliding.col(k) * S(system.friction(k) * sign_of(sliding));
        }
        const Eigen::Matrix<S, Dofs, Dofs> both = matrix_product(along, normal.transpose());
        stiffness += both * system.stop_stiffness(i);
        damping += both * system.stop_damping(i);
        constant += along * S(system.stop_stiffness(i) * system.position(i) - system.preload(i));
      }
    }
  }
};

/// While it sticks, the amplitude of a friction counts for so much more: forces that only reach it, as they
/// do at rest where a textbook example ends, move nothing by their rounding.
inline constexpr double static_margin = 1e-14;

/// What a contact needs to know in one mode.
template <class S, int Dofs, int Z>
struct ContactRows {
  Eigen::Matrix<S, 1, Z> guard;        ///< gap while open, contact force while closed (both >= 0); of a
                                       ///< compliant stop that is engaged what its law says, else δ
  Eigen::Matrix<S, 1, Z> second;       ///< of a compliant stop: at rest P − λ, engaged with preload δ
  Eigen::Matrix<S, 1, Z> pressing;     ///< open: a, acceleration onto the contact of the body at rest there
  Eigen::Matrix<S, 1, Z> rate;         ///< open: ȧ along the motion with the contact closed
  S damping{0};                        ///< open: γ
  Eigen::Matrix<S, 1, Dofs> reaction;  ///< closed: contact force per force on the coordinates
  Eigen::Matrix<S, Dofs, 1> push;      ///< change of q' that changes n q' by one, others at rest held
  S mobility{0};                       ///< open: change of n q'' per normal force
  Eigen::Matrix<S, Dofs, 1> gap_to_position;  ///< change of the rest's q per ∫ gap dt of a chatter sequence
  Eigen::Matrix<S, Dofs, 1> gap_to_velocity;  ///< the same of q'
};

/// What a friction needs to know in one mode.
template <class S, int Dofs, int Z>
struct FrictionRows {
  std::array<Eigen::Matrix<S, 1, Z>, 2> guard;  ///< sliding: its speed and 1; stuck: F − λ and F + λ
  bool held = false;                            ///< does not slide, by the forces of others
  Eigen::Matrix<S, 1, Dofs> reaction;           ///< stuck: λ per force on the coordinates
};

template <class S, int Dofs, int Harmonics, int Contacts, int Frictions = 0>
class LinearMode {
 public:
  using Scalar = S;
  static constexpr int Z = extended_size<Dofs, Harmonics>;
  static constexpr int X = state_size<Dofs>;
  using System = LinearSystem<S, Dofs, Harmonics, Contacts, Frictions>;
  using Square = Eigen::Matrix<S, Z, Z>;
  using Coordinates = Eigen::Matrix<S, Dofs, Dofs>;
  using Row = Eigen::Matrix<S, 1, Z>;
  using TaylorRows = Eigen::Matrix<double, taylor_terms, Z>;

  [[gnu::cold]] LinearMode(const System& system, std::int64_t mode);

  double cell = 0;         ///< h
  Coordinates admissible;  ///< q'' per force on the coordinates
  std::vector<Eigen::Matrix<S, X, Z>>
      taylor;  ///< plain: (Ah)^k / k!, k = 0 … taylor_terms − 1, rows of the states
  Square A;    ///< z' = A z
  std::vector<ContactRows<S, Dofs, Z>> contacts;    ///< one per contact
  std::vector<FrictionRows<S, Dofs, Z>> frictions;  ///< one per friction

  /// All of these are positive while the mode lasts: of the contacts, then two of each friction.
  const Row& guard(std::size_t k) const {
    if (k < contacts.size()) return contacts[k].guard;
    k -= contacts.size();
    if (k < 2 * frictions.size()) return frictions[k / 2].guard[k % 2];
    return contacts[k - 2 * frictions.size()].second;
  }
  Eigen::Index dofs() const { return dofs_; }
  /// q, q' and the plates.
  Eigen::Index states() const { return states_; }
  /// e^{Ah}.
  const Square& step() const { return powers_.front(); }
  /// e^{Ah 2^j}, made when first needed.
  const Square& power(std::size_t j) const;
  /// (Ah)^k / k! applied to a row from the left, for k = 0 … taylor_terms − 1, one row each.
  TaylorRows taylor_rows(const Eigen::Matrix<double, 1, Z>& row) const;
  /// System::contact_forces at z, in this mode.
  Eigen::VectorXd contact_forces(const System& system, std::int64_t mode, const Eigen::VectorXd& z) const;

 private:
  void set_extended(const System& system, const Eigen::Matrix<S, Dofs, Z>& acceleration);
  void set_plates(const System& system, std::int64_t mode);
  Row stop_force(const System& system, Eigen::Index i) const;
  void set_spring(const System& system, Eigen::Index i, Spring spring);
  Eigen::Index dofs_ = 0;
  Eigen::Index states_ = 0;
  mutable std::vector<Square> powers_;
};

/// to = t Σ_j row(j) z(j) over `count` entries from `from` on; the row may be without derivatives.
template <class Row, class Column, class T>
void sum_products(const Row& row, const Column& z, Eigen::Index from, Eigen::Index count, double t, T& to) {
  if constexpr (std::is_same_v<typename Row::Scalar, WideDual> && std::is_same_v<T, WideDual>) {
    const std::ptrdiff_t stride = row.innerStride();
    wide_sum(row.data() + from * stride, stride, z.data() + from, count, t, to);
  } else {
    Products<T> sum;
    for (Eigen::Index j = from; j < from + count; ++j) sum.add(row(j), z(j));
    sum.store(t, to);
  }
}

/// A row times a column.
template <class Row, class Column>
typename Column::Scalar product(const Row& row, const Column& z) {
  typename Column::Scalar result;
  sum_products(row, z, 0, z.size(), 1, result);
  return result;
}

/// rate = A z t, column by column: velocities, accelerations, plates, the turning phases, nothing for the 1.
/// `rate` has the size of z and is not z. `constant`: false where z, a rate itself, has nothing for the 1.
template <class Square, class Columns>
void rate_of(const Square& A, Eigen::Index dofs, Eigen::Index states, const Columns& z, double t,
             Columns& rate, bool constant = true) {
  const Eigen::Index one = z.rows() - 1;
  const Eigen::Index phases = (one - states) / 2;
  for (Eigen::Index k = 0; k < z.cols(); ++k) {
    const auto set = [&](Eigen::Index i, Eigen::Index from, Eigen::Index count) {
      sum_products(A.row(i), z.col(k), from, count, t, rate(i, k));
    };
    for (Eigen::Index i = 0; i < dofs; ++i) {
      rate(i, k) = z(dofs + i, k) * t;
      set(dofs + i, 0, constant ? one + 1 : one);
    }
    for (Eigen::Index i = 2 * dofs; i < states; ++i) set(i, dofs, states - dofs);
    for (Eigen::Index j = states; j < states + phases; ++j) {
      set(j, phases + j, 1);
      set(phases + j, j, 1);
    }
    rate(one, k) = 0;
  }
}

/// Upper estimate of the fastest rate in z' = A z: a norm of A in which positions count by their speed.
template <class Derived>
double fastest_rate(const Eigen::MatrixBase<Derived>& A, Eigen::Index dofs,
                    const Eigen::VectorXd& frequency) {
  const auto k = A.block(dofs, 0, dofs, dofs).cwiseAbs();
  const auto c = A.block(dofs, dofs, dofs, dofs).cwiseAbs();
  const double omega = std::sqrt(k.rowwise().sum().maxCoeff());
  double rate = omega;
  for (Eigen::Index i = 0; i < dofs; ++i) {
    const double stiff = omega > 0 ? k.row(i).sum() / omega : 0.0;
    rate = std::max(rate, stiff + c.row(i).sum());
  }
  return frequency.size() > 0 ? std::max(rate, frequency.maxCoeff()) : rate;
}

template <class S, int Dofs, int Harmonics, int Contacts, int Frictions>
LinearMode<S, Dofs, Harmonics, Contacts, Frictions>::LinearMode(const System& sys, std::int64_t mode) {
  const Eigen::Index n = sys.mass.rows();
  const Eigen::Index h = sys.frequency.size();
  const Eigen::Index m = sys.position.size();
  const Eigen::Index z = sys.states() + 2 * h + 1;
  const ModeLayout layout = layout_of(sys);
  using Rows = Eigen::Matrix<S, Dofs, Z>;

  const Coordinates inverse_mass = inverse_of(sys.mass);
  const ActingForces<S, Dofs> acting(sys, mode);
  Rows force = Rows::Zero(n, z);
  force.leftCols(n) = -acting.stiffness;
  force.middleCols(n, n) = -acting.damping;
  force.rightCols(2 * h + 1) << sys.cosine, sys.sine, acting.constant;
  if constexpr (Frictions != 0) {
    for (Eigen::Index k = 0; k < layout.frictions; ++k) {
      const Sliding sliding = layout.sliding(mode, k);
      if (at_bound(sliding) && sys.stop_of(k) < 0)
        force.col(z - 1) -= sys.sliding.col(k) * (sys.friction(k) * sign_of(sliding));
    }
  }

  // What holds, one after the other: each projects the admissible accelerations once more. A body
  // stopped along a coordinate gets rows that are exactly zero: it stays to the last bit.
  admissible = inverse_mass;
  Rows acceleration = matrix_product(inverse_mass, force);
  std::vector<Eigen::Matrix<S, Dofs, 1>> holding;
  auto hold = [&](const Eigen::Matrix<S, Dofs, 1>& along) {
    holding.push_back(along);
    const Eigen::Matrix<S, Dofs, 1> direction = matrix_product(admissible, along);
    const Eigen::Matrix<S, Dofs, 1> push = direction / along.dot(direction);
    const Eigen::Matrix<S, 1, Dofs> response = matrix_product(along.transpose(), admissible);
    const Row pressing = matrix_product(along.transpose(), acceleration);
    admissible -= matrix_product(push, response);
    acceleration -= matrix_product(push, pressing);
  };
  std::vector<std::size_t> place_of(static_cast<std::size_t>(m));  // of a contact in `holding`
  const auto hold_contacts = [&](bool compliant) {
    for (Eigen::Index i = 0; i < m; ++i) {
      if (!layout.carries(mode, i) || sys.compliant(i) != compliant) continue;
      place_of[static_cast<std::size_t>(i)] = holding.size();
      hold(sys.normal.col(i));
    }
  };
  hold_contacts(false);
  const Coordinates impulsive = admissible;  // friction and preload are finite: they pass no impulse on
  hold_contacts(true);
  const std::size_t contacts_held = holding.size();
  if constexpr (Frictions != 0) {
    for (Eigen::Index k = 0; k < layout.frictions; ++k) {
      if (layout.sliding(mode, k) == Sliding::stuck) hold(sys.sliding.col(k));
    }
  }
  if (static_cast<Eigen::Index>(holding.size()) == n) {  // nothing moves, whichever way these point
    admissible.setZero();
    acceleration.setZero();
  }
  dofs_ = n;
  states_ = sys.states();
  set_extended(sys, acceleration);
  set_plates(sys, mode);

  Eigen::VectorXd frequency = values_of(sys.frequency);
  double rate = fastest_rate(values_of(A).eval(), n, frequency);
  for (Eigen::Index i = 2 * n; i < states_; ++i) rate = std::max(rate, -value_of(A(i, i)));
  cell = rate > 0 ? 1 / rate : 1.0;
  Square sum = Square::Zero(z, z);
  Square term = Square::Identity(z, z);
  Square next = term;
  if constexpr (std::is_same_v<S, double>) taylor.reserve(taylor_terms);
  for (int k = 0; k < taylor_terms; ++k) {
    if (k > 0) {
      rate_of(A, n, states_, term, cell / k, next);
      term.swap(next);
    }
    if constexpr (std::is_same_v<S, double>) taylor.push_back(term.topRows(states_));
    sum += term;
  }
  powers_.push_back(sum);

  contacts.resize(static_cast<std::size_t>(m));
  // Of what holds, per force on the coordinates: G λ = Nᵀ M⁻¹ f with G = Nᵀ M⁻¹ N.
  std::vector<Eigen::Matrix<S, 1, Dofs>> reactions;
  std::vector<std::vector<S>> G(holding.size());
  for (std::size_t k = 0; k < holding.size(); ++k) {
    reactions.push_back(matrix_product(holding[k].transpose(), inverse_mass));
    for (const auto& other : holding) G[k].push_back(reactions.back().dot(other));
  }
  eliminate(G, reactions);
  const Row never = Row::Unit(z, z - 1);  // a guard that never comes near zero
  for (Eigen::Index i = 0; i < m; ++i) {
    ContactRows<S, Dofs, Z>& c = contacts[static_cast<std::size_t>(i)];
    if (layout.springs > 0) c.second = never;
    if (is_closed(mode, i)) {
      if (layout.carries(mode, i)) {
        c.reaction = reactions[place_of[static_cast<std::size_t>(i)]];
        c.guard = matrix_product(c.reaction, force);
        c.push = c.reaction.transpose();
        if constexpr (may_comply<Contacts>) {
          if (sys.compliant(i)) {
            c.second = -c.guard;
            c.second(z - 1) += sys.preload(i) * (1 + static_margin);
          }
        }
      } else {
        c.guard = never;
        c.reaction.setZero(n);
        c.push.setZero(n);
      }
      continue;
    }
    if (!std::isfinite(value_of(sys.position(i)))) {  // no such stop
      c.guard = never;
      c.pressing.setZero(z);
      continue;
    }
    if (const Spring spring = layout.spring(mode, i); spring != Spring::open) {
      set_spring(sys, i, spring);
      continue;
    }
    const Eigen::Matrix<S, Dofs, 1> normal = sys.normal.col(i);
    Row gap = Row::Zero(z);
    gap.segment(0, n) = -normal.transpose();
    gap(z - 1) = sys.position(i);
    if (sys.has_plate(i)) gap(sys.plate(i)) = 1;
    const Eigen::Matrix<S, Dofs, 1> direction = impulsive * normal;
    c.mobility = normal.dot(direction);
    if (value_of(c.mobility) <= 1e-11 * value_of(normal.dot(inverse_mass * normal))) {
      c.guard = sys.has_plate(i) ? gap : never;  // others hold its body: it stays where it is
      c.pressing.setZero(z);
      c.rate.setZero(z);
      c.push.setZero(n);
      c.mobility = S(0);
      c.gap_to_position.setZero(n);
      c.gap_to_velocity.setZero(n);
      continue;
    }
    c.guard = gap;
    c.push = direction / c.mobility;
    // z with this body put at rest on the contact.
    Square rest = Square::Identity(z, z);
    rest.block(0, 0, n, n) -= matrix_product(c.push, normal.transpose());
    rest.block(0, z - 1, n, 1) += c.push * sys.position(i);
    rest.block(n, n, n, n) -= matrix_product(c.push, normal.transpose());
    const Row along = matrix_product(normal.transpose(), acceleration);
    c.pressing = matrix_product(along, rest);
    const Rows held = acceleration - matrix_product(c.push, along);
    Square A_held = A;
    A_held.block(n, 0, n, z) = held;
    c.rate = matrix_product(c.pressing, A_held);
    const Eigen::Matrix<S, Dofs, 1> drag = matrix_product(acting.damping, c.push);
    c.damping = normal.dot(Eigen::Matrix<S, Dofs, 1>(matrix_product(admissible, drag)));
    const Eigen::Matrix<S, 1, Dofs> across = matrix_product(normal.transpose(), admissible);
    const Coordinates admissible_held = admissible - matrix_product(c.push, across);
    c.gap_to_position = matrix_product(admissible_held, drag);
    const Eigen::Matrix<S, Dofs, 1> pull = matrix_product(acting.stiffness, c.push);
    const Eigen::Matrix<S, Dofs, 1> lag = matrix_product(acting.damping, c.gap_to_position);
    c.gap_to_velocity = matrix_product(admissible_held, Eigen::Matrix<S, Dofs, 1>(pull - lag));
  }
  if constexpr (Frictions != 0) {
    std::size_t place = contacts_held;  // in `holding`
    frictions.resize(static_cast<std::size_t>(layout.frictions));
    for (Eigen::Index k = 0; k < layout.frictions; ++k) {
      FrictionRows<S, Dofs, Z>& f = frictions[static_cast<std::size_t>(k)];
      f.guard = {never, never};
      const Sliding sliding = layout.sliding(mode, k);
      const Eigen::Matrix<S, Dofs, 1> along = sys.sliding.col(k);
      if (sliding == Sliding::stuck) {
        f.reaction = reactions[place++];
        const Row multiplier = matrix_product(f.reaction, force);
        f.guard = {-multiplier, multiplier};
        Row limit = Row::Unit(z, z - 1);
        if constexpr (may_comply<Contacts>) {
          if (sys.stop_of(k) >= 0) limit = stop_force(sys, sys.stop_of(k));
        }
        for (Row& guard : f.guard) guard += limit * S(sys.friction(k) * (1 + static_margin));
      } else if (at_bound(sliding)) {
        f.held = value_of(along.dot(Eigen::Matrix<S, Dofs, 1>(matrix_product(admissible, along)))) <=
                 1e-11 * value_of(along.dot(Eigen::Matrix<S, Dofs, 1>(matrix_product(inverse_mass, along))));
        if (f.held) continue;
        f.guard[0].setZero(z);
        f.guard[0].segment(n, n) = along.transpose() * S(sign_of(sliding));
      }
    }
  }
}

/// Guards of compliant stop i while it is engaged or recovering; the other rows are asked of open contacts.
template <class S, int Dofs, int Harmonics, int Contacts, int Frictions>
void LinearMode<S, Dofs, Harmonics, Contacts, Frictions>::set_spring(const System& sys, Eigen::Index i,
                                                                     Spring spring) {
  if constexpr (may_comply<Contacts>) {
    const Eigen::Index z = A.rows();
    ContactRows<S, Dofs, Z>& c = contacts[static_cast<std::size_t>(i)];
    Row penetration = Row::Zero(z);
    penetration.segment(0, dofs_) = sys.normal.col(i).transpose();
    penetration(z - 1) = -sys.position(i);
    c.pressing.setZero(z);
    c.rate.setZero(z);
    c.push.setZero(dofs_);
    c.guard = penetration;
    if (spring != Spring::engaged || sys.law_of(i) == StopLaw::release_by_gap) return;
    c.guard = stop_force(sys, i);
    if (value_of(sys.preload(i)) > 0) c.second = penetration;
  }
}

/// P_i + k_i δ + c_i δ'.
template <class S, int Dofs, int Harmonics, int Contacts, int Frictions>
auto LinearMode<S, Dofs, Harmonics, Contacts, Frictions>::stop_force(const System& sys, Eigen::Index i) const
    -> Row {
  Row force = Row::Zero(A.rows());
  force.segment(0, dofs_) = sys.normal.col(i).transpose() * sys.stop_stiffness(i);
  force.segment(dofs_, dofs_) = sys.normal.col(i).transpose() * sys.stop_damping(i);
  force(A.rows() - 1) = sys.preload(i) - sys.stop_stiffness(i) * sys.position(i);
  return force;
}

template <class S, int Dofs, int Harmonics, int Contacts, int Frictions>
Eigen::VectorXd LinearMode<S, Dofs, Harmonics, Contacts, Frictions>::contact_forces(
    const System& sys, std::int64_t mode, const Eigen::VectorXd& z) const {
  const ModeLayout layout = layout_of(sys);
  Eigen::VectorXd forces = Eigen::VectorXd::Zero(sys.contacts);
  for (Eigen::Index i = 0; i < sys.contacts; ++i) {
    if (layout.carries(mode, i)) {
      forces(i) = contacts[static_cast<std::size_t>(i)].guard.dot(z);
    } else if (may_comply<Contacts> && layout.spring(mode, i) == Spring::engaged) {
      forces(i) = stop_force(sys, i).dot(z);
    }
  }
  return forces;
}

/// Plates follow their bodies or go back.
template <class S, int Dofs, int Harmonics, int Contacts, int Frictions>
void LinearMode<S, Dofs, Harmonics, Contacts, Frictions>::set_plates(const System& sys, std::int64_t mode) {
  if constexpr (may_comply<Contacts>) {
    const ModeLayout layout = layout_of(sys);
    for (Eigen::Index i = 0; i < layout.springs; ++i) {
      if (!sys.has_plate(i)) continue;
      const Eigen::Index plate = sys.plate(i);
      if (layout.spring(mode, i) == Spring::engaged) {
        A.row(plate).segment(dofs_, dofs_) = sys.normal.col(i).transpose();
      } else {
        A(plate, plate) = -sys.relaxation(i);
      }
    }
  }
}

template <class S, int Dofs, int Harmonics, int Contacts, int Frictions>
void LinearMode<S, Dofs, Harmonics, Contacts, Frictions>::set_extended(
    const System& sys, const Eigen::Matrix<S, Dofs, Z>& acceleration) {
  const Eigen::Index n = sys.mass.rows();
  const Eigen::Index h = sys.frequency.size();
  const Eigen::Index z = acceleration.cols();
  A.setZero(z, z);
  A.block(0, n, n, n).setIdentity();
  A.block(n, 0, n, z) = acceleration;
  for (Eigen::Index j = 0; j < h; ++j) {
    A(states_ + j, states_ + h + j) = -sys.frequency(j);
    A(states_ + h + j, states_ + j) = sys.frequency(j);
  }
}

template <class S, int Dofs, int Harmonics, int Contacts, int Frictions>
auto LinearMode<S, Dofs, Harmonics, Contacts, Frictions>::power(std::size_t j) const -> const Square& {
  while (powers_.size() <= j) powers_.push_back(matrix_product(powers_.back(), powers_.back()));
  return powers_[j];
}

template <class S, int Dofs, int Harmonics, int Contacts, int Frictions>
auto LinearMode<S, Dofs, Harmonics, Contacts, Frictions>::taylor_rows(
    const Eigen::Matrix<double, 1, Z>& row) const -> TaylorRows {
  const Eigen::Matrix<double, Z, Z> a = values_of(A);
  TaylorRows rows(taylor_terms, row.size());
  Eigen::Matrix<double, 1, Z> term = row;
  for (int k = 0; k < taylor_terms; ++k) {
    rows.row(k) = term;
    term = (term * a * (cell / (k + 1))).eval();
  }
  return rows;
}

/// Terms of the Taylor polynomial that count at the fraction s of a cell: |s|^k / k! > 1e-18, and the first
/// three, without which the height of a short bounce would be as wrong as it is small.
inline std::size_t terms_within(double s) {
  static const std::array<double, taylor_terms> reach = [] {
    std::array<double, taylor_terms> table{};
    double factorial = 1;
    for (int k = 1; k < taylor_terms; ++k) {
      factorial *= k;
      table[static_cast<std::size_t>(k)] = std::pow(1e-18 * factorial, 1.0 / k);
    }
    return table;
  }();
  const auto first_too_small = std::upper_bound(reach.begin(), reach.end(), std::abs(s));
  return std::max(std::size_t{3}, static_cast<std::size_t>(first_too_small - reach.begin()));
}

/// The states at the fraction s of a cell beyond z, −1 <= s <= 1, by its Taylor polynomial. The mode may be
/// plain and z dual. Where the mode has derivatives too, term after term: none of powers of A are needed.
template <class Mode, class S>
Eigen::Matrix<S, Mode::X, 1> within_cell(const Mode& mode, const Eigen::Matrix<S, Mode::Z, 1>& z, double s) {
  std::size_t terms = terms_within(s);
  if constexpr (std::is_same_v<typename Mode::Scalar, double>) {
    Eigen::Matrix<S, Mode::X, 1> sum =
        Eigen::Matrix<S, Mode::X, 1>::Constant(mode.taylor.front().rows(), S(0));
    while (terms-- > 0) sum = mode.taylor[terms].lazyProduct(z) + sum * s;
    return sum;
  } else {
    const Eigen::Index states = mode.states();
    std::array<Eigen::Matrix<S, Mode::Z, 1>, 2> term = {z, z};  // the last one and the next, in turn
    Eigen::Matrix<S, Mode::X, 1> sum = z.head(states);
    for (std::size_t k = 1; k < terms; ++k) {
      const double t = s * mode.cell / static_cast<double>(k);
      rate_of(mode.A, mode.dofs(), states, term[(k + 1) % 2], t, term[k % 2], k == 1);
      for (Eigen::Index i = 0; i < states; ++i) sum(i) += term[k % 2](i);
    }
    return sum;
  }
}

/// to = P z for a power P of e^{Ah}: among themselves the phases only turn, the 1 stays. `to` is not z.
template <class Square, class Columns>
void apply_power(const Square& P, Eigen::Index states, const Columns& z, Columns& to) {
  const Eigen::Index one = z.size() - 1;
  const Eigen::Index phases = (one - states) / 2;
  for (Eigen::Index i = 0; i < states; ++i) to(i) = product(P.row(i), z);
  for (Eigen::Index j = states; j < states + phases; ++j) {
    for (const Eigen::Index i : {j, j + phases}) {
      Products<typename Columns::Scalar> sum;
      for (const Eigen::Index l : {j, j + phases}) sum.add(P(i, l), z(l));
      sum.store(1, to(i));
    }
  }
  to(one) = z(one);
}

/// z after n whole cells.
template <class Mode, class S>
Eigen::Matrix<S, Mode::Z, 1> after_cells(const Mode& mode, Eigen::Matrix<S, Mode::Z, 1> z, long n) {
  Eigen::Matrix<S, Mode::Z, 1> next = z;
  for (std::size_t j = 0; n != 0; ++j, n >>= 1) {
    if ((n & 1) == 0) continue;
    apply_power(mode.power(j), mode.states(), z, next);
    z.swap(next);
  }
  return z;
}

/// x += A z t for the states x of z and a time t of value zero: only its derivatives count.
template <class Mode, class State, class S>
void add_rate(const Mode& mode, const Eigen::Matrix<double, Mode::Z, 1>& z, const S& t, State& x) {
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    double rate = 0;
    for (Eigen::Index j = 0; j < z.size(); ++j) rate += value_of(mode.A(i, j)) * z(j);
    x(i) += t * rate;
  }
}

}  // namespace graze
