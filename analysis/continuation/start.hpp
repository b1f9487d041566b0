/// What a branch begins with.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

namespace graze {

/// A periodic orbit to begin with.
struct Start {
  double parameter = 0;
  std::vector<Eigen::VectorXd> orbit;  ///< states on the section of the family, one turn
  int periods = 0;                     ///< of the forcing, or iterates of the map; 0: no periodic orbit
  double turn = 0;                     ///< time of one turn
  std::string origin;
};

}  // namespace graze
