#include "core/equations/scope.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace graze {

void Scope::check_name(const std::string& name, const Value& value, const std::string& key) const {
  const auto refuse = [&](const std::string& rule) {
    throw InputError(value.place(), key, value.toml(), rule);
  };
  if (function_named(name) || name == "pi" || name == "t")
    refuse(name + " means something else in expressions; another name");
  if (!is_symbol(name))
    refuse("a name is a letter and then letters, digits and _, not " + Value(name).toml());
  if (known_.contains(name) || definitions_.contains(name)) refuse("the name " + name + " is there already");
}

void Scope::add_quantity(const std::string& name, const Expression& quantity, const Value& value,
                         const std::string& key) {
  check_name(name, value, key);
  known_[name] = quantity;
}

void Scope::add_parameter(const std::string& name, std::size_t index, const Value& value,
                          const std::string& key) {
  add_quantity(name, graph_.fixed(graph_.parameter(index)), value, key);
}

void Scope::add_input(const std::string& name, std::size_t index, const Value& value,
                      const std::string& key) {
  add_quantity(name, graph_.input(index), value, key);
}

void Scope::add_input(const std::string& name, std::size_t index) { known_[name] = graph_.input(index); }

void Scope::define(const std::string& name, const Value& value, const std::string& key) {
  check_name(name, value, key);
  definitions_[name] = syntax_of(value, key);
}

Expression Scope::build(const Syntax& syntax) {
  std::vector<std::string> chain;
  resolve(syntax, chain);
  return built(syntax, syntax.nodes.size() - 1);
}

Expression Scope::build(const Syntax& syntax, const std::map<std::string, Expression>& own_names) {
  std::vector<std::string> chain;
  resolve(syntax, chain);
  for (const auto& own : own_names) {
    const std::string& name = own.first;
    const auto is_name = [&](const Syntax::Node& n) {
      return n.kind == Syntax::Kind::name && n.text == name;
    };
    const auto node = std::find_if(syntax.nodes.begin(), syntax.nodes.end(), is_name);
    if (known_.contains(name) && node != syntax.nodes.end())
      syntax.refuse(*node, "means something else here; another name for the other " + name);
  }
  const std::map<std::string, Expression> outside = known_;
  for (const auto& [name, expression] : own_names) known_[name] = expression;
  Expression e = built(syntax, syntax.nodes.size() - 1);
  known_ = outside;
  return e;
}

Fixed Scope::build_fixed(const Syntax& syntax) {
  const Expression e = build(syntax);
  if (!e.is_fixed()) syntax.refuse(syntax.root(), "may depend on parameters only, not on time or states");
  return e.constant;
}

std::vector<std::string> Scope::unused_definitions() const {
  std::vector<std::string> names;
  for (const auto& [name, syntax] : definitions_) names.push_back(name);
  return names;
}

void Scope::resolve(const Syntax& syntax, std::vector<std::string>& chain) {
  for (const Syntax::Node& node : syntax.nodes) {
    if (node.kind != Syntax::Kind::name) continue;
    const auto place = definitions_.find(node.text);
    if (place == definitions_.end()) continue;
    const auto circle = std::find(chain.begin(), chain.end(), node.text);
    if (circle != chain.end()) {
      std::string path;
      for (auto name = circle; name != chain.end(); ++name) path += *name + " -> ";
      syntax.refuse(node, "goes in a circle: " + path + node.text);
    }
    constexpr std::size_t longest = 200;
    if (chain.size() >= longest) syntax.refuse(node, "more than 200 definitions of each other");
    chain.push_back(node.text);
    const Syntax definition = place->second;
    resolve(definition, chain);
    known_[node.text] = built(definition, definition.nodes.size() - 1);
    definitions_.erase(node.text);
    chain.pop_back();
  }
}

Expression Scope::named(const Syntax& syntax, const Syntax::Node& node) {
  if (node.text == "pi") return graph_.number(M_PI);
  const auto place = known_.find(node.text);
  if (place == known_.end()) refuse_name(syntax, node);
  used_.insert(node.text);
  return place->second;
}

void Scope::refuse_name(const Syntax& syntax, const Syntax::Node& node) const {
  if (node.text == "t") syntax.refuse(node, "time has no place here; where it has, the model has a period");
  if (node.text.back() == '\'') {
    const std::string base = node.text.substr(0, node.text.size() - 1);
    if (known_.contains(base)) syntax.refuse(node, base + " is no coordinate: only these have a velocity");
  }
  std::vector<std::string> names;
  for (const auto& [name, expression] : known_) names.push_back(name);
  for (const auto& [name, definition] : definitions_) names.push_back(name);
  // One letter is near every other.
  const std::string nearest = node.text.size() > 1 ? nearest_name(node.text, names) : "";
  if (!nearest.empty()) syntax.refuse(node, "there is no such name; did you mean " + nearest + "?");
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  syntax.refuse(node, "there is no such name; " + (list.empty() ? "there are none here" : "known: " + list));
}

Expression Scope::built(const Syntax& syntax, std::size_t index) {
  const Syntax::Node& node = syntax.nodes[index];
  const auto part = [&](std::size_t k) { return built(syntax, node.parts[k].node); };
  try {
    switch (node.kind) {
      case Syntax::Kind::number:
        return graph_.number(node.number);
      case Syntax::Kind::name:
        return named(syntax, node);
      case Syntax::Kind::sum: {
        Expression sum = part(0);
        for (std::size_t k = 1; k < node.parts.size(); ++k)
          sum = node.parts[k].inverse ? graph_.subtract(sum, part(k)) : graph_.add(sum, part(k));
        return sum;
      }
      case Syntax::Kind::product: {
        Expression product = part(0);
        for (std::size_t k = 1; k < node.parts.size(); ++k) {
          const Expression factor = part(k);
          if (node.parts[k].inverse && graph_.is_zero(factor))
            syntax.refuse(syntax.nodes[node.parts[k].node], "is zero: nothing can be divided by it");
          product = node.parts[k].inverse ? graph_.divide(product, factor) : graph_.multiply(product, factor);
        }
        return product;
      }
      case Syntax::Kind::negative:
        return graph_.negative(part(0));
      case Syntax::Kind::power: {
        const Expression base = part(0), exponent = part(1);
        if (!exponent.is_fixed())
          syntax.refuse(syntax.nodes[node.parts[1].node],
                        "an exponent may depend on parameters only; write exp(y*log(x)) for x^y");
        return graph_.power(base, exponent.constant);
      }
      case Syntax::Kind::call:
        return graph_.call(node.function, part(0));
    }
  } catch (const TooLarge& error) {
    syntax.refuse(node, error.what());
  }
  return graph_.number(0);
}

}  // namespace graze
