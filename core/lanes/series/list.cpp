#include "core/lanes/series/list.hpp"

#include <algorithm>
#include <map>

namespace graze {
namespace {

using Kind = SeriesOperation::Kind;

Kind kind_of(Operation::Kind kind) {
  static_assert(static_cast<int>(Kind::antiderivative) == static_cast<int>(Operation::Kind::antiderivative) &&
                static_cast<int>(Kind::harmonic) == static_cast<int>(Operation::Kind::harmonic));
  return static_cast<Kind>(kind);
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
  rows_.assign(static_cast<std::size_t>(stride) * program.rows(), 0.0);
  const auto place = [&](std::size_t row) { return rows_.data() + static_cast<long>(row) * stride; };
  const auto fixed_row = [&](std::size_t f) { return fixed + static_cast<long>(f) * width; };
  const auto add = [&](int& number, const Operation& sum, const auto& wanted) {
    for (const Term& term : program.terms(sum)) {
      if (!wanted(term)) continue;
      terms_.push_back({place(term.a), place(term.b.value_or(0)), fixed_row(term.fixed)});
      ++number;
    }
  };
  std::size_t count = 0;
  for (const Operation& op : program.operations()) count += program.terms(op).size();
  terms_.reserve(count);
  for (const Operation& op : program.operations()) {
    SeriesOperation& o = operations_.emplace_back();
    o.kind = kind_of(op.kind);
    o.function = function_of(op.function);
    o.result = place(op.result);
    o.other = o.result + stride;
    o.a = place(op.a);
    o.b = place(op.b);
    o.fixed = fixed_row(op.fixed);
    o.inverse = place(op.inverse);
    o.rate = place(op.rate);
    o.in_time = op.in_time;
    o.terms = terms_.data() + terms_.size();
    add(o.linear, op, [](const Term& term) { return !term.b; });
    add(o.products, op, [](const Term& term) { return term.b && *term.b != term.a; });
    add(o.squares, op, [](const Term& term) { return term.b == term.a; });
  }
  for (std::size_t i = 0; i < program.outputs(); ++i) outputs_.push_back(place(program.output(i)));
  for (const ReachedRow& r : program.reached()) reached_.push_back({place(r.row), reach_of(r.reach)});
}

SeriesList SeriesProgram::list() {
  return {operations_.data(), outputs_.data(), static_cast<int>(operations_.size()),
          rows_.data(),       reached_.data(), static_cast<int>(reached_.size())};
}

}  // namespace graze
