#include "drivers/explore/token.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "drivers/explore/frame.hpp"

namespace graze {

std::string random_token() {
  std::array<char, 24> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("the system gives no random numbers for the address of the page");
  std::string token = base64({bytes.data(), bytes.size()});
  std::replace(token.begin(), token.end(), '+', '-');
  std::replace(token.begin(), token.end(), '/', '_');
  return token;
}

bool same_secret(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() && !secret.empty() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i)
    difference |= static_cast<unsigned char>(given[i] ^ secret[secret.empty() ? 0 : i % secret.size()]);
  return difference == 0;
}

}  // namespace graze
