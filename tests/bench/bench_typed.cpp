/// Systems in equations beside the same ones as templates of the number type in C++: the relief valve and a
/// Duffing oscillator at a wall, one motion at a time, without and with derivatives. Both must agree before
/// anything is timed.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/smooth/newton_system.hpp"
#include "tests/bench/library.hpp"
#include "tests/bench/side_by_side.hpp"

namespace graze::bench {

/// y1' = y2, y2' = −k y2 − (y1 + d) + y3, y3' = b (q − y1 √y3); values q, k, d, b, r.
template <class S>
struct Valve {
  static constexpr int states = 3;
  static constexpr int contacts = 1;
  template <class T>
  using Vector = Eigen::Matrix<T, states, 1>;

  explicit Valve(std::span<const S> p)
      : flow(p[0]), damping(p[1]), spring(p[2]), stiffness(p[3]), bounce(p[4]) {}

  bool valid() const { return true; }
  double unit(int state) const { return state == 1 ? rate() : 1; }
  bool possible(const Vector<double>& y) const { return y(2) >= 0; }
  S period() const { return S(0); }
  double rate() const {
    return 1 + value_of(damping) + std::sqrt(value_of(stiffness) * std::sqrt(value_of(spring) + 1));
  }
  template <class T>
  void rates(const T& t, const Vector<T>& y, Vector<T>& rate) const {
    using std::sqrt;
    rate(0) = y(1);
    rate(1) = -pressing(0, t, y);
    rate(2) = stiffness * (flow - y(0) * sqrt(y(2)));
  }
  template <class T>
  T gap(int, const T&, const Vector<T>& y) const {
    return y(0);
  }
  template <class T>
  T opening(int, const T&, const Vector<T>& y) const {
    return y(1);
  }
  template <class T>
  T pressing(int, const T&, const Vector<T>& y) const {
    return damping * y(1) + y(0) - y(2) + spring;
  }
  template <class T>
  void kick(int, const T&, const Vector<T>&, const T& speed, Vector<T>& v) const {
    v(1) += speed;
  }
  template <class T>
  void lift(int, const T&, const Vector<T>&, const T& gap, Vector<T>& v) const {
    v(0) += gap;
  }
  S restitution(int) const { return bounce; }
  double reach(int, double, const Vector<double>& y) const { return std::abs(y(0)); }
  double length_of(const Vector<double>& y) const { return std::abs(y(0)); }
  double speed_of(const Vector<double>& y) const { return std::abs(y(1)); }

  S flow, damping, spring, stiffness, bounce;
};

/// x'' = F cos ωt − c x' − a x − b x³, x ≤ s; values c, a, b, F, ω, s, r.
template <class S>
struct Duffing {
  static constexpr int states = 2;
  static constexpr int contacts = 1;
  template <class T>
  using Vector = Eigen::Matrix<T, states, 1>;

  explicit Duffing(std::span<const S> p)
      : damping(p[0]), linear(p[1]), cubic(p[2]), drive(p[3]), omega(p[4]), wall(p[5]), bounce(p[6]) {}

  bool valid() const { return true; }
  double unit(int state) const { return state == 1 ? rate() : 1; }
  S period() const { return S(2 * M_PI) / omega; }
  double rate() const { return std::max({value_of(omega), std::sqrt(value_of(linear)), 1.0}); }
  template <class T>
  void rates(const T& t, const Vector<T>& y, Vector<T>& rate) const {
    rate(0) = y(1);
    rate(1) = pressing(0, t, y);
  }
  template <class T>
  T gap(int, const T&, const Vector<T>& y) const {
    return wall - y(0);
  }
  template <class T>
  T opening(int, const T&, const Vector<T>& y) const {
    return -y(1);
  }
  /// −(s − x)'' = x''.
  template <class T>
  T pressing(int, const T& t, const Vector<T>& y) const {
    using std::cos;
    return cos(T(t * omega)) * drive - y(1) * damping - y(0) * linear - square(y(0)) * y(0) * cubic;
  }
  template <class T>
  void kick(int, const T&, const Vector<T>&, const T& speed, Vector<T>& v) const {
    v(1) -= speed;
  }
  template <class T>
  void lift(int, const T&, const Vector<T>&, const T& gap, Vector<T>& v) const {
    v(0) -= gap;
  }
  S restitution(int) const { return bounce; }
  double reach(int, double, const Vector<double>& y) const {
    return std::abs(y(0)) + std::abs(value_of(wall));
  }
  double length_of(const Vector<double>& y) const { return std::abs(y(0)); }
  double speed_of(const Vector<double>& y) const { return std::abs(y(1)); }

  S damping, linear, cubic, drive, omega, wall, bounce;
};

namespace {

using Make = std::function<std::unique_ptr<System>(double)>;

/// A system over some values of one parameter, both ways.
struct Contest {
  std::string name;
  Make typed, as_template;
  std::vector<double> values;
  std::vector<double> start;
  Section section;
  int iterates;
  Eigen::Index parameter, parameters;
};

/// The states at the end; `columns` directions: states, then the parameter, carried along anew from each
/// iterate.
std::vector<Eigen::VectorXd> moved(const Contest& c, const Make& make, Eigen::Index columns) {
  std::vector<Eigen::VectorXd> ends;
  const Eigen::Index n = static_cast<Eigen::Index>(c.start.size());
  for (const double value : c.values) {
    const auto system = make(value);
    HybridState state;
    state.x = Eigen::Map<const Eigen::VectorXd>(c.start.data(), n);
    for (int k = 0; k < c.iterates; ++k) {
      Outcome outcome = Outcome::ok;
      if (columns == 0) {
        outcome = system->advance(state, c.section, nullptr);
      } else {
        const Eigen::Index p = columns > n ? c.parameters : 0;
        Tangent tangent{Eigen::MatrixXd::Identity(n, columns), Eigen::RowVectorXd::Zero(columns),
                        Eigen::MatrixXd::Zero(p, columns)};
        if (columns > n) tangent.parameter(c.parameter, n) = 1;
        outcome = system->advance(state, c.section, tangent);
      }
      if (outcome != Outcome::ok) throw std::runtime_error(c.name + ": " + advice(outcome));
    }
    ends.push_back(state.x);
  }
  return ends;
}

/// A short motion, the same both ways.
void compare(Contest c) {
  c.iterates = 5;
  for (const Eigen::Index columns : {0, 1}) {
    const auto a = moved(c, c.typed, columns), b = moved(c, c.as_template, columns);
    for (std::size_t k = 0; k < a.size(); ++k) {
      if ((a[k] - b[k]).cwiseAbs().maxCoeff() > 1e-8) throw std::runtime_error(c.name + ": not the same");
    }
  }
}

void report(const Contest& c) {
  compare(c);
  const Eigen::Index n = static_cast<Eigen::Index>(c.start.size());
  for (const Eigen::Index columns : {Eigen::Index{0}, Eigen::Index{1}, n, n + 1}) {
    std::vector<Row> rows = {{"typed", [&] { moved(c, c.typed, columns); }, {}},
                             {"template", [&] { moved(c, c.as_template, columns); }, {}}};
    run_in_turn(rows, 7);
    std::printf("%-10s %d derivatives: %8.3g ms typed, %8.3g ms as template, %.2f times\n", c.name.c_str(),
                static_cast<int>(columns), 1e3 * rows[0].median(), 1e3 * rows[1].median(),
                rows[0].median() / rows[1].median());
  }
}

Contest contest(const char* name, const char* parameter, const Tolerance& tolerance,
                std::unique_ptr<System> (*as_template)(std::span<const double>, const Tolerance&)) {
  const ModelInfo& info = named(models(), name);
  const auto model = info.make(checked(Value(Value::Table{}), info.keys, "model"));
  const std::size_t place = static_cast<std::size_t>(model->parameter_index(parameter));
  const auto at = [model, place](double value) {
    std::vector<double> values = model->values();
    values[place] = value;
    return values;
  };
  Contest c;
  c.name = name;
  c.typed = [=](double value) { return model->system(at(value), tolerance); };
  c.as_template = [=](double value) { return as_template(at(value), tolerance); };
  c.parameter = static_cast<Eigen::Index>(place);
  c.parameters = static_cast<Eigen::Index>(model->parameters().size());
  return c;
}

int run() {
  Tolerance tolerance;
  tolerance.integration = 1e-10;
  Contest valve = contest("relief_valve", "q", tolerance, smooth_system<Valve>);
  for (int k = 0; k < 20; ++k) valve.values.push_back(0.5 + 0.35 * k);
  valve.start = {0.2, 0, 9};
  valve.section.kind = Section::Kind::level;
  valve.section.coordinate = 1;
  valve.section.direction = -1;
  valve.iterates = 300;
  report(valve);
  Contest duffing = contest("duffing_impact", "omega", tolerance, smooth_system<Duffing>);
  for (int k = 0; k < 20; ++k) duffing.values.push_back(0.8 + 0.13 * k);
  duffing.start = {0, 0};
  duffing.iterates = 300;
  report(duffing);
  return 0;
}

}  // namespace
}  // namespace graze::bench

int main() {
  return graze::bench::reported("bench_typed", [] { return graze::bench::run(); });
}
