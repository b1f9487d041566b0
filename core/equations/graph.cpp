#include "core/equations/graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace graze {
namespace {

std::size_t index_of(Fixed f) { return static_cast<std::size_t>(f); }
std::size_t index_of(Atom a) { return static_cast<std::size_t>(a); }

template <class Operation>
Operation of_kind(typename Operation::Kind kind) {
  Operation op;
  op.kind = kind;
  return op;
}

}  // namespace

Graph::Graph(std::size_t inputs, std::size_t placeholders)
    : inputs_(inputs), variables_(inputs + placeholders) {
  zero_ = number(0);
  one_ = literal(1);
  for (std::size_t i = 0; i < variables_; ++i) {
    AtomOperation op;
    op.input = i;
    enter(op);
  }
}

void Graph::count(std::size_t terms) {
  size_ += terms;
  if (size_ > most_operations) throw TooLarge();
}

// ---- Fixed quantities ------------------------------------------------------------------------------------

Fixed Graph::enter(const FixedOperation& op) {
  const auto [place, is_new] = known_fixed_.emplace(op, static_cast<Fixed>(fixed_.size()));
  if (is_new) {
    count(1);
    fixed_.push_back(op);
  }
  return place->second;
}

Fixed Graph::literal(double value) {
  auto op = of_kind<FixedOperation>(FixedOperation::Kind::literal);
  op.literal = value;
  return enter(op);
}

Fixed Graph::parameter(std::size_t index) {
  auto op = of_kind<FixedOperation>(FixedOperation::Kind::parameter);
  op.parameter = index;
  return enter(op);
}

Fixed Graph::flag(std::size_t index) {
  auto op = of_kind<FixedOperation>(FixedOperation::Kind::flag);
  op.parameter = index;
  return enter(op);
}

std::optional<double> Graph::literal_value(Fixed f) const {
  const FixedOperation& op = fixed_[index_of(f)];
  if (op.kind != FixedOperation::Kind::literal) return std::nullopt;
  return op.literal;
}

std::pair<double, Fixed> Graph::with_factor(Fixed f) const {
  const FixedOperation& op = fixed_[index_of(f)];
  const bool scaled = op.kind == FixedOperation::Kind::product && literal_value(op.a);
  return scaled ? std::pair(*literal_value(op.a), op.b) : std::pair(1.0, f);
}

Fixed Graph::add(Fixed a, Fixed b) {
  const auto x = literal_value(a), y = literal_value(b);
  if (x && y && std::isfinite(*x + *y)) return literal(*x + *y);
  if (x == 0.0) return b;
  if (y == 0.0) return a;
  const auto [p, u] = with_factor(a);
  const auto [q, v] = with_factor(b);
  if (u == v) return multiply(literal(p + q), u);
  auto op = of_kind<FixedOperation>(FixedOperation::Kind::sum);
  op.a = std::min(a, b);
  op.b = std::max(a, b);
  return enter(op);
}

/// Two operands without the signs of their literal factors, which stand in front of both: no rounding depends
/// on them, and a term and its negative cancel. Nothing: neither is negative.
auto Graph::signs_first(Fixed a, Fixed b) -> std::optional<Signs> {
  const auto [p, u] = with_factor(a);
  const auto [q, v] = with_factor(b);
  if (!(p < 0) && !(q < 0)) return std::nullopt;
  return Signs{(p < 0) == (q < 0) ? 1.0 : -1.0, multiply(literal(std::abs(p)), u),
               multiply(literal(std::abs(q)), v)};
}

/// A literal factor stands first.
Fixed Graph::multiply(Fixed a, Fixed b) {
  const auto x = literal_value(a), y = literal_value(b);
  if (x && y && std::isfinite(*x * *y)) return literal(*x * *y);
  if (y) return multiply(b, a);
  if (x == 0.0 || x == 1.0) return *x == 0 ? a : b;
  const FixedOperation& inner = fixed_[index_of(b)];
  if (x && inner.kind == FixedOperation::Kind::product && literal_value(inner.a)) {
    const Fixed rest = inner.b;
    return multiply(multiply(a, inner.a), rest);
  }
  if (const auto signs = signs_first(a, b))
    return multiply(literal(signs->sign), multiply(signs->a, signs->b));
  auto op = of_kind<FixedOperation>(FixedOperation::Kind::product);
  op.a = x ? a : std::min(a, b);
  op.b = x ? b : std::max(a, b);
  return enter(op);
}

Fixed Graph::divide(Fixed a, Fixed b) {
  const auto x = literal_value(a), y = literal_value(b);
  if (x && y && std::isfinite(*x / *y)) return literal(*x / *y);
  if (y == 1.0) return a;
  if (a == b) return literal(1);
  const FixedOperation& lower = fixed_[index_of(b)];
  if (x && lower.kind == FixedOperation::Kind::quotient && literal_value(lower.a)) {
    const Fixed top = lower.b, bottom = lower.a;
    return multiply(divide(a, bottom), top);
  }
  if (const auto signs = signs_first(a, b)) return multiply(literal(signs->sign), divide(signs->a, signs->b));
  auto op = of_kind<FixedOperation>(FixedOperation::Kind::quotient);
  op.a = a;
  op.b = b;
  return enter(op);
}

Fixed Graph::power(Fixed a, Fixed b) {
  const auto x = literal_value(a), y = literal_value(b);
  if (x && y && std::isfinite(std::pow(*x, *y))) return literal(std::pow(*x, *y));
  if (y == 1.0) return a;
  auto op = of_kind<FixedOperation>(FixedOperation::Kind::power);
  op.a = a;
  op.b = b;
  return enter(op);
}

Fixed Graph::call(Function f, Fixed a) {
  const auto x = literal_value(a);
  if (x && std::isfinite(apply(f, *x))) return literal(apply(f, *x));
  auto op = of_kind<FixedOperation>(FixedOperation::Kind::call);
  op.function = f;
  op.a = a;
  return enter(op);
}

// ---- Atoms -----------------------------------------------------------------------------------------------

template <class F>
void Graph::each_operand(const AtomOperation& op, const F& f) const {
  switch (op.kind) {
    case AtomOperation::Kind::input:
      return;
    case AtomOperation::Kind::sum:
      for (const auto& term : sums_[op.sum].linear) f(term.atom);
      for (const auto& term : sums_[op.sum].products) {
        f(term.a);
        f(term.b);
      }
      return;
    case AtomOperation::Kind::quotient:
      f(op.a);
      f(op.b);
      return;
    case AtomOperation::Kind::call:
      f(op.a);
      if (op.function == Function::log || op.function == Function::asin || op.function == Function::atan)
        f(op.b);
      return;
    case AtomOperation::Kind::reciprocal:
    case AtomOperation::Kind::power:
    case AtomOperation::Kind::slope:
      f(op.a);
      return;
  }
}

Atom Graph::enter(const AtomOperation& op) {
  const auto [place, is_new] = known_atoms_.emplace(op, static_cast<Atom>(atoms_.size()));
  if (!is_new) return place->second;
  count(1);
  atoms_.push_back(op);
  std::vector<bool> on(variables_, false);
  if (op.kind == AtomOperation::Kind::input) on[op.input] = true;
  each_operand(op, [&](Atom a) {
    for (std::size_t i = 0; i < variables_; ++i) on[i] = on[i] || depends_[index_of(a)][i];
  });
  depends_.push_back(std::move(on));
  return place->second;
}

Atom Graph::as_atom(const Expression& e) {
  if (e.products.empty() && e.linear.size() == 1 && literal_value(e.constant) == 0.0 &&
      literal_value(e.linear.front().factor) == 1.0) {
    return e.linear.front().atom;
  }
  const auto [place, is_new] = known_sums_.emplace(e, sums_.size());
  if (is_new) {
    count(e.linear.size() + e.products.size());
    sums_.push_back(e);
  }
  auto op = of_kind<AtomOperation>(AtomOperation::Kind::sum);
  op.sum = place->second;
  return enter(op);
}

Atom Graph::call_atom(Function f, Atom a) {
  auto op = of_kind<AtomOperation>(AtomOperation::Kind::call);
  op.function = f;
  op.a = a;
  const auto one_and_square = [&](double sign) {
    return combined(number(1), multiply(of(a), of(a)), literal(sign));
  };
  if (f == Function::log) op.b = a;
  if (f == Function::asin) op.b = as_atom(call(Function::sqrt, one_and_square(-1)));
  if (f == Function::atan) op.b = as_atom(one_and_square(1));
  return enter(op);
}

Atom Graph::slope_atom(Function f, Atom a) {
  auto op = of_kind<AtomOperation>(AtomOperation::Kind::slope);
  op.function = f;
  op.a = a;
  return enter(op);
}

bool Graph::depends(const Expression& e, std::size_t input) const {
  const auto on = [&](Atom a) { return depends_[index_of(a)][input]; };
  return std::any_of(e.linear.begin(), e.linear.end(), [&](const auto& term) { return on(term.atom); }) ||
         std::any_of(e.products.begin(), e.products.end(),
                     [&](const auto& term) { return on(term.a) || on(term.b); });
}

std::vector<Atom> Graph::needed(const std::vector<Expression>& expressions) const {
  std::vector<bool> marked(atoms_.size(), false);
  const auto mark = [&](Atom a) { marked[index_of(a)] = true; };
  for (const Expression& e : expressions) {
    for (const auto& term : e.linear) mark(term.atom);
    for (const auto& term : e.products) {
      mark(term.a);
      mark(term.b);
    }
  }
  for (std::size_t i = atoms_.size(); i-- > 0;) {
    if (marked[i]) each_operand(atoms_[i], mark);
  }
  std::vector<Atom> list;
  for (std::size_t i = 0; i < atoms_.size(); ++i) {
    if (marked[i]) list.push_back(static_cast<Atom>(i));
  }
  return list;
}

// ---- Expressions -----------------------------------------------------------------------------------------

Expression Graph::fixed(Fixed value) const {
  Expression e;
  e.constant = value;
  return e;
}

Expression Graph::input(std::size_t index) { return of(static_cast<Atom>(index)); }

Expression Graph::of(Atom atom) const {
  Expression e = zero_;
  e.linear.push_back({atom, one_});
  return e;
}

Expression Graph::combined(const Expression& a, const Expression& b, Fixed factor) {
  Expression sum;
  sum.constant = add(a.constant, multiply(factor, b.constant));
  const auto merge = [&](const auto& left, const auto& right, auto& to, const auto& same,
                         const auto& before) {
    auto l = left.begin();
    auto r = right.begin();
    while (l != left.end() || r != right.end()) {
      auto term = r == right.end() || (l != left.end() && !before(*r, *l)) ? *l : *r;
      Fixed total = literal(0);
      if (l != left.end() && same(*l, term)) total = (l++)->factor;
      if (r != right.end() && same(*r, term)) total = add(total, multiply(factor, (r++)->factor));
      if (literal_value(total) == 0.0) continue;
      term.factor = total;
      to.push_back(term);
    }
  };
  using Linear = Expression::Linear;
  using Product = Expression::Product;
  merge(
      a.linear, b.linear, sum.linear, [](const Linear& x, const Linear& y) { return x.atom == y.atom; },
      [](const Linear& x, const Linear& y) { return x.atom < y.atom; });
  merge(
      a.products, b.products, sum.products,
      [](const Product& x, const Product& y) { return x.a == y.a && x.b == y.b; },
      [](const Product& x, const Product& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); });
  steps_ += sum.linear.size() + sum.products.size();
  if (steps_ > most_steps) throw TooLarge();
  return sum;
}

Expression Graph::scaled(const Expression& e, Fixed factor) { return combined(zero_, e, factor); }
Expression Graph::add(const Expression& a, const Expression& b) { return combined(a, b, literal(1)); }
Expression Graph::subtract(const Expression& a, const Expression& b) { return combined(a, b, literal(-1)); }
Expression Graph::negative(const Expression& a) { return scaled(a, literal(-1)); }

Expression Graph::simple(const Expression& e) {
  const bool is_multiple = e.products.empty() && e.linear.size() == 1 && literal_value(e.constant) == 0.0;
  return is_multiple ? e : of(as_atom(e));
}

/// Factors are not multiplied out: (x − 3)² keeps its digits where x is near 3.
Expression Graph::multiply(const Expression& a, const Expression& b) {
  if (a.is_fixed()) return scaled(b, a.constant);
  if (b.is_fixed()) return scaled(a, b.constant);
  const Expression x = simple(a), y = simple(b);
  const auto [A, p] = x.linear.front();
  const auto [B, q] = y.linear.front();
  Expression product = zero_;
  product.products.push_back({std::min(A, B), std::max(A, B), multiply(p, q)});
  return product;
}

Expression Graph::divide(const Expression& a, const Expression& b) {
  if (b.is_fixed() && a.is_fixed()) return fixed(divide(a.constant, b.constant));
  if (b.is_fixed()) return scaled(a, divide(literal(1), b.constant));
  if (a.is_fixed()) {
    auto op = of_kind<AtomOperation>(AtomOperation::Kind::reciprocal);
    op.a = as_atom(b);
    return scaled(of(enter(op)), a.constant);
  }
  auto op = of_kind<AtomOperation>(AtomOperation::Kind::quotient);
  op.a = as_atom(a);
  op.b = as_atom(b);
  return of(enter(op));
}

Expression Graph::whole_power(const Expression& a, int exponent) {
  if (exponent == 1) return a;
  const Expression half = whole_power(a, exponent / 2);
  const Expression even = multiply(half, half);
  return exponent % 2 == 0 ? even : multiply(even, a);
}

Expression Graph::power(const Expression& a, Fixed exponent) {
  if (a.is_fixed()) return fixed(power(a.constant, exponent));
  constexpr double most_factors = 64;
  if (const auto n = literal_value(exponent)) {
    if (*n == 0) return number(1);
    if (*n == 0.5) return call(Function::sqrt, a);
    if (*n == std::round(*n) && std::abs(*n) <= most_factors) {
      const Expression whole = whole_power(a, static_cast<int>(std::abs(*n)));
      return *n > 0 ? whole : divide(number(1), whole);
    }
  }
  auto op = of_kind<AtomOperation>(AtomOperation::Kind::power);
  op.a = as_atom(a);
  op.exponent = exponent;
  return of(enter(op));
}

Expression Graph::call(Function f, const Expression& a) {
  if (a.is_fixed()) return fixed(call(f, a.constant));
  if (f == Function::acos) return subtract(number(M_PI_2), call(Function::asin, a));
  return of(call_atom(f, as_atom(a)));
}

Expression Graph::substitute(const Expression& e, const std::map<std::size_t, Expression>& replacements) {
  std::map<Atom, Expression> now;
  const auto value = [&](Atom a) {
    const auto place = now.find(a);
    return place != now.end() ? place->second : of(a);
  };
  const auto sum = [&](const Expression& s) {
    Expression result = fixed(s.constant);
    for (const auto& term : s.linear) result = combined(result, value(term.atom), term.factor);
    for (const auto& term : s.products)
      result = combined(result, multiply(value(term.a), value(term.b)), term.factor);
    return result;
  };
  const auto replaced = [&](const AtomOperation& op) {
    switch (op.kind) {
      case AtomOperation::Kind::input:
        return replacements.at(op.input);
      case AtomOperation::Kind::sum: {
        const Expression whole = sums_[op.sum];
        return sum(whole);
      }
      case AtomOperation::Kind::quotient:
        return divide(value(op.a), value(op.b));
      case AtomOperation::Kind::reciprocal:
        return divide(number(1), value(op.a));
      case AtomOperation::Kind::power:
        return power(value(op.a), op.exponent);
      case AtomOperation::Kind::call:
        return call(op.function, value(op.a));
      case AtomOperation::Kind::slope:
        break;
    }
    return of(slope_atom(op.function, as_atom(value(op.a))));
  };
  for (const Atom a : needed({e})) {
    const bool touched = std::any_of(replacements.begin(), replacements.end(), [&](const auto& replacement) {
      return depends_[index_of(a)][replacement.first];
    });
    if (!touched) continue;
    const AtomOperation op = atom(a);
    now[a] = replaced(op);
  }
  return sum(e);
}

bool Graph::is_power(Atom a, std::size_t input) const {
  const AtomOperation& op = atom(a);
  switch (op.kind) {
    case AtomOperation::Kind::input:
      return op.input == input;
    case AtomOperation::Kind::power:
      return is_power(op.a, input);
    case AtomOperation::Kind::call:
      return op.function == Function::sqrt && is_power(op.a, input);
    case AtomOperation::Kind::sum: {
      const Expression& e = sums_[op.sum];
      return e.linear.empty() && e.products.size() == 1 && literal_value(e.constant) == 0.0 &&
             literal_value(e.products.front().factor) == 1.0 && is_power(e.products.front().a, input) &&
             is_power(e.products.front().b, input);
    }
    default:
      return false;
  }
}

/// Nothing where not all terms have it.
std::optional<Expression> Graph::without_factor(const Expression& e, Atom factor) {
  if (literal_value(e.constant) != 0.0) return std::nullopt;
  Expression rest = zero_;
  for (const auto& term : e.linear) {
    if (term.atom != factor) return std::nullopt;
    rest = add(rest, fixed(term.factor));
  }
  for (const auto& term : e.products) {
    if (term.a != factor && term.b != factor) return std::nullopt;
    rest = combined(rest, of(term.a == factor ? term.b : term.a), term.factor);
  }
  return rest;
}

Expression Graph::atom_without_powers(Atom a, std::size_t input, std::map<Atom, Expression>& known) {
  if (is_power(a, input)) return number(1);
  const AtomOperation& op = atom(a);
  if (op.kind != AtomOperation::Kind::sum) return of(a);
  const auto [place, is_new] = known.try_emplace(a, of(a));
  if (is_new) {
    const Expression sum = sums_[op.sum];
    const Expression left = without_powers(sum, input, known);
    if (left != sum) place->second = left;
  }
  return place->second;
}

Expression Graph::without_powers(Expression e, std::size_t input, std::map<Atom, Expression>& known) {
  for (bool found = true; found && !e.is_fixed();) {
    found = false;
    std::vector<Atom> candidates;
    if (!e.linear.empty()) {
      candidates = {e.linear.front().atom};
    } else {
      candidates = {e.products.front().a, e.products.front().b};
    }
    for (const Atom factor : candidates) {
      const Expression left = found ? of(factor) : atom_without_powers(factor, input, known);
      if (left == of(factor)) continue;
      if (const auto rest = without_factor(e, factor)) {
        e = multiply(*rest, left);
        found = true;
      }
    }
  }
  return e;
}

Expression Graph::without_powers(const Expression& e, std::size_t input) {
  std::map<Atom, Expression> known;
  return without_powers(e, input, known);
}

// ---- Derivatives -----------------------------------------------------------------------------------------

const Expression& Graph::known_derivative(Atom a, std::size_t input) const {
  return depends_[index_of(a)][input] ? derivatives_.at({a, input}) : zero_;
}

Expression Graph::chain_rule(const Expression& e, std::size_t input) {
  Expression sum = zero_;
  for (const auto& term : e.linear) sum = combined(sum, known_derivative(term.atom, input), term.factor);
  for (const auto& term : e.products) {
    const Expression by_a = multiply(known_derivative(term.a, input), of(term.b));
    const Expression by_b = multiply(known_derivative(term.b, input), of(term.a));
    sum = combined(sum, add(by_a, by_b), term.factor);
  }
  return sum;
}

Expression Graph::atom_derivative(const AtomOperation& op, Atom self, std::size_t input) {
  const auto rate = [&] { return known_derivative(op.a, input); };
  const auto times = [&](Atom a, double factor) { return scaled(multiply(of(a), rate()), literal(factor)); };
  switch (op.kind) {
    case AtomOperation::Kind::input:
      return number(1);
    case AtomOperation::Kind::sum: {
      const Expression sum = sums_[op.sum];
      return chain_rule(sum, input);
    }
    case AtomOperation::Kind::quotient:
      return divide(subtract(rate(), multiply(of(self), known_derivative(op.b, input))), of(op.b));
    case AtomOperation::Kind::reciprocal:
      return negative(multiply(multiply(of(self), of(self)), rate()));
    case AtomOperation::Kind::power: {
      const Expression lower = power(of(op.a), add(op.exponent, literal(-1)));
      return scaled(multiply(lower, rate()), op.exponent);
    }
    case AtomOperation::Kind::slope: {
      const double sign = op.function == Function::tan ? 2 : -2;
      return multiply(of(self), times(call_atom(op.function, op.a), sign));
    }
    case AtomOperation::Kind::call:
      break;
  }
  switch (op.function) {
    case Function::sqrt:
      return divide(scaled(rate(), literal(0.5)), of(self));
    case Function::exp:
      return times(self, 1);
    case Function::sin:
      return times(call_atom(Function::cos, op.a), 1);
    case Function::cos:
      return times(call_atom(Function::sin, op.a), -1);
    case Function::sinh:
      return times(call_atom(Function::cosh, op.a), 1);
    case Function::cosh:
      return times(call_atom(Function::sinh, op.a), 1);
    case Function::tan:
    case Function::tanh:
      return times(slope_atom(op.function, op.a), 1);
    case Function::log:
    case Function::asin:
    case Function::atan:
    case Function::acos:  // none: a difference
      break;
  }
  return divide(rate(), of(op.b));
}

Expression Graph::derivative(const Expression& e, std::size_t input) {
  if (!depends(e, input)) return zero_;
  for (const Atom a : needed({e})) {
    if (!depends_[index_of(a)][input] || derivatives_.contains({a, input})) continue;
    const AtomOperation op = atom(a);
    derivatives_[{a, input}] = atom_derivative(op, a, input);
  }
  return chain_rule(e, input);
}

}  // namespace graze
