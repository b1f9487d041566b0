/// One colour, one symbol and one short name for each kind of located point, in all pictures.
#pragma once

#include <array>
#include <string_view>

namespace graze {

/// How a kind of point is drawn: gnuplot's point type, colour, and its short name.
struct KindLook {
  std::string_view kind;
  int type;
  std::string_view colour;
  std::string_view name;
};

inline constexpr std::array<KindLook, 15> kind_looks = {{{"fold", 13, "#000000", "F"},
                                                         {"period_doubling", 5, "#7b2d8b", "PD"},
                                                         {"neimark_sacker", 15, "#00798c", "NS"},
                                                         {"branch_point", 9, "#3a7d44", "BP"},
                                                         {"grazing", 7, "#e07a00", "G"},
                                                         {"stick_border", 11, "#8c510a", "S"},
                                                         {"chatter_border", 4, "#8c510a", "C"},
                                                         {"rising_border", 8, "#c51b7d", "R"},
                                                         {"release_moves", 6, "#4d4d4d", "L"},
                                                         {"simultaneous", 1, "#4d4d4d", "E"},
                                                         {"edge", 2, "#4d4d4d", "X"},
                                                         {"hopf", 14, "#00798c", "H"},
                                                         {"slip_border", 10, "#8c510a", "SL"},
                                                         {"reversal_border", 12, "#c51b7d", "RV"},
                                                         {"jump_border", 3, "#c51b7d", "J"}}};

}  // namespace graze
