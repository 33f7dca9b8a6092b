// deepspeech: lists of DeepSpeech and Coqui-STT, CSV with wav_filename, wav_filesize and
// transcript, in any folder of DATA. Audio names are relative to their list. In a folder with a
// train.csv, only the lists train, dev and test are read, which DeepSpeech's importers write.
// Other lists there (train-all, validated, other) hold the same clips again, or unchecked ones.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/clips/splits.hpp"
#include "corpus/files/names.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/clips_of_rows.hpp"
#include "corpus/lists/list_candidates.hpp"

namespace xtts::corpus {
namespace deepspeech_layout {
namespace {

constexpr std::array<std::string_view, 1> kEndings = {"csv"};

constexpr std::array<FieldNames, 4> kNames = {{
    {FieldRole::kAudio, {"wav_filename"}},
    {FieldRole::kRaw, {"transcript"}},
    {FieldRole::kSpeaker, {"speaker", "speaker_id"}},
    {FieldRole::kLanguage, {"language", "locale"}},
}};

struct Lists {
  std::vector<std::string> used;
  std::vector<std::string> passed_over;
};

Status look_in_folder(const LayoutInput& input, const std::string& folder, Lists& lists) {
  XTTS_ASSIGN(std::vector<std::string> here,
              lists_with_rows(input, folder, kEndings, kNames, FieldRole::kAudio));
  const auto is_official = [](const std::string& list) {
    return split_of_word(file_stem(file_name(list))).has_value();
  };
  const bool has_train = std::any_of(here.begin(), here.end(), [](const std::string& list) {
    return split_of_word(file_stem(file_name(list))) == Split::kTrain;
  });
  for (std::string& list : here) {
    (has_train && !is_official(list) ? lists.passed_over : lists.used).push_back(std::move(list));
  }
  return {};
}

Result<Lists> find_lists(const LayoutInput& input) {
  Lists lists;
  for (const std::string& folder : input.tree.folders) {
    XTTS_TRY(look_in_folder(input, folder, lists));
  }
  return lists;
}

Detected detect(const LayoutInput& input) {
  XTTS_ASSIGN(const Lists lists, find_lists(input));
  if (lists.used.empty()) return Detected(std::nullopt);
  // The user's own list in DATA has priority, unless it is one of these lists.
  const bool is_below = std::all_of(lists.used.begin(), lists.used.end(), [](const auto& list) {
    return list.find('/') != std::string::npos;
  });
  if (is_below && has_metadata_list(input)) return Detected(std::nullopt);
  return Detected(formatted("{}{} a field wav_filename", names_of(lists.used),
                            lists.used.size() == 1 ? " has" : " have"));
}

Result<Findings> read(const LayoutInput& input) {
  XTTS_ASSIGN(const Lists lists, find_lists(input));
  if (lists.used.empty()) {
    return not_this_layout(input, "*.csv with the header wav_filename,wav_filesize,transcript");
  }
  XTTS_ASSIGN(std::vector<ListSource> sources, lists_by_split(input, lists.used, "deepspeech"));
  for (ListSource& source : sources) source.audio_folder = folder_of(source.list);
  std::vector<std::string> notes;
  if (!lists.passed_over.empty()) {
    notes.push_back(formatted("{}{} not read: the lists train, dev and test beside are the corpus",
                              names_of(lists.passed_over),
                              lists.passed_over.size() == 1 ? " is" : " are"));
  }
  return clips_of_rows(input, sources, kNames, RowIds::kOfAudio,
                       "rows wav_filename,wav_filesize,transcript", std::move(notes));
}

}  // namespace
}  // namespace deepspeech_layout

extern const Layout kDeepSpeechLayout = {
    "deepspeech", "DeepSpeech and Coqui-STT CSV: wav_filename, wav_filesize, transcript",
    deepspeech_layout::detect, deepspeech_layout::read};

}  // namespace xtts::corpus
