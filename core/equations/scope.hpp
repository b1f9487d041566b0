/// What the names in expressions stand for: from syntax to what is worked out.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/equations/graph.hpp"
#include "core/equations/syntax.hpp"

namespace graze {

class Scope {
 public:
  /// For expressions of so many inputs (time and states); 0: of parameters only.
  explicit Scope(std::size_t inputs, std::size_t placeholders = 0) : graph_(inputs, placeholders) {}

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }

  /// Names as `is_symbol` says; an input may also be t, or end with '. Throws InputError at `value` for a
  /// name that is none or is there already; `key` names the setting.
  void add_parameter(const std::string& name, std::size_t index, const Value& value, const std::string& key);
  void add_input(const std::string& name, std::size_t index, const Value& value, const std::string& key);
  void add_quantity(const std::string& name, const Expression& quantity, const Value& value,
                    const std::string& key);
  void add_input(const std::string& name, std::size_t index);
  /// A named quantity, in terms of any names, whether added before or after.
  void define(const std::string& name, const Value& value, const std::string& key);

  /// Throws InputError for an unknown or circular name, or what has no place.
  Expression build(const Syntax& syntax);
  Expression build(const Value& value, const std::string& key) { return build(syntax_of(value, key)); }
  /// With names that mean something in this expression only, not in definitions that it uses.
  Expression build(const Syntax& syntax, const std::map<std::string, Expression>& own_names);
  /// What may hang on parameters only.
  Fixed build_fixed(const Syntax& syntax);
  Fixed build_fixed(const Value& value, const std::string& key) { return build_fixed(syntax_of(value, key)); }
  /// Whether an expression so far has made use of it.
  bool is_used(const std::string& name) const { return used_.contains(name); }
  /// Definitions that no expression so far has made use of.
  std::vector<std::string> unused_definitions() const;

 private:
  void check_name(const std::string& name, const Value& value, const std::string& key) const;
  Expression built(const Syntax& syntax, std::size_t node);
  Expression named(const Syntax& syntax, const Syntax::Node& node);
  [[noreturn]] void refuse_name(const Syntax& syntax, const Syntax::Node& node) const;
  /// Works out the definitions that these expressions need, innermost first.
  void resolve(const Syntax& syntax, std::vector<std::string>& chain);

  Graph graph_;
  std::map<std::string, Expression> known_;
  std::map<std::string, Syntax> definitions_;  ///< that are not known yet
  std::set<std::string> used_;
};

}  // namespace graze
