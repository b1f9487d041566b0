#include "analysis/continuation/branch_part.hpp"

#include <cmath>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

namespace graze {
namespace {

/// Everything as a row of numbers; `visit` below names what there is, in order, for both directions.
class Writer {
 public:
  void number(const double& x) { row.push_back(x); }
  static void expect(std::size_t) {}
  std::vector<double> row;
};

class Reader {
 public:
  explicit Reader(const std::vector<double>& values) : row_(values) {}
  void number(double& x) {
    if (next_ >= row_.size()) throw std::runtime_error("a kept branch is too short");
    x = row_[next_++];
  }
  /// That so many numbers follow at least.
  void expect(std::size_t count) const {
    if (count > row_.size() - next_) throw std::runtime_error("a kept branch is too short");
  }

 private:
  const std::vector<double>& row_;
  std::size_t next_ = 0;
};

template <class T>
concept Number = std::is_arithmetic_v<T> || std::is_enum_v<T>;

template <class Way, Number T>
void visit(Way& way, T& x) {
  double value = static_cast<double>(x);
  way.number(value);
  if constexpr (!std::is_floating_point_v<T>) {
    constexpr double exact = 9007199254740992;  // 2^53
    const double most = sizeof(T) < sizeof(double) ? std::ldexp(1.0, 8 * sizeof(T) - 1) - 1 : exact;
    const double least = std::is_unsigned_v<T> ? 0 : -most;
    if (!(least <= value && value <= most))
      throw std::runtime_error("a kept branch holds a number out of its range");
  }
  x = static_cast<T>(value);
}
template <class Way>
void visit(Way& way, std::complex<double>& z) {
  double re = z.real();
  double im = z.imag();
  way.number(re);
  way.number(im);
  z = {re, im};
}
/// A list's length, then room for it.
template <class Way, class List>
void visit_length(Way& way, List& list) {
  std::size_t n = static_cast<std::size_t>(list.size());
  visit(way, n);
  way.expect(n);
  list.resize(static_cast<decltype(list.size())>(n));
}
template <class Way>
void visit(Way& way, Eigen::VectorXd& v) {
  visit_length(way, v);
  for (double& x : v) way.number(x);
}
template <class Way>
void visit(Way& way, Signature::Event& e) {
  visit(way, e.kind);
  visit(way, e.place);
  visit(way, e.sense);
}
template <class Way, class T>
void visit(Way& way, std::vector<T>& list) {
  visit_length(way, list);
  for (T& x : list) visit(way, x);
}
template <class Way, class... Parts>
void visit_each(Way& way, Parts&... parts) {
  (visit(way, parts), ...);
}
template <class Way>
void visit(Way& way, Step& s) {
  visit_each(way, s.end, s.contact, s.mode, s.instant, s.length);
}
template <class Way>
void visit(Way& way, BranchPoint& p) {
  visit_each(way, p.parameter, p.state, p.phase, p.orbit, p.signature.events, p.signature.periods, p.impacts,
             p.period, p.size, p.residual, p.multipliers, p.stable, p.admissible, p.fold, p.branching,
             p.doubling, p.torus);
}
template <class Way>
void visit(Way& way, Bifurcation& b) {
  visit_each(way, b.kind, b.contact, b.parameter, b.error, b.state, b.phase, b.orbit, b.periods, b.turn,
             b.itinerary.steps, b.itinerary.periods, b.unknowns, b.tangent, b.size);
}

template <class Way>
void visit(Way& way, CurvePoint& p) {
  visit_each(way, p.orbit, p.second);
}
template <class Way>
void visit(Way& way, Codim2& c) {
  visit_each(way, c.kind, c.at, c.second, c.step, c.other, c.sense);
}

template <class Way>
void visit_whole(Way& way, Branch& branch) {
  visit(way, branch.points);
  visit(way, branch.bifurcations);
}
template <class Way>
void visit_whole(Way& way, Curve& curve) {
  visit_each(way, curve.kind, curve.contact);
  visit(way, curve.points);
  visit(way, curve.codim2);
}

template <class Whole>
Dataset packed_whole(const Whole& whole) {
  Whole copy = whole;
  Writer writer;
  visit_whole(writer, copy);
  Dataset part;
  part.attributes = {{"origin", whole.origin}, {"begins", whole.begins}, {"ends", whole.ends}};
  part.dimensions = {{"number", writer.row.size()}};
  part.arrays.push_back(
      {"numbers", {"number"}, std::move(writer.row), "1", "a branch, all its numbers in order", {}, {}});
  return part;
}

template <class Whole>
Whole unpacked_whole(const Dataset& part) {
  Whole whole;
  const auto* row = std::get_if<std::vector<double>>(&part.at("numbers").values);
  if (row == nullptr) throw std::runtime_error("a kept branch is of another type");
  Reader reader(*row);
  visit_whole(reader, whole);
  for (const auto& [name, text] : part.attributes) {
    if (name == "origin") whole.origin = text;
    if (name == "begins") whole.begins = text;
    if (name == "ends") whole.ends = text;
  }
  return whole;
}

}  // namespace

Dataset packed(const Branch& branch) { return packed_whole(branch); }
Branch unpacked(const Dataset& part) { return unpacked_whole<Branch>(part); }
Dataset packed(const Curve& curve) { return packed_whole(curve); }
Curve unpacked_curve(const Dataset& part) { return unpacked_whole<Curve>(part); }

}  // namespace graze
