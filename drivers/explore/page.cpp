#include "drivers/explore/page.hpp"

#include <zlib.h>

#include <algorithm>
#include <iterator>
#include <new>

#include "drivers/explore/frame.hpp"

namespace graze {
namespace {

constexpr PageFile files[] = {
#include "generated/page.inc"
};

constexpr std::string_view script_ending = ".js";

std::string_view content_of(std::string_view name) {
  return std::find_if(std::begin(files), std::end(files), [&](const PageFile& f) { return f.name == name; })
      ->text;
}

/// Names of modules and where they are: `graze/app` is app.js.
std::string import_map(bool inside) {
  std::string map;
  for (const PageFile& script : page_files()) {
    if (!script.name.ends_with(script_ending)) continue;
    const std::string name(script.name.substr(0, script.name.size() - script_ending.size()));
    const std::string place =
        inside ? "data:text/javascript;base64," + base64(script.text) : "./" + std::string(script.name);
    map.append(map.empty() ? "\"graze/" : ",\"graze/")
        .append(name)
        .append("\":\"")
        .append(place)
        .append("\"");
  }
  return "{\"imports\":{" + map + "}}";
}

/// In zlib's format (RFC 1950), which browsers know as "deflate".
std::string deflated(std::string_view bytes) {
  uLongf size = ::compressBound(bytes.size());
  std::string result(size, '\0');
  const auto* from = reinterpret_cast<const Bytef*>(bytes.data());
  const int status = ::compress(reinterpret_cast<Bytef*>(result.data()), &size, from, bytes.size());
  if (status != Z_OK) throw std::bad_alloc();
  result.resize(size);
  return result;
}

/// The page with something in place of the line that marks its head, and more at its end.
std::string page(std::string_view head, std::string_view end) {
  constexpr std::string_view mark = "<!-- head -->";
  constexpr std::string_view last = "</body>";
  std::string text(content_of("index.html"));
  text.replace(text.find(mark), mark.size(), head);
  text.insert(text.rfind(last), end);
  return text;
}

}  // namespace

std::span<const PageFile> page_files() {
  static_assert(std::size(files) > 1);
  return files;
}

std::string served_page(std::string_view nonce) {
  const std::string quoted = " nonce=\"" + std::string(nonce) + '"';
  return page("<link rel=\"stylesheet\" href=\"style.css\">\n<script type=\"importmap\"" + quoted + ">" +
                  import_map(false) + "</script>",
              "<script type=\"module\" src=\"app.js\"" + quoted + "></script>\n");
}

std::string single_page(std::string_view frames) {
  constexpr std::string_view policy =
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline' "
      "data:; style-src 'unsafe-inline'; img-src data: blob:\">\n";
  return page(std::string(policy) + "<style>\n" + std::string(content_of("style.css")) +
                  "</style>\n<script type=\"importmap\">" + import_map(true) + "</script>",
              "<script type=\"text/plain\" id=\"frames\">" + base64(deflated(frames)) +
                  "</script>\n<script type=\"module\">import \"graze/app\";</script>\n");
}

}  // namespace graze
