// ljspeech: metadata.csv beside wavs/, lines "id|text|normalized text", with the variants that
// published corpora and Coqui TTS lists have. What becomes of each line is in README.md, two
// folders up.

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/try.hpp"
#include "corpus/audio_extensions.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/ljspeech_audio.hpp"
#include "corpus/layouts/ljspeech_lists.hpp"
#include "corpus/list_columns.hpp"
#include "corpus/list_text.hpp"
#include "corpus/names.hpp"

namespace xtts::corpus {
namespace {

// A list with more unusable lines than this is not a list of this corpus. It bounds what a hostile
// file of a gigabyte of line ends can make us keep.
constexpr std::size_t kProblemsMax = 1'000'000;

class LjspeechReader {
 public:
  explicit LjspeechReader(const LayoutInput& input)
      : input_(input), index_(input.tree), finder_(input.tree, index_) {}

  Result<Findings> read(const std::vector<ListSource>& sources) {
    found_.clips.reserve(index_.audio_count());
    ids_.reserve(index_.audio_count());
    for (const ListSource& source : sources) XTTS_TRY(read_list(source));
    if (found_.clips.empty()) return nothing_found(sources);
    add_notes(sources);
    return std::move(found_);
  }

 private:
  struct Mention {
    const ListSource* source = nullptr;
    std::uint64_t line = 0;
  };

  Status read_list(const ListSource& source) {
    auto text = ListText::read(input_.env, input_.tree.full_path(source.list), kListBytesMax);
    if (!text.ok()) return text.status().with_context("reading the list");
    // Ids stay views of the lists, so these must not move from here on.
    ListText& list = lists_.emplace_back(std::move(*text));
    if (list.had_byte_order_mark())
      found_.notes.push_back(source.list + " begins with a byte-order mark, which is skipped");
    ListColumns columns;
    bool is_first = true;
    while (const auto line = list.next()) {
      if (trimmed(line->text).empty()) continue;
      if (std::exchange(is_first, false) && take_header(source, line->text, columns)) continue;
      read_line(source, *line, columns);
      if (found_.problems.size() > kProblemsMax) {
        return {StatusCode::kInvalidArgument,
                "more than " + counted(kProblemsMax, "line", "lines") + " of " + source.list +
                    " cannot be used, the last because: " + found_.problems.back().reason};
      }
    }
    return {};
  }

  bool take_header(const ListSource& source, std::string_view line, ListColumns& columns) {
    const auto header = ListColumns::from_header(line);
    // A clip may be called "id" or "audio" after all.
    if (!header || finder_.find(source, trimmed(line.substr(0, line.find('|'))))) return false;
    columns = *header;
    found_.notes.push_back(source.list + " has a header line: " + printable(line));
    return true;
  }

  void report(const ListSource& source, std::uint64_t line, std::string_view id, std::string reason,
              ProblemClass kind = ProblemClass::kInput) {
    // An id of a megabyte is no use to anybody.
    found_.problems.push_back({printable(id.substr(0, kIdBytesMax)), printable(source.list), line,
                               "list", kind, std::move(reason)});
  }

  void read_line(const ListSource& source, const ListText::Line& line, const ListColumns& columns) {
    ++line_count_;
    if (auto fault = fault_of_text_bytes(line.text)) {
      return report(source, line.number, {}, "the line " + *fault);
    }
    const auto row = columns.split(line.text);
    if (!row.ok()) {
      return report(source, line.number, {}, "the line " + row.status().message());
    }
    auto fault = fault_of_id(row->id);
    if (!fault) fault = fault_of_listed_path(row->id);
    if (fault) return report(source, line.number, row->id, *fault);
    ++named_count_;
    const auto audio = finder_.find(source, row->id);
    if (!audio) {
      Miss miss = finder_.explain_miss(source, row->id);
      return report(source, line.number, row->id, std::move(miss.reason), miss.kind);
    }
    add_clip(source, line, *row, *audio);
  }

  void add_clip(const ListSource& source, const ListText::Line& line, const ListRow& row,
                const ListedAudio& audio) {
    if (const auto fault = fault_of_id(audio.id)) {
      return report(source, line.number, row.id, *fault);
    }
    if (const auto fault = fault_of_id(audio.file->path)) {
      return report(source, line.number, row.id, "the path of its audio will not do: " + *fault);
    }
    const auto [mention, is_new] = ids_.try_emplace(audio.id, Mention{&source, line.number});
    if (!is_new) return report_duplicate(source, line, audio, mention->second);
    used_.insert(audio.file);
    rival_count_ += audio.has_rivals ? 1 : 0;
    many_fields_count_ += row.field_count > 3 && row.speaker.empty() ? 1 : 0;
    FoundClip& found = found_.clips.emplace_back();
    found.own_split = source.split;
    found.clip.id = audio.id;
    found.clip.source = audio.file->path;
    found.clip.text_raw = row.text_raw;
    found.clip.text_normalized = row.text_normalized;
    found.clip.speaker = row.speaker;
    found.clip.language = row.language;
    if (row.text_normalized.empty() && !row.text_raw.empty()) {
      found.clip.text_normalized = row.text_raw;
      ++raw_only_count_;
    }
  }

  void report_duplicate(const ListSource& source, const ListText::Line& line,
                        const ListedAudio& audio, const Mention& first) {
    report(source, line.number, audio.id,
           "the same id is in line " + std::to_string(first.line) + " of " + first.source->list +
               (first.source == &source ? ", which is used"
                                        : ", which is used; a clip can be in one split only"));
  }

  Status nothing_found(const std::vector<ListSource>& sources) const {
    const ListSource& source = sources.front();
    const std::string list = source.list;
    std::string text;
    if (line_count_ == 0) {
      text = list + " holds no line; expected lines id|text|normalized text";
    } else if (named_count_ == 0) {
      text = "none of the " + counted(line_count_, "line", "lines") + " of " + list +
             " can be used; expected lines id|text|normalized text in UTF-8";
    } else {
      text = "none of the " + counted(named_count_, "clip", "clips") + " named in " + list +
             " has audio in " + folder_name(source.audio_folder);
    }
    if (!found_.problems.empty()) {
      const Problem& first = found_.problems.front();
      text +=
          " (the first, line " + std::to_string(first.line.value_or(0)) + ": " + first.reason + ")";
    }
    text += index_.audio_count() == 0
                ? "; there is no audio file in " + input_.tree.root + " at all"
                : "; " + counted(index_.audio_count(), "audio file is", "audio files are") +
                      " there, which layout folder would take without text";
    const bool may_pass =
        !found_.problems.empty() && found_.problems.front().kind == ProblemClass::kEnvironment;
    return {may_pass ? StatusCode::kResource : StatusCode::kInvalidArgument, std::move(text)};
  }

  void note_count(std::uint64_t count, std::string_view one, std::string_view many) {
    if (count > 0) found_.notes.push_back(counted(count, one, many));
  }

  void add_notes(const std::vector<ListSource>& sources) {
    for (const ListSource& source : sources) {
      found_.notes.push_back("clips of " + source.list + " are looked for in " +
                             folder_name(source.audio_folder));
    }
    note_count(raw_only_count_, "clip has no normalized text: its raw text is used",
               "clips have no normalized text: their raw text is used");
    note_count(
        many_fields_count_,
        "line has more than three fields: the text between the first and the last '|' is raw",
        "lines have more than three fields: the text between the first and the last '|' is raw");
    note_count(rival_count_, "clip is there in several audio formats: wav, else flac, is used",
               "clips are there in several audio formats: wav, else flac, is used");
    // What a listed clip outdid in preference is not "unlisted", but it is unused all the same.
    note_count(index_.audio_count() - used_.size(), "audio file is not used by the list",
               "audio files are not used by the list");
    for (const Refusal& refusal : input_.tree.refusals) {
      if (refusal.is_folder) {
        found_.notes.push_back("the folder " + printable(refusal.path) + " " + refusal.reason);
      }
    }
    const auto list_count = std::count_if(
        sources.begin(), sources.end(),
        [](const ListSource& source) { return !audio_rank(file_extension(source.list)); });
    found_.ignored_file_count =
        input_.tree.files.size() - index_.audio_count() - static_cast<std::uint64_t>(list_count);
  }

  const LayoutInput& input_;
  AudioIndex index_;
  ListedAudioFinder finder_;
  std::deque<ListText> lists_;
  std::unordered_map<std::string_view, Mention> ids_;
  std::unordered_set<const TreeFile*> used_;
  std::uint64_t line_count_ = 0;   // neither empty nor the header
  std::uint64_t named_count_ = 0;  // with an id that may be looked for
  std::uint64_t raw_only_count_ = 0;
  std::uint64_t many_fields_count_ = 0;
  std::uint64_t rival_count_ = 0;
  Findings found_;
};

std::optional<std::string> detect(const LayoutInput& input) {
  if (!input.config.metadata_train_file.empty()) {
    return "metadata_train_file is set (layout ljspeech)";
  }
  const MetadataCandidates found = find_metadata(input.tree);
  if (!found.plain && found.others.empty()) return std::nullopt;
  return printable(found.plain ? *found.plain : found.others.front()) +
         " is in DATA (layout ljspeech)";
}

Result<Findings> read(const LayoutInput& input) {
  XTTS_ASSIGN(const std::vector<ListSource> sources, choose_lists(input));
  return LjspeechReader(input).read(sources);
}

}  // namespace

const Layout kLjspeechLayout = {"ljspeech", "metadata.csv (id|text|normalized text) beside wavs/",
                                detect, read};

}  // namespace xtts::corpus
