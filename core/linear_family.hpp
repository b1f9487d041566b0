/// From the equations of a linear model to a System: one builder, templated on the scalar, is all that a
/// model of the linear family writes.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/follow_legs.hpp"
#include "core/linear_course.hpp"
#include "core/linear_motion.hpp"
#include "core/motion_system.hpp"
#include "core/system.hpp"

namespace graze {

/// Whether a matrix is positive definite, far enough from singular to be solved with.
bool is_mass(const Eigen::MatrixXd& matrix);

/// A linear model at one set of values; `carried` makes its equations in dual numbers.
template <int Dofs, int Harmonics, int Contacts, int Frictions = 0>
class LinearFamilySystem final : public System {
 public:
  /// Directions carried in one pass.
  static constexpr int chunk = Dofs == Eigen::Dynamic ? 8 : 2 * Dofs;
  template <class P>
  using Dynamics = LinearDynamics<P, Dofs, Harmonics, Contacts, Frictions>;
  template <class S, class P>
  using Motion = LinearMotion<S, P, Dofs, Harmonics, Contacts, Frictions>;
  using Plain = Dynamics<double>;
  using Equations = LinearSystem<double, Dofs, Harmonics, Contacts, Frictions>;
  using DualEquations = LinearSystem<Dual<chunk>, Dofs, Harmonics, Contacts, Frictions>;
  using Builder = std::function<DualEquations(std::span<const Dual<chunk>>)>;

  LinearFamilySystem(Equations equations, Builder carried, std::span<const double> values,
                     const Tolerance& tolerance)
      : builder_(std::move(carried)),
        values_(values.begin(), values.end()),
        tolerance_(tolerance),
        plain_(std::move(equations)),
        rate_(fastest(plain_)),
        motion_(plain_, plain_, tolerance_, rate_) {}
  LinearFamilySystem(const LinearFamilySystem&) = delete;
  LinearFamilySystem& operator=(const LinearFamilySystem&) = delete;

  int states() const override { return 2 * static_cast<int>(plain_.system().mass.rows()); }
  int contacts() const override { return static_cast<int>(plain_.system().position.size()); }
  int frictions() const override { return static_cast<int>(plain_.system().friction.size()); }
  bool sticks(const HybridState& state, int k) override {
    if (layout_of(plain_.system()).sliding(state.mode, k) == Sliding::stuck) return true;
    return plain_.mode(state.mode).frictions[static_cast<std::size_t>(k)].held;
  }
  double period() const override { return plain_.period(); }
  bool periodic() const override { return plain_.system().commensurate; }
  double rate() const override { return rate_; }

  Outcome advance(HybridState& state, const Section& section, Observer* observer) override {
    return move_plain(motion_, order(), state, inner(section), guards(), observer);
  }

  Outcome advance(HybridState& state, const Section& section, Tangent& tangent) override {
    return in_chunks(state, tangent, [&](HybridState& from, const Tangent& seed, Eigen::Index first) {
      if (seed.parameter.rows() > 0) return carry_with_parameters(from, section, seed, tangent, first);
      return seed.state.cols() - first == 1 ? carry<1>(from, section, seed, tangent, first, plain_)
                                            : carry<chunk>(from, section, seed, tangent, first, plain_);
    });
  }

  std::optional<Course> follow(std::span<const Leg> legs, int parameter) override {
    if constexpr (Frictions == 0 || Frictions == Eigen::Dynamic) {
      if (frictions() > 0) return System::follow(legs, parameter);
      using S = Dual<chunk>;
      const std::vector<S> values = varied_parameters<chunk>(values_, parameter);
      Dynamics<S> varied(builder_(std::span<const S>(values)));
      const auto point_for = [&](const Leg& leg) {
        return LinearLeg<S, Dofs, Harmonics, Contacts, Frictions>(varied, leg);
      };
      auto course = follow_legs<chunk>(legs, states(), point_for, order());
      if (course) course->period_slope = varied.period().slope[chunk - 1];
      return course;
    } else {
      return System::follow(legs, parameter);
    }
  }

  void gaps(const HybridState& state, Eigen::VectorXd& gap, Eigen::VectorXd& rate) const override {
    const auto& sys = plain_.system();
    const Eigen::Index n = sys.mass.rows();
    Eigen::VectorXd q(n), v(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      q(i) = state.x(2 * i);
      v(i) = state.x(2 * i + 1);
    }
    gap = sys.position - sys.normal.transpose() * q;
    rate = -(sys.normal.transpose() * v);
  }

  Eigen::RowVectorXd gap_gradient(const HybridState& state, int contact) const override {
    Eigen::RowVectorXd gradient = Eigen::RowVectorXd::Zero(state.x.size());
    const auto& normal = plain_.system().normal;
    for (Eigen::Index i = 0; i < normal.rows(); ++i) gradient(2 * i) = -normal(i, contact);
    return gradient;
  }

 private:
  /// 1 per unit of time where the equations have no rate at all (a ball that only falls).
  static double fastest(Plain& plain) {
    const double rate =
        fastest_rate(plain.scan(0).mode.A, plain.system().mass.rows(), plain.system().frequency);
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

  Carried carry_with_parameters(HybridState& state, const Section& section, const Tangent& seed,
                                Tangent& tangent, Eigen::Index first) {
    using S = Dual<chunk>;
    const std::vector<S> values = dual_parameters<chunk>(values_, seed, first);
    Dynamics<S> carried(builder_(std::span<const S>(values)));
    return carry<chunk>(state, section, seed, tangent, first, carried);
  }

  /// Carries the directions first … first + N − 1 along one motion.
  template <int N, class P>
  Carried carry(HybridState& state, const Section& section, const Tangent& seed, Tangent& tangent,
                Eigen::Index first, Dynamics<P>& carried) {
    Motion<Dual<N>, P> motion(plain_, carried, tolerance_, rate_);
    return {move_directions<N>(motion, order(), state, inner(section), guards(), seed, tangent, first), N};
  }

  Builder builder_;
  std::vector<double> values_;
  Tolerance tolerance_;
  Plain plain_;
  double rate_;
  Motion<double, double> motion_;
};

/// The system of a linear model at these values; nullptr when its mass matrix is not positive definite or a
/// value makes no sense.
///
/// `Builder` makes the equations: template <class S> LinearSystem<S, …> operator()(std::span<const S>) const.
template <int Dofs, int Harmonics, int Contacts, int Frictions = 0, class Builder>
std::unique_ptr<System> linear_family_system(const Builder& builder, std::span<const double> values,
                                             const Tolerance& tolerance) {
  using Family = LinearFamilySystem<Dofs, Harmonics, Contacts, Frictions>;
  const auto equations = builder(values);
  const bool finite =
      equations.mass.allFinite() && equations.damping.allFinite() && equations.stiffness.allFinite() &&
      equations.constant.allFinite() && equations.frequency.allFinite() && equations.cosine.allFinite() &&
      equations.sine.allFinite() && equations.sliding.allFinite() && equations.friction.allFinite();
  if (!finite) return nullptr;
  if (!is_mass(equations.mass)) return nullptr;
  return std::make_unique<Family>(equations, builder, values, tolerance);
}

// One mass: several models have these sizes, compiled once.
extern template class LinearFamilySystem<1, 1, 1>;
extern template class LinearFamilySystem<1, 1, 2>;

}  // namespace graze
