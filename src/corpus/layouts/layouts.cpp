#include <array>

#include "corpus/layouts/layout.hpp"

namespace xtts::corpus {

std::span<const Layout> layouts() {
  static const std::array<Layout, 2> kLayouts = {kLjspeechLayout, kFolderLayout};
  return kLayouts;
}

}  // namespace xtts::corpus
