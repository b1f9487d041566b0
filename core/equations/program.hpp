/// The list of operations that works out some expressions, with any scalar.
///
/// One operation of a power series is a whole convolution, so that reading the list costs little. A row holds
/// the coefficients of one quantity; the first rows are the inputs.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "core/equations/graph.hpp"
#include "core/math/series.hpp"
#include "core/math/series_rules.hpp"

namespace graze {

struct Operation {
  enum class Kind : signed char {
    sum,
    quotient,
    reciprocal,
    root,
    power,
    exponential,
    sine,                ///< and cosine, in the next row
    hyperbolic_sine,     ///< and cosine, in the next row
    tangent,             ///< and 1 + its square
    hyperbolic_tangent,  ///< and 1 − its square
    antiderivative       ///< function f with f' b = a'
  };
  Kind kind = Kind::sum;
  Function function = Function::sqrt;
  std::size_t result = 0;  ///< row
  std::size_t a = 0, b = 0;
  std::size_t fixed = 0;  ///< exponent, or the constant of a sum
  bool in_time = false;   ///< a sum, or the argument of a sine, that is linear in a time which passes evenly
  /// Where the terms of a sum begin, in groups: atoms times literals, times fixed quantities; products as
  /// they are, times literals, times fixed quantities.
  std::size_t begin = 0;
  std::size_t by_literal = 0, by_fixed = 0, plain_products = 0, products_by_literal = 0,
              products_by_fixed = 0;
};

/// The argument of an operation whose series holds on a part of the step only (core/math/series_reach.hpp).
struct ReachedRow {
  std::size_t row = 0;
  Reach reach = Reach::pole;
};

struct OperationTerm {
  std::size_t a = 0, b = 0;  ///< rows
  double literal = 1;
  std::size_t fixed = 0;
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
  const std::vector<OperationTerm>& terms() const { return terms_; }
  const std::vector<ReachedRow>& reached() const { return reached_; }

  /// Coefficient k of every row, from the coefficients up to k of the inputs.
  template <class S>
  void advance(S* const* rows, int k, const S* fixed) const {
    for (const Operation& op : operations_) {
      if (op.kind == Operation::Kind::sum) {
        sum(op, rows, k, fixed);
      } else if (k == 0) {
        begin(op, rows, fixed);
      } else {
        go_on(op, rows, k, fixed);
      }
    }
  }
  /// Row of an output.
  std::size_t output(std::size_t i) const { return outputs_[i]; }

 private:
  template <class S>
  void sum(const Operation& op, S* const* rows, int k, const S* fixed) const;
  template <class S>
  static void begin(const Operation& op, S* const* rows, const S* fixed);
  template <class S>
  static void go_on(const Operation& op, S* const* rows, int k, const S* fixed);

  std::vector<Operation> operations_;
  std::vector<OperationTerm> terms_;
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
void Program::sum(const Operation& op, S* const* rows, int k, const S* fixed) const {
  S& result = rows[op.result][k];
  if (op.in_time && k > 1) {
    result = S(0);
    return;
  }
  Products<S> total;
  if (k == 0) total.add(1, fixed[op.fixed]);
  const OperationTerm* term = terms_.data() + op.begin;
  const auto each = [&](std::size_t count, const auto& add) {
    for (const OperationTerm* end = term + count; term != end; ++term) add(*term);
  };
  const auto product = [&](const OperationTerm& t) {
    return t.a == t.b ? series::square(rows[t.a], k) : series::convolution(rows[t.a], rows[t.b], 0, k, k);
  };
  each(op.by_literal, [&](const OperationTerm& t) { total.add(t.literal, rows[t.a][k]); });
  each(op.by_fixed, [&](const OperationTerm& t) { total.add(rows[t.a][k], fixed[t.fixed]); });
  each(op.plain_products, [&](const OperationTerm& t) { total.add(1, product(t)); });
  each(op.products_by_literal, [&](const OperationTerm& t) { total.add(t.literal, product(t)); });
  each(op.products_by_fixed, [&](const OperationTerm& t) { total.add(product(t), fixed[t.fixed]); });
  total.store(1, result);
}

/// Coefficient 0 of a function.
template <class S>
void Program::begin(const Operation& op, S* const* rows, const S* fixed) {
  const S& a = rows[op.a][0];
  S& r = rows[op.result][0];
  const auto pair = [&](Function first, Function second) {
    r = apply(first, a);
    rows[op.result + 1][0] = apply(second, a);
  };
  switch (op.kind) {
    case Operation::Kind::sum:
      break;
    case Operation::Kind::quotient:
      r = a / rows[op.b][0];
      break;
    case Operation::Kind::reciprocal:
      r = S(1) / a;
      break;
    case Operation::Kind::root:
      r = apply(Function::sqrt, a);
      break;
    case Operation::Kind::power:
      r = to_power(a, fixed[op.fixed]);
      break;
    case Operation::Kind::exponential:
      r = apply(Function::exp, a);
      break;
    case Operation::Kind::sine:
      pair(Function::sin, Function::cos);
      break;
    case Operation::Kind::hyperbolic_sine:
      pair(Function::sinh, Function::cosh);
      break;
    case Operation::Kind::tangent:
      r = apply(op.function, a);
      rows[op.result + 1][0] = r * r + S(1);
      break;
    case Operation::Kind::hyperbolic_tangent:
      r = apply(op.function, a);
      rows[op.result + 1][0] = hyperbolic_slope(a);
      break;
    case Operation::Kind::antiderivative:
      r = apply(op.function, a);
      break;
  }
}

/// Coefficient k > 0 of a function.
template <class S>
void Program::go_on(const Operation& op, S* const* rows, int k, const S* fixed) {
  S* r = rows[op.result];
  const S* a = rows[op.a];
  const S* b = rows[op.b];
  /// Each is the other's slope but for the sign.
  const auto pair = [&](double sign) {
    S* other = rows[op.result + 1];
    const auto [of_other, of_r] = series::integrals(a, other, r, op.in_time ? 1 : k, k);
    r[k] = of_other;
    other[k] = of_r * sign;
  };
  /// 1 + `sign` r² is the slope of r.
  const auto with_slope = [&](double sign) {
    S* rate = rows[op.result + 1];
    r[k] = series::integral(a, rate, k);
    rate[k] = series::square(r, k) * sign;
  };
  switch (op.kind) {
    case Operation::Kind::sum:
      break;
    case Operation::Kind::quotient:
      r[k] = series::quotient(a, b, r, k);
      break;
    case Operation::Kind::reciprocal:
      r[k] = series::reciprocal(a, r, k);
      break;
    case Operation::Kind::root:
      r[k] = series::root(a, r, k);
      break;
    case Operation::Kind::power:
      r[k] = series::power(a, fixed[op.fixed], r, k);
      break;
    case Operation::Kind::exponential:
      r[k] = series::integral(a, r, k);
      break;
    case Operation::Kind::sine:
      pair(-1);
      break;
    case Operation::Kind::hyperbolic_sine:
      pair(1);
      break;
    case Operation::Kind::tangent:
      with_slope(1);
      break;
    case Operation::Kind::hyperbolic_tangent:
      with_slope(-1);
      break;
    case Operation::Kind::antiderivative:
      r[k] = series::quotient_integral(a, b, r, k);
      break;
  }
}

}  // namespace graze
