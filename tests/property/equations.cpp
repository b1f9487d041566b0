/// Expressions: what the list of operations works out is what the text says, for numbers, series and
/// derivatives of either.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/equations/program.hpp"
#include "core/equations/scope.hpp"
#include "tests/dice.hpp"

using namespace graze;

namespace {

using Real = long double;
constexpr std::size_t inputs = 3;
constexpr std::size_t parameter_count = 2;

/// A number, the size of what it is made of, and how much rounding in doubles can move it.
struct Estimate {
  Real value = 0, size = 0, error = 0;
};

constexpr Real rounding = 1.2e-16L;

/// An expression as text, and worked out in another way: by itself, in long double.
struct Sample {
  std::string text;
  std::function<Estimate(const std::vector<Real>& x, const std::vector<Real>& p)> estimate;
  bool is_fixed = false;
};

/// What a double cannot hold on the way is lost.
Estimate in_double(const Estimate& e) {
  constexpr Real most = std::numeric_limits<double>::max(), unknown = std::numeric_limits<Real>::infinity();
  return {e.value, e.size, std::abs(e.value) <= most ? e.error : unknown};
}

Estimate through(const Estimate& a, Real value, Real slope) {
  const Real size = std::abs(value) + std::abs(slope) * a.error;
  return in_double({value, size, std::abs(slope) * a.error + 4 * rounding * size});
}

class Writer {
 public:
  explicit Writer(unsigned seed) : dice_(seed) {}

  Sample expression(int depth) {
    const int choice = static_cast<int>(dice_.number(0, depth > 0 ? 12 : 3));
    switch (choice) {
      case 0:
        return number();
      case 1:
        return parameter();
      case 2:
        return variable();
      case 3:
      case 4:
        return of_two(depth - 1, '+');
      case 5:
        return of_two(depth - 1, '-');
      case 6:
      case 7:
        return of_two(depth - 1, '*');
      case 8:
        return of_two(depth - 1, '/');
      case 9:
        return whole_power(expression(depth - 1));
      default:
        return call(expression(depth - 1));
    }
  }
  std::vector<Real> point(std::size_t size) {
    std::vector<Real> x(size);
    for (Real& a : x) a = static_cast<double>(dice_.number(0.1, 2));
    return x;
  }

 private:
  Sample number() {
    const double a = std::round(dice_.number(1, 400)) / 100;
    return {test::fmt_double(a), [a](auto&, auto&) { return Estimate{a, std::abs(a), 0}; }, true};
  }
  Sample parameter() {
    const auto k = static_cast<std::size_t>(dice_.number(0, parameter_count));
    return {"p" + std::to_string(k), [k](auto&, auto& p) { return Estimate{p[k], std::abs(p[k]), 0}; }, true};
  }
  Sample variable() {
    const auto k = static_cast<std::size_t>(dice_.number(0, inputs));
    return {"x" + std::to_string(k), [k](auto& x, auto&) { return Estimate{x[k], std::abs(x[k]), 0}; }};
  }
  /// The dice are thrown for the right one first; as arguments of `two` they would be in any order.
  Sample of_two(int depth, char sign) {
    const Sample right = expression(depth);
    return two(expression(depth), right, sign);
  }
  static Sample two(const Sample& a, const Sample& b, char sign) {
    Sample s;
    s.text = "(" + a.text + " " + sign + " " + b.text + ")";
    s.is_fixed = a.is_fixed && b.is_fixed;
    s.estimate = [a = a.estimate, b = b.estimate, sign](auto& x, auto& p) -> Estimate {
      const Estimate l = a(x, p), r = b(x, p);
      if (sign == '+' || sign == '-') {
        const Real size = l.size + r.size;
        return {sign == '+' ? l.value + r.value : l.value - r.value, size,
                l.error + r.error + rounding * size};
      }
      if (sign == '*') {
        const Real size = l.size * r.size;
        return in_double(
            {l.value * r.value, size, l.size * r.error + r.size * l.error + 2 * rounding * size});
      }
      const Real over = 1 / std::abs(r.value);
      const Real size = l.size * over;
      return {l.value / r.value, size, l.error * over + size * r.error * over + 3 * rounding * size};
    };
    return s;
  }
  Sample whole_power(const Sample& a) {
    const int n = static_cast<int>(dice_.number(2, 6));
    Sample result = a;
    for (int k = 1; k < n; ++k) result = two(result, a, '*');
    result.text = "(" + a.text + ")^" + std::to_string(n);
    return result;
  }
  Sample call(const Sample& a) {
    const auto k = static_cast<std::size_t>(dice_.number(0, static_cast<double>(names.size())));
    Sample s;
    s.is_fixed = a.is_fixed;
    s.text = names[k] + "(" + a.text + ")";
    s.estimate = [a = a.estimate, name = names[k]](auto& x, auto& p) -> Estimate {
      const Estimate e = a(x, p);
      const Real v = e.value;
      if (name == "sqrt") return through(e, std::sqrt(v), 0.5L / std::sqrt(v));
      if (name == "exp") return through(e, std::exp(v), std::exp(v));
      if (name == "log") return through(e, std::log(v), 1 / v);
      if (name == "sin") return through(e, std::sin(v), 1);
      if (name == "cos") return through(e, std::cos(v), 1);
      if (name == "tan") return through(e, std::tan(v), 1 + std::tan(v) * std::tan(v));
      if (name == "asin") return through(e, std::asin(v), 1 / std::sqrt(1 - v * v));
      if (name == "acos") {
        Estimate r = through(e, std::acos(v), 1 / std::sqrt(1 - v * v));
        r.error += 4 * rounding;
        return r;
      }
      if (name == "atan") return through(e, std::atan(v), 1);
      if (name == "sinh") return through(e, std::sinh(v), std::cosh(v));
      if (name == "cosh") return through(e, std::cosh(v), std::cosh(v));
      return through(e, std::tanh(v), 1);
    };
    return s;
  }

  const std::vector<std::string> names = {"sqrt", "exp",  "log",  "sin",  "cos",  "tan",
                                          "asin", "acos", "atan", "sinh", "cosh", "tanh"};
  test::Dice dice_;
};

bool is_sound(const Estimate& e) {
  return std::isfinite(e.value) && std::isfinite(e.error) && e.size < 1e10L && e.error < 1e-6L;
}

Scope scope_of_samples() {
  Scope scope(inputs);
  for (std::size_t k = 0; k < inputs; ++k) scope.add_input("x" + std::to_string(k), k);
  for (std::size_t k = 0; k < parameter_count; ++k)
    scope.add_parameter("p" + std::to_string(k), k, Value(0.0), "");
  return scope;
}

std::vector<double> fixed_of(const Graph& graph, const std::vector<Real>& p) {
  const std::vector<double> values(p.begin(), p.end());
  std::vector<double> fixed;
  evaluate_fixed(graph.fixed(), values.data(), fixed);
  return fixed;
}

std::vector<double> results(const Graph& graph, const std::vector<Expression>& outputs,
                            const std::vector<Real>& x, const std::vector<Real>& p) {
  const Program program(graph, outputs);
  const std::vector<double> fixed = fixed_of(graph, p);
  std::vector<double> values(outputs.size());
  Workspace<double> workspace;
  workspace.run(
      program, fixed.data(), [&](std::size_t i) { return static_cast<double>(x[i]); },
      [&](std::size_t i, double value) { values[i] = value; });
  return values;
}

/// Coefficients of all outputs along x_i(t) = path_i(t), the coefficients of which are given.
template <class S>
std::vector<std::vector<S>> series_of(const Graph& graph, const std::vector<Expression>& outputs,
                                      const std::vector<S>& p, const std::vector<std::vector<S>>& path,
                                      int order) {
  const Program program(graph, outputs);
  std::vector<S> fixed;
  evaluate_fixed(graph.fixed(), p.data(), fixed);
  Tape<S> tape;
  tape.begin(order);
  std::vector<Series<S>> x;
  for (const auto& coefficients : path) {
    x.push_back(tape.take());
    for (int k = 0; k <= order; ++k)
      x.back()[k] = static_cast<std::size_t>(k) < coefficients.size()
                        ? coefficients[static_cast<std::size_t>(k)]
                        : S(0);
  }
  std::vector<std::vector<S>> result(outputs.size());
  std::vector<Series<S>> series(outputs.size());
  Workspace<S> workspace;
  workspace.run(
      program, fixed.data(), tape, [&](std::size_t i) { return x[i]; },
      [&](std::size_t i, const Series<S>& output) { series[i] = output; });
  for (int k = 0; k <= order; ++k) {
    if (k > 0) tape.advance(k);
    for (std::size_t i = 0; i < series.size(); ++i) result[i].push_back(series[i][k]);
  }
  return result;
}

}  // namespace

TEST_CASE("Random expressions have the value that their text has", "[equations]") {
  Writer writer(1);
  int compared = 0;
  for (int n = 0; n < 100000; ++n) {
    const Sample a = writer.expression(5);
    const std::vector<Real> x = writer.point(inputs), p = writer.point(parameter_count);
    const Estimate expected = a.estimate(x, p);
    if (!is_sound(expected)) continue;
    Scope scope = scope_of_samples();
    const Expression e = scope.build(Value(a.text), "e");
    if (a.is_fixed != e.is_fixed() && a.is_fixed) FAIL(a.text);
    const double value = results(scope.graph(), {e}, x, p).front();
    const Real off = std::abs(value - expected.value);
    if (!(off <= 4 * expected.error + 1e-300L)) {
      CAPTURE(a.text, value, static_cast<double>(expected.value), static_cast<double>(expected.error));
      FAIL("differs");
    }
    ++compared;
  }
  CHECK(compared > 50000);
}

TEST_CASE("Derivatives of random expressions agree with differences", "[equations]") {
  Writer writer(2);
  int compared = 0;
  for (int n = 0; n < 5000; ++n) {
    const Sample a = writer.expression(4);
    const std::vector<Real> x = writer.point(inputs), p = writer.point(parameter_count);
    for (std::size_t i = 0; i < inputs; ++i) {
      // Two central differences: their disagreement tells what they are worth.
      const auto difference = [&](Real h) -> Real {
        std::vector<Real> up = x, down = x;
        up[i] += h;
        down[i] -= h;
        return (a.estimate(up, p).value - a.estimate(down, p).value) / (2 * h);
      };
      const Real coarse = difference(2e-5L), fine = difference(1e-5L);
      const Estimate there = a.estimate(x, p);
      if (!is_sound(there) || there.error > 1e-13L || !std::isfinite(coarse) || !std::isfinite(fine))
        continue;
      Scope scope = scope_of_samples();
      const Expression e = scope.build(Value(a.text), "e");
      const double slope = results(scope.graph(), {scope.graph().derivative(e, i)}, x, p).front();
      const Real size = 1 + std::abs(fine) + there.size;
      const Real doubt = std::abs(coarse - fine) + 1e-9L * size;
      if (doubt > 1e-5L * size) continue;
      if (!(std::abs(slope - fine) <= doubt)) {
        CAPTURE(a.text, i, slope, static_cast<double>(fine), static_cast<double>(doubt));
        FAIL("differs");
      }
      ++compared;
    }
  }
  CHECK(compared > 5000);
}

/// Coefficient k of f(t) is f^(k)(t)/k!, and the slope of its coefficient by a parameter that moves along
/// with t is that of the derivative.
TEST_CASE("Series of random expressions are their repeated derivatives", "[equations]") {
  Writer writer(3);
  constexpr int order = 4;
  int compared = 0;
  for (int n = 0; n < 3000; ++n) {
    const Sample a = writer.expression(4);
    const std::vector<Real> x = writer.point(inputs), p = writer.point(parameter_count);
    const Estimate there = a.estimate(x, p);
    if (!is_sound(there)) continue;
    Scope scope = scope_of_samples();
    std::vector<Expression> derivatives = {scope.build(Value(a.text), "e")};
    // Along x0 = x0(0) + t, the others at rest.
    for (int k = 1; k <= order; ++k) derivatives.push_back(scope.graph().derivative(derivatives.back(), 0));
    const std::vector<double> expected = results(scope.graph(), derivatives, x, p);
    using S = Dual<1>;
    std::vector<std::vector<S>> path;
    for (const Real value : x) path.push_back({S(static_cast<double>(value))});
    path[0][0].slope[0] = 1;
    path[0].push_back(S(1));
    const std::vector<S> values(p.begin(), p.end());
    const auto series = series_of<S>(scope.graph(), {derivatives[0]}, values, path, order).front();
    double factorial = 1, size = static_cast<double>(there.size);
    for (int k = 0; k < order; ++k) {
      if (k > 0) factorial *= k;
      const std::size_t at = static_cast<std::size_t>(k);
      size = std::max({size, std::abs(expected[at]), std::abs(expected[at + 1])});
      const double margin = 1e-9 * (1 + size) + 1e4 * static_cast<double>(there.error) * (1 + size);
      if (!std::isfinite(size) || size > 1e8) break;
      CAPTURE(a.text, k);
      CHECK(std::abs(series[at].value * factorial - expected[at]) <= margin);
      CHECK(std::abs(series[at].slope[0] * factorial - expected[at + 1]) <= margin);
      ++compared;
    }
  }
  CHECK(compared > 4000);
}

TEST_CASE("What expressions have in common is worked out once", "[equations]") {
  Scope scope = scope_of_samples();
  const auto operations = [&](const std::vector<std::string>& texts) {
    std::vector<Expression> outputs;
    for (const std::string& text : texts) outputs.push_back(scope.build(Value(text), "e"));
    const Program program(scope.graph(), outputs);
    return program.operations().size();
  };
  CHECK(operations({"x0"}) == 0);
  CHECK(operations({"2*x0 - p0*x1 + 3*x0*x1 + p1"}) == 1);
  CHECK(operations({"sin(x0 + x1)", "p0*cos(x1 + x0)"}) == 3);
  CHECK(operations({"x0*x1 + x2", "x0*x1 - x2"}) == 3);
  CHECK(operations({"sin(p0)*x0", "sin(p0)*x0"}) == 1);
  CHECK(scope.build(Value("(x0 + x1)*p0 - p0*x1 - p0*x0"), "e").is_fixed());
}

TEST_CASE("Expressions are read as written in mathematics", "[equations]") {
  Scope scope = scope_of_samples();
  const auto value = [&](const std::string& text) {
    return results(scope.graph(), {scope.build(Value(text), "e")}, {3, 5, 7}, {2, 0.5L}).front();
  };
  CHECK(value("-x0^2") == -9);
  CHECK(value("2^-1") == 0.5);
  CHECK(value("2^3^2") == 512);
  CHECK(value("8/2/2") == 2);
  CHECK(value("x0 - x1 - x2") == -9);
  CHECK(value("2*-x0") == -6);
  CHECK(value("x0^p0") == Approx(9).epsilon(1e-15));
  CHECK(value("x1^-1") == 0.2);
  CHECK(value("x0^0") == 1);
  CHECK(value("1.5e1 + .5") == 15.5);
  CHECK(value("sin(pi/2)") == 1);
  CHECK(value(" ( ( x0 ) )\n + 1 ") == 4);
}

TEST_CASE("Wrong expressions are refused with place, piece and rule", "[equations]") {
  Scope scope = scope_of_samples();
  scope.define("spring", Value("x0 + 2*springs"), "definitions.spring");
  scope.define("hen", Value("2*egg"), "definitions.hen");
  scope.define("egg", Value("hen - 1"), "definitions.egg");
  const std::string deep(100, '('), end(100, ')');
  const std::vector<std::array<std::string, 2>> mistakes = {
      {"", "an expression is missing"},
      {"2*", "* (character 2): something must follow"},
      {"2 x0", "x (character 3): an operator is missing before it"},
      {"2x0", "x (character 2): an operator is missing before it"},
      {"(x0 + 1", "( (character 1): this parenthesis is not closed"},
      {"x0 + 1)", ") (character 7): closes a parenthesis that is not open"},
      {"x0 ** 2", "** (character 4): a power is written ^"},
      {"0,5*x0", "0, (character 1): a comma has no place"},
      {"1.2.3", "1.2. (character 1): is no number"},
      {"1e999", "1e999 (character 1): is beyond what a number can be"},
      {"x0 = 1", "= (character 4): only what stands on the right"},
      {"abs(x0)", "abs has a corner or a jump"},
      {"sign(x0)", "sign has a corner or a jump"},
      {"max(x0, 0)", "max has a corner or a jump"},
      {"|x0|", "abs has a corner or a jump"},
      {"x0 > 1", "if has a corner or a jump"},
      {"ln(x0)", "the natural logarithm is log"},
      {"sinn(x0)", "there is no function sinn; did you mean sin?"},
      {"sin", "sin (character 1): is a function: its argument in parentheses is missing"},
      {"p0(x0 + 1)", "to multiply, write p0*("},
      {"x4 + 1", "x4 (character 1): there is no such name; did you mean x0?"},
      {"1 + omega", "omega (character 5): there is no such name; known:"},
      {"2*t", "t (character 3): time has no place here"},
      {"x0'", "x0 is no coordinate: only these have a velocity"},
      {"x0''", "an acceleration has no place here"},
      {"2'", "' (character 2): only a name can have a '"},
      {"p0^x0", "x0 (character 4): an exponent may depend on parameters only; write exp(y*log(x))"},
      {"x0/(p0 - p0)", "is zero: nothing can be divided by it"},
      {"spring", "springs (character 8): there is no such name; did you mean spring?"},
      {"hen", "goes in a circle: hen -> egg -> hen"},
      {"x0 § 2", "§ (character 4): is no part of an expression"},
      {deep + "1" + end, "more than 60 levels deep"},
      {std::string(200, '-') + "1", "more than 60 levels deep"},
      {std::string(20000, '1'), "longer than 10000 characters"},
  };
  for (const auto& [text, rule] : mistakes) {
    CAPTURE(text);
    CHECK_THROWS_WITH(scope.build(Value(Value::Data(text)), "e"), Catch::Matchers::Contains(rule));
  }
  CHECK_THROWS_WITH(scope.build_fixed(Value("p0 + x0"), "mass"),
                    Catch::Matchers::Contains("mass = \"p0 + x0\"") &&
                        Catch::Matchers::Contains("may depend on parameters only"));
  CHECK_THROWS_WITH(scope.add_parameter("sin", 0, Value(1.0), "p.sin"),
                    Catch::Matchers::Contains("another name"));
  CHECK_THROWS_WITH(scope.add_parameter("x0", 0, Value(1.0), "p"),
                    Catch::Matchers::Contains("is there already"));
  CHECK_THROWS_WITH(scope.add_parameter("2a", 0, Value(1.0), "p"),
                    Catch::Matchers::Contains("a name is a letter"));
}

TEST_CASE("Expressions that would grow without end are refused", "[equations]") {
  Scope scope = scope_of_samples();
  std::string last = "x0";
  for (int k = 0; k < 60; ++k) {
    const std::string name = "d" + std::to_string(k);
    scope.define(name, Value("(" + last + " + x1)*(" + last + " + x2)"), name);
    last = name;
  }
  CHECK_NOTHROW(scope.build(Value(last), "e"));  // 60 operations, however long written out
  std::string sum = "x0*x1";
  for (int k = 0; k < 700; ++k) sum += " + sin(" + std::to_string(k) + "*x0)";
  CHECK_NOTHROW(scope.build(Value(Value::Data(sum)), "e"));
}
