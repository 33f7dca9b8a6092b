// ljspeech: metadata.csv beside wavs/, lines "id|text|normalized text", with the variants that
// published corpora and Coqui TTS lists have. What becomes of each line is in README.md, two
// folders up.

#include <string>
#include <string_view>
#include <utility>

#include "base/try.hpp"
#include "corpus/layout_parts.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/ljspeech_lists.hpp"
#include "corpus/layouts/table.hpp"
#include "corpus/list_columns.hpp"
#include "corpus/list_text.hpp"
#include "corpus/listed_clips.hpp"
#include "corpus/names.hpp"

namespace xtts::corpus {
namespace ljspeech_layout {
namespace {

class LjspeechReader {
 public:
  explicit LjspeechReader(const LayoutInput& input) : input_(input), clips_(input) {}

  Result<Findings> read(const std::vector<ListSource>& sources) {
    for (const ListSource& source : sources) XTTS_TRY(read_source(source));
    if (many_fields_count_ > 0) {
      clips_.note(counted(many_fields_count_, "line has", "lines have") +
                  " more than three fields: the text between the first and the last '|' is raw");
    }
    return clips_.finish(sources, "lines id|text|normalized text");
  }

 private:
  Status read_source(const ListSource& source) {
    XTTS_ASSIGN(ListText list, read_list(input_, source.list));
    if (list.had_byte_order_mark())
      clips_.note(source.list + " begins with a byte-order mark, which is skipped");
    ListColumns columns;
    bool is_first = true;
    while (const auto line = list.next()) {
      if (trimmed(line->text).empty()) continue;
      if (std::exchange(is_first, false) && take_header(source, line->text, columns)) continue;
      clips_.count_line();
      read_line(source, *line, columns);
      XTTS_TRY(clips_.check_bounds(source));
    }
    return {};
  }

  bool take_header(const ListSource& source, std::string_view line, ListColumns& columns) {
    const auto header = ListColumns::from_header(line);
    // A clip may be called "id" or "audio" after all.
    if (!header || clips_.has_audio(source, trimmed(line.substr(0, line.find('|'))))) return false;
    columns = *header;
    clips_.note(source.list + " has a header line: " + printable(line));
    return true;
  }

  void read_line(const ListSource& source, const ListText::Line& line, const ListColumns& columns) {
    if (auto fault = fault_of_text_bytes(line.text)) {
      return clips_.refuse(source, line.number, {}, "the line " + *fault);
    }
    const auto row = columns.split(line.text);
    if (!row.ok()) {
      return clips_.refuse(source, line.number, {}, "the line " + row.status().message());
    }
    // An id is a name, not a path: one that climbs or is absolute was not meant so.
    if (const auto fault = fault_of_listed_path(row->id)) {
      return clips_.refuse(source, line.number, row->id, *fault);
    }
    many_fields_count_ += row->field_count > 3 && row->speaker.empty() ? 1 : 0;
    clips_.add(source, {.line = line.number,
                        .audio = row->id,
                        .id = {},
                        .text_raw = row->text_raw,
                        .text_normalized = row->text_normalized,
                        .speaker = row->speaker,
                        .language = row->language,
                        .split = std::nullopt});
  }

  const LayoutInput& input_;
  ListedClips clips_;
  std::uint64_t many_fields_count_ = 0;
};

Detected detect(const LayoutInput& input) {
  if (!input.config.metadata_train_file.empty()) {
    return Detected("metadata_train_file is set (layout ljspeech)");
  }
  const MetadataCandidates found = find_metadata(input.tree);
  if (!found.plain && found.others.empty()) return Detected(std::nullopt);
  const std::string& list = found.plain ? *found.plain : found.others.front();
  XTTS_ASSIGN(const bool has_fields, is_table(input, list));
  if (has_fields) return Detected(std::nullopt);  // metadata.csv is a name that all like
  return Detected(printable(list) + " is in DATA (layout ljspeech)");
}

Result<Findings> read(const LayoutInput& input) {
  XTTS_ASSIGN(const std::vector<ListSource> sources, choose_lists(input));
  return LjspeechReader(input).read(sources);
}

}  // namespace
}  // namespace ljspeech_layout

const Layout kLjspeechLayout = {"ljspeech", "metadata.csv (id|text|normalized text) beside wavs/",
                                ljspeech_layout::detect, ljspeech_layout::read};

}  // namespace xtts::corpus
