/// Isotropic Coulomb friction on a mass in the plane: the motion under a constant resultant in closed form,
/// and the start of slip as a power series.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "core/math/dual.hpp"
#include "core/math/series.hpp"

namespace graze {

/// E(p, l) = ∫_0^l e^{−ps} ds = (1 − e^{−pl})/p, E(0, l) = l.
inline double decay_integral(double p, double l) { return p == 0 ? l : -std::expm1(-p * l) / p; }

/// ∂E/∂p.
inline double decay_integral_slope(double p, double l) {
  const double q = p * l;
  constexpr double small = 0.5;  // below it (l e^{−q} − E)/p cancels: −l² Σ (j + 1)(−q)^j/(j + 2)!
  if (std::abs(q) > small) return (l * std::exp(-q) - decay_integral(p, l)) / p;
  constexpr int terms = 16;
  double sum = 0;
  double power = 0.5;  // (−q)^j/(j + 2)!
  for (int j = 0; j < terms; ++j) {
    sum += (j + 1) * power;
    power *= -q / (j + 3);
  }
  return -l * l * sum;
}

template <int N>
Dual<N> decay_integral(const Dual<N>& p, const Dual<N>& l) {
  const double by_p = decay_integral_slope(p.value, l.value);
  const double by_l = std::exp(-p.value * l.value);
  Dual<N> e(decay_integral(p.value, l.value));
  for (std::size_t k = 0; k < e.slope.size(); ++k) e.slope[k] = by_p * p.slope[k] + by_l * l.slope[k];
  return e;
}

/// e^{−a}.
inline double decay(double a) { return std::exp(-a); }
template <int N>
Dual<N> decay(const Dual<N>& a) {
  const double e = std::exp(-a.value);
  return chain(a, e, -e);
}

/// A mass m that slides from the origin with velocity v under Coulomb friction f and a constant resultant Q
/// of all other forces:  m v' = Q − f v/|v|.
///
/// With θ the angle from Q to v, a = cos²(θ₀/2), b = sin²(θ₀/2) and dt = m |v| dl,
///
///     tan(θ/2) = tan(θ₀/2) e^{−Ql}
///     |v| = v₀ (a e^{−(f−Q)l} + b e^{−(f+Q)l})
///     t   = m v₀ (a E(f−Q, l) + b E(f+Q, l))
///     s∥  = m v₀² (a² E(2f−2Q, l) − b² E(2f+2Q, l))
///     s⊥  = m v₀² sin θ₀ (a E(2f−Q, l) + b E(2f+Q, l))
///
/// which is regular for every ratio f/Q, Q = 0 and f = 0 included (λ = Ql is the parameter of the papers).
/// When Ql has turned the velocity onto Q to rounding, it goes on in a straight line: beyond that l would
/// lose digits where f is close to Q. A slide against Q is straight from its start to where it stops, and
/// from there on, if Q > f, along Q.
/// Derivatives are right but for those by a resultant that is exactly zero, which are left out.
///
/// Source: Wang (2014), Wang & Barber (2016); Wang & Wu (2016), derived again.
template <class S>
class FrictionSlide {
 public:
  using Vector = Eigen::Matrix<S, 2, 1>;
  struct Point {
    S time{0};  ///< since the start
    Vector displacement = Vector::Constant(S(0));
    Vector velocity = Vector::Constant(S(0));
  };

  /// @param mass m > 0   @param friction f >= 0, a force
  FrictionSlide(const S& mass, const S& friction, const Vector& resultant, const Vector& velocity);

  /// Whether it comes to rest, if only for an instant. Not asked of a mass that rests at the start.
  bool stops() const { return moving_ && (f_ > q_ || backwards_); }
  /// Where it does.
  Point stop() const;
  /// After this time >= 0; at rest after it has stopped with f >= Q.
  Point at(const S& time) const;
  /// The first time within `within` at which  gap + normal · displacement,  positive just
  /// after the start, is zero; the unit vector `normal` points to where the gap grows. The normal velocity
  /// changes sign at most once, at a known l, so no zero can be jumped over.
  std::optional<Point> meets(const Vector& normal, const S& gap, double within) const;
  /// Acceleration while it slides with this velocity.
  Vector acceleration(const Vector& velocity) const {
    return (forward_ * q_ - velocity * S(f_ / length_of(velocity))) / m_;
  }
  /// Where within `within` the normal velocity changes its sign.
  std::optional<Point> turns(const Vector& normal, double within) const;

 private:
  template <class T>
  friend class FrictionSlide;
  FrictionSlide() = default;
  /// The same without derivatives.
  FrictionSlide<double> plain() const;
  S speed(const S& l) const { return v_ * (a_ * decay((f_ - q_) * l) + b_ * decay((f_ + q_) * l)); }
  S time(const S& l) const {
    return m_ * v_ * (a_ * decay_integral(S(f_ - q_), l) + b_ * decay_integral(S(f_ + q_), l));
  }
  S along(const S& l) const {
    return m_ * v_ * v_ *
           (a_ * a_ * decay_integral(S(S(2) * (f_ - q_)), l) -
            b_ * b_ * decay_integral(S(S(2) * (f_ + q_)), l));
  }
  S across(const S& l) const {
    return m_ * v_ * v_ * sine_ *
           (a_ * decay_integral(S(S(2) * f_ - q_), l) + b_ * decay_integral(S(S(2) * f_ + q_), l));
  }
  Point point(const S& l) const;
  S parameter(const S& time) const;
  /// The straight line along `direction` from a point on, with this speed and rate of the speed.
  static Point line(const Point& from, const Vector& direction, const S& speed, const S& rate, const S& time);
  std::optional<Point> line_meets(const Point& from, const Vector& direction, const S& speed, const S& rate,
                                  const Vector& normal, const S& gap, double within) const;
  S forward_rate() const { return (q_ - f_) / m_; }
  /// l at which the normal velocity changes its sign, if at all.
  std::optional<double> turning(const Vector& normal) const;
  double straight() const;
  static S length_of(const Vector& v) {
    using std::sqrt;
    const S square = v(0) * v(0) + v(1) * v(1);
    return square > S(0) ? S(sqrt(square)) : S(0);
  }
  /// Zero of an increasing function with slope between low and high (infinite: not known), by Newton's
  /// method kept in its bracket. `f(l)` returns (value, slope).
  template <class F>
  static double increasing_zero(const F& f, double start, double low, double high);

  S m_, f_, q_, v_;
  Vector forward_, sideways_;  ///< unit vectors along Q and left of it
  S cosine_{1}, sine_{0};      ///< of θ₀
  S a_{1}, b_{0};
  bool moving_ = false;
  bool backwards_ = false;  ///< exactly against Q
};

template <class S>
FrictionSlide<S>::FrictionSlide(const S& mass, const S& friction, const Vector& resultant,
                                const Vector& velocity)
    : m_(mass), f_(friction), q_(length_of(resultant)), v_(length_of(velocity)), moving_(v_ > S(0)) {
  forward_ = q_ > S(0) ? Vector(resultant / q_) : moving_ ? Vector(velocity / v_) : Vector(S(1), S(0));
  sideways_ = Vector(-forward_(1), forward_(0));
  if (!moving_) return;
  cosine_ = (velocity(0) * forward_(0) + velocity(1) * forward_(1)) / v_;
  sine_ = (velocity(0) * sideways_(0) + velocity(1) * sideways_(1)) / v_;
  S& large = cosine_ < S(0) ? b_ : a_;
  S& small = cosine_ < S(0) ? a_ : b_;
  large = (S(1) + (cosine_ < S(0) ? -cosine_ : cosine_)) / S(2);
  small = sine_ * sine_ / (S(4) * large);
  backwards_ = cosine_ < S(0) && value_of(a_) == 0;
}

template <class S>
FrictionSlide<double> FrictionSlide<S>::plain() const {
  FrictionSlide<double> p;
  p.m_ = value_of(m_);
  p.f_ = value_of(f_);
  p.q_ = value_of(q_);
  p.v_ = value_of(v_);
  p.forward_ = values_of(forward_);
  p.sideways_ = values_of(sideways_);
  p.cosine_ = value_of(cosine_);
  p.sine_ = value_of(sine_);
  p.a_ = value_of(a_);
  p.b_ = value_of(b_);
  p.moving_ = moving_;
  p.backwards_ = backwards_;
  return p;
}

/// l from which on the velocity has the direction of Q: tan(θ/2) < e^{−40}.
template <class S>
double FrictionSlide<S>::straight() const {
  constexpr double turned = 40;
  if (!(q_ > S(0))) return std::numeric_limits<double>::infinity();
  const double tangent = std::sqrt(value_of(b_) / value_of(a_));
  return (turned + std::max(0.0, std::log(tangent))) / value_of(q_);
}

template <class S>
auto FrictionSlide<S>::point(const S& l) const -> Point {
  const S fast = v_ * a_ * decay((f_ - q_) * l);
  const S slow = v_ * b_ * decay((f_ + q_) * l);
  Point p;
  p.time = time(l);
  p.displacement = forward_ * along(l) + sideways_ * across(l);
  p.velocity = forward_ * S(fast - slow) + sideways_ * S(v_ * sine_ * decay(f_ * l));
  return p;
}

template <class S>
auto FrictionSlide<S>::stop() const -> Point {
  Point p;
  if (backwards_) {
    p.time = m_ * v_ / (f_ + q_);
    p.displacement = forward_ * S(-v_ * p.time / S(2));
    return p;
  }
  const S excess = (f_ - q_) * (f_ + q_);
  const S momentum = m_ * v_;
  p.time = momentum * (f_ + q_ * cosine_) / excess;
  p.displacement =
      forward_ *
          S(momentum * v_ * (q_ * (S(1) + cosine_ * cosine_) + S(2) * f_ * cosine_) / (S(4) * excess)) +
      sideways_ *
          S(momentum * v_ * sine_ * (S(2) * f_ + q_ * cosine_) / ((S(2) * f_ - q_) * (S(2) * f_ + q_)));
  return p;
}

template <class S>
auto FrictionSlide<S>::line(const Point& from, const Vector& direction, const S& speed, const S& rate,
                            const S& time) -> Point {
  const bool stopped = rate < S(0) && speed + rate * time <= S(0);
  const S lasting = stopped ? S(-speed / rate) : time;
  Point p;
  p.time = from.time + time;
  p.displacement = from.displacement + direction * S(lasting * (speed + rate * lasting / S(2)));
  if (!stopped) p.velocity = direction * S(speed + rate * lasting);
  return p;
}

template <class S>
auto FrictionSlide<S>::at(const S& t) const -> Point {
  if (!moving_ && !(q_ > f_)) {
    Point p;
    p.time = t;
    return p;
  }
  if (!moving_) return line({}, forward_, S(0), forward_rate(), t);
  if (backwards_) {
    const Point rest = stop();
    if (t < rest.time) return line({}, -forward_, v_, S(-(f_ + q_) / m_), t);
    return line(rest, forward_, S(0), q_ > f_ ? forward_rate() : S(0), S(t - rest.time));
  }
  if (stops()) {
    Point rest = stop();
    if (t >= rest.time) {
      rest.time = t;
      return rest;
    }
  }
  const double last = straight();
  if (std::isfinite(last)) {
    const Point turned = point(S(last));
    if (turned.time < t) {
      return line(turned, forward_, length_of(turned.velocity), forward_rate(), S(t - turned.time));
    }
  }
  return point(parameter(t));
}

template <class S>
template <class F>
double FrictionSlide<S>::increasing_zero(const F& f, double start, double low, double high) {
  double l = start;
  for (int k = 0; k < 200; ++k) {
    const auto [value, slope] = f(l);
    (value < 0 ? low : high) = l;
    double next = l - value / slope;
    if (!(next >= low && next <= high)) next = std::isinf(high) ? 2 * l : 0.5 * (low + high);
    if (std::abs(next - l) <= 2 * std::numeric_limits<double>::epsilon() * std::abs(next)) return next;
    l = next;
  }
  return l;
}

/// l at a time on the curve.
template <class S>
S FrictionSlide<S>::parameter(const S& t) const {
  if (value_of(t) == 0) return t / (m_ * v_);
  const FrictionSlide<double> p = plain();
  const auto early = [&](double l) { return std::pair(p.time(l) - value_of(t), p.m_ * p.speed(l)); };
  const double last = straight();
  const double first_guess = value_of(t) / (p.m_ * p.v_);
  const S found(increasing_zero(early, std::min(first_guess, last), 0, last));
  const S rest = time(found) - t;
  return found - (rest - S(value_of(rest))) / S(p.m_ * p.speed(value_of(found)));
}

/// v_n e^{(f−Q)l}/v₀ = n∥ a + n⊥ sin θ₀ z − n∥ b z² with z = e^{−Ql}: of its two roots one is positive.
template <class S>
std::optional<double> FrictionSlide<S>::turning(const Vector& normal) const {
  if (!moving_ || backwards_ || !(q_ > S(0))) return std::nullopt;
  const double ahead = value_of(normal(0) * forward_(0) + normal(1) * forward_(1));
  const double aside = value_of(normal(0) * sideways_(0) + normal(1) * sideways_(1));
  const double constant = ahead * value_of(a_);
  const double linear = aside * value_of(sine_);
  const double square = -ahead * value_of(b_);
  const double root = std::sqrt(linear * linear - 4 * constant * square);
  const double q = -0.5 * (linear + std::copysign(root, linear));
  const double z = q / square > 0 ? q / square : constant / q;
  if (!(z > 0 && z < 1)) return std::nullopt;
  return -std::log(z) / value_of(q_);
}

template <class S>
auto FrictionSlide<S>::turns(const Vector& normal, double within) const -> std::optional<Point> {
  const auto l = turning(normal);
  if (!l || *l > straight()) return std::nullopt;
  Point p = point(S(*l));
  if (value_of(p.time) > within) return std::nullopt;
  return p;
}

template <class S>
auto FrictionSlide<S>::line_meets(const Point& from, const Vector& direction, const S& speed, const S& rate,
                                  const Vector& normal, const S& gap, double within) const
    -> std::optional<Point> {
  using std::sqrt;
  const S share = normal(0) * direction(0) + normal(1) * direction(1);
  const S height = gap + normal(0) * from.displacement(0) + normal(1) * from.displacement(1);
  const S w = share * speed;
  const S bend = share * rate;
  const S square = w * w - S(2) * bend * height;
  if (square < S(0)) return std::nullopt;
  const S root = square > S(0) ? S(sqrt(square)) : S(0);
  S t(0);
  if (w < S(0)) {
    t = S(2) * height / (root - w);
  } else if (bend < S(0)) {
    t = (root + w) / -bend;
  } else {
    return std::nullopt;
  }
  if (!(value_of(t) <= within)) return std::nullopt;
  return line(from, direction, speed, rate, t);
}

template <class S>
auto FrictionSlide<S>::meets(const Vector& normal, const S& gap, double within) const
    -> std::optional<Point> {
  const double room = value_of(gap);
  const double gain = std::max(0.0, value_of(forward_rate()));
  if (room > (value_of(v_) + gain * within) * within) return std::nullopt;
  if (!moving_) {
    if (!(q_ > f_)) return std::nullopt;
    return line_meets({}, forward_, S(0), forward_rate(), normal, gap, within);
  }
  const bool ends = stops() && value_of(stop().time) <= within;
  if (backwards_) {
    const Point rest = stop();
    const double until = std::min(within, value_of(rest.time));
    const auto found = line_meets({}, -forward_, v_, S(-(f_ + q_) / m_), normal, gap, until);
    if (found || !ends || !(q_ > f_)) return found;
    return line_meets(rest, forward_, S(0), forward_rate(), normal, gap, within - until);
  }
  const FrictionSlide<double> p = plain();
  const Eigen::Vector2d n = values_of(normal);
  const double last = straight();
  const bool goes_straight = !ends && std::isfinite(last) && p.time(last) < within;
  // Pieces on which the gap is monotone: up to the turning point, from there to the end of the curve.
  const double infinity = std::numeric_limits<double>::infinity();
  const double end = goes_straight ? last : ends ? infinity : p.parameter(within);
  double low = 0;
  double low_gap = room;
  const auto turn = turning(normal);
  for (const double high : {turn && *turn < end ? *turn : end, end}) {
    if (!(high > low)) break;
    const double high_gap = room + n.dot((std::isinf(high) ? p.stop() : p.point(high)).displacement);
    if (high_gap <= 0 && high_gap < low_gap) {
      const auto fallen = [&](double l) {
        const auto here = p.point(l);
        return std::pair(-room - n.dot(here.displacement), -n.dot(here.velocity) * p.m_ * p.speed(l));
      };
      const double guess = std::isinf(high) ? low + 1 / p.f_ : high;
      const S l(low_gap <= 0 ? low : increasing_zero(fallen, guess, low, high));
      const Vector there = point(l).displacement;
      const S height = gap + normal(0) * there(0) + normal(1) * there(1);
      return point(l + (height - S(value_of(height))) / S(fallen(value_of(l)).second));
    }
    low = high;
    low_gap = high_gap;
  }
  if (!goes_straight) return std::nullopt;
  const Point turned = point(S(last));
  return line_meets(turned, forward_, length_of(turned.velocity), forward_rate(), normal, gap,
                    within - value_of(turned.time));
}

/// The acceleration of a mass that begins to slide at τ = 0, as series in τ: a function of series like those
/// of core/smooth/flow, of the resultant Q(τ) with |Q(0)| >= f.
///
/// With v = V n, |n| = 1:  m (V' n + V n') = Q − f n.  n(0) = Q/|Q|, V = V₁ τ + V₂ τ² + …,
/// m V₁ = |Q(0)| − f; where that is zero, after a stick, m V₂ = (d|Q|/dτ)/2. In every order the part along
/// n(0) gives V, that across it gives n, so the division by |v| = 0 never takes place.
template <class S>
std::array<Series<S>, 2> slip_start(const std::array<Series<S>, 2>& resultant, const S& mass,
                                    const S& friction) {
  Tape<S>& tape = resultant[0].tape();
  const std::array<Series<S>, 2> acceleration = {tape.take(), tape.take()};
  const auto coefficients = [](const std::array<Series<S>, 2>& pair) {
    return std::array{pair[0].coefficients(), pair[1].coefficients()};
  };
  tape.follow([mass, friction, q = coefficients(resultant), speed = tape.take().coefficients(),
               n = coefficients({tape.take(), tape.take()}), a = coefficients(acceleration)](int k) {
    using std::sqrt;
    if (k == 0) {
      const S size = sqrt(q[0][0] * q[0][0] + q[1][0] * q[1][0]);
      speed[0] = S(0);
      speed[1] = (size - friction) / mass;
      for (std::size_t i = 0; i < 2; ++i) n[i][0] = q[i][0] / size;
    } else {
      std::array<S, 2> rest;
      S along(0);
      for (std::size_t i = 0; i < 2; ++i) {
        S sum(0);
        for (int j = 1; j < k; ++j) {
          sum += speed[j + 1] * n[i][k - j] * static_cast<double>(k + 1);
          along -= n[i][j] * n[i][k - j] * 0.5;
        }
        rest[i] = q[i][k] - mass * sum;
      }
      const S ahead = rest[0] * n[0][0] + rest[1] * n[1][0];
      const S turning = friction + mass * speed[1] * static_cast<double>(k + 1);
      speed[k + 1] = (ahead - turning * along) / (mass * static_cast<double>(k + 1));
      for (std::size_t i = 0; i < 2; ++i) n[i][k] = along * n[i][0] + (rest[i] - ahead * n[i][0]) / turning;
    }
    for (std::size_t i = 0; i < 2; ++i) {
      S sum(0);
      for (int j = 1; j <= k + 1; ++j) sum += speed[j] * n[i][k + 1 - j];
      a[i][k] = sum * static_cast<double>(k + 1);
    }
  });
  return acceleration;
}

}  // namespace graze
