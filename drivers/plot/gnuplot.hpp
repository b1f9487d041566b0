/// Pictures by gnuplot, fed through a pipe; no shell is involved.
#pragma once

#include <string>
#include <string_view>

namespace graze {

/// A drawing that knows no file and no format yet.
struct Drawing {
  int width = 0;       ///< pixels; a pdf counts 144 of them an inch
  int height = 0;      ///< pixels
  std::string script;  ///< gnuplot commands with all data inside, without terminal and output; point sizes
                       ///< in units of the variable `dot`
};

/// A gnuplot string that shows `text`, whoever wrote it: nothing in it is ever taken as a command.
/// Control characters become blanks, bytes that are no UTF-8 question marks.
std::string gnuplot_text(std::string_view text);

/// Throws InputError when the ending of `picture` is none of .png, .svg, .pdf.
void check_picture_name(const std::string& picture);

/// Draws into the file `picture` (png, svg or pdf by its ending), which appears whole or not at all. With
/// `keep_script` the file PICTURE.gp stays beside it, from which gnuplot makes the picture again. Throws
/// InputError for another ending and where gnuplot is not installed or the folder can't be written to,
/// std::runtime_error with gnuplot's words when it fails.
void write_picture(const Drawing& drawing, const std::string& picture, bool keep_script);

}  // namespace graze
