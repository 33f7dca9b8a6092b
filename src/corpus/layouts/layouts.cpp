#include <array>

#include "corpus/layouts/layout.hpp"

namespace xtts::corpus {

std::span<const Layout> layouts() {
  static const std::array kLayouts = {
      kKaldiLayout,        // wav.scp
      kLhotseLayout,       // recordings and supervisions
      kAudiofolderLayout,  // metadata.csv with file_name: before the other metadata.csv
      kNemoLayout,         // audio_filepath
      kLibriSpeechLayout,  // *.trans.txt
      kLibriTtsLayout,     // *.normalized.txt
      kMlsLayout,          // transcripts.txt
      kAishell3Layout,     // content.txt beside wav/
      kCommonVoiceLayout,  // clips/ and *.tsv
      kVctkLayout,         // wav48*/ and txt/
      kLjspeechLayout,     // any other metadata.csv
      kTableLayout,        // a header line
      kListLayout,         // no header line
      kFolderLayout,       // anything
  };
  return kLayouts;
}

}  // namespace xtts::corpus
