#include <array>

#include "corpus/layouts/layout.hpp"

namespace xtts::corpus {

std::span<const Layout> layouts() {
  static const std::array kLayouts = {
      kKaldiLayout,        // wav.scp
      kLhotseLayout,       // recordings and supervisions
      kLhotseCutsLayout,   // cuts, where there is no such pair
      kAudiofolderLayout,  // metadata.csv with file_name: before the other metadata.csv
      kNemoTarLayout,      // audio_filepath and shard_id
      kNemoLayout,         // audio_filepath
      kDeepSpeechLayout,   // wav_filename
      kLibriSpeechLayout,  // *.trans.txt
      kLibriTtsLayout,     // *.normalized.txt
      kMlsLayout,          // transcripts.txt
      kAishell3Layout,     // content.txt beside wav/
      kCommonVoiceLayout,  // clips/ and *.tsv
      kVctkLayout,         // wav48*/ and txt/
      kAishell1Layout,     // aishell_transcript*.txt
      kCss10Layout,        // transcript.txt with four fields
      kEsdLayout,          // 0001/0001.txt and 0001/Angry
      kOpenslrLayout,      // line_index.tsv
      kMailabsLayout,      // by_book/
      kEmiliaLayout,       // .jsonl or .json with dnsmos
      kLjspeechLayout,     // any other metadata.csv
      kTableLayout,        // a header line
      kListLayout,         // no header line
      kHuggingFaceLayout,  // *.parquet or *.arrow, and no loose audio
      kWebDatasetLayout,   // tars of samples, and no loose audio
      kFolderLayout,       // anything
  };
  return kLayouts;
}

}  // namespace xtts::corpus
