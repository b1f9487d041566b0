#include "analysis/continuation/branch_data.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "analysis/maps/map_keys.hpp"
#include "core/system/outcome.hpp"

namespace graze {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using I8 = std::vector<std::int8_t>;
using I32 = std::vector<std::int32_t>;
using F64 = std::vector<double>;

/// A coordinate of names.
void add_names(Dataset& data, const std::string& name, const std::vector<Quantity>& list,
               const char* meaning) {
  data.dimensions.push_back({name, list.size()});
  data.arrays.push_back(names_coordinate(name, list, meaning));
}

Dataset branch_data(const Family& family, const Branch& branch) {
  const Model& model = *family.model;
  const Parameter& parameter = model.parameters()[static_cast<std::size_t>(family.parameter)];
  const std::string& p = parameter.name;
  Dataset data;
  data.attributes = {{"origin", branch.origin}, {"begins", branch.begins}, {"ends", branch.ends}};
  const std::size_t iterates = static_cast<std::size_t>(branch.points.front().signature.periods);
  data.dimensions = {{p, branch.points.size()}, {"iterate", iterates}, {"multiplier", model.states().size()}};
  F64 value, states, time, residual, re, im, fold, branching, doubling, torus;
  I32 periods, signature, impacts;
  I8 stable, admissible;
  std::vector<Signature> signatures;
  for (const BranchPoint& b : branch.points) {
    value.push_back(b.parameter);
    for (std::size_t k = 0; k < iterates; ++k) {
      for (Eigen::Index i = 0; i < b.state.size(); ++i)
        states.push_back(k < b.orbit.size() ? b.orbit[k](i) : nan);
    }
    time.push_back(b.period);
    residual.push_back(b.residual);
    periods.push_back(b.signature.periods);
    const auto known = std::find(signatures.begin(), signatures.end(), b.signature);
    signature.push_back(static_cast<std::int32_t>(known - signatures.begin()));
    if (known == signatures.end()) signatures.push_back(b.signature);
    impacts.insert(impacts.end(), b.impacts.begin(), b.impacts.end());
    for (std::size_t k = 0; k < model.states().size(); ++k) {
      re.push_back(k < b.multipliers.size() ? b.multipliers[k].real() : nan);
      im.push_back(k < b.multipliers.size() ? b.multipliers[k].imag() : nan);
    }
    stable.push_back(b.stable ? 1 : 0);
    admissible.push_back(b.admissible ? 1 : 0);
    fold.push_back(b.fold);
    branching.push_back(b.branching);
    doubling.push_back(b.doubling);
    torus.push_back(b.torus);
  }
  add_array(data, p, {p}, std::move(value), parameter.meaning, {}, parameter.unit);
  add_names(data, "state", model.states(), "state of the model");
  add_names(data, "contact", model.contacts(), "contact of the model");
  add_array(data, "orbit_state", {p, "iterate", "state"}, std::move(states),
            "state of the orbit on the section: at forcing phase zero, once in each forcing period");
  add_array(data, "orbit_time", {p}, std::move(time), "time of one turn");
  add_array(data, "forcing_periods", {p}, std::move(periods),
            "one turn in forcing periods; without forcing, in iterates of the map");
  add_array(data, "impacts", {p, "contact"}, std::move(impacts),
            "impacts in one turn; of complete chatter those that were followed");
  add_array(data, "signature", {p}, std::move(signature), "events of one turn, by number");
  for (std::size_t k = 0; k < signatures.size(); ++k) {
    data.arrays.back().attributes.emplace_back("signature_" + std::to_string(k),
                                               text(signatures[k], model.contacts(), model.frictions()));
  }
  add_array(data, "stable", {p}, std::move(stable), "whether all multipliers lie in the unit circle",
            {"no", "yes"});
  add_array(data, "admissible", {p}, std::move(admissible), "whether no contact is crossed", {"no", "yes"});
  add_array(data, "multiplier_re", {p, "multiplier"}, std::move(re), "multipliers, real part");
  add_array(data, "multiplier_im", {p, "multiplier"}, std::move(im), "multipliers, imaginary part");
  add_array(data, "test_fold", {p}, std::move(fold), "zero at a fold: direction of the parameter");
  add_array(data, "test_branch_point", {p}, std::move(branching),
            "zero at a branch point: prod(1 - m)/test_fold");
  add_array(data, "test_period_doubling", {p}, std::move(doubling), "zero at a period doubling: prod(1 + m)");
  add_array(data, "test_neimark_sacker", {p}, std::move(torus),
            "zero at a Neimark-Sacker point: prod(m_i m_j - 1)");
  add_array(data, "residual", {p}, std::move(residual), "greatest error of the equations of the orbit");
  return data;
}

Dataset bifurcation_data(const Family& family, const std::vector<Branch>& branches) {
  const Model& model = *family.model;
  const Parameter& parameter = model.parameters()[static_cast<std::size_t>(family.parameter)];
  Dataset data;
  I8 kind;
  I32 contact, branch, periods;
  F64 value, states;
  for (std::size_t b = 0; b < branches.size(); ++b) {
    for (const Bifurcation& at : branches[b].bifurcations) {
      kind.push_back(static_cast<std::int8_t>(at.kind));
      contact.push_back(at.contact);
      branch.push_back(static_cast<std::int32_t>(b));
      periods.push_back(at.periods);
      value.push_back(at.parameter);
      states.insert(states.end(), at.told.begin(), at.told.end());
    }
  }
  data.dimensions = {{"point", kind.size()}};
  add_names(data, "state", model.states(), "state of the model");
  add_array(data, "kind", {"point"}, std::move(kind), "what changes", bifurcation_names());
  add_array(data, parameter.name, {"point"}, std::move(value), parameter.meaning, {}, parameter.unit);
  add_array(data, "contact", {"point"}, std::move(contact), "contact whose event changes, from 0; -1: none");
  add_array(data, "branch", {"point"}, std::move(branch), "number of the branch");
  add_array(data, "forcing_periods", {"point"}, std::move(periods),
            "one turn of the orbit in forcing periods, or iterates of the map");
  add_array(data, "orbit_state", {"point", "state"}, std::move(states), "state of the orbit on the section");
  return data;
}

}  // namespace

void add_array(Dataset& data, const std::string& name, std::vector<std::string> dimensions,
               Array::Values values, const std::string& meaning, std::vector<std::string> flags,
               const std::string& unit) {
  data.arrays.push_back(
      {name, std::move(dimensions), std::move(values), unit, meaning, std::move(flags), {}});
}

Dataset branches_data(const Family& family, const std::vector<Branch>& found) {
  Dataset data;
  const std::size_t n = found.size();
  data.attributes = {
      {"parameter", family.model->parameters()[static_cast<std::size_t>(family.parameter)].name}};
  data.dimensions = {{"branch_number", n}};
  I8 outcome(n, 0);
  I32 points, located;
  F64 low, high, stable;
  for (const Branch& b : found) {
    points.push_back(static_cast<std::int32_t>(b.points.size()));
    located.push_back(static_cast<std::int32_t>(b.bifurcations.size()));
    const auto [first, last] = std::minmax_element(
        b.points.begin(), b.points.end(),
        [](const BranchPoint& x, const BranchPoint& y) { return x.parameter < y.parameter; });
    low.push_back(first->parameter);
    high.push_back(last->parameter);
    const auto count =
        std::count_if(b.points.begin(), b.points.end(), [](const BranchPoint& x) { return x.stable; });
    stable.push_back(static_cast<double>(count) / static_cast<double>(b.points.size()));
  }
  if (n == 0) outcome.clear();
  add_array(data, "outcome", {"branch_number"}, std::move(outcome), "what happened numerically",
            outcome_names());
  add_array(data, "points", {"branch_number"}, std::move(points), "points of the branch");
  add_array(data, "located", {"branch_number"}, std::move(located), "bifurcation points located on it");
  add_array(data, "least", {"branch_number"}, std::move(low), "least value of the parameter on it");
  add_array(data, "greatest", {"branch_number"}, std::move(high), "greatest value of the parameter on it");
  add_array(data, "stable_share", {"branch_number"}, std::move(stable),
            "share of its points that are stable");
  Dataset branches;
  for (std::size_t k = 0; k < n; ++k) {
    branches.groups.push_back({std::to_string(k), branch_data(family, found[k])});
  }
  data.groups.push_back({"branch", std::move(branches)});
  data.groups.push_back({"bifurcation", bifurcation_data(family, found)});
  return data;
}

}  // namespace graze
