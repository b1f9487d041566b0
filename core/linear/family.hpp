/// From the equations of a linear model to a System: one builder, templated on the scalar, is all that a
/// model of the linear family writes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/contact/follow_segments.hpp"
#include "core/linear/energy.hpp"
#include "core/linear/motion.hpp"
#include "core/linear/segments.hpp"
#include "core/linear/vanishing_friction.hpp"
#include "core/math/dense.hpp"
#include "core/system/linear_law.hpp"
#include "core/system/motion_system.hpp"
#include "core/system/system.hpp"

namespace graze {

/// Displacements, in columns, that no spring and no stop feels: K u = 0 and n_iᵀ u = 0 of every stop that
/// exists. (Dampers and frictions act on velocities.)
Eigen::MatrixXd free_displacements(const Eigen::Ref<const Eigen::MatrixXd>& stiffness,
                                   const Eigen::Ref<const Eigen::MatrixXd>& normal,
                                   const Eigen::Ref<const Eigen::VectorXd>& position);

/// Of a system that is made without the dry friction that a model may have: which parameters are amplitudes
/// of it, and along what. While an amplitude is 0 there is no such friction; the derivative by it is that of
/// the friction's first effect (core/linear/vanishing_friction).
struct FrictionAmplitudes {
  std::vector<std::size_t> parameters;
  Eigen::MatrixXd directions;  ///< p_k in columns
};

/// A linear model at one set of values.
template <int Dofs, int Harmonics, int Contacts, int Frictions = 0>
class LinearFamilySystem final : public System {
 public:
  /// Directions carried in one pass while the parameters are fixed …
  static constexpr int state_chunk = Dofs == Eigen::Dynamic ? 8 : 2 * Dofs;
  /// … while they are not …
  static constexpr int chunk = wide_directions;
  /// … and along a leg: by its state, its beginning, its duration and one parameter.
  static constexpr int leg_chunk = Dofs == Eigen::Dynamic ? 8 : 2 * Dofs + 3;
  template <class P>
  using Dynamics = LinearDynamics<P, Dofs, Harmonics, Contacts, Frictions>;
  template <class S, class P>
  using Motion = LinearMotion<S, P, Dofs, Harmonics, Contacts, Frictions>;
  using Plain = Dynamics<double>;
  using Equations = LinearSystem<double, Dofs, Harmonics, Contacts, Frictions>;
  template <class P>
  using Builder = std::function<LinearSystem<P, Dofs, Harmonics, Contacts, Frictions>(std::span<const P>)>;

  /// `carried` and `varied` make the same equations with derivatives.
  LinearFamilySystem(Equations equations, Builder<Dual<chunk>> carried, Builder<Dual<1>> varied,
                     std::span<const double> values, const Tolerance& tolerance,
                     const FrictionAmplitudes& amplitudes)
      : carried_builder_(std::move(carried)),
        varied_builder_(std::move(varied)),
        amplitudes_(amplitudes.parameters),
        values_(values.begin(), values.end()),
        tolerance_(tolerance),
        plain_(std::move(equations)),
        rate_(fastest(plain_.system())),
        vanishing_(plain_, directions_of(plain_.system(), amplitudes)),
        motion_(plain_, plain_, tolerance_, rate_) {}
  LinearFamilySystem(const LinearFamilySystem&) = delete;
  LinearFamilySystem& operator=(const LinearFamilySystem&) = delete;

  int states() const override { return static_cast<int>(plain_.system().states()); }
  int contacts() const override { return static_cast<int>(plain_.system().contacts); }
  int frictions() const override { return static_cast<int>(plain_.system().friction.size()); }
  bool sticks(const HybridState& state, int k) override {
    if (layout_of(plain_.system()).sliding(state.mode, k) == Sliding::stuck) return true;
    return plain_.mode(state.mode).frictions[static_cast<std::size_t>(k)].held;
  }
  bool in_contact(const HybridState& state, int i) const override {
    return is_closed(state.mode, i) || layout_of(plain_.system()).spring(state.mode, i) == Spring::engaged;
  }
  Eigen::VectorXd contact_forces(const HybridState& state) override {
    const auto& sys = plain_.system();
    const auto phases = forcing_phases(sys, state.time);
    Eigen::VectorXd z(states() + phases.size() + 1);
    for (int i = 0; i < states(); ++i) z(order()(i)) = state.x(i);
    z.tail(phases.size() + 1) << phases, 1;
    return plain_.mode(state.mode).contact_forces(sys, state.mode, z);
  }
  double period() const override { return plain_.period(); }
  bool periodic() const override { return plain_.system().commensurate; }
  double rate() const override { return rate_; }
  std::optional<LinearLaw> linear_law() const override {
    const auto& s = plain_.system();
    if (frictions() > 0) return std::nullopt;
    if constexpr (may_comply<Contacts>) {
      if (s.has_plates() || !s.preload.isZero(0)) return std::nullopt;
    }
    const auto matrix = [](const auto& m) { return LinearLaw::Matrix(m.data(), m.rows(), m.cols()); };
    const auto vector = [](const auto& v) { return LinearLaw::Vector(v.data(), v.size()); };
    return LinearLaw{matrix(s.mass),
                     matrix(s.damping),
                     matrix(s.stiffness),
                     vector(s.constant),
                     vector(s.frequency),
                     matrix(s.cosine),
                     matrix(s.sine),
                     matrix(s.normal),
                     vector(s.position),
                     vector(s.restitution),
                     s.law,
                     vector(s.stop_stiffness),
                     vector(s.stop_damping),
                     layout_of(s).spring_place(0),
                     s.base_frequency,
                     s.commensurate,
                     rate_,
                     tolerance_.chatter,
                     tolerance_.events};
  }

  Outcome advance(HybridState& state, const Section& section, Observer* observer) override {
    return move_plain(motion_, order(), state, inner(section), guards(), observer);
  }

  Outcome advance(HybridState& state, const Section& section, Tangent& tangent) override {
    found_.clear();
    const Section there = inner(section);
    return in_chunks(state, tangent, [&](HybridState& from, const Tangent& seed, Eigen::Index first) {
      const auto go = [&](auto& motion) { return motion.advance(there, nullptr); };
      return carry(from, seed, tangent, first, go);
    });
  }
  bool passes_contacts() const override { return true; }
  Outcome end_leg(HybridState& state, LegEnd& end, Tangent& tangent) override {
    return in_chunks(state, tangent, [&](HybridState& from, const Tangent& seed, Eigen::Index first) {
      const auto go = [&](auto& motion) { return motion.end_leg(end, first); };
      return carry(from, seed, tangent, first, go);
    });
  }
  double period_slope(int parameter) const override {
    const std::vector<Dual<1>> values = varied_parameters<1>(values_, {&parameter, 1});
    return Dynamics<Dual<1>>(varied_builder_(std::span<const Dual<1>>(values))).period().slope.front();
  }

  bool prescribes(int parameter) const override { return frictions() == 0 && prescribes_slip(parameter); }
  bool prescribes_slip(int parameter) const override {
    const auto& s = plain_.system();
    const bool vanishes = is_amplitude(parameter) && values_[static_cast<std::size_t>(parameter)] == 0;
    return !s.has_plates() && !vanishes;
  }
  std::int64_t with_stick(std::int64_t mode, int k) const override {
    return layout_of(plain_.system()).with(mode, k, Sliding::stuck);
  }
  std::int64_t with_contact(std::int64_t mode, int i, bool engaged) const override {
    if (!plain_.system().compliant(i)) return mode;
    return layout_of(plain_.system()).with_spring(mode, i, engaged ? Spring::engaged : Spring::open);
  }
  std::optional<Course> follow(std::span<const Leg> legs, const std::vector<int>& parameters) override {
    if (!prescribed(legs, parameters)) return System::follow(legs, parameters);
    std::optional<Course> course;
    for (const int parameter : parameters) {  // matrix functions cost more with each derivative of the system
      auto one = follow_by(legs, parameter);
      if (!one) return std::nullopt;
      if (course) {
        add_parameter(*course, *one);
      } else {
        course = std::move(one);
      }
    }
    return course;
  }

  void gaps(const HybridState& state, Eigen::VectorXd& gap, Eigen::VectorXd& rate) const override {
    const auto& sys = plain_.system();
    const Eigen::Index n = sys.mass.rows();
    using Coordinates = Eigen::Map<const Eigen::VectorXd, 0, Eigen::InnerStride<2>>;
    const Coordinates q(state.x.data(), n), v(state.x.data() + 1, n);
    gap = sys.position;
    gap.noalias() -= sys.normal.transpose() * q;
    rate.noalias() = -sys.normal.transpose() * v;
    for (Eigen::Index i = 0; i < sys.position.size(); ++i) {
      if (!sys.has_plate(i)) continue;
      const double z = state.x(sys.plate(i));
      gap(i) += z;
      rate(i) = in_contact(state, static_cast<int>(i)) ? 0.0 : rate(i) - sys.relaxation(i) * z;
    }
    gap.conservativeResize(sys.contacts);
    rate.conservativeResize(sys.contacts);
  }

  std::optional<Energy> energy(const HybridState& state) override {
    return energy_of(plain_.system(), state.mode, state.time, state.x, contact_forces(state));
  }

  Eigen::RowVectorXd gap_gradient(const HybridState& state, int contact) const override {
    Eigen::RowVectorXd gradient = Eigen::RowVectorXd::Zero(state.x.size() + 1);
    const auto& normal = plain_.system().normal;
    for (Eigen::Index i = 0; i < normal.rows(); ++i) gradient(2 * i) = -normal(i, contact);
    if (plain_.system().has_plate(contact)) gradient(plain_.system().plate(contact)) = 1;
    return gradient;
  }

  Eigen::MatrixXd shifts() const override {
    const auto& s = plain_.system();
    const Eigen::MatrixXd displacements = free_displacements(s.stiffness, s.normal, s.position);
    Eigen::MatrixXd shifts = Eigen::MatrixXd::Zero(states(), displacements.cols());
    for (Eigen::Index i = 0; i < displacements.rows(); ++i) shifts.row(2 * i) = displacements.row(i);
    return shifts;
  }
  double unit(int state) const override {
    return state % 2 == 1 && state < 2 * static_cast<int>(plain_.system().mass.rows()) ? rate() : 1;
  }

 private:
  std::optional<Course> follow_by(std::span<const Leg> legs, int parameter) {
    const std::vector<Dual<1>> values = varied_parameters<1>(values_, {&parameter, 1});
    Dynamics<Dual<1>> varied(varied_builder_(std::span<const Dual<1>>(values)));
    const auto point_for = [&](const Leg& leg) {
      return LinearLeg<Dual<leg_chunk>, Dofs, Harmonics, Contacts, Frictions>(varied, leg);
    };
    auto course = follow_legs<leg_chunk>(legs, states(), 1, point_for, order());
    if (course) course->period_slope = Eigen::RowVectorXd::Constant(1, varied.period().slope.front());
    return course;
  }

  /// 1 per unit of time where the equations have no rate at all (a ball that only falls).
  static double fastest(const Equations& equations) {
    const Eigen::Index n = equations.mass.rows();
    const Eigen::Matrix<double, Dofs, Dofs> inverse_mass = inverse_of(equations.mass);
    Eigen::Matrix<double, state_size<Dofs>, state_size<Dofs>> A;
    A.setZero(2 * n, 2 * n);
    A.block(n, 0, n, n) = inverse_mass * -equations.stiffness;
    A.block(n, n, n, n) = inverse_mass * -equations.damping;
    const double rate = fastest_rate(A, n, equations.frequency);
    return rate > 0 ? rate : 1;
  }
  std::size_t guards() const { return static_cast<std::size_t>(layout_of(plain_.system()).guards()); }
  auto order() const {
    return [dofs = plain_.system().mass.rows()](Eigen::Index i) {
      return Motion<double, double>::inner(i, dofs);
    };
  }
  Section inner(Section section) const {
    section.coordinate = static_cast<int>(order()(section.coordinate));
    return section;
  }

  using Carried = std::pair<Outcome, Eigen::Index>;

  using Friction = VanishingFriction<Dofs, Harmonics, Contacts, Frictions>;
  template <class S>
  using Vanishing = VanishingAmplitudes<S, Dofs, Harmonics, Contacts, Frictions>;

  /// What carries the derivatives of one pass, in the directions that these columns are.
  struct Carrier {
    Eigen::MatrixXd directions;
    std::unique_ptr<Dynamics<Dual<chunk>>> dynamics;
    Vanishing<Dual<chunk>> vanishing;

    const Vanishing<Dual<chunk>>* friction() const { return vanishing.which.empty() ? nullptr : &vanishing; }
  };

  /// Kept: an orbit asks for the same ones every period.
  const Carrier& carried(std::size_t pass, const Tangent& seed, Eigen::Index first) {
    using S = Dual<chunk>;
    if (pass >= carried_.size()) carried_.resize(pass + 1);
    Carrier& carrier = carried_[pass];
    const auto columns =
        seed.parameter.middleCols(first, std::min<Eigen::Index>(chunk, seed.parameter.cols() - first));
    const bool same = carrier.dynamics && carrier.directions.rows() == columns.rows() &&
                      carrier.directions.cols() == columns.cols() && carrier.directions == columns;
    if (!same) {
      const std::vector<S> values = dual_parameters<chunk>(values_, seed, first);
      carrier.dynamics = std::make_unique<Dynamics<S>>(carried_builder_(std::span<const S>(values)));
      carrier.vanishing = vanishing(values, carrier.dynamics->system());
      carrier.directions = columns;
    }
    return carrier;
  }

  static Eigen::MatrixXd directions_of(const Equations& equations, const FrictionAmplitudes& amplitudes) {
    if constexpr (Frictions == 0) return amplitudes.directions;
    return equations.sliding;
  }
  /// Friction on a compliant stop has modes of its own whatever its coefficient.
  template <class S, class System>
  Vanishing<S> vanishing(const std::vector<S>& values, const System& equations) {
    Vanishing<S> result{&vanishing_, {}, {}};
    for (std::size_t k = 0; k < vanishing_.count(); ++k) {
      const int place = static_cast<int>(k);
      const S& amplitude = Frictions == 0 ? values[amplitudes_[k]] : equations.friction(place);
      if (value_of(amplitude) != 0 || identical(amplitude, S(0)) || equations.stop_of(place) >= 0) continue;
      result.which.push_back(k);
      result.amplitude.push_back(amplitude);
    }
    return result;
  }

  /// Carries directions from `first` on along one motion, as many as fit at once.
  template <class Go>
  Carried carry(HybridState& state, const Tangent& seed, Tangent& tangent, Eigen::Index first, const Go& go) {
    if (seed.parameter.rows() == 0 && seed.state.cols() == 1)
      return carry<1>(state, seed, tangent, first, plain_, nullptr, go);
    if (seed.parameter.rows() == 0)
      return carry<state_chunk>(state, seed, tangent, first, plain_, nullptr, go);
    const Carrier& carrier = carried(static_cast<std::size_t>(first / chunk), seed, first);
    return carry<chunk>(state, seed, tangent, first, *carrier.dynamics, carrier.friction(), go);
  }
  /// Those up to first + N − 1; later passes of an iterate do not search.
  template <int N, class P, class Go>
  Carried carry(HybridState& state, const Tangent& seed, Tangent& tangent, Eigen::Index first,
                Dynamics<P>& carried, const Vanishing<Dual<N>>* vanishing, const Go& go) {
    Motion<Dual<N>, P> motion(plain_, carried, tolerance_, rate_, vanishing, &found_);
    const auto move = [&] { return go(motion); };
    return {move_directions<N>(motion, order(), state, guards(), seed, tangent, first, move), N};
  }

  bool is_amplitude(int parameter) const {
    const auto end = amplitudes_.end();
    return std::find(amplitudes_.begin(), end, static_cast<std::size_t>(parameter)) != end;
  }

  Builder<Dual<chunk>> carried_builder_;
  Builder<Dual<1>> varied_builder_;
  std::vector<Carrier> carried_;         ///< of each pass
  std::vector<Crossing> found_;          ///< by the first pass of an iterate
  std::vector<std::size_t> amplitudes_;  ///< parameters
  std::vector<double> values_;
  Tolerance tolerance_;
  Plain plain_;
  double rate_;
  Friction vanishing_;
  Motion<double, double> motion_;
};

/// The system of a linear model at these values; nullptr when its mass matrix is not positive definite or a
/// value makes no sense.
///
/// Builder makes the equations: `template <class S> LinearSystem<S, …> operator()(std::span<const S>) const`.
template <int Dofs, int Harmonics, int Contacts, int Frictions = 0, class Builder>
std::unique_ptr<System> linear_family_system(const Builder& builder, std::span<const double> values,
                                             const Tolerance& tolerance,
                                             const FrictionAmplitudes& amplitudes = {}) {
  using Family = LinearFamilySystem<Dofs, Harmonics, Contacts, Frictions>;
  auto equations = builder(values);
  bool finite = equations.mass.allFinite() && equations.damping.allFinite() &&
                equations.stiffness.allFinite() && equations.constant.allFinite() &&
                equations.frequency.allFinite() && equations.cosine.allFinite() &&
                equations.sine.allFinite() && equations.sliding.allFinite() && equations.friction.allFinite();
  if constexpr (may_comply<Contacts>) {
    finite = finite && equations.stop_stiffness.allFinite() && equations.stop_damping.allFinite() &&
             equations.preload.allFinite();
  }
  if (!finite) return nullptr;
  if (!is_positive_definite(equations.mass)) return nullptr;
  return std::make_unique<Family>(std::move(equations), builder, builder, values, tolerance, amplitudes);
}

// One or two masses between two stops: several models have these sizes, compiled once.
extern template class LinearFamilySystem<1, 1, 2>;
extern template class LinearFamilySystem<2, 1, 2>;
extern template class LinearFamilySystem<2, 1, 2, 3>;

}  // namespace graze
