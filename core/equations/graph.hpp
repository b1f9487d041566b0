/// Expressions as sums of products, kept together so that what they have in common is there once.
///
/// Two kinds of quantities: *fixed* ones hang on parameters only and are worked out once for a motion;
/// *moving* ones hang on inputs (time and states), too. A moving expression is
///
///     c + Σ c_i a_i + Σ d_j a_j b_j
///
/// with fixed c, c_i, d_j and atoms a, b: inputs, functions of atoms, and sums that stand for themselves. So
/// whatever is linear is seen to be linear, and a sum of products is one operation.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/equations/function.hpp"
#include "core/settings/value.hpp"

namespace graze {

/// Index of a fixed quantity, and of an atom.
enum class Fixed : int {};
enum class Atom : int {};

struct Expression {
  struct Linear {
    Atom atom;
    Fixed factor;
    auto operator<=>(const Linear&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  struct Product {
    Atom a, b;  ///< a <= b
    Fixed factor;
    auto operator<=>(const Product&) const = default;  // NOLINT(modernize-use-nullptr)
  };

  Fixed constant{};
  std::vector<Linear> linear;     ///< each atom once, in their order
  std::vector<Product> products;  ///< each pair once, in their order

  bool is_fixed() const { return linear.empty() && products.empty(); }
  auto operator<=>(const Expression&) const = default;
};

/// How a fixed quantity is worked out from those before it. A *flag* is 0 or 1, as the motion goes on now: 0
/// where nobody sets it.
struct FixedOperation {
  enum class Kind : signed char { literal, parameter, flag, sum, product, quotient, power, call };
  Kind kind = Kind::literal;
  double literal = 0;
  std::size_t parameter = 0;  ///< its number, or that of a flag
  Fixed a{}, b{};
  Function function = Function::sqrt;
  auto operator<=>(const FixedOperation&) const = default;
};

/// Values of all fixed quantities at these parameter values.
template <class S>
void evaluate_fixed(const std::vector<FixedOperation>& list, const S* parameters, std::vector<S>& values) {
  values.clear();
  values.reserve(list.size());
  for (const FixedOperation& op : list) {
    const auto at = [&](Fixed f) -> const S& { return values[static_cast<std::size_t>(f)]; };
    switch (op.kind) {
      case FixedOperation::Kind::literal:
        values.push_back(S(op.literal));
        break;
      case FixedOperation::Kind::parameter:
        values.push_back(parameters[op.parameter]);
        break;
      case FixedOperation::Kind::flag:
        values.push_back(S(0));
        break;
      case FixedOperation::Kind::sum:
        values.push_back(at(op.a) + at(op.b));
        break;
      case FixedOperation::Kind::product:
        values.push_back(at(op.a) * at(op.b));
        break;
      case FixedOperation::Kind::quotient:
        values.push_back(at(op.a) / at(op.b));
        break;
      case FixedOperation::Kind::power:
        values.push_back(to_power(at(op.a), at(op.b)));
        break;
      case FixedOperation::Kind::call:
        values.push_back(apply(op.function, at(op.a)));
        break;
    }
  }
}

/// What an atom is.
struct AtomOperation {
  enum class Kind : signed char {
    input,       ///< number `input`
    sum,         ///< expression number `sum`
    quotient,    ///< a/b
    reciprocal,  ///< 1/a
    power,       ///< a^exponent
    call,        ///< function of a; b: of log, asin, atan, what a' is divided by to be the rate
    slope        ///< 1 + tan² a, 1 − tanh² a: rate of the function per rate of a
  };
  Kind kind = Kind::input;
  std::size_t input = 0;
  std::size_t sum = 0;
  Atom a{}, b{};
  Fixed exponent{};
  Function function = Function::sqrt;
  auto operator<=>(const AtomOperation&) const = default;
};

/// More than a computer should be asked to work out for one model.
class TooLarge : public InputError {
 public:
  TooLarge() : InputError("the equations of the model come to more operations than are allowed") {}
};

class Graph {
 public:
  /// Inputs that programs are given, then so many that stand for something until it is put in (substitute).
  explicit Graph(std::size_t inputs, std::size_t placeholders = 0);

  std::size_t inputs() const { return inputs_; }
  const std::vector<FixedOperation>& fixed() const { return fixed_; }
  const AtomOperation& atom(Atom a) const { return atoms_[static_cast<std::size_t>(a)]; }
  const Expression& sum(std::size_t index) const { return sums_[index]; }

  Fixed literal(double value);
  Fixed one() const { return one_; }
  Fixed parameter(std::size_t index);
  Fixed flag(std::size_t index);
  Expression number(double value) { return fixed(literal(value)); }
  Expression fixed(Fixed value) const;
  Expression input(std::size_t index);

  Expression add(const Expression& a, const Expression& b);
  Expression subtract(const Expression& a, const Expression& b);
  Expression multiply(const Expression& a, const Expression& b);
  Expression divide(const Expression& a, const Expression& b);
  Expression negative(const Expression& a);
  /// The exponent must be fixed; whole literal ones up to 64 are products.
  Expression power(const Expression& a, Fixed exponent);
  Expression call(Function f, const Expression& a);

  /// ∂e/∂input.
  Expression derivative(const Expression& e, std::size_t input);
  /// e with expressions put in for some inputs; nothing in their place: they stay.
  Expression substitute(const Expression& e, const std::map<std::size_t, Expression>& replacements);
  /// What is left of e once the factors that are powers of one input, and that all its terms share, are taken
  /// off: of the same sign where the input is positive.
  Expression without_powers(const Expression& e, std::size_t input);
  /// Whether this input has any influence.
  bool depends(const Expression& e, std::size_t input) const;
  /// The value of a literal.
  std::optional<double> literal_value(Fixed f) const;
  /// A fixed quantity as a literal times another one.
  std::pair<double, Fixed> with_factor(Fixed f) const;
  struct Signs {
    double sign;
    Fixed a, b;
  };
  std::optional<Signs> signs_first(Fixed a, Fixed b);
  bool is_zero(const Expression& e) const { return e.is_fixed() && literal_value(e.constant) == 0.0; }

  /// An expression as an atom, by a sum of its own where it is no atom already.
  Atom as_atom(const Expression& e);

  Fixed add(Fixed a, Fixed b);
  Fixed multiply(Fixed a, Fixed b);
  Fixed divide(Fixed a, Fixed b);
  Fixed power(Fixed a, Fixed b);
  Fixed call(Function f, Fixed a);

  /// These atoms and all that they need, each after those that it needs.
  std::vector<Atom> needed(const std::vector<Expression>& expressions) const;

 private:
  static constexpr std::size_t most_operations = 1000000;
  static constexpr std::size_t most_steps = 10000000;  ///< terms of all sums on the way

  Fixed enter(const FixedOperation& op);
  Atom enter(const AtomOperation& op);
  Atom call_atom(Function f, Atom a);
  Atom slope_atom(Function f, Atom a);
  Expression of(Atom atom) const;
  /// a + factor b.
  Expression combined(const Expression& a, const Expression& b, Fixed factor);
  Expression scaled(const Expression& e, Fixed factor);
  /// A multiple of one atom: e itself, or it as an atom.
  Expression simple(const Expression& e);
  Expression whole_power(const Expression& a, int exponent);
  bool is_power(Atom a, std::size_t input) const;
  std::optional<Expression> without_factor(const Expression& e, Atom factor);
  /// With what is known of atoms that are products.
  Expression without_powers(Expression e, std::size_t input, std::map<Atom, Expression>& known);
  Expression atom_without_powers(Atom a, std::size_t input, std::map<Atom, Expression>& known);
  /// From the derivatives of the atoms, as far as they are not zero.
  Expression chain_rule(const Expression& e, std::size_t input);
  Expression atom_derivative(const AtomOperation& op, Atom self, std::size_t input);
  const Expression& known_derivative(Atom a, std::size_t input) const;
  void count(std::size_t terms);
  template <class F>
  void each_operand(const AtomOperation& op, const F& f) const;

  std::size_t inputs_, variables_;  ///< variables: with placeholders
  std::size_t size_ = 0, steps_ = 0;
  std::vector<FixedOperation> fixed_;
  std::map<FixedOperation, Fixed> known_fixed_;
  std::vector<AtomOperation> atoms_;
  std::vector<std::vector<bool>> depends_;  ///< of each atom, on each input
  std::map<AtomOperation, Atom> known_atoms_;
  std::vector<Expression> sums_;
  std::map<Expression, std::size_t> known_sums_;
  std::map<std::pair<Atom, std::size_t>, Expression> derivatives_;
  Expression zero_;
  Fixed one_{};
};

}  // namespace graze
