/// An independent reference for linear systems with rigid and compliant stops, in long double: every set of
/// engaged stops moves by complex exponentials of its own eigenvalues, events are seen by dense sampling and
/// located by bisection. It shares nothing with the engine.
///
///     x = (q, q'),  x' = B x + b + Re Σ_j X_j e^{iΩ_j t}:   x(t) = p(t) + V e^{Λ(t − t₀)} V⁻¹ (x₀ − p(t₀))
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace graze::independent {

using Long = long double;
using LongVector = Eigen::Matrix<Long, Eigen::Dynamic, 1>;
using LongMatrix = Eigen::Matrix<Long, Eigen::Dynamic, Eigen::Dynamic>;

struct ModalStop {
  LongVector normal;
  Long position = 0;
  Long restitution = -1;  ///< negative: compliant
  Long stiffness = 0, damping = 0, preload = 0;
  bool release_by_gap = false;
  bool relaxing_plate = false;  ///< goes back from where it was left by c z' + k z = 0

  bool compliant() const { return restitution < 0; }
};

struct ModalSystem {
  LongMatrix mass, damping, stiffness;
  LongVector constant;
  std::vector<Long> frequency;
  std::vector<LongVector> cosine, sine;
  std::vector<ModalStop> stops;
};

struct ModalEvent {
  enum class Kind { impact, begin, end } kind;
  std::size_t stop;
  Long time;
};

class ModalMotion {
 public:
  enum class Status { open, engaged, recovering };

  ModalMotion(ModalSystem system, LongVector start, Long time, Long step)
      : system_(std::move(system)), x_(std::move(start)), time_(time), step_(step) {
    for (const ModalStop& stop : system_.stops) {
      const bool inside = stop.compliant() && depth(stop, x_) > 0;
      const bool pushes = stop.release_by_gap || force(stop, x_) > 0;
      left_.push_back({0, time_});
      status_.push_back(!inside ? Status::open : pushes ? Status::engaged : Status::recovering);
    }
    take_flow();
  }

  void run(Long end) {
    while (time_ < end) {
      const Long begin = events_.empty() ? time_ : time_ + settle;  // what was just left is off its zero
      Long before = begin;
      bool found = false;
      while (!found && before < end) {
        const Long after = std::min(before + step_, end);
        found = anything_fired(at(after), after);
        if (found) {
          bisect(before, after);
        } else {
          before = after;
        }
      }
      if (!found) {
        x_ = at(end);
        time_ = end;
        take_flow();
      }
    }
  }

  const LongVector& state() const { return x_; }
  /// Penetration of the plate of stop k.
  Long plate(std::size_t k) const {
    return status_[k] == Status::engaged ? depth(system_.stops[k], x_) : plate(k, time_);
  }
  const std::vector<ModalEvent>& events() const { return events_; }
  Status status(std::size_t k) const { return status_[k]; }

 private:
  static constexpr Long settle = 1e-9L;
  using Complex = std::complex<Long>;
  using ComplexVector = Eigen::Matrix<Complex, Eigen::Dynamic, 1>;
  using ComplexMatrix = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic>;

  Eigen::Index dofs() const { return system_.mass.rows(); }
  Long depth(const ModalStop& stop, const LongVector& x) const {
    return stop.normal.dot(x.head(dofs())) - stop.position;
  }
  Long speed(const ModalStop& stop, const LongVector& x) const { return stop.normal.dot(x.tail(dofs())); }
  Long force(const ModalStop& stop, const LongVector& x) const {
    return stop.preload + stop.stiffness * depth(stop, x) + stop.damping * speed(stop, x);
  }
  /// Positive until something happens at stop k.
  Long guard(std::size_t k, const LongVector& x, Long time) const {
    const ModalStop& stop = system_.stops[k];
    const Long d = depth(stop, x);
    if (status_[k] == Status::open) return (stop.relaxing_plate ? plate(k, time) : 0) - d;
    if (status_[k] == Status::recovering || stop.release_by_gap) return d;
    const Long f = force(stop, x);
    return stop.preload > 0 ? std::min(f, d) : f;
  }
  Long plate(std::size_t k, Long time) const {
    const ModalStop& stop = system_.stops[k];
    return left_[k].depth * std::exp(-stop.stiffness / stop.damping * (time - left_[k].time));
  }
  bool anything_fired(const LongVector& x, Long time) const {
    for (std::size_t k = 0; k < status_.size(); ++k) {
      if (guard(k, x, time) < 0) return true;
    }
    return false;
  }

  void take_flow() {
    const Eigen::Index n = dofs();
    LongMatrix K = system_.stiffness, C = system_.damping;
    LongVector f = system_.constant;
    for (std::size_t k = 0; k < status_.size(); ++k) {
      const ModalStop& s = system_.stops[k];
      if (status_[k] != Status::engaged) continue;
      K += s.stiffness * s.normal * s.normal.transpose();
      C += s.damping * s.normal * s.normal.transpose();
      f += (s.stiffness * s.position - s.preload) * s.normal;
    }
    const LongMatrix W = system_.mass.inverse();
    LongMatrix B = LongMatrix::Zero(2 * n, 2 * n);
    B.topRightCorner(n, n).setIdentity();
    B.bottomLeftCorner(n, n) = -W * K;
    B.bottomRightCorner(n, n) = -W * C;
    LongVector b = LongVector::Zero(2 * n);
    b.tail(n) = W * f;
    rest_ = B.fullPivLu().solve(-b);
    harmonic_.clear();
    for (std::size_t j = 0; j < system_.frequency.size(); ++j) {
      ComplexMatrix A = -B.cast<Complex>();
      A.diagonal().array() += Complex(0, system_.frequency[j]);
      ComplexVector right = ComplexVector::Zero(2 * n);
      right.tail(n) = W.cast<Complex>() *
                      (system_.cosine[j].cast<Complex>() - Complex(0, 1) * system_.sine[j].cast<Complex>());
      harmonic_.push_back(A.fullPivLu().solve(right));
    }
    const Eigen::EigenSolver<LongMatrix> solver(B);
    values_ = solver.eigenvalues();
    vectors_ = solver.eigenvectors();
    weights_ = vectors_.fullPivLu().solve(ComplexVector((x_ - steady(time_)).cast<Complex>()));
  }
  LongVector steady(Long t) const {
    LongVector p = rest_;
    for (std::size_t j = 0; j < harmonic_.size(); ++j)
      p += (harmonic_[j] * std::exp(Complex(0, system_.frequency[j] * t))).real();
    return p;
  }
  LongVector at(Long t) const {
    ComplexVector w = weights_;
    for (Eigen::Index i = 0; i < w.size(); ++i) w(i) *= std::exp(values_(i) * (t - time_));
    return steady(t) + (vectors_ * w).real();
  }

  void bisect(Long before, Long after) {
    for (int k = 0; k < 70; ++k) {
      const Long middle = (before + after) / 2;
      (anything_fired(at(middle), middle) ? after : before) = middle;
    }
    const LongVector x = at(after);
    std::size_t first = 0;
    while (!(guard(first, x, after) < 0)) ++first;
    x_ = x;
    time_ = after;
    happen(first);
    constexpr Long rounding = 1e-12L;
    for (std::size_t k = 0; k < status_.size(); ++k) {  // an impact has made its force negative
      if (guard(k, x_, time_) < -rounding) happen(k);
    }
    take_flow();
  }
  void happen(std::size_t k) {
    const ModalStop& stop = system_.stops[k];
    if (!stop.compliant()) {
      const LongVector push = system_.mass.inverse() * stop.normal;
      x_.tail(dofs()) -= (1 + stop.restitution) * speed(stop, x_) / stop.normal.dot(push) * push;
      events_.push_back({ModalEvent::Kind::impact, k, time_});
    } else if (status_[k] == Status::open) {
      status_[k] = Status::engaged;
      events_.push_back({ModalEvent::Kind::begin, k, time_});
    } else if (status_[k] == Status::recovering) {
      status_[k] = Status::open;
    } else {
      const bool damped =
          !stop.release_by_gap && !stop.relaxing_plate && stop.damping > 0 && depth(stop, x_) > 0;
      left_[k] = {depth(stop, x_), time_};
      status_[k] = damped ? Status::recovering : Status::open;
      events_.push_back({ModalEvent::Kind::end, k, time_});
    }
  }

  ModalSystem system_;
  LongVector x_;
  Long time_, step_;
  std::vector<Status> status_;
  struct Left {
    Long depth = 0, time = 0;
  };
  std::vector<Left> left_;  ///< where and when the body last left each stop
  std::vector<ModalEvent> events_;
  LongVector rest_;
  std::vector<ComplexVector> harmonic_;
  ComplexVector values_, weights_;
  ComplexMatrix vectors_;
};

}  // namespace graze::independent
