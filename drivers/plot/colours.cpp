#include "drivers/plot/colours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "drivers/command/array_values.hpp"

namespace graze {

std::string class_colour(std::string_view attractor) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> colours = {
      {{"periodic", "#08457e"},
       {"quasiperiodic", "#5fc9b0"},
       {"chaotic", "#d55e00"},
       {"unbounded", "#d98cb3"},
       {"failed", "#000000"}}};
  for (const auto& [name, colour] : colours)
    if (name == attractor) return std::string(colour);
  return "#d8d8d8";
}

std::string contact_colour(std::size_t contact) {
  constexpr std::array<std::string_view, 6> colours = {"#e69f00", "#0072b2", "#56c4a0",
                                                       "#8c3b6b", "#7a5c00", "#9ccbe8"};
  return std::string(colours[contact % colours.size()]);
}

std::string set_colour(std::size_t number) {
  constexpr std::array<std::string_view, set_colours> colours = {"#08284a", "#d55e00", "#56b4e9",
                                                                 "#7b3294", "#009e73", "#e6ab02"};
  return std::string(colours[number % colours.size()]);
}

std::string region_colour(std::size_t region) {
  constexpr std::array<std::string_view, region_colours> colours = {
      "#cfe3f5", "#7db8e0", "#f0e442", "#2e7ebc", "#e6ab02", "#c58c3c", "#8c6d31", "#08306b", "#66c2c2"};
  return std::string(colours[region % colours.size()]);
}

std::vector<Region> class_regions(const Array& array) {
  std::set<std::size_t> occurring;
  for (const double flag : numbers(array))
    if (flag >= 0) occurring.insert(static_cast<std::size_t>(flag));
  const bool all = array.flags.size() <= region_colours;
  std::vector<Region> regions;
  std::size_t used = 0;
  for (std::size_t i = 0; i < array.flags.size(); ++i) {
    const std::size_t colour = all || occurring.contains(i) ? used++ : 0;
    regions.push_back({region_colour(colour), array.flags[i]});
  }
  return regions;
}

std::vector<std::pair<double, std::string>> region_palette(const std::vector<Region>& regions) {
  std::vector<std::pair<double, std::string>> palette = {{0, "#ffffff"}};
  for (const Region& region : regions)
    palette.emplace_back(static_cast<double>(palette.size()), region.colour);
  if (palette.size() == 1) palette.emplace_back(1, "#ffffff");
  return palette;
}

std::vector<std::pair<double, std::string>> value_palette(double low, double high) {
  if (!(low < high)) {
    const double middle = low <= high ? low : 0;
    low = middle - 0.5;
    high = middle + 0.5;
  }
  std::vector<std::pair<double, std::string>> palette;
  if (low < 0 && high > 0) {
    constexpr std::array<std::string_view, 5> both_sides = {"#2166ac", "#92c5de", "#f7f7f7", "#f4a582",
                                                            "#b2182b"};
    const double reach = std::max(-low, high);
    for (std::size_t i = 0; i < both_sides.size(); ++i)
      palette.emplace_back(reach * (static_cast<double>(i) / 2 - 1), both_sides[i]);
    return palette;
  }
  constexpr std::array<std::string_view, 5> even_steps = {"#440154", "#3b528b", "#21918c", "#5ec962",
                                                          "#fde725"};
  for (std::size_t i = 0; i < even_steps.size(); ++i)
    palette.emplace_back(low + (high - low) * static_cast<double>(i) / 4, even_steps[i]);
  return palette;
}

std::string mixed(std::string_view colour, std::string_view other, double share) {
  std::string result = "#";
  for (const std::size_t place : {1U, 3U, 5U}) {
    const auto part = [place](std::string_view text) {
      return static_cast<double>(std::stoul(std::string(text.substr(place, 2)), nullptr, 16));
    };
    result += fmt::format("{:02x}", std::lround(part(colour) + share * (part(other) - part(colour))));
  }
  return result;
}

}  // namespace graze
