#include "analysis/branch_part.hpp"

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
  std::vector<double> row;
};

class Reader {
 public:
  explicit Reader(const std::vector<double>& values) : row_(values) {}
  void number(double& x) {
    if (next_ >= row_.size()) throw std::runtime_error("a kept branch is too short");
    x = row_[next_++];
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
template <class Way>
void visit(Way& way, Eigen::VectorXd& v) {
  Eigen::Index n = v.size();
  visit(way, n);
  v.resize(n);
  for (double& x : v) way.number(x);
}
template <class Way>
void visit(Way& way, std::pair<EventKind, int>& p) {
  visit(way, p.first);
  visit(way, p.second);
}
template <class Way, class T>
void visit(Way& way, std::vector<T>& list) {
  std::size_t n = list.size();
  visit(way, n);
  list.resize(n);
  for (T& x : list) visit(way, x);
}
template <class Way>
void visit(Way& way, Step& s) {
  visit(way, s.end);
  visit(way, s.contact);
  visit(way, s.mode);
  visit(way, s.instant);
  visit(way, s.length);
}
template <class Way>
void visit(Way& way, BranchPoint& p) {
  visit(way, p.parameter);
  visit(way, p.state);
  visit(way, p.orbit);
  visit(way, p.signature.events);
  visit(way, p.signature.periods);
  visit(way, p.impacts);
  visit(way, p.period);
  visit(way, p.size);
  visit(way, p.residual);
  visit(way, p.multipliers);
  visit(way, p.stable);
  visit(way, p.admissible);
  visit(way, p.fold);
  visit(way, p.branching);
  visit(way, p.doubling);
  visit(way, p.torus);
}
template <class Way>
void visit(Way& way, Bifurcation& b) {
  visit(way, b.kind);
  visit(way, b.contact);
  visit(way, b.parameter);
  visit(way, b.state);
  visit(way, b.told);
  visit(way, b.periods);
  visit(way, b.itinerary.steps);
  visit(way, b.itinerary.periods);
  visit(way, b.unknowns);
  visit(way, b.tangent);
  visit(way, b.size);
}

template <class Way>
void visit_branch(Way& way, Branch& branch) {
  visit(way, branch.points);
  visit(way, branch.bifurcations);
}

}  // namespace

Dataset packed(const Branch& branch) {
  Branch copy = branch;
  Writer writer;
  visit_branch(writer, copy);
  Dataset part;
  part.attributes = {{"origin", branch.origin}, {"begins", branch.begins}, {"ends", branch.ends}};
  part.dimensions = {{"number", writer.row.size()}};
  part.arrays.push_back(
      {"numbers", {"number"}, std::move(writer.row), "1", "a branch, all its numbers in order", {}, {}});
  return part;
}

Branch unpacked(const Dataset& part) {
  Branch branch;
  const auto* row = std::get_if<std::vector<double>>(&part.at("numbers").values);
  if (row == nullptr) throw std::runtime_error("a kept branch is of another type");
  Reader reader(*row);
  visit_branch(reader, branch);
  for (const auto& [name, text] : part.attributes) {
    if (name == "origin") branch.origin = text;
    if (name == "begins") branch.begins = text;
    if (name == "ends") branch.ends = text;
  }
  return branch;
}

}  // namespace graze
