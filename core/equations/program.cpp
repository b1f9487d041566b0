#include "core/equations/program.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace graze {
namespace {

/// What a row is made for: a function has its partner in the next row.
struct Maker {
  Operation::Kind kind = Operation::Kind::sum;
  bool second = false;
};

Maker maker_of(const AtomOperation& op) {
  using Kind = Operation::Kind;
  switch (op.kind) {
    case AtomOperation::Kind::input:
    case AtomOperation::Kind::sum:
      return {Kind::sum};
    case AtomOperation::Kind::quotient:
      return {Kind::quotient};
    case AtomOperation::Kind::reciprocal:
      return {Kind::reciprocal};
    case AtomOperation::Kind::power:
      return {Kind::power};
    case AtomOperation::Kind::slope:
      return {op.function == Function::tan ? Kind::tangent : Kind::hyperbolic_tangent, true};
    case AtomOperation::Kind::call:
      break;
  }
  switch (op.function) {
    case Function::sqrt:
      return {Kind::root};
    case Function::exp:
      return {Kind::exponential};
    case Function::sin:
      return {Kind::sine};
    case Function::cos:
      return {Kind::sine, true};
    case Function::sinh:
      return {Kind::hyperbolic_sine};
    case Function::cosh:
      return {Kind::hyperbolic_sine, true};
    case Function::tan:
      return {Kind::tangent};
    case Function::tanh:
      return {Kind::hyperbolic_tangent};
    case Function::log:
    case Function::asin:
    case Function::atan:
    case Function::acos:
      break;
  }
  return {Kind::antiderivative};
}

bool is_pair(Operation::Kind kind) {
  return kind == Operation::Kind::sine || kind == Operation::Kind::harmonic ||
         kind == Operation::Kind::hyperbolic_sine || kind == Operation::Kind::tangent ||
         kind == Operation::Kind::hyperbolic_tangent;
}

/// Whether its series comes from rates, or by a division.
bool has_rate(Operation::Kind kind) {
  return (is_pair(kind) && kind != Operation::Kind::harmonic) || kind == Operation::Kind::power ||
         kind == Operation::Kind::exponential || kind == Operation::Kind::antiderivative;
}
bool has_inverse(Operation::Kind kind) {
  return kind == Operation::Kind::quotient || kind == Operation::Kind::reciprocal ||
         kind == Operation::Kind::root || kind == Operation::Kind::power ||
         kind == Operation::Kind::antiderivative;
}

/// The argument of an operation that is not entire and small everywhere it is small at the beginning.
std::optional<ReachedRow> reached_row(const Operation& op) {
  switch (op.kind) {
    case Operation::Kind::exponential:
    case Operation::Kind::hyperbolic_sine:
      return ReachedRow{op.a, Reach::exponential};
    case Operation::Kind::hyperbolic_tangent:
      return ReachedRow{op.a, Reach::saturation};
    case Operation::Kind::root:
    case Operation::Kind::power:
    case Operation::Kind::reciprocal:
      return ReachedRow{op.a, Reach::pole};
    case Operation::Kind::quotient:
    case Operation::Kind::antiderivative:
      return ReachedRow{op.b, Reach::pole};
    default:
      return std::nullopt;
  }
}

/// Makes a list for the atoms of a graph.
class Lister {
 public:
  Lister(const Graph& graph, std::vector<Operation>& operations, std::vector<Term>& terms, bool even_time)
      : graph_(graph), operations_(operations), terms_(terms), rows_(graph.inputs()) {
    if (even_time) in_time_.insert(0);
  }

  std::size_t rows() const { return rows_; }

  /// Products that several sums have get a row of their own.
  void count_products(const Expression& e) {
    for (const auto& term : e.products) ++uses_[{term.a, term.b}];
  }

  void add(Atom atom) {
    const AtomOperation& op = graph_.atom(atom);
    if (op.kind == AtomOperation::Kind::input) {
      place_[atom] = op.input;
    } else if (op.kind == AtomOperation::Kind::sum) {
      place_[atom] = sum(graph_.sum(op.sum));
    } else {
      place_[atom] = function(op);
    }
  }

  /// The row of a sum, made if there is none.
  std::size_t sum(const Expression& e) {
    if (const auto row = existing(e)) return *row;
    const auto known = sums_.find(e);
    return known != sums_.end() ? known->second : sums_[e] = new_sum(e);
  }

 private:
  std::size_t new_sum(const Expression& e) {
    for (const auto& term : e.products) {
      if (is_shared(term)) product(term.a, term.b);
    }
    Operation op;
    op.first_term = terms_.size();
    for (const auto& term : e.linear) add(term.factor, place_.at(term.atom));
    for (const auto& term : e.products) {
      if (is_shared(term)) {
        add(term.factor, product(term.a, term.b));
      } else {
        add(term.factor, place_.at(term.a), place_.at(term.b));
      }
    }
    op.end_term = terms_.size();
    op.fixed = static_cast<std::size_t>(e.constant);
    op.in_time = e.products.empty() && std::all_of(e.linear.begin(), e.linear.end(), [&](const auto& term) {
                   return in_time_.contains(place_.at(term.atom));
                 });
    return enter(op);
  }
  /// A term to the sum that is entered next.
  void add(Fixed factor, std::size_t a, std::optional<std::size_t> b = {}) {
    terms_.push_back({a, b, static_cast<std::size_t>(factor), graph_.literal_value(factor)});
  }
  std::size_t enter(Operation op) {
    op.result = rows_;
    if (op.in_time) in_time_.insert(op.result);
    rows_ += is_pair(op.kind) ? 2 : 1;
    if (has_rate(op.kind)) op.rate = rows_++;
    if (has_inverse(op.kind)) op.inverse = rows_++;
    operations_.push_back(op);
    return op.result;
  }
  bool is_shared(const auto& product) const { return uses_.at({product.a, product.b}) > 1; }
  /// The row of an expression that is an atom as it stands.
  std::optional<std::size_t> existing(const Expression& e) const {
    if (!e.products.empty() || e.linear.size() != 1 || graph_.literal_value(e.constant) != 0.0 ||
        graph_.literal_value(e.linear.front().factor) != 1.0) {
      return std::nullopt;
    }
    return place_.at(e.linear.front().atom);
  }
  std::size_t product(Atom a, Atom b) {
    const auto known = products_.find({a, b});
    if (known != products_.end()) return known->second;
    Operation op;
    op.first_term = terms_.size();
    add(graph_.one(), place_.at(a), place_.at(b));
    op.end_term = terms_.size();
    return products_[{a, b}] = enter(op);
  }
  std::size_t function(const AtomOperation& op) {
    const Maker maker = maker_of(op);
    const std::pair argument{maker.kind, op.a};
    const std::size_t second = maker.second ? 1 : 0;
    if (is_pair(maker.kind)) {
      const auto known = pairs_.find(argument);
      if (known != pairs_.end()) return known->second + second;
    }
    Operation operation;
    operation.kind = maker.kind;
    operation.function = op.function;
    operation.a = place_.at(op.a);
    if (maker.kind == Operation::Kind::quotient || maker.kind == Operation::Kind::antiderivative)
      operation.b = place_.at(op.b);
    operation.fixed = static_cast<std::size_t>(op.exponent);
    if (maker.kind == Operation::Kind::sine && in_time_.contains(operation.a))
      operation.kind = Operation::Kind::harmonic;
    const std::size_t row = enter(operation);
    if (is_pair(maker.kind)) pairs_[argument] = row;
    return row + second;
  }

  const Graph& graph_;
  std::vector<Operation>& operations_;
  std::vector<Term>& terms_;
  std::size_t rows_;
  std::set<std::size_t> in_time_;  ///< rows
  std::map<Atom, std::size_t> place_;
  std::map<Expression, std::size_t> sums_;
  std::map<std::pair<Atom, Atom>, int> uses_;
  std::map<std::pair<Atom, Atom>, std::size_t> products_;
  std::map<std::pair<Operation::Kind, Atom>, std::size_t> pairs_;
};

}  // namespace

Program::Program(const Graph& graph, const std::vector<Expression>& outputs, bool even_time)
    : inputs_(graph.inputs()) {
  Lister lister(graph, operations_, terms_, even_time);
  const std::vector<Atom> atoms = graph.needed(outputs);
  for (const Atom a : atoms) {
    if (graph.atom(a).kind == AtomOperation::Kind::sum) lister.count_products(graph.sum(graph.atom(a).sum));
  }
  for (const Expression& e : std::set<Expression>(outputs.begin(), outputs.end())) lister.count_products(e);
  for (const Atom a : atoms) lister.add(a);
  for (const Expression& e : outputs) outputs_.push_back(lister.sum(e));
  rows_ = lister.rows();
  for (const Operation& op : operations_) {
    if (const auto row = reached_row(op)) reached_.push_back(*row);
  }
}

/// Coefficient k > 0 of every row, without a call: of plain numbers calls would take as long as the sums.
[[gnu::flatten]] void Program::go_on_in_line(double* const* rows, int k, const double* fixed) const {
  for (const Operation& op : operations_) {
    if (op.kind == Operation::Kind::sum) {
      add_up(op, rows, k, fixed);
    } else {
      go_on(op, rows, k, fixed);
    }
  }
}

}  // namespace graze
