/// A user of the installed library: follows the two masses between stops on the same side for some forcing
/// periods and prints the state at phase zero.
#include <algorithm>
#include <iomanip>
#include <iostream>

#include "core/system/model.hpp"

int main() {
  const auto& list = graze::models();
  const auto info = std::find_if(list.begin(), list.end(),
                                 [](const graze::ModelInfo& model) { return model.name == "two_dof_stops"; });
  if (info == list.end()) return 1;

  graze::Value settings(graze::Value::Table{{"delta", graze::Value(0.16)}});
  const auto model = info->make(graze::checked(settings, info->keys, "model"));
  const auto system = model->system(model->values(), graze::Tolerance{});
  if (!system) return 1;

  graze::HybridState state;
  state.x = Eigen::VectorXd::Zero(system->states());
  for (int period = 0; period < 100; ++period) {
    if (system->advance(state, graze::Section{}, nullptr) != graze::Outcome::ok) return 1;
  }
  std::cout << std::setprecision(17) << state.x.transpose() << '\n';
}
