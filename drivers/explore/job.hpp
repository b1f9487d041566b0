/// What the page asks to be computed.
#pragma once

#include <string>
#include <string_view>

#include "drivers/explore/described_case.hpp"

namespace graze {

/// A whole answer of HTTP without content: its status line, headers and, as JSON, why.
std::string refusal(int status, std::string_view message);

/// The headers of an answer whose content ends with the connection, unless its length is said.
std::string answer_head(int status, std::string_view type, std::string_view further = {});

/// The frame that a page begins with: the result, or only what is known of the case.
std::string first_frame(const Shown& shown);

/// Answers a request {"runs": [["key=TOML value", ...], ...]} to the file descriptor `out`: each run is the
/// case that is shown with these settings in place of its own, as `graze run --set` does; its result is sent
/// as a frame as soon as it is there. A wrong request or case is answered by 400 and the message of the
/// program. Settings may not name other models or files, nor ask for more work than a page can show.
void do_job(const Shown& shown, std::string_view request, int out);

}  // namespace graze
