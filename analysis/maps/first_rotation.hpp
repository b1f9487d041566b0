/// Words that are told round a circle.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace graze {

/// Turns a word round so that it begins where it comes first in lexical order. One pass: where the words that
/// begin at two places differ after `same` letters, none that begins within those letters of the later one in
/// order can be the first.
template <class Letter>
void rotate_to_first(std::vector<Letter>& word) {
  const std::size_t n = word.size();
  std::size_t best = 0;
  std::size_t other = 1;  // behind it
  std::size_t same = 0;
  while (other < n && same < n) {
    const Letter& a = word[(best + same) % n];
    const Letter& b = word[(other + same) % n];
    if (a == b) {
      ++same;
      continue;
    }
    if (b < a) {
      best = std::max(other, best + same + 1);
      other = best + 1;
    } else {
      other += same + 1;
    }
    same = 0;
  }
  std::rotate(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(best), word.end());
}

}  // namespace graze
