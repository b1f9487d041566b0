/// Two masses between two stops, the sizes of core/models/two_dof_stops, with dry friction.
#include "core/linear/family.hpp"

namespace graze {

template class LinearFamilySystem<2, 1, 2, 3>;

}  // namespace graze
