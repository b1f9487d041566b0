/// A system given as text, as core/smooth/newton_system asks for it.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/math/dense.hpp"
#include "core/math/spectra.hpp"
#include "core/models/equations/typed_system.hpp"
#include "core/smooth/chosen_flow.hpp"

namespace graze {

template <class S>
class TypedEquations {
 public:
  static constexpr int states = Eigen::Dynamic;
  static constexpr int contacts = Eigen::Dynamic;
  template <class T>
  using Vector = Eigen::Matrix<T, states, 1>;
  template <class Dynamics>
  using OwnFlow = ChosenFlow<S, Dynamics>;

  TypedEquations(std::shared_ptr<const TypedSystem> system, std::span<const S> parameters)
      : system_(std::move(system)) {
    evaluate_fixed(system_->operations, parameters.data(), fixed_);
    for (const S& value : fixed_) plain_fixed_.push_back(value_of(value));
    const Eigen::MatrixXd slope = slope_at_rest();
    rate_ = find_rate(slope);
    units_ = find_units(slope);
    const Vector<double> zero = Vector<double>::Zero(size());
    for (const TypedContact& c : system_->contacts)
      has_contact_.push_back(!std::isinf(results(c.gap, zero)(0)));
  }

  int size() const { return system_->states(); }
  int count() const { return static_cast<int>(system_->contacts.size()); }
  Symmetry symmetry(int state) const { return system_->symmetries[static_cast<std::size_t>(state)]; }
  double unit(int state) const { return units_(state); }
  Eigen::MatrixXd shifts() const {
    const auto& shifted = system_->shifted;
    Eigen::MatrixXd direction = Eigen::MatrixXd::Zero(size(), shifted.empty() ? 0 : 1);
    for (const std::size_t state : shifted) direction(static_cast<Eigen::Index>(state), 0) = 1;
    return direction;
  }
  /// 0: autonomous, as where the period is infinite.
  S period() const {
    return system_->period && std::isfinite(value_of(at(*system_->period))) ? at(*system_->period) : S(0);
  }
  double rate() const { return rate_; }
  /// Of what has one, where no contact is at infinity.
  const MotionProgram* motion_program() const {
    const bool all = std::find(has_contact_.begin(), has_contact_.end(), false) == has_contact_.end();
    return all && system_->has_motion() ? &system_->motion : nullptr;
  }
  /// A stop at infinity is none.
  bool has_contact(int i) const { return has_contact_[static_cast<std::size_t>(i)]; }
  std::span<const double> fixed() const { return plain_fixed_; }
  bool valid() const {
    if (system_->period && !(value_of(at(*system_->period)) > 0)) return false;
    return rate_ > 0 && std::isfinite(rate_);
  }
  /// Whether the mass matrix is positive definite there and the rates are finite.
  bool possible(const Vector<double>& x) const {
    const Vector<double> r = results(system_->rates, x);
    const Vector<double> m = results(system_->mass, x);
    const Eigen::Index n = system_->coordinates;
    return r.allFinite() && m.allFinite() && (n == 0 || has_root(m.reshaped(n, n)));
  }

  template <class T>
  void rates(const T& t, const Vector<T>& x, Vector<T>& rate) const {
    const std::size_t n = static_cast<std::size_t>(system_->coordinates);
    for (std::size_t i = 0; i < n; ++i) rate(system_->position[i]) = x(system_->velocity[i]);
    run(system_->rates, t, x, [&](std::size_t i, const T& value) {
      rate(i < n ? system_->velocity[i] : system_->other[i - n]) = value;
    });
  }
  template <class T>
  T gap(int i, const T& t, const Vector<T>& x) const {
    return one(contact(i).gap, t, x);
  }
  template <class T>
  T opening(int i, const T& t, const Vector<T>& x) const {
    return one(contact(i).opening, t, x);
  }
  template <class T>
  T pressing(int i, const T& t, const Vector<T>& x) const {
    return one(contact(i).pressing, t, x);
  }
  template <class T>
  T foot(int i, const T& t, const Vector<T>& x) const {
    return contact(i).foot ? one(*contact(i).foot, t, x) : constant(t, S(1));
  }
  template <class T>
  void kick(int i, const T& t, const Vector<T>& x, const T& speed, Vector<T>& v) const {
    change(contact(i).kick, t, x, speed, system_->velocity, v);
  }
  template <class T>
  void lift(int i, const T& t, const Vector<T>& x, const T& gap, Vector<T>& v) const {
    change(contact(i).kick, t, x, gap, system_->position, v);
  }
  S mobility(int i, const S& t, const Vector<S>& x) const { return one(contact(i).mobility, t, x); }
  bool compliant(int i) const { return contact(i).law.has_value(); }
  bool releases_by_gap(int i) const { return contact(i).law->by_gap; }
  bool watches_force(int i) const { return contact(i).law->watched; }
  bool begins_singular(int i) const { return contact(i).law->singular; }
  S preload(int i) const { return compliant(i) ? at(contact(i).law->preload) : S(0); }
  /// Force, sign, and their slopes by depth and by depth', as core/smooth/compliant_system asks for them.
  template <class T>
  std::array<T, 4> law(int i, const T& t, const Vector<T>& x) const {
    std::array<T, 4> values;
    run(contact(i).law->force, t, x, [&](std::size_t k, const T& value) { values[k] = value; });
    return values;
  }
  template <class T>
  T elastic(int i, const T& t, const Vector<T>& x) const {
    return one(contact(i).law->elastic, t, x);
  }
  double at_surface(int i, const S& t, const Vector<S>& x) const {
    double force = 0;
    run_plain(contact(i).law->at_surface, value_of(t), values_of(x).eval(),
              [&](std::size_t, double value) { force = value; });
    return std::isfinite(force) ? force : 0;
  }
  int friction_count() const { return static_cast<int>(system_->frictions.size()); }
  /// The contact whose force it is a share of; −1: none.
  int contact_of(int k) const { return friction(k).contact; }
  bool eases(int k) const { return friction(k).eases; }
  /// Whether its amplitude, and its limit at rest, is not just 0, as it is only where no derivative by it is
  /// asked.
  bool has_amplitude(int k) const {
    return eases(k) || !friction(k).fixed || !identical(at(*friction(k).fixed), S(0));
  }
  template <class T>
  T slip(int k, const T& t, const Vector<T>& x) const {
    return one(friction(k).slip, t, x);
  }
  template <class T>
  T amplitude(int k, const T& t, const Vector<T>& x) const {
    return one(friction(k).amplitude, t, x);
  }
  template <class T>
  T limit(int k, const T& t, const Vector<T>& x) const {
    return one(friction(k).limit, t, x);
  }
  double share_of_force(int k, bool at_rest, const S& t, const Vector<S>& x) const {
    return value_of(one(at_rest ? friction(k).share_at_rest : friction(k).share, t, x));
  }
  template <class T>
  void push(int a, const T& t, const Vector<T>& x, const T& force, Vector<T>& v) const {
    change(system_->pushes[static_cast<std::size_t>(a)], t, x, force, system_->velocity, v);
  }
  template <class T>
  void displace(int a, const T& t, const Vector<T>& x, const T& force, Vector<T>& v) const {
    change(system_->pushes[static_cast<std::size_t>(a)], t, x, force, system_->position, v);
  }
  template <class T>
  void holding(const T& t, const Vector<T>& x, std::vector<T>& opening,
               std::vector<std::vector<T>>& response) const {
    const std::size_t n = system_->pushes.size();
    opening.resize(n);
    response.assign(n, std::vector<T>(n));
    std::size_t a = 0, b = 0;
    run(system_->holding, t, x, [&](std::size_t k, const T& value) {
      if (k < n) {
        opening[k] = value;
        return;
      }
      response[a][b] = response[b][a] = value;
      if (++b == n) b = ++a;
    });
  }
  int jumps() const { return static_cast<int>(system_->jumps.size()); }
  JumpDirection direction(int k) const { return jump(k).direction; }
  template <class T>
  T trigger(int k, const T& t, const Vector<T>& x) const {
    return one(jump(k).trigger, t, x);
  }
  double trigger_size(int k, double t, const Vector<double>& x) const { return size_of(jump(k).terms, t, x); }
  void set_anew(int k, const S& t, Vector<S>& x) const {
    const Vector<S> before = x;
    run(jump(k).values, t, before, [&](std::size_t i, const S& value) { x(jump(k).states[i]) = value; });
  }
  S restitution(int i) const { return at(contact(i).restitution); }
  double reach(int i, double t, const Vector<double>& x) const { return size_of(contact(i).terms, t, x); }
  double length_of(const Vector<double>& x) const { return greatest(system_->position, x); }
  double speed_of(const Vector<double>& x) const { return greatest(system_->velocity, x); }

 private:
  const TypedContact& contact(int i) const { return system_->contacts[static_cast<std::size_t>(i)]; }
  const TypedJump& jump(int k) const { return system_->jumps[static_cast<std::size_t>(k)]; }
  double size_of(const Program& terms, double t, const Vector<double>& x) const {
    double size = 0;
    run_plain(terms, t, x, [&](std::size_t, double value) { size += std::abs(value); });
    return size;
  }
  const TypedFriction& friction(int k) const { return system_->frictions[static_cast<std::size_t>(k)]; }
  const S& at(Fixed f) const { return fixed_[static_cast<std::size_t>(f)]; }

  template <class T, class Output>
  void run(const Program& program, const T& t, const Vector<T>& x, const Output& output) const {
    const auto input = [&](std::size_t i) -> const T& {
      return i == 0 ? t : x(static_cast<Eigen::Index>(i - 1));
    };
    if constexpr (std::is_same_v<T, S>) {
      workspace_.run(program, fixed_.data(), input, output);
    } else {
      workspace_.run(program, fixed_.data(), t.tape(), input, output);
    }
  }
  template <class Output>
  void run_plain(const Program& program, double t, const Vector<double>& x, const Output& output) const {
    const auto input = [&](std::size_t i) { return i == 0 ? t : x(static_cast<Eigen::Index>(i - 1)); };
    plain_.run(program, plain_fixed_.data(), input, output);
  }
  template <class T>
  T one(const Program& program, const T& t, const Vector<T>& x) const {
    T result{};
    run(program, t, x, [&](std::size_t, const T& value) { result = value; });
    return result;
  }
  /// At time 0.
  Vector<double> results(const Program& program, const Vector<double>& x) const {
    Vector<double> list(static_cast<Eigen::Index>(program.outputs()));
    run_plain(program, 0, x,
              [&](std::size_t i, double value) { list(static_cast<Eigen::Index>(i)) = value; });
    return list;
  }
  template <class T>
  void change(const TypedKick& kick, const T& t, const Vector<T>& x, const T& amount,
              const std::vector<int>& place, Vector<T>& v) const {
    for (const auto& [coordinate, factor] : kick.fixed) {
      T& changed = v(place[static_cast<std::size_t>(coordinate)]);
      changed = changed + amount * at(factor);
    }
    if (kick.moving.empty()) return;
    run(kick.program, t, x, [&](std::size_t k, const T& value) {
      T& changed = v(place[static_cast<std::size_t>(kick.moving[k])]);
      changed = changed + value * amount;
    });
  }
  static double greatest(const std::vector<int>& place, const Vector<double>& x) {
    double size = 0;
    for (const int s : place) size = std::max(size, std::abs(x(s)));
    return size;
  }
  /// Of the rates by the states at rest at zero, where it is finite.
  Eigen::MatrixXd slope_at_rest() const {
    const Eigen::Index n = size();
    const Vector<double> entries = results(system_->jacobian, Vector<double>::Zero(n));
    return entries.reshaped(n, n).transpose().unaryExpr([](double a) { return std::isfinite(a) ? a : 0.0; });
  }
  /// The greatest rate of the linearised system at rest at zero, and of the forcing; 1 where there is none.
  double find_rate(const Eigen::MatrixXd& slope) const {
    if (system_->fastest_rate) return value_of(at(*system_->fastest_rate));
    double fastest = size() > 0 ? eigenvalues_of(slope).cwiseAbs().maxCoeff() : 0;
    if (value_of(period()) > 0) fastest = std::max(fastest, 2 * M_PI / value_of(period()));
    return fastest > 0 ? fastest : 1;
  }

  /// System::unit. A state that is no coordinate moves positions by what it adds to accelerations, over the
  /// square of the rate, or by what it adds to the rate of another such state; where it does neither at rest,
  /// it counts as it is. Powers of two, so that no digit is lost.
  Vector<double> find_units(const Eigen::MatrixXd& slope) const {
    const TypedSystem& s = *system_;
    Vector<double> units = Vector<double>::Ones(size());
    for (const int i : s.velocity) units(i) = rate_;
    if (s.other.empty() || s.coordinates == 0) return units;
    Vector<double> moves = units.cwiseInverse();  // positions, by 1 of each state
    for (const int i : s.other) moves(i) = 0;
    for (std::size_t round = 0; round < s.other.size(); ++round) {
      for (const int i : s.other)
        moves(i) = std::max(moves(i), slope.col(i).cwiseAbs().cwiseProduct(moves).maxCoeff() / rate_);
    }
    for (const int i : s.other) {
      const double unit = std::exp2(-std::round(std::log2(moves(i))));
      if (unit > 0 && std::isfinite(unit)) units(i) = unit;
    }
    return units;
  }

  std::shared_ptr<const TypedSystem> system_;
  std::vector<S> fixed_;
  std::vector<double> plain_fixed_;
  double rate_ = 1;
  Vector<double> units_;
  std::vector<bool> has_contact_;
  mutable Workspace<S> workspace_;
  mutable Workspace<double> plain_;
};

}  // namespace graze
