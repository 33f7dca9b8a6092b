#include <algorithm>
#include <array>

#include "base/try.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "formats/corpus_config.hpp"

// The table of layouts, in the order of detection. Each name is the `extern const Layout` of a
// file in this folder.
#define XTTS_LAYOUTS(LAYOUT)                                                            \
  LAYOUT(kKaldiLayout)       /* wav.scp */                                              \
  LAYOUT(kLhotseLayout)      /* recordings and supervisions */                          \
  LAYOUT(kLhotseCutsLayout)  /* cuts, where there is no such pair */                    \
  LAYOUT(kAudiofolderLayout) /* metadata.csv with file_name: before any metadata.csv */ \
  LAYOUT(kNemoTarLayout)     /* audio_filepath and shard_id */                          \
  LAYOUT(kNemoLayout)        /* audio_filepath */                                       \
  LAYOUT(kDeepSpeechLayout)  /* wav_filename */                                         \
  LAYOUT(kLibriSpeechLayout) /* *.trans.txt */                                          \
  LAYOUT(kLibriTtsLayout)    /* *.normalized.txt */                                     \
  LAYOUT(kMlsLayout)         /* transcripts.txt */                                      \
  LAYOUT(kAishell3Layout)    /* content.txt beside wav/ */                              \
  LAYOUT(kCommonVoiceLayout) /* clips/ and *.tsv */                                     \
  LAYOUT(kVctkLayout)        /* wav48 and txt/ */                                       \
  LAYOUT(kAishell1Layout)    /* aishell_transcript*.txt */                              \
  LAYOUT(kCss10Layout)       /* transcript.txt with four fields */                      \
  LAYOUT(kEsdLayout)         /* 0001/0001.txt and 0001/Angry */                         \
  LAYOUT(kOpenslrLayout)     /* line_index.tsv */                                       \
  LAYOUT(kMailabsLayout)     /* by_book/ */                                             \
  LAYOUT(kEmiliaLayout)      /* .jsonl or .json with dnsmos */                          \
  LAYOUT(kLjspeechLayout)    /* any other metadata.csv */                               \
  LAYOUT(kTableLayout)       /* a header line */                                        \
  LAYOUT(kListLayout)        /* no header line */                                       \
  LAYOUT(kHuggingFaceLayout) /* *.parquet or *.arrow, and no loose audio */             \
  LAYOUT(kWebDatasetLayout)  /* tars of samples, and no loose audio */                  \
  LAYOUT(kFolderLayout)      /* anything */

namespace xtts::corpus {

#define XTTS_DECLARE_LAYOUT(name) extern const Layout name;
XTTS_LAYOUTS(XTTS_DECLARE_LAYOUT)
#undef XTTS_DECLARE_LAYOUT

std::span<const Layout> layouts() {
#define XTTS_LIST_LAYOUT(name) name,
  static const std::array kLayouts = {XTTS_LAYOUTS(XTTS_LIST_LAYOUT)};
#undef XTTS_LIST_LAYOUT
  return kLayouts;
}

const Layout* layout_named(std::string_view name) {
  const auto found = std::ranges::find(layouts(), name, &Layout::name);
  return found == layouts().end() ? nullptr : &*found;
}

Detected detect_layout(const Layout& layout, const LayoutInput& input) {
  const bool has_named_list = !input.config.metadata_train_file.empty();
  if (has_named_list && layout.list_keys == ListKeys::kRefused) return Detected(std::nullopt);
  XTTS_ASSIGN(auto reason, layout.detect(input));
  if (reason) reason->append(" (layout ").append(layout.name).append(")");
  return reason;
}

Result<Findings> read_layout(const Layout& layout, const LayoutInput& input) {
  if (layout.list_keys == ListKeys::kRefused) XTTS_TRY(refuse_list_keys(input.config, layout.name));
  return layout.read(input);
}

}  // namespace xtts::corpus
