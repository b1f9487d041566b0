#include "core/contact/resting.hpp"

#include <Eigen/Core>
#include <cstddef>
#include <utility>

#include "core/math/complementarity.hpp"

namespace graze {
namespace {

/// Changes of opening accelerations per force of these contacts, with others held.
Eigen::MatrixXd responses(const RestingBodies& bodies, const std::vector<int>& contacts,
                          const std::vector<int>& held) {
  const auto table = [&](const std::vector<int>& rows, const std::vector<int>& columns) {
    Eigen::MatrixXd G(rows.size(), columns.size());
    for (std::size_t k = 0; k < rows.size(); ++k) {
      for (std::size_t j = 0; j < columns.size(); ++j) {
        G(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(j)) = bodies.response(rows[k], columns[j]);
      }
    }
    return G;
  };
  if (held.empty()) return table(contacts, contacts);
  return responses_beside(table(contacts, contacts), table(contacts, held), table(held, held),
                          table(held, contacts));
}

/// Takes out those whose bodies others hold. @return whether there were any
bool take_idle(const Eigen::MatrixXd& G, std::vector<int>& undecided, std::vector<AtRest>& decided) {
  std::vector<int> left;
  for (std::size_t k = 0; k < undecided.size(); ++k) {
    const auto place = static_cast<Eigen::Index>(k);
    if (G(place, place) > 0) {
      left.push_back(undecided[k]);
    } else {
      decided.push_back({undecided[k], true, 0, true});
    }
  }
  const bool some = left.size() < undecided.size();
  undecided = std::move(left);
  return some;
}

}  // namespace

bool decide_resting(const RestingBodies& bodies, std::vector<int> undecided, std::int64_t mode,
                    std::vector<AtRest>& decided) {
  std::vector<int> held;
  const auto hold = [&](int i, int order) {
    held.push_back(i);
    mode |= std::int64_t{1} << i;
    decided.push_back({i, true, order});
  };
  while (!undecided.empty()) {
    const Eigen::MatrixXd G = responses(bodies, undecided, held);
    if (bodies.tells_idle && take_idle(G, undecided, decided)) continue;
    Eigen::VectorXd q = Eigen::VectorXd::Zero(G.rows());
    int order = 0;
    for (Eigen::Index k = 0; k < G.rows(); ++k) {
      if (!(G(k, k) > 0)) continue;  // those that hold hold this one too
      const Onset onset = bodies.onset(undecided[static_cast<std::size_t>(k)], mode);
      if (onset.order == 0 || (order > 0 && onset.order > order)) continue;
      if (onset.order != order) q.setZero();
      order = onset.order;
      q(k) = onset.coefficient;
    }
    if (order == 0 && !independent(G)) {  // one after the other, then: those that are left over are idle
      if (!bodies.tells_idle) return false;
      hold(undecided.front(), 0);
      undecided.erase(undecided.begin());
      continue;
    }
    const auto loads = loads_of(G, q);
    if (!loads) return false;
    std::vector<int> left;
    for (std::size_t k = 0; k < undecided.size(); ++k) {
      const int i = undecided[k];
      if (order > 0 && (*loads)[k] == Load::none) {
        left.push_back(i);
      } else if ((*loads)[k] == Load::open) {
        decided.push_back({i, false, order});
      } else {
        hold(i, order);
      }
    }
    undecided = std::move(left);
  }
  return true;
}

}  // namespace graze
