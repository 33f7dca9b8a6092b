// list: file lists for VITS, FastPitch and Tacotron: "file|text", "file|text|speaker" or
// "file|speaker|text", in DATA or in DATA/filelists. The first field is a path with extension.

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/files/audio_extensions.hpp"
#include "corpus/files/names.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/clips_of_lines.hpp"
#include "corpus/lists/clips_of_rows.hpp"
#include "corpus/lists/line_reader.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "corpus/lists/list_choice.hpp"
#include "formats/corpus_config.hpp"

namespace xtts::corpus {
namespace list_layout {
namespace {

constexpr std::array<std::string_view, 4> kEndings = {"txt", "csv", "txt.cleaned", "csv.cleaned"};
constexpr std::string_view kCleaned = ".cleaned";  // phonemes instead of text
constexpr std::size_t kFieldsMax = 3;

// Several lines are tried: one broken line, or one without audio, must not decide.
constexpr int kLinesLookedAt = 8;

constexpr std::size_t kSpeakerBytesMax = 64;

// The meaning of the fields in "file|...|...", which no list states.
enum class PipeForm : std::uint8_t {
  kText,            // file|text
  kTextSpeaker,     // file|text|speaker
  kSpeakerText,     // file|speaker|text
  kTextNormalized,  // file|text|normalized text
};
std::string_view to_string(PipeForm form) noexcept {
  switch (form) {
    case PipeForm::kText:
      return "file|text";
    case PipeForm::kTextSpeaker:
      return "file|text|speaker";
    case PipeForm::kSpeakerText:
      return "file|speaker|text";
    case PipeForm::kTextNormalized:
      return "file|text|normalized text";
  }
  return "unknown";
}

struct Column {
  std::size_t distinct_count = 0;
  bool has_words_only = false;
};

Column look_at(const std::vector<std::string_view>& cells) {
  const std::unordered_set<std::string_view> distinct(cells.begin(), cells.end());
  const bool has_words_only =
      std::all_of(distinct.begin(), distinct.end(), [](std::string_view cell) {
        return cell.size() <= kSpeakerBytesMax &&
               cell.find_first_of(" \t") == std::string_view::npos;
      });
  return {distinct.size(), has_words_only};
}

// Finds the form of lines with three fields from their second and third. A speaker is one word in
// all lines, and there are fewer speakers than texts. If both fields have spaces and hardly
// repeat, they are two forms of one text.
PipeForm form_of_columns(const std::vector<std::string_view>& second,
                         const std::vector<std::string_view>& third) {
  const Column left = look_at(second);
  const Column right = look_at(third);
  if (left.has_words_only != right.has_words_only) {
    return left.has_words_only ? PipeForm::kSpeakerText : PipeForm::kTextSpeaker;
  }
  const bool is_left = left.distinct_count < right.distinct_count;
  const std::size_t fewer = std::min(left.distinct_count, right.distinct_count);
  const std::size_t more = std::max(left.distinct_count, right.distinct_count);
  if (!left.has_words_only && fewer * 2 > more) return PipeForm::kTextNormalized;
  return is_left ? PipeForm::kSpeakerText : PipeForm::kTextSpeaker;
}

// Some FastPitch lists name computed pitches; others, beside them, name only audio.
bool names_array(std::string_view field) {
  const std::string_view extension = file_extension(field);
  return extension == "pt" || extension == "npy";
}

// The first fields of a list's first lines, if they look like those of a file list.
std::vector<std::string> first_files(std::string_view text) {
  std::vector<std::string> files;
  for (int i = 0; i < kLinesLookedAt; ++i) {
    const std::string_view line = take_line(text);
    const std::vector<std::string_view> fields = fields_of(line, '|');
    const bool is_one = fields.size() >= 2 && fields.size() <= kFieldsMax &&
                        audio_rank(file_extension(fields[0])) && !names_array(fields[1]);
    if (is_one) files.emplace_back(fields[0]);
  }
  return files;
}

struct Found {
  std::vector<std::string> lists;
  std::vector<std::string> cleaned;  // each beside the list that it was made from
};

// A transcript of a single clip is no list; if it is unreadable, only that clip is lost.
bool is_transcript(const DataTree& tree, std::string_view list) {
  const std::string_view stem = list.substr(0, list.rfind('.'));
  return std::any_of(tree.files.begin(), tree.files.end(), [&](const TreeFile& file) {
    return file.audio_rank && file.path.starts_with(stem) && stem_of(file) == stem;
  });
}

// DATA may hold text files of any kind: a list must name audio that exists.
Result<std::vector<std::string>> lists_of_audio(const LayoutInput& input) {
  std::vector<std::string> lists;
  std::optional<ClipCollector> clips;  // made on first use: it looks at all files
  for (const std::string_view folder : {"", "filelists"}) {
    for (std::string& list : lists_in(input.tree, folder, kEndings)) {
      if (is_transcript(input.tree, list)) continue;
      XTTS_ASSIGN(const std::string text, beginning_of(input, list));
      const std::vector<std::string> files = first_files(text);
      if (files.empty()) continue;
      if (!clips) clips.emplace(input);
      const ListSource source{list, usual_audio_folder(input.tree, list), std::nullopt};
      const bool is_there = std::any_of(files.begin(), files.end(), [&](const std::string& file) {
        const auto path = path_inside(input.tree, source, file);
        return path.ok() && clips->has_audio(source, *path);
      });
      if (is_there) lists.push_back(std::move(list));
    }
  }
  return lists;
}

Result<Found> find_lists(const LayoutInput& input) {
  XTTS_ASSIGN(const std::vector<std::string> all, lists_of_audio(input));
  Found found;
  for (const std::string& list : all) {
    const bool is_cleaned = list.ends_with(kCleaned);
    const std::string plain = list.substr(0, list.size() - (is_cleaned ? kCleaned.size() : 0));
    const bool has_plain = std::find(all.begin(), all.end(), plain) != all.end();
    (is_cleaned && has_plain ? found.cleaned : found.lists).push_back(list);
  }
  return found;
}

class ListReader {
 public:
  explicit ListReader(const LayoutInput& input) : input_(input), clips_(input) {}

  // Of three fields, reads all lists before it makes a clip: their meaning shows only in all lines.
  Result<Findings> read(const std::vector<ListSource>& sources,
                        const std::vector<std::string>& cleaned) {
    for (const ListSource& source : sources) XTTS_TRY(read_source(source));
    const PipeForm form = choose_form();
    for (const std::string& list : cleaned) {
      clips_.note(printable(list) + " (phonemes) is not read: the list with the text is beside it");
    }
    // The meaning of two fields is clear, so there is no note.
    if (form != PipeForm::kText) {
      clips_.note("lines are read as " + std::string(to_string(form)));
    }
    for (Line& line : lines_) {
      clips_.release(line.held_bytes());
      add(line, form);
      line.fields = {};
      XTTS_TRY(clips_.check_bounds(*line.source));
    }
    return clips_.finish(sources, "lines file|text, file|text|speaker or file|speaker|text");
  }

 private:
  struct Line {
    const ListSource* source = nullptr;
    std::uint64_t number = 0;
    std::array<SharedText, kFieldsMax> fields;

    [[nodiscard]] std::uint64_t held_bytes() const {
      std::uint64_t bytes = sizeof(Line);
      for (const SharedText& field : fields) bytes += 24 + field.size();
      return bytes;
    }
  };

  Status read_source(const ListSource& source) {
    XTTS_ASSIGN(LineReader list, read_list(input_, source.list));
    return read_lines({source, list, clips_}, {}, [&](const ListLine& line) { return keep(line); });
  }

  std::optional<std::string> keep(const ListLine& line) {
    const std::vector<std::string_view> fields = fields_of(line.text, '|');
    if (fields.size() == 1) return "the line has one field; expected file|text";
    // The first good line sets the number of fields.
    const std::size_t expected = field_count_ == 0 ? fields.size() : field_count_;
    if (fields.size() != expected || fields.size() > kFieldsMax) {
      return formatted("the line has {} where {}", counted(fields.size(), "field", "fields"),
                       field_count_ == 0 ? "two or three are expected"
                                         : formatted("the first line has {}", expected));
    }
    field_count_ = expected;
    Line kept{.source = &line.list.source, .number = line.number, .fields = {}};
    std::copy(fields.begin(), fields.end(), kept.fields.begin());
    if (field_count_ == 2) {
      add(kept, PipeForm::kText);
    } else {
      clips_.hold(kept.held_bytes());
      lines_.push_back(std::move(kept));
    }
    return std::nullopt;
  }

  [[nodiscard]] PipeForm choose_form() const {
    if (lines_.empty()) return PipeForm::kText;
    std::vector<std::string_view> second;
    std::vector<std::string_view> third;
    for (const Line& line : lines_) {
      second.push_back(line.fields[1]);
      third.push_back(line.fields[2]);
    }
    return form_of_columns(second, third);
  }

  void add(const Line& line, PipeForm form) {
    const bool speaker_first = form == PipeForm::kSpeakerText;
    ListedClip clip;
    clip.line = line.number;
    clip.audio = line.fields[0];
    clip.text_raw = line.fields[speaker_first ? 2 : 1];
    if (form == PipeForm::kTextNormalized) clip.text_normalized = line.fields[2];
    if (form == PipeForm::kTextSpeaker) clip.speaker = line.fields[2];
    if (speaker_first) clip.speaker = line.fields[1];
    clips_.add(*line.source, clip);
  }

  const LayoutInput& input_;
  std::size_t field_count_ = 0;  // of each line, as the first good line says; 0: there was none
  std::vector<Line> lines_;      // of three fields
  ClipCollector clips_;
};

Detected detect(const LayoutInput& input) {
  XTTS_ASSIGN(const Found found, find_lists(input));
  if (found.lists.empty()) return Detected(std::nullopt);
  return Detected(formatted("{}{} lines file|text", names_of(found.lists),
                            found.lists.size() == 1 ? " has" : " have"));
}

Result<std::vector<ListSource>> choose_sources(const LayoutInput& input, const Found& found) {
  const formats::CorpusConfig& config = input.config;
  if (!config.metadata_train_file.empty() || !config.metadata_eval_file.empty()) {
    return choose_lists(input);
  }
  XTTS_TRY(refuse_list_keys(config, "list"));
  if (!found.lists.empty()) return lists_by_split(input, found.lists, "list");
  return Status(StatusCode::kInvalidArgument,
                formatted("no file list in {} or its filelists/: looked for *.txt and *.csv with "
                          "lines file|text whose first file is there",
                          input.tree.root));
}

Result<Findings> read(const LayoutInput& input) {
  XTTS_ASSIGN(const Found found, find_lists(input));
  XTTS_ASSIGN(const std::vector<ListSource> sources, choose_sources(input, found));
  return ListReader(input).read(sources, found.cleaned);
}

}  // namespace
}  // namespace list_layout

extern const Layout kListLayout = {"list",
                                   "file lists of VITS, FastPitch and Tacotron: file|text|speaker",
                                   list_layout::detect,
                                   list_layout::read,
                                   ListPlace::kInData,
                                   ListKeys::kTaken};

}  // namespace xtts::corpus
