/// The secret in the address of a page.
#pragma once

#include <string>
#include <string_view>

namespace graze {

/// 192 bits from the system's random source as 32 letters (base64url). Throws std::runtime_error without it.
std::string random_token();

/// Whether two texts are equal, in a time that depends on the length of the first only.
bool same_secret(std::string_view given, std::string_view secret);

}  // namespace graze
