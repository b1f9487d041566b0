/// Curves over two parameters against reference points and closed forms.
#include "analysis/continuation/curve.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "analysis/continuation/curve_start.hpp"
#include "tests/family.hpp"

using namespace graze;
using namespace graze::test;

namespace {

struct ReferencePoint {
  double first;
  double second;
  std::vector<double> state;  ///< at phase zero
  bool admissible;
};

struct ReferenceCurve {
  const char* id;
  const char* model;
  const char* first;
  const char* second;
  const char* kind;
  const char* contact;
  int periods;
  const char* codim2;  ///< "": a curve, else a single point
  std::vector<ReferencePoint> points;
};

const std::vector<ReferenceCurve>& references() {
  static const std::vector<ReferenceCurve> list = {
#include "tests/oracle/independent/reference_curves.inc"
  };
  return list;
}

int index_in(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  REQUIRE(found != names.end());
  return static_cast<int>(found - names.begin());
}

Plane plane_of(const ReferenceCurve& c) {
  Plane plane;
  plane.family = family(c.model, c.first);
  plane.second = plane.family.model->parameter_index(c.second);
  double low[2] = {1e300, 1e300};
  double high[2] = {-1e300, -1e300};
  for (const ReferencePoint& p : c.points) {
    low[0] = std::min(low[0], p.first);
    high[0] = std::max(high[0], p.first);
    low[1] = std::min(low[1], p.second);
    high[1] = std::max(high[1], p.second);
  }
  for (int k = 0; k < 2; ++k) plane.widths[k] = std::max(0.3, high[k] - low[k]);
  return plane;
}

CurveStart start_at(const ReferenceCurve& c, const Plane& plane, const ReferencePoint& p) {
  CurveSeed seed;
  seed.kind = static_cast<BifurcationKind>(index_in(bifurcation_names(), c.kind));
  const auto& contacts = plane.family.model->contacts();
  for (std::size_t k = 0; k < contacts.size(); ++k)
    if (contacts[k].name == c.contact) seed.contact = static_cast<int>(k);
  seed.orbit.parameter = p.first;
  seed.orbit.state =
      Eigen::Map<const Eigen::VectorXd>(p.state.data(), static_cast<Eigen::Index>(p.state.size()));
  seed.orbit.periods = c.periods;
  seed.second = p.second;
  return start_curve(plane, seed);
}

CurveOptions around(const ReferenceCurve& c, const Plane& plane) {
  CurveOptions options;
  options.beyond = true;
  options.points = std::string(c.kind) == "chatter_border" ? 100 : 600;
  const ReferencePoint& p = c.points.front();
  for (int k = 0; k < 2; ++k) {
    const auto value = [k](const ReferencePoint& q) { return k == 0 ? q.first : q.second; };
    double low = value(p);
    double high = low;
    for (const ReferencePoint& q : c.points) {
      low = std::min(low, value(q));
      high = std::max(high, value(q));
    }
    const auto& parameters = plane.family.model->parameters();
    const int index = k == 0 ? plane.family.parameter : plane.second;
    const Range& range = parameters[static_cast<std::size_t>(index)].range;
    const double room = std::min(0.3 * plane.widths[k], 0.3 * std::abs(low));
    options.from[k] = std::max(low - room, range.low);
    options.to[k] = std::min(high + room, range.high);
  }
  return options;
}

/// All points of a curve, both ways from a start.
std::vector<CurveSolution> walked(const CurveSolution& start, const CurveOptions& options,
                                  std::string& ends) {
  std::vector<CurveSolution> all{start};
  for (const int direction : {-1, 1}) {
    CurveWalk walk(start, direction, options);
    while (walk.next()) all.push_back(walk.solution());
    ends += walk.end() + "; ";
  }
  return all;
}

struct Miss {
  double parameter = std::numeric_limits<double>::infinity();
  double state = std::numeric_limits<double>::infinity();
  bool admissible = false;
};

/// How far a curve is from a reference point, at the same value of the second or of the first parameter.
Miss missed(const std::vector<CurveSolution>& curve, const ReferencePoint& p) {
  Miss best;
  std::vector<const CurveSolution*> order;
  for (const CurveSolution& s : curve) order.push_back(&s);
  const auto away = [&](const CurveSolution* s) {
    return std::hypot((s->point.orbit.parameter - p.first) / s->equations->plane().widths[0],
                      (s->point.second - p.second) / s->equations->plane().widths[1]);
  };
  std::sort(order.begin(), order.end(), [&](auto* a, auto* b) { return away(a) < away(b); });
  const Eigen::VectorXd expected =
      Eigen::Map<const Eigen::VectorXd>(p.state.data(), static_cast<Eigen::Index>(p.state.size()));
  for (std::size_t k = 0; k < std::min<std::size_t>(4, order.size()); ++k) {
    const CurveSolution& s = *order[k];
    const CurveEquations& eq = *s.equations;
    const Eigen::Index m = eq.orbit_size();
    const bool steep = std::abs(s.tangent(m + 1) * s.weights(m + 1)) < std::abs(s.tangent(m) * s.weights(m));
    const Eigen::Index fixed = steep ? m : m + 1;
    const double target = steep ? p.first : p.second;
    Eigen::VectorXd guess = s.x + (target - s.x(fixed)) / s.tangent(fixed) * s.tangent;
    guess(fixed) = target;
    const auto found = solve_curve(eq, s.borders, s.weights, guess,
                                   Eigen::RowVectorXd::Unit(eq.size(), fixed) * s.weights(fixed));
    if (!found.ok) continue;
    CurveSolution there = s;
    there.x = found.x;
    there.values = *found.values;
    take_point(there);
    const double miss = std::hypot(there.point.orbit.parameter - p.first, there.point.second - p.second);
    if (!(miss < best.parameter) || there.point.orbit.orbit.empty()) continue;
    best.parameter = miss;
    best.state = std::numeric_limits<double>::infinity();
    for (const Eigen::VectorXd& state : there.point.orbit.orbit)
      best.state = std::min(best.state, (state - expected).cwiseAbs().maxCoeff());
    best.admissible = s.point.orbit.admissible;
  }
  return best;
}

}  // namespace

TEST_CASE("curves pass through all reference points") {
  // A plane may be crossed by several pieces of what is one curve in more parameters.
  constexpr int most_pieces = 3;
  for (const ReferenceCurve& c : references()) {
    if (std::string(c.codim2) != "") continue;
    INFO(c.id);
    const Plane plane = plane_of(c);
    const double tolerance = std::string(c.kind) == "chatter_border" ? 1e-9 : 1e-10;
    std::vector<CurveSolution> curve;
    std::string ends;
    int pieces = 0;
    for (const ReferencePoint& p : c.points) {
      Miss miss = missed(curve, p);
      if (!(miss.parameter < 1e-6)) {
        const CurveStart start = start_at(c, plane, p);
        INFO(start.reason);
        REQUIRE(start.solution);
        ++pieces;
        const auto more = walked(*start.solution, around(c, plane), ends);
        curve.insert(curve.end(), more.begin(), more.end());
        miss = missed(curve, p);
      }
      INFO(ends);
      CAPTURE(p.first, p.second);
      CHECK(miss.parameter < tolerance);
      CHECK(miss.state < 100 * tolerance);
      CHECK(miss.admissible == p.admissible);
    }
    CHECK(pieces <= most_pieces);
  }
}

TEST_CASE("points of codimension two are located at their reference") {
  for (const ReferenceCurve& c : references()) {
    const std::string kind = c.codim2;
    if (kind == "") continue;
    INFO(c.id);
    const Plane plane = plane_of(c);
    const ReferencePoint& p = c.points.front();
    // A normal-form coefficient comes from differences, other conditions are exact.
    const double tolerance = kind == "generalized_period_doubling" ? 2e-9 : 1e-10;
    double best = 1e300;
    std::string ends;
    for (const double aside : {0.0, 1e-6, -1e-6, 1e-4, -1e-4}) {
      ReferencePoint begin = p;
      begin.first *= 1 + aside;
      const CurveStart start = start_at(c, plane, begin);
      ends += start.reason;
      for (const int away : {1, -1}) {
        if (!start.solution || best < tolerance) break;
        CurveOptions options = around(c, plane);
        options.step = 5e-3;
        CurveWalk there(*start.solution, away, options);
        for (int k = 0; k < 5 && there.next(); ++k) continue;
        CurveWalk back(there.solution(), -1, options);
        for (int k = 0; k < 30 && back.next(); ++k) {
          for (const Codim2& found : back.passed()) {
            if (codim2_names()[static_cast<std::size_t>(found.kind)] != kind) continue;
            best = std::min(best, std::hypot(found.at.parameter - p.first, found.second - p.second));
          }
        }
        ends += there.end() + "; " + back.end() + "; ";
      }
      if (best < tolerance) break;
    }
    INFO(ends);
    CHECK(best < tolerance);
  }
}
