/// The page that shows results in a browser: its files are part of the program.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace graze {

struct PageFile {
  std::string_view name;
  std::string_view text;
};

/// Scripts and styles by name; `index.html` is left out.
std::span<const PageFile> page_files();

/// The page as the server sends it; the nonce allows its one script that stands in the page itself.
std::string served_page(std::string_view nonce);

/// The page in one file with its scripts and styles, and with frames as its data.
std::string single_page(std::string_view frames);

}  // namespace graze
