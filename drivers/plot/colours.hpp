/// Colours that the colour-blind can tell apart and that differ in lightness, so that they do in grey as
/// well.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/results/dataset.hpp"
#include "drivers/plot/picture.hpp"

namespace graze {

inline constexpr std::string_view curve_colour = "#08284a";
inline constexpr std::string_view neutral_colour = "#202020";
inline constexpr std::string_view pale_colour = "#b8b8b8";

/// An attractor class has one colour in all pictures ("#rrggbb").
std::string class_colour(std::string_view attractor);
/// For contacts, from 0; they repeat.
std::string contact_colour(std::size_t contact);
/// For initial states, attractors, results laid over each other, from 0; they repeat.
std::string set_colour(std::size_t number);
inline constexpr std::size_t set_colours = 6;

/// For regions, from 0: powers of two in blues, the others in yellows and browns, the last one for what has
/// no colour of its own; they repeat.
inline constexpr std::size_t region_colours = 9;
std::string region_colour(std::size_t region);

/// A region of a map or a strip: its colour and what it means.
struct Region {
  std::string colour;
  std::string meaning;
};
/// Region colours and names of the classes of an array; where there are more than colours, only those that
/// occur get one.
std::vector<Region> class_regions(const Array& array);
/// A palette that gives each of the regions 1, 2, … its colour; 0 is white.
std::vector<std::pair<double, std::string>> region_palette(const std::vector<Region>& regions);
/// For numbers from low to high; where they change sign, white is zero and both sides have equal colours.
std::vector<std::pair<double, std::string>> value_palette(double low, double high);

/// A colour ("#rrggbb") with this share of another mixed in.
std::string mixed(std::string_view colour, std::string_view other, double share);

}  // namespace graze
