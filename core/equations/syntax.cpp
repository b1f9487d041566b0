#include "core/equations/syntax.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

namespace graze {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// What takes the place of functions that are refused: where they bend, an event has to be located.
std::string advice_for(std::string_view name) {
  if (name == "abs" || name == "sign" || name == "sgn" || name == "min" || name == "max" || name == "if" ||
      name == "heaviside" || name == "step" || name == "floor" || name == "mod") {
    return std::string(name) +
           " has a corner or a jump: say it as a contact, a friction or a jump, so that it is located and "
           "not "
           "stepped over";
  }
  if (name == "ln") return "the natural logarithm is log";
  if (name == "log10") return "write log(x)/log(10)";
  if (name == "atan2") return "write atan(y/x), or 2*atan(y/(x + sqrt(x^2 + y^2)))";
  if (name == "pow") return "write a^b";
  return {};
}

class Parser {
 public:
  explicit Parser(Formula formula) { syntax_.formula = std::move(formula); }

  Syntax parse() {
    if (text().size() > longest_formula)
      refuse(0, 20, "longer than " + std::to_string(longest_formula) + " characters; use definitions");
    skip();
    if (at_ == text().size()) refuse(0, text().size(), "an expression is missing");
    sum(0);
    if (at_ < text().size()) refuse_rest();
    return std::move(syntax_);
  }

 private:
  const std::string& text() const { return syntax_.formula.text; }
  char next() const { return at_ < text().size() ? text()[at_] : '\0'; }
  [[noreturn]] void refuse(std::size_t begin, std::size_t end, const std::string& rule) const {
    syntax_.formula.refuse(begin, end, rule);
  }
  void skip() {
    while (at_ < text().size() && std::string_view(" \t\r\n").find(text()[at_]) != std::string_view::npos)
      ++at_;
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    end_ = at_;
    skip();
    return true;
  }
  std::size_t add(Syntax::Kind kind, std::size_t begin, std::vector<Syntax::Part> parts = {}) {
    Syntax::Node node;
    node.kind = kind;
    node.parts = std::move(parts);
    node.begin = begin;
    node.end = end_;
    syntax_.nodes.push_back(std::move(node));
    return syntax_.nodes.size() - 1;
  }
  void check_depth(int depth) const {
    if (depth > deepest_formula)
      refuse(at_, at_ + 1, "more than " + std::to_string(deepest_formula) + " levels deep; use definitions");
  }

  /// Parts joined by one of two operators.
  template <class Operand>
  std::size_t chain(Syntax::Kind kind, char direct, char inverse, const Operand& operand) {
    const std::size_t begin = at_;
    std::vector<Syntax::Part> parts = {{operand(), false}};
    for (;;) {
      if (take(direct)) {
        if (direct == '*' && next() == '*') refuse(at_ - 1, at_ + 1, "a power is written ^");
        parts.push_back({operand(), false});
      } else if (take(inverse)) {
        parts.push_back({operand(), true});
      } else {
        break;
      }
    }
    return parts.size() == 1 ? parts.front().node : add(kind, begin, std::move(parts));
  }
  std::size_t sum(int depth) {
    return chain(Syntax::Kind::sum, '+', '-', [&] { return product(depth); });
  }
  std::size_t product(int depth) {
    return chain(Syntax::Kind::product, '*', '/', [&] { return with_sign(depth); });
  }
  std::size_t with_sign(int depth) {
    check_depth(depth);
    const std::size_t begin = at_;
    if (take('+')) return with_sign(depth + 1);
    if (!take('-')) return power(depth);
    const std::size_t operand = with_sign(depth + 1);
    return add(Syntax::Kind::negative, begin, {{operand, false}});
  }
  std::size_t power(int depth) {
    const std::size_t begin = at_;
    const std::size_t base = operand(depth);
    if (!take('^')) return base;
    const std::size_t exponent = with_sign(depth + 1);
    return add(Syntax::Kind::power, begin, {{base, false}, {exponent, false}});
  }
  std::size_t operand(int depth) {
    if (is_digit(next()) || next() == '.') return number();
    if (is_letter(next())) return name(depth);
    if (next() == '(') return parenthesis(depth);
    refuse_operand();
  }
  std::size_t parenthesis(int depth) {
    const std::size_t open = at_;
    take('(');
    const std::size_t inner = sum(depth + 1);
    if (next() == ',') refuse(at_, at_ + 1, comma);
    if (!take(')')) {
      if (at_ < text().size()) refuse_rest();
      refuse(open, open + 1, "this parenthesis is not closed");
    }
    return inner;
  }
  std::size_t number() {
    const std::size_t begin = at_;
    double value = 0;
    const char* first = text().data() + at_;
    const auto [last, error] = std::from_chars(first, text().data() + text().size(), value);
    at_ += static_cast<std::size_t>(last - first);
    if (error == std::errc::invalid_argument) refuse(begin, begin + 1, "is no number");
    if (error == std::errc::result_out_of_range || !std::isfinite(value))
      refuse(begin, at_, "is beyond what a number can be");
    end_ = at_;
    if (next() == ',') refuse(begin, at_ + 1, comma);
    if (next() == '.') refuse(begin, at_ + 1, "is no number");
    skip();
    const std::size_t node = add(Syntax::Kind::number, begin);
    syntax_.nodes.back().number = value;
    return node;
  }
  std::size_t name(int depth) {
    const std::size_t begin = at_;
    while (is_letter(next()) || is_digit(next())) ++at_;
    std::string word = text().substr(begin, at_ - begin);
    if (next() == '\'') {
      word += '\'';
      ++at_;
      if (next() == '\'')
        refuse(begin, at_ + 1, "an acceleration has no place here; only coordinates and velocities do");
    }
    end_ = at_;
    skip();
    if (next() == '(') return call(word, begin, depth);
    if (function_named(word)) refuse(begin, end_, "is a function: its argument in parentheses is missing");
    const std::size_t node = add(Syntax::Kind::name, begin);
    syntax_.nodes.back().text = std::move(word);
    return node;
  }
  std::size_t call(const std::string& word, std::size_t begin, int depth) {
    const std::optional<Function> function = function_named(word);
    if (!function) refuse_function(word, begin);
    check_depth(depth + 1);
    const std::size_t argument = parenthesis(depth + 1);
    const std::size_t node = add(Syntax::Kind::call, begin, {{argument, false}});
    syntax_.nodes.back().function = *function;
    return node;
  }

  [[noreturn]] void refuse_function(const std::string& word, std::size_t begin) const {
    const std::string advice = advice_for(word);
    if (!advice.empty()) refuse(begin, end_, advice);
    const std::string nearest = nearest_name(word, function_names());
    std::string rule = "there is no function " + word;
    rule += nearest.empty() ? "; to multiply, write " + word + "*(" : "; did you mean " + nearest + "?";
    refuse(begin, end_, rule);
  }
  /// Length of the character here, which may be several bytes.
  std::size_t width() const {
    std::size_t n = 1;
    while (at_ + n < text().size() && continues_character(text()[at_ + n])) ++n;
    return n;
  }
  [[noreturn]] void refuse_operand() const {
    if (at_ >= text().size()) {
      const std::size_t last = end_ > 0 ? end_ - 1 : 0;
      refuse(last, end_, "something must follow");
    }
    if (next() == '|') refuse(at_, at_ + 1, advice_for("abs"));
    if (next() == '*' && at_ > 0 && text()[at_ - 1] == '*') refuse(at_ - 1, at_ + 1, "a power is written ^");
    refuse(at_, at_ + width(), "a number, a name or a parenthesis is expected here");
  }
  /// Something stands where an operator should.
  [[noreturn]] void refuse_rest() const {
    const char c = next();
    if (c == ')') refuse(at_, at_ + 1, "closes a parenthesis that is not open");
    if (c == ',') refuse(at_, at_ + 1, comma);
    if (c == '=') refuse(at_, at_ + 1, "only what stands on the right of = is written here");
    if (c == '<' || c == '>') refuse(at_, at_ + 1, advice_for("if"));
    if (c == '|') refuse(at_, at_ + 1, advice_for("abs"));
    if (c == '\'') refuse(at_, at_ + 1, "only a name can have a ' for its rate");
    if (is_letter(c) || is_digit(c) || c == '(' || c == '.')
      refuse(at_, at_ + 1, "an operator is missing before it; a product is written with *");
    refuse(at_, at_ + width(), "is no part of an expression");
  }

  static constexpr const char* comma =
      "a comma has no place in an expression; decimals are written with a point";

  Syntax syntax_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;  ///< behind the last character taken that is no blank
};

/// Where a character of the text stands in the file.
Place place_in(const Formula& formula, std::size_t offset) {
  Place place = formula.place;
  if (place.line == 0) return place;
  for (std::size_t i = 0; i < std::min(offset, formula.text.size()); ++i) {
    if (formula.text[i] == '\n') {
      ++place.line;
      place.column = 1;
    } else if (!continues_character(formula.text[i])) {
      ++place.column;
    }
  }
  return place;
}

}  // namespace

void Formula::refuse(std::size_t begin, std::size_t end, const std::string& rule) const {
  constexpr std::size_t longest_shown = 200;
  const std::size_t from = std::min(begin, text.size());
  const std::string piece = text.substr(from, std::min(end, text.size()) - from);
  const auto shown = [&](const std::string& all) {
    std::size_t n = std::min(longest_shown, all.size());
    while (n < all.size() && continues_character(all[n])) --n;
    return n < all.size() ? all.substr(0, n) + " …" : all;
  };
  std::string where = shown(piece);
  if (!where.empty() && place.line == 0) where += " (character " + std::to_string(from + 1) + ")";
  throw InputError(place_in(*this, from), key, Value(shown(text)).toml(),
                   (where.empty() ? "" : where + ": ") + rule);
}

Syntax syntax_of(const Value& value, const std::string& key) {
  if (value.is_text()) return Parser({key, value.text(key), value.place()}).parse();
  if (!value.is_number())
    throw InputError(value.place(), key, value.toml(), "must be a number or an expression in quotes");
  Syntax syntax;
  syntax.formula = {key, value.toml(), value.place()};
  Syntax::Node& node = syntax.nodes.emplace_back();
  node.number = value.number(key);
  node.end = syntax.formula.text.size();
  return syntax;
}

bool is_symbol(const std::string& name) {
  if (name.empty() || !is_letter(name[0])) return false;
  const bool letters =
      std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
  return letters && !function_named(name) && name != "pi" && name != "t";
}

}  // namespace graze
