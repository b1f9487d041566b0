#include "core/lanes/series/list.hpp"

#include <algorithm>
#include <map>

namespace graze {
namespace {

using Kind = SeriesOperation::Kind;

Kind kind_of(Operation::Kind kind) {
  switch (kind) {
    case Operation::Kind::sum:
      return Kind::sum;
    case Operation::Kind::quotient:
      return Kind::quotient;
    case Operation::Kind::reciprocal:
      return Kind::reciprocal;
    case Operation::Kind::root:
      return Kind::root;
    case Operation::Kind::power:
      return Kind::power;
    case Operation::Kind::exponential:
      return Kind::exponential;
    case Operation::Kind::sine:
      return Kind::sine;
    case Operation::Kind::hyperbolic_sine:
      return Kind::hyperbolic_sine;
    case Operation::Kind::tangent:
      return Kind::tangent;
    case Operation::Kind::hyperbolic_tangent:
      return Kind::hyperbolic_tangent;
    case Operation::Kind::antiderivative:
      return Kind::antiderivative;
  }
  return Kind::sum;
}

SeriesOperation::Function function_of(Function f) {
  using Plain = SeriesOperation::Function;
  static_assert(static_cast<int>(Plain::tanh) == static_cast<int>(Function::tanh) &&
                static_cast<int>(Plain::sin) == static_cast<int>(Function::sin));
  return static_cast<Plain>(f);
}

SeriesReached::Reach reach_of(Reach reach) {
  using Plain = SeriesReached::Reach;
  static_assert(static_cast<int>(Plain::pole) == static_cast<int>(Reach::pole) &&
                static_cast<int>(Plain::saturation) == static_cast<int>(Reach::saturation));
  return static_cast<Plain>(reach);
}

}  // namespace

SeriesProgram::SeriesProgram(const Program& program, int order, int width, const double* fixed) {
  const long stride = static_cast<long>(order + 1) * width;
  long rows = static_cast<long>(program.rows());
  const long own_rows = 2 * static_cast<long>(program.operations().size());
  rows_.assign(static_cast<std::size_t>(stride * (rows + own_rows)), 0.0);
  const auto place = [&](std::size_t row) { return rows_.data() + static_cast<long>(row) * stride; };
  const auto own = [&] { return rows_.data() + stride * rows++; };
  const auto fixed_row = [&](std::size_t f) { return fixed + static_cast<long>(f) * width; };
  terms_.reserve(program.terms().size());
  literals_.reserve(program.terms().size() * static_cast<std::size_t>(width));
  const auto literal_row = [&](double value) {
    literals_.insert(literals_.end(), static_cast<std::size_t>(width), value);
    return literals_.data() + literals_.size() - width;
  };
  for (const Operation& op : program.operations()) {
    SeriesOperation& o = operations_.emplace_back();
    o.kind = kind_of(op.kind);
    if (o.kind == Kind::sine && op.in_time) o.kind = Kind::harmonic;
    o.function = function_of(op.function);
    o.result = place(op.result);
    o.other = place(op.result + 1);
    o.a = place(op.a);
    o.b = place(op.b);
    o.fixed = fixed_row(op.fixed);
    if (o.kind != Kind::sum) {
      o.inverse = own();
      o.rate = own();
      continue;
    }
    o.in_time = op.in_time;
    o.terms = terms_.data() + terms_.size();
    // Groups as in core/equations: rows times literals, times fixed quantities; products as they are, times
    // literals, times fixed quantities.
    const OperationTerm* const first = program.terms().data() + op.begin;
    const OperationTerm* const fixed_rows = first + op.by_literal;
    const OperationTerm* const products = fixed_rows + op.by_fixed;
    const OperationTerm* const fixed_products = products + op.plain_products + op.products_by_literal;
    const OperationTerm* const end = fixed_products + op.products_by_fixed;
    const auto add = [&](const OperationTerm* t) {
      const bool by_fixed = (t >= fixed_rows && t < products) || t >= fixed_products;
      terms_.push_back({place(t->a), place(t->b), by_fixed ? fixed_row(t->fixed) : literal_row(t->literal)});
    };
    for (const OperationTerm* t = first; t != products; ++t, ++o.linear) add(t);
    for (const OperationTerm* t = products; t != end; ++t) {
      if (t->a == t->b) continue;
      add(t);
      ++o.products;
    }
    for (const OperationTerm* t = products; t != end; ++t) {
      if (t->a != t->b) continue;
      add(t);
      ++o.squares;
    }
  }
  for (std::size_t i = 0; i < program.outputs(); ++i) outputs_.push_back(place(program.output(i)));
  for (const ReachedRow& r : program.reached()) reached_.push_back({place(r.row), reach_of(r.reach)});
}

SeriesList SeriesProgram::list() {
  return {operations_.data(), outputs_.data(), static_cast<int>(operations_.size()),
          rows_.data(),       reached_.data(), static_cast<int>(reached_.size())};
}

}  // namespace graze
