#include "core/settings/symbol.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace graze {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 34> greek = {
    {{"alpha", "α"}, {"beta", "β"},   {"gamma", "γ"}, {"delta", "δ"},  {"epsilon", "ε"}, {"zeta", "ζ"},
     {"eta", "η"},   {"theta", "θ"},  {"iota", "ι"},  {"kappa", "κ"},  {"lambda", "λ"},  {"mu", "μ"},
     {"nu", "ν"},    {"xi", "ξ"},     {"pi", "π"},    {"rho", "ρ"},    {"sigma", "σ"},   {"tau", "τ"},
     {"phi", "φ"},   {"chi", "χ"},    {"psi", "ψ"},   {"omega", "ω"},  {"Gamma", "Γ"},   {"Delta", "Δ"},
     {"Theta", "Θ"}, {"Lambda", "Λ"}, {"Xi", "Ξ"},    {"Pi", "Π"},     {"Sigma", "Σ"},   {"Upsilon", "Υ"},
     {"Phi", "Φ"},   {"Psi", "Ψ"},    {"Omega", "Ω"}, {"upsilon", "υ"}}};
constexpr std::array<std::string_view, 10> subscripts = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
constexpr std::string_view dot_above = "\u0307";
constexpr std::string_view dot_suffix = "_dot";

std::string letter(std::string_view word) {
  const auto found =
      std::find_if(greek.begin(), greek.end(), [&](const auto& entry) { return entry.first == word; });
  return std::string(found == greek.end() ? word : found->second);
}

std::string subscript(std::string_view digits) {
  std::string result;
  for (const char digit : digits) result += subscripts[static_cast<std::size_t>(digit - '0')];
  return result;
}

/// A word without underscores, with a dot above its letter where it is a rate.
std::string word_symbol(std::string_view word, std::string_view dot) {
  const std::size_t last_letter = word.find_last_not_of("0123456789");
  if (last_letter == std::string_view::npos) return std::string(word);
  return letter(word.substr(0, last_letter + 1)) + std::string(dot) + subscript(word.substr(last_letter + 1));
}

}  // namespace

std::string spelled_symbol(std::string_view name) {
  const bool is_rate = name.size() > dot_suffix.size() && name.ends_with(dot_suffix);
  if (is_rate) name.remove_suffix(dot_suffix.size());
  std::string_view dot = is_rate ? dot_above : "";
  std::string result;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('_'), name.size());
    const bool is_index = !result.empty() && name.size() == 1;
    if (!result.empty()) result += is_index ? '_' : ' ';
    result += word_symbol(name.substr(0, end), dot);
    dot = "";
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return result;
}

std::string typeset_unit(std::string_view unit) {
  constexpr std::array<std::string_view, 10> superscripts = {"⁰", "¹", "²", "³", "⁴",
                                                             "⁵", "⁶", "⁷", "⁸", "⁹"};
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
  std::string result;
  for (std::size_t at = 0; at < unit.size();) {
    std::size_t end = at;
    if (at > 0 && is_letter(unit[at - 1])) {
      if (unit[end] == '-') ++end;
      while (end < unit.size() && is_digit(unit[end])) ++end;
    }
    const bool whole = end > at && is_digit(unit[end - 1]) && (end == unit.size() || unit[end] == ' ');
    if (!whole) {
      result += unit[at++];
      continue;
    }
    for (; at < end; ++at)
      result += unit[at] == '-'   ? "⁻"
                : unit[at] == '.' ? "·"
                                  : superscripts[static_cast<std::size_t>(unit[at] - '0')];
  }
  return result;
}

std::string symbol_of(const Quantity& quantity) {
  return quantity.symbol.empty() ? spelled_symbol(quantity.name) : quantity.symbol;
}

}  // namespace graze
