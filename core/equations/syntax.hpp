/// From the text of an expression to its syntax tree.
///
///     sum      = product { ("+" | "-") product }
///     product  = signed { ("*" | "/") signed }
///     signed   = { "+" | "-" } power
///     power    = operand [ "^" signed ]
///     operand  = number | name ["'"] | function "(" sum ")" | "(" sum ")"
///
/// so that -x^2 = -(x^2), 2^-1 = 1/2 and a^b^c = a^(b^c).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/equations/function.hpp"
#include "core/settings/value.hpp"

namespace graze {

/// An expression as a case file has it.
struct Formula {
  std::string key;  ///< dotted name of the setting
  std::string text;
  Place place;  ///< of the first character

  /// Throws InputError with the place of these characters, the piece of text that they are, and the rule.
  [[noreturn]] void refuse(std::size_t begin, std::size_t end, const std::string& rule) const;
};

struct Syntax {
  enum class Kind : signed char {
    number,    ///< `number`
    name,      ///< `text`, with a ' at its end for a velocity
    sum,       ///< of `parts`, those with `inverse` subtracted
    product,   ///< of `parts`, those with `inverse` divided by
    negative,  ///< of the one part
    power,     ///< the first part to the second
    call       ///< `function` of the one part
  };
  struct Part {
    std::size_t node = 0;
    bool inverse = false;
  };
  struct Node {
    Kind kind = Kind::number;
    double number = 0;
    std::string text;
    Function function = Function::sqrt;
    std::vector<Part> parts;
    std::size_t begin = 0, end = 0;  ///< characters of the text that it is written with
  };

  Formula formula;
  std::vector<Node> nodes;  ///< parts before the whole: the last one is all

  const Node& root() const { return nodes.back(); }
  [[noreturn]] void refuse(const Node& node, const std::string& rule) const {
    formula.refuse(node.begin, node.end, rule);
  }
};

/// At most so many characters, and so many parentheses, functions, signs and powers in each other.
inline constexpr std::size_t longest_formula = 10000;
inline constexpr int deepest_formula = 60;

/// Of a setting that is a number or text. Throws InputError.
Syntax syntax_of(const Value& value, const std::string& key);

/// A name of a state, a parameter or a definition: a letter or _, then letters, digits and _; not one of a
/// function, pi or t.
bool is_symbol(const std::string& name);

}  // namespace graze
