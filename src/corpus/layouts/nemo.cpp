// nemo: manifests of NVIDIA NeMo in DATA, one JSON object a line: {"audio_filepath": "a.wav",
// "text": "...", "duration": 1.5}. A line with an offset means only that part of its audio.

#include <string>
#include <string_view>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/clips/splits.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/nemo_fields.hpp"
#include "corpus/lists/clips_of_rows.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "corpus/lists/list_choice.hpp"

namespace xtts::corpus {
namespace nemo_layout {
namespace {

Result<std::vector<std::string>> manifests(const LayoutInput& input) {
  return lists_with_rows(input, "", kNemoEndings, kNemoNames, FieldRole::kAudio);
}

Detected detect(const LayoutInput& input) {
  XTTS_ASSIGN(const std::vector<std::string> lists, manifests(input));
  if (lists.empty()) return Detected(std::nullopt);
  return Detected(formatted("{}{} audio_filepath in JSON lines", names_of(lists),
                            lists.size() == 1 ? " names" : " name"));
}

Result<Findings> read(const LayoutInput& input) {
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
  return clips_of_rows(input, sources, kNemoNames, RowIds::kOfAudio,
                       "lines {\"audio_filepath\": ..., \"text\": ...}");
}

}  // namespace
}  // namespace nemo_layout

extern const Layout kNemoLayout = {"nemo",
                                   "NeMo manifests: JSON lines with audio_filepath and text",
                                   nemo_layout::detect, nemo_layout::read, ListPlace::kInData};

}  // namespace xtts::corpus
