#include "core/lanes/series/list.hpp"

#include <algorithm>
#include <map>

namespace graze {
namespace {

using Kind = SeriesOperation::Kind;

/// Of what has a result.
Kind kind_of(Operation::Kind kind) {
  constexpr int parts = static_cast<int>(Operation::Kind::sum);  // of sums, before it
  static_assert(static_cast<int>(Kind::antiderivative) + parts ==
                static_cast<int>(Operation::Kind::antiderivative));
  static_assert(static_cast<int>(Kind::harmonic) + parts == static_cast<int>(Operation::Kind::harmonic));
  return static_cast<Kind>(static_cast<int>(kind) - parts);
}

/// Whether it adds a row times a literal or a fixed quantity to a sum, or a product of two.
bool adds_row(const Operation& op) {
  return op.kind == Operation::Kind::add || op.kind == Operation::Kind::add_by_fixed;
}
bool adds_product(const Operation& op) {
  return op.kind == Operation::Kind::add_product || op.kind == Operation::Kind::add_product_by_fixed;
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
  const std::size_t count = program.operations().size();
  terms_.reserve(count);
  literals_.reserve(count * static_cast<std::size_t>(width));
  const auto literal_row = [&](double value) {
    literals_.insert(literals_.end(), static_cast<std::size_t>(width), value);
    return literals_.data() + literals_.size() - width;
  };
  std::vector<Operation> parts;
  const auto add = [&](int& number, const auto& wanted) {
    for (const Operation& part : parts) {
      if (!wanted(part)) continue;
      const bool by_literal = part.kind == Operation::Kind::add || part.kind == Operation::Kind::add_product;
      terms_.push_back(
          {place(part.a), place(part.b), by_literal ? literal_row(part.literal) : fixed_row(part.fixed)});
      ++number;
    }
  };
  for (const Operation& op : program.operations()) {
    if (adds_row(op) || adds_product(op)) {
      parts.push_back(op);
      continue;
    }
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
    add(o.linear, adds_row);
    add(o.products, [](const Operation& part) { return adds_product(part) && part.a != part.b; });
    add(o.squares, [](const Operation& part) { return adds_product(part) && part.a == part.b; });
    parts.clear();
  }
  for (std::size_t i = 0; i < program.outputs(); ++i) outputs_.push_back(place(program.output(i)));
  for (const ReachedRow& r : program.reached()) reached_.push_back({place(r.row), reach_of(r.reach)});
}

SeriesList SeriesProgram::list() {
  return {operations_.data(), outputs_.data(), static_cast<int>(operations_.size()),
          rows_.data(),       reached_.data(), static_cast<int>(reached_.size())};
}

}  // namespace graze
