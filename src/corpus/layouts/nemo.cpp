// nemo: manifests of NVIDIA NeMo in DATA, a JSON object a line: {"audio_filepath": "a.wav", "text":
// "...", "duration": 1.5}. With an offset, a line means that part of its audio alone.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/try.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/ljspeech_lists.hpp"
#include "corpus/list_files.hpp"
#include "corpus/names.hpp"
#include "corpus/row_lists.hpp"
#include "corpus/split_names.hpp"

namespace xtts::corpus {
namespace nemo_layout {
namespace {

constexpr std::array<std::string_view, 2> kEndings = {"json", "jsonl"};

// A duration without an offset stays a field like any other.
constexpr std::array<FieldName, 9> kNames = {{
    {"audio_filepath", FieldRole::kAudio},
    {"text", FieldRole::kRaw},
    {"normalized_text", FieldRole::kNormalized},
    {"text_normalized", FieldRole::kNormalized},
    {"speaker", FieldRole::kSpeaker},
    {"lang", FieldRole::kLanguage},
    {"language", FieldRole::kLanguage},
    {"offset", FieldRole::kStart},
    {"duration", FieldRole::kDuration},
}};

Result<std::vector<std::string>> manifests(const LayoutInput& input) {
  return lists_with_rows(input, "", kEndings, kNames, FieldRole::kAudio);
}

Detected detect(const LayoutInput& input) {
  if (!input.config.metadata_train_file.empty()) return Detected(std::nullopt);
  XTTS_ASSIGN(const std::vector<std::string> lists, manifests(input));
  if (lists.empty()) return Detected(std::nullopt);
  return Detected(names_of(lists) + (lists.size() == 1 ? " names" : " name") +
                  " audio_filepath in JSON lines (layout nemo)");
}

Result<Findings> read(const LayoutInput& input) {
  XTTS_TRY(refuse_list_keys(input.config, "nemo"));
  XTTS_ASSIGN(const std::vector<std::string> lists, manifests(input));
  if (lists.empty()) {
    return Status(StatusCode::kInvalidArgument, "no NeMo manifest in " + input.tree.root +
                                                    ": looked for *.json and *.jsonl with lines "
                                                    "{\"audio_filepath\": ..., \"text\": ...}");
  }
  std::vector<ListSource> sources;
  for (const std::string& list : lists) {
    ListSource& source = sources.emplace_back();
    source.list = list;
    source.audio_folder = usual_audio_folder(input.tree, list);
    if (lists.size() > 1) source.split = split_of_name(list);
  }
  return read_row_lists(input, sources, kNames, RowIds::kOfAudio,
                        "lines {\"audio_filepath\": ..., \"text\": ...}");
}

}  // namespace
}  // namespace nemo_layout

const Layout kNemoLayout = {"nemo", "NeMo manifests: JSON lines with audio_filepath and text",
                            nemo_layout::detect, nemo_layout::read};

}  // namespace xtts::corpus
