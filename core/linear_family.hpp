/// From the equations of a linear model to a System: one builder, templated on the scalar, is all that a
/// model of the linear family writes.
#pragma once

#include <Eigen/Cholesky>
#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/linear_motion.hpp"
#include "core/system.hpp"

namespace graze {

/// `Builder` makes the equations: template <class S> LinearSystem<S, …> operator()(std::span<const S>) const.
template <class Builder, int Dofs, int Harmonics, int Contacts>
class LinearFamilySystem final : public System {
 public:
  using Plain = LinearDynamics<double, Dofs, Harmonics, Contacts>;

  LinearFamilySystem(Builder builder, std::span<const double> values, const Tolerance& tolerance)
      : builder_(std::move(builder)),
        values_(values.begin(), values.end()),
        tolerance_(tolerance),
        plain_(builder_(values)),
        rate_(fastest(plain_)),
        motion_(plain_, plain_, tolerance_, rate_) {}
  LinearFamilySystem(const LinearFamilySystem&) = delete;
  LinearFamilySystem& operator=(const LinearFamilySystem&) = delete;

  int states() const override { return 2 * static_cast<int>(plain_.system().mass.rows()); }
  int contacts() const override { return static_cast<int>(plain_.system().position.size()); }
  double period() const override { return plain_.period(); }
  bool periodic() const override { return plain_.system().commensurate; }
  double rate() const override { return rate_; }

  Outcome advance(HybridState& state, const Section& section, Observer* observer) override {
    motion_.x.resize(states());
    for (Eigen::Index i = 0; i < states(); ++i) motion_.x(inner(i)) = state.x(i);
    motion_.time = state.time;
    motion_.place(state);
    const Outcome outcome = motion_.advance(inner(section), observer);
    motion_.outer_state(state.x);
    state.time = motion_.time;
    motion_.report(state);
    return outcome;
  }

  Outcome advance(HybridState& state, const Section& section, Tangent& tangent) override {
    const HybridState from = state;
    const Tangent seed = tangent;
    const Eigen::Index directions = seed.state.cols();
    const bool with_parameters = seed.parameter.rows() > 0;
    Outcome outcome = Outcome::ok;
    for (Eigen::Index first = 0; first < directions && outcome == Outcome::ok;) {
      state = from;
      const Eigen::Index left = directions - first;
      if (with_parameters) {
        outcome = carry_with_parameters(state, section, seed, tangent, first);
        first += chunk;
      } else if (left == 1) {
        outcome = carry<1>(state, section, seed, tangent, first, plain_);
        first += 1;
      } else {
        outcome = carry<chunk>(state, section, seed, tangent, first, plain_);
        first += chunk;
      }
    }
    return outcome;
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
  /// Directions carried in one pass.
  static constexpr int chunk = Dofs == Eigen::Dynamic ? 8 : 2 * Dofs;

  /// 1 per unit of time where the equations have no rate at all (a ball that only falls).
  static double fastest(Plain& plain) {
    const double rate =
        fastest_rate(plain.scan(0).mode.A, plain.system().mass.rows(), plain.system().frequency);
    return rate > 0 ? rate : 1;
  }
  Eigen::Index inner(Eigen::Index outer) const {
    return LinearMotion<double, double, Dofs, Harmonics, Contacts>::inner(outer, plain_.system().mass.rows());
  }
  Section inner(Section section) const {
    section.coordinate = static_cast<int>(inner(Eigen::Index{section.coordinate}));
    return section;
  }

  Outcome carry_with_parameters(HybridState& state, const Section& section, const Tangent& seed,
                                Tangent& tangent, Eigen::Index first) {
    using S = Dual<chunk>;
    std::vector<S> values(values_.begin(), values_.end());
    const Eigen::Index last = std::min<Eigen::Index>(seed.state.cols(), first + chunk);
    for (std::size_t p = 0; p < values.size(); ++p) {
      for (Eigen::Index k = first; k < last; ++k) {
        values[p].slope[static_cast<std::size_t>(k - first)] =
            seed.parameter(static_cast<Eigen::Index>(p), k);
      }
    }
    LinearDynamics<S, Dofs, Harmonics, Contacts> carried(builder_(std::span<const S>(values)));
    return carry<chunk>(state, section, seed, tangent, first, carried);
  }

  /// Carries the directions first … first + N − 1 along one motion.
  template <int N, class P>
  Outcome carry(HybridState& state, const Section& section, const Tangent& seed, Tangent& tangent,
                Eigen::Index first, LinearDynamics<P, Dofs, Harmonics, Contacts>& carried) {
    using S = Dual<N>;
    LinearMotion<S, P, Dofs, Harmonics, Contacts> motion(plain_, carried, tolerance_, rate_);
    const Eigen::Index last = std::min<Eigen::Index>(seed.state.cols(), first + N);
    motion.x.resize(states());
    for (Eigen::Index i = 0; i < states(); ++i) motion.x(inner(i)) = S(state.x(i));
    motion.time = S(state.time);
    for (Eigen::Index k = first; k < last; ++k) {
      const std::size_t j = static_cast<std::size_t>(k - first);
      for (Eigen::Index i = 0; i < seed.state.rows(); ++i) motion.x(inner(i)).slope[j] = seed.state(i, k);
      motion.time.slope[j] = seed.time(k);
    }
    motion.place(state);
    const Outcome outcome = motion.advance(inner(section), nullptr);
    for (Eigen::Index k = first; k < last; ++k) {
      const std::size_t j = static_cast<std::size_t>(k - first);
      for (Eigen::Index i = 0; i < seed.state.rows(); ++i) tangent.state(i, k) = motion.x(inner(i)).slope[j];
      tangent.time(k) = motion.time.slope[j];
    }
    motion.outer_state(state.x);
    state.time = motion.time.value;
    motion.report(state);
    return outcome;
  }

  Builder builder_;
  std::vector<double> values_;
  Tolerance tolerance_;
  Plain plain_;
  double rate_;
  LinearMotion<double, double, Dofs, Harmonics, Contacts> motion_;
};

/// The system of a linear model at these values; nullptr when its mass matrix is not positive definite or a
/// value makes no sense.
template <int Dofs, int Harmonics, int Contacts, class Builder>
std::unique_ptr<System> linear_family_system(const Builder& builder, std::span<const double> values,
                                             const Tolerance& tolerance) {
  const auto equations = builder(values);
  const bool finite = equations.mass.allFinite() && equations.damping.allFinite() &&
                      equations.stiffness.allFinite() && equations.constant.allFinite() &&
                      equations.frequency.allFinite() && equations.cosine.allFinite() &&
                      equations.sine.allFinite();
  if (!finite) return nullptr;
  const Eigen::LLT<Eigen::MatrixXd> factor{Eigen::MatrixXd(equations.mass)};
  if (factor.info() != Eigen::Success || !(factor.rcond() > 1e-14)) return nullptr;
  return std::make_unique<LinearFamilySystem<Builder, Dofs, Harmonics, Contacts>>(builder, values, tolerance);
}

}  // namespace graze
