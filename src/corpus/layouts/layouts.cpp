#include <array>

#include "corpus/layouts/layout.hpp"

namespace xtts::corpus {

std::span<const Layout> layouts() {
  static const std::array kLayouts = {
      kLibriSpeechLayout, kLibriTtsLayout, kMlsLayout,    kCommonVoiceLayout,
      kVctkLayout,        kLjspeechLayout, kFolderLayout,
  };
  return kLayouts;
}

}  // namespace xtts::corpus
