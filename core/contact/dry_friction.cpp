#include "core/contact/dry_friction.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "core/math/dense.hpp"

namespace graze {
namespace {

using Place = RestForce::Place;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double dependent = 1e-11;  // share of G_kk below which nothing of a direction is left
constexpr double ahead = 1e-10;      // "right after", over the fastest rate
constexpr double rounding = 1e-14;   // of forces and accelerations, relative to their terms

/// w = q + G λ with bounds, solved index by index; so many at most.
template <int Most>
class Pivoting {
 public:
  using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, Most, 1>;
  using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, Most, Most>;

  Pivoting(const Square& G, const Vector& q, const Vector& least, const Vector& most, const Vector& zero)
      : G_(G),
        q_(q),
        least_(least),
        most_(most),
        zero_(zero),
        force_(Vector::Zero(q.size())),
        w_(q),
        kind_(Kinds::Constant(q.size(), Kind::waiting)) {}

  bool solve() {
    for (Eigen::Index k = 0; k < q_.size(); ++k) {
      if (!take_in(k)) return false;
    }
    for (Eigen::Index k = q_.size(); k-- > 0;) load(k);
    return true;
  }

  Place place(Eigen::Index k) const {
    return kind(k) == Kind::free ? Place::free : kind(k) == Kind::most ? Place::most : Place::least;
  }
  bool held(Eigen::Index k) const { return kind(k) != Kind::free && !moves(k, along(k)); }

  /// λ and w of these places for other data and bounds.
  std::pair<Vector, Vector> forces(const Vector& q, const Vector& least, const Vector& most) const {
    Vector force = Vector::Zero(q.size());
    for (Eigen::Index k = 0; k < q.size(); ++k) {
      if (kind(k) == Kind::least) force(k) = least(k);
      if (kind(k) == Kind::most) force(k) = most(k);
    }
    keep_at_rest(q + G_ * force, force);
    return {force, without_free(q + G_ * force)};
  }

 private:
  enum class Kind : char { waiting, free, least, most };
  using Kinds = Eigen::Matrix<Kind, Eigen::Dynamic, 1, 0, Most, 1>;
  using Set = Eigen::Matrix<Eigen::Index, Eigen::Dynamic, 1, 0, Most, 1>;

  Kind kind(Eigen::Index k) const { return kind_(k); }
  void set(Eigen::Index k, Kind kind) { kind_(k) = kind; }
  bool is_contact(Eigen::Index k) const { return most_(k) == infinity && least_(k) > -infinity; }
  Set free_set() const {
    Set set(q_.size());
    Eigen::Index count = 0;
    for (Eigen::Index k = 0; k < q_.size(); ++k) {
      if (kind(k) == Kind::free) set(count++) = k;
    }
    set.conservativeResize(count);
    return set;
  }
  /// Free forces against these accelerations of the others.
  void keep_at_rest(const Vector& w, Vector& force) const {
    const Set set = free_set();
    const Eigen::Index n = set.size();
    if (n == 0) return;
    if (n == 1) {
      force(set(0)) = -(w(set(0)) / G_(set(0), set(0)));
      return;
    }
    Eigen::MatrixXd block(n, n);
    Eigen::VectorXd driving(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      driving(i) = w(set(i));
      for (Eigen::Index j = 0; j < n; ++j) block(i, j) = G_(set(i), set(j));
    }
    const Eigen::VectorXd solution = linear_solve(block, driving);
    for (Eigen::Index i = 0; i < n; ++i) force(set(i)) = -solution(i);
  }
  Vector without_free(Vector w) const {
    for (const Eigen::Index k : free_set()) w(k) = 0;
    return w;
  }
  /// Changes of λ when λ_k grows by one and the free ones keep their bodies at rest.
  Vector along(Eigen::Index k) const {
    Vector change = Vector::Zero(q_.size());
    keep_at_rest(G_.col(k), change);
    change(k) = 1;
    return change;
  }
  /// Whether that accelerates body k at all.
  bool moves(Eigen::Index k, const Vector& change) const {
    return G_.row(k).dot(change) > dependent * G_(k, k);
  }

  /// What ends a change of λ.
  struct Step {
    double length = infinity;
    Eigen::Index index = -1;
    Kind to = Kind::free;

    void limit(double way, double speed, Eigen::Index k, Kind kind) {
      const double end = std::max(0.0, way) / speed;
      if (end < length) *this = {end, k, kind};
    }
  };

  void limit_by_bounds(Step& step, const Vector& change, Eigen::Index k) const {
    if (change(k) > 0 && most_(k) < infinity) step.limit(most_(k) - force_(k), change(k), k, Kind::most);
    if (change(k) < 0) step.limit(force_(k) - least_(k), -change(k), k, Kind::least);
  }

  void make(const Step& step, const Vector& change) {
    force_ += change * step.length;
    if (step.to == Kind::least) force_(step.index) = least_(step.index);
    if (step.to == Kind::most) force_(step.index) = most_(step.index);
    set(step.index, step.to);
    w_ = without_free(q_ + G_ * force_);
  }

  /// Gives λ_k what it needs, all indices before it staying right.
  bool take_in(Eigen::Index d) {
    const long limit = 50 + 20 * static_cast<long>(q_.size());
    for (long pass = 0; pass < limit; ++pass) {
      Vector change = along(d);
      const bool free = moves(d, change);
      const bool rests = std::abs(w_(d)) <= zero_(d);
      if (rests && force_(d) == least_(d)) {
        set(d, Kind::least);
        return true;
      }
      if (rests && free) {
        set(d, Kind::free);
        w_(d) = 0;
        return true;
      }
      if (rests ? loads_less(change) : w_(d) > 0) change = -change;
      if (!rests && change(d) > 0 && force_(d) >= most_(d)) {
        set(d, Kind::most);
        return true;
      }
      if (!rests && change(d) < 0 && force_(d) <= least_(d)) {
        set(d, Kind::least);
        return true;
      }
      Step step;
      const Vector turn = G_ * change;
      if (!rests && free) step.limit(std::abs(w_(d)), std::abs(turn(d)), d, Kind::free);
      limit_by_bounds(step, change, d);
      for (Eigen::Index k = 0; k < q_.size(); ++k) {
        if (kind(k) == Kind::free) limit_by_bounds(step, change, k);
        const bool at_bound = kind(k) == Kind::least || kind(k) == Kind::most;
        if (!at_bound || k == d || std::abs(turn(k)) <= dependent * std::sqrt(G_(k, k) * G_(d, d))) continue;
        if (kind(k) == Kind::least && turn(k) < 0) step.limit(w_(k), -turn(k), k, Kind::free);
        if (kind(k) == Kind::most && turn(k) > 0) step.limit(-w_(k), turn(k), k, Kind::free);
      }
      if (step.index < 0) return false;
      make(step, change);
      if (step.index == d) return true;
    }
    return false;
  }
  bool loads_less(const Vector& change) const {
    double load = 0;
    for (Eigen::Index k = 0; k < q_.size(); ++k) {
      if (is_contact(k)) load += change(k);
    }
    return load < 0;
  }

  /// Lets a stop that others hold the body off carry what it can, unless it moves away by itself.
  void load(Eigen::Index k) {
    if (!is_contact(k) || kind(k) != Kind::least || w_(k) > 10 * zero_(k)) return;
    const Vector change = along(k);
    if (moves(k, change)) return;
    Step step;
    for (Eigen::Index j = 0; j < q_.size(); ++j) {
      if (kind(j) == Kind::free) limit_by_bounds(step, change, j);
    }
    if (step.index < 0) return;
    make(step, change);
    set(k, Kind::free);
  }

  const Square& G_;
  const Vector& q_;
  const Vector &least_, &most_, &zero_;
  Vector force_, w_;
  Kinds kind_;
};

/// rest_forces with memory for so many directions; Eigen::Dynamic: from the heap.
template <int Most>
std::optional<std::vector<RestForce>> forces_of(const RestProblem& p, double rate) {
  using Vector = typename Pivoting<Most>::Vector;
  const typename Pivoting<Most>::Square G = p.response;
  const Vector q = p.opening, least_now = p.least, most_now = p.most, zero = rounding * p.size;

  Pivoting<Most> first(G, q, least_now, most_now, zero);
  if (!first.solve()) return std::nullopt;
  const RestProblem::Rates rates = p.rates(first.forces(q, least_now, most_now).first);
  const Vector q_rate = rates.opening, least_rate = rates.least, most_rate = rates.most;

  const double later = ahead / rate;
  const Vector q_after = q + later * q_rate;
  const Vector least = least_now + later * least_rate;
  const Vector most = most_now + later * most_rate;
  Pivoting<Most> after(G, q_after, least, most, zero);
  if (!after.solve()) return std::nullopt;
  const auto [force, w] = after.forces(q, least_now, most_now);
  const auto [force_rate, w_rate] = after.forces(q_rate, least_rate, most_rate);

  std::vector<RestForce> result;
  result.reserve(static_cast<std::size_t>(q.size()));
  for (Eigen::Index k = 0; k < q.size(); ++k) {
    RestForce r;
    r.place = after.place(k);
    r.force = force(k);
    r.force_rate = force_rate(k);
    r.most = p.most(k);
    r.most_rate = most_rate(k);
    r.force_rounding = 2 * later * std::abs(force_rate(k)) + 10 * zero(k) / G(k, k);
    r.acceleration_rounding = 2 * later * std::abs(w_rate(k)) + 10 * zero(k);
    r.held = after.held(k) && std::abs(w(k)) <= r.acceleration_rounding;  // else past what moves by itself
    r.acceleration = r.held ? 0 : w(k);
    r.acceleration_rate = r.held ? 0 : w_rate(k);
    result.push_back(r);
  }
  return result;
}

}  // namespace

std::optional<std::vector<RestForce>> rest_forces(const RestProblem& p, double rate) {
  constexpr Eigen::Index few = 2;
  return p.opening.size() <= few ? forces_of<few>(p, rate) : forces_of<Eigen::Dynamic>(p, rate);
}

}  // namespace graze
