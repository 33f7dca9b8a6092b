// audiofolder: folders that the Hugging Face datasets library loads as AudioFolder. A metadata.csv
// or metadata.jsonl with a field file_name lies in DATA, in data/, or in a folder for each split
// in either. File names are relative to their list.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/clips/splits.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/clips_of_rows.hpp"

namespace xtts::corpus {
namespace audiofolder_layout {
namespace {

constexpr std::array<std::string_view, 2> kListNames = {"metadata.csv", "metadata.jsonl"};

constexpr std::array<FieldNames, 5> kNames = {{
    {FieldRole::kAudio, {"file_name"}},
    {FieldRole::kRaw, {"transcription", "text", "sentence", "transcript"}},
    {FieldRole::kNormalized, {"normalized_text"}},
    {FieldRole::kSpeaker, {"speaker", "speaker_id"}},
    {FieldRole::kLanguage, {"language", "lang"}},
}};

struct Found {
  std::vector<ListSource> sources;
  std::vector<std::string> notes;
};

// True where `folder` is "", "data", or a folder in either whose name means a split.
bool may_hold_list(std::string_view folder) {
  if (folder.starts_with("data/")) folder.remove_prefix(5);
  return folder.empty() || folder == "data" || split_of_word(folder);
}

std::optional<Split> split_of_folder(std::string_view folder) {
  return split_of_word(file_name(folder));
}

// Where both lists exist, the table is read: they hold the same clips.
Status look_in(const LayoutInput& input, const std::string& folder, Found& found) {
  std::vector<std::string> lists;
  for (const std::string_view name : kListNames) {
    std::string list = join_path(folder, name);
    if (!has_non_audio_file(input.tree, list)) continue;
    XTTS_ASSIGN(const bool has_rows, begins_with_rows(input, list, kNames, FieldRole::kAudio));
    if (has_rows) lists.push_back(std::move(list));
  }
  if (lists.empty()) return {};
  found.sources.push_back({lists.front(), folder, split_of_folder(folder)});
  if (lists.size() > 1) {
    found.notes.push_back(
        formatted("{} is not read: {} is beside it", lists.back(), lists.front()));
  }
  return {};
}

Result<Found> find_lists(const LayoutInput& input) {
  Found found;
  for (const std::string& folder : input.tree.folders) {
    if (may_hold_list(folder)) XTTS_TRY(look_in(input, folder, found));
  }
  // A single folder is the whole corpus, so its name is no split.
  if (found.sources.size() == 1) found.sources.front().split.reset();
  return found;
}

Detected detect(const LayoutInput& input) {
  XTTS_ASSIGN(const Found found, find_lists(input));
  if (found.sources.empty()) return Detected(std::nullopt);
  return Detected(found.sources.front().list + " has a field file_name");
}

Result<Findings> read(const LayoutInput& input) {
  XTTS_ASSIGN(Found found, find_lists(input));
  if (found.sources.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("no metadata.csv or metadata.jsonl with a field file_name in {}, in "
                            "data/, or in a folder of these that is named for a split",
                            input.tree.root));
  }
  return clips_of_rows(input, found.sources, kNames, RowIds::kInListFolder,
                       "rows with file_name and text", std::move(found.notes));
}

}  // namespace
}  // namespace audiofolder_layout

extern const Layout kAudiofolderLayout = {
    "audiofolder", "Hugging Face AudioFolder: metadata.csv or .jsonl with file_name",
    audiofolder_layout::detect, audiofolder_layout::read, ListPlace::kInData};

}  // namespace xtts::corpus
