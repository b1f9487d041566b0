/// The list of operations that works out some expressions, with any scalar.
///
/// One operation of a power series is a whole convolution, so that reading the list costs little. A row holds
/// the coefficients of one quantity; the first rows are the inputs.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/equations/graph.hpp"
#include "core/math/series.hpp"
#include "core/math/series_rules.hpp"

namespace graze {

/// Of a sum: a row, or a product of two, times a factor.
struct Term {
  std::size_t a = 0;
  std::optional<std::size_t> b;
  std::size_t fixed = 0;          ///< the factor
  std::optional<double> literal;  ///< its value, where it hangs on nothing
};

struct Operation {
  enum class Kind : signed char {
    sum,  ///< of its terms and a constant
    quotient,
    reciprocal,
    root,
    power,
    exponential,
    sine,                ///< and cosine, in the next row
    harmonic,            ///< the same where the argument is linear in a time which passes evenly
    hyperbolic_sine,     ///< and cosine, in the next row
    tangent,             ///< and 1 + its square
    hyperbolic_tangent,  ///< and 1 − its square
    antiderivative       ///< function f with f' b = a'
  };
  Kind kind = Kind::sum;
  Function function = Function::sqrt;
  std::size_t result = 0;  ///< row
  std::size_t a = 0, b = 0;
  std::size_t rate = 0;                      ///< row for k times coefficient k of what is differentiated
  std::size_t inverse = 0;                   ///< row for the inverse of what is divided by, in place 0
  std::size_t fixed = 0;                     ///< exponent, or the constant of a sum
  std::size_t first_term = 0, end_term = 0;  ///< of a sum, among the terms of the program
  bool in_time = false;                      ///< a sum that is linear in a time which passes evenly
};

/// The argument of an operation whose series holds on a part of the step only (core/math/series_reach.hpp).
struct ReachedRow {
  std::size_t row = 0;
  Reach reach = Reach::pole;
};

class Program {
 public:
  Program() = default;
  /// Works out these expressions of the graph, whose fixed quantities it is given whenever it is run.
  /// `even_time`: input 0 has no coefficients from the second order on.
  Program(const Graph& graph, const std::vector<Expression>& outputs, bool even_time = true);

  std::size_t rows() const { return rows_; }
  std::size_t inputs() const { return inputs_; }
  std::size_t outputs() const { return outputs_.size(); }
  const std::vector<Operation>& operations() const { return operations_; }
  std::span<const Term> terms(const Operation& sum) const {
    return {terms_.data() + sum.first_term, terms_.data() + sum.end_term};
  }
  const std::vector<ReachedRow>& reached() const { return reached_; }

  /// Coefficient k of every row, from the coefficients up to k of the inputs.
  template <class S>
  void advance(S* const* rows, int k, const S* fixed) const;
  /// Row of an output.
  std::size_t output(std::size_t i) const { return outputs_[i]; }

 private:
  void go_on_in_line(double* const* rows, int k, const double* fixed) const;
  template <class S>
  void add_up(const Operation& op, S* const* rows, int k, const S* fixed) const;
  template <class S>
  static void begin(const Operation& op, S* const* rows, const S* fixed);
  template <class S>
  static void go_on(const Operation& op, S* const* rows, int k, const S* fixed);

  std::vector<Operation> operations_;
  std::vector<Term> terms_;
  std::vector<ReachedRow> reached_;
  std::vector<std::size_t> outputs_;
  std::size_t inputs_ = 0;
  std::size_t rows_ = 0;
};

/// Rows for running programs with plain numbers or on the tape of a series; not for several threads.
template <class S>
class Workspace {
 public:
  /// Works out the outputs: `input(i)` is the value of input i, `output(i, value)` takes the results.
  template <class Input, class Output>
  void run(const Program& program, const S* fixed, const Input& input, const Output& output) {
    if (numbers_.size() < program.rows()) numbers_.resize(program.rows());
    rows_.resize(program.rows());
    for (std::size_t r = 0; r < program.rows(); ++r) rows_[r] = &numbers_[r];
    for (std::size_t i = 0; i < program.inputs(); ++i) numbers_[i] = input(i);
    program.advance(rows_.data(), 0, fixed);
    for (std::size_t i = 0; i < program.outputs(); ++i) output(i, numbers_[program.output(i)]);
  }
  /// The same with series on a tape: `input(i)` is one.
  template <class Input, class Output>
  void run(const Program& program, const S* fixed, Tape<S>& tape, const Input& input, const Output& output) {
    if (program.operations().empty()) {  // inputs as they are
      for (std::size_t i = 0; i < program.outputs(); ++i) output(i, input(program.output(i)));
      return;
    }
    if (rows_.size() < program.rows()) rows_.resize(program.rows());
    for (std::size_t i = 0; i < program.inputs(); ++i) rows_[i] = input(i).coefficients();
    for (std::size_t r = program.inputs(); r < program.rows(); ++r) rows_[r] = tape.take().coefficients();
    tape.follow([&program, fixed](int k, S* const* rows) { program.advance(rows, k, fixed); },
                {rows_.data(), program.rows()});
    for (const ReachedRow& r : program.reached()) tape.watch(rows_[r.row], r.reach);
    for (std::size_t i = 0; i < program.outputs(); ++i) output(i, Series<S>(tape, rows_[program.output(i)]));
  }

 private:
  std::vector<S> numbers_;
  std::vector<S*> rows_;
};

template <class S>
void Program::advance(S* const* rows, int k, const S* fixed) const {
  if constexpr (std::is_same_v<S, double>) {
    if (k > 0) return go_on_in_line(rows, k, fixed);
  }
  for (const Operation& op : operations_) {
    if (op.kind == Operation::Kind::sum) {
      add_up(op, rows, k, fixed);
    } else if (k == 0) {
      begin(op, rows, fixed);
    } else {
      go_on(op, rows, k, fixed);
    }
  }
}

/// Coefficient k of a sum.
template <class S>
void Program::add_up(const Operation& op, S* const* rows, int k, const S* fixed) const {
  Products<S> total;
  for (const Term& term : terms(op)) {
    const auto add = [&](const S& value) {
      // A literal has no derivatives.
      if (!std::is_same_v<S, double> && term.literal) {
        total.add(*term.literal, value);
      } else {
        total.add(value, fixed[term.fixed]);
      }
    };
    const S* const a = rows[term.a];
    if (!term.b) {
      add(a[k]);
    } else if (*term.b == term.a) {
      add(series::square(a, k));
    } else {
      add(series::product(a, rows[*term.b], k));
    }
  }
  if (k == 0) total.add(1, fixed[op.fixed]);
  total.store(1, rows[op.result][k]);
}

/// Coefficient 0 of a function.
template <class S>
void Program::begin(const Operation& op, S* const* rows, const S* fixed) {
  using Kind = Operation::Kind;
  const S& a = rows[op.a][0];
  S& r = rows[op.result][0];
  const auto invert = [&](const S& divisor) { rows[op.inverse][0] = S(1) / divisor; };
  const auto with_partner = [&](const S& partner) { rows[op.result + 1][0] = partner; };
  switch (op.kind) {
    case Kind::quotient:
      r = a / rows[op.b][0];
      invert(rows[op.b][0]);
      break;
    case Kind::reciprocal:
      invert(a);
      r = rows[op.inverse][0];
      break;
    case Kind::root:
      r = apply(Function::sqrt, a);
      invert(r + r);
      break;
    case Kind::power:
      r = to_power(a, fixed[op.fixed]);
      invert(a);
      break;
    case Kind::exponential:
      r = apply(Function::exp, a);
      break;
    case Kind::sine:
    case Kind::harmonic: {
      const auto [sine, cosine] = sine_cosine(a);
      r = sine;
      with_partner(cosine);
      break;
    }
    case Kind::hyperbolic_sine:
      r = apply(Function::sinh, a);
      with_partner(apply(Function::cosh, a));
      break;
    case Kind::tangent:
      r = apply(op.function, a);
      with_partner(r * r + S(1));
      break;
    case Kind::hyperbolic_tangent:
      r = apply(op.function, a);
      with_partner(hyperbolic_slope(a));
      break;
    case Kind::antiderivative:
      r = apply(op.function, a);
      invert(rows[op.b][0]);
      break;
    case Kind::sum:
      break;
  }
}

/// Coefficient k > 0 of a function.
template <class S>
void Program::go_on(const Operation& op, S* const* rows, int k, const S* fixed) {
  using Kind = Operation::Kind;
  S* r = rows[op.result];
  const S* a = rows[op.a];
  const S* b = rows[op.b];
  const S* inverse = rows[op.inverse];
  S* rates = rows[op.rate];
  /// Each is the other's slope but for the sign.
  const auto pair = [&](double sign) {
    S* other = rows[op.result + 1];
    rates[k] = series::rate(a, k);
    const auto [of_other, of_r] = series::integrals(rates, other, r, k);
    r[k] = of_other;
    other[k] = of_r * sign;
  };
  /// 1 + `sign` r² is the slope of r.
  const auto with_slope = [&](double sign) {
    S* slope = rows[op.result + 1];
    rates[k] = series::rate(a, k);
    r[k] = series::integral(rates, slope, k);
    slope[k] = series::square(r, k) * sign;
  };
  switch (op.kind) {
    case Kind::quotient:
      r[k] = series::quotient(a, b, r, *inverse, k);
      break;
    case Kind::reciprocal:
      r[k] = series::reciprocal(a, r, *inverse, k);
      break;
    case Kind::root:
      r[k] = series::root(a, r, *inverse, k);
      break;
    case Kind::power:
      rates[k] = series::rate(a, k);
      r[k] = series::power(a, rates, fixed[op.fixed], r, *inverse, k);
      break;
    case Kind::exponential:
      rates[k] = series::rate(a, k);
      r[k] = series::integral(rates, r, k);
      break;
    case Kind::sine:
      pair(-1);
      break;
    case Kind::harmonic:
      series::turn(a, r, rows[op.result + 1], k);
      break;
    case Kind::hyperbolic_sine:
      pair(1);
      break;
    case Kind::tangent:
      with_slope(1);
      break;
    case Kind::hyperbolic_tangent:
      with_slope(-1);
      break;
    case Kind::antiderivative:
      r[k] = series::quotient_integral(a, b, rates, *inverse, k);
      rates[k] = series::rate(r, k);
      break;
    case Kind::sum:
      break;
  }
}

}  // namespace graze
