/// gnuplot writes pictures: fed through a pipe, no shell is involved.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "drivers/plot/picture.hpp"

namespace graze {

/// A gnuplot string that shows `text`, whoever wrote it: nothing in it is ever taken as a command.
/// Control characters become blanks, bytes that are no UTF-8 question marks.
std::string gnuplot_text(std::string_view text);

/// Throws InputError when the ending of `file` is none of .png, .svg, .pdf, .eps.
void check_picture_name(const std::string& file);

/// Draws into a file (its ending says the format), which appears whole or not at all. With `keep_script` the
/// script FILE.gp stays beside it with its data in the folder FILE.data, one text file each: gnuplot makes
/// the picture again from them. Throws InputError for another ending, for a page too small, and where gnuplot
/// is not installed or the folder can't be written to; std::runtime_error when gnuplot fails.
void write_picture(const Picture& picture, const Page& page, const std::string& file, bool keep_script);

}  // namespace graze
