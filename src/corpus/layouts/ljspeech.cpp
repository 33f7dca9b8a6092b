// ljspeech: metadata.csv beside wavs/, lines "id|text|normalized text", and the variants in
// published corpora and Coqui TTS lists. src/corpus/README.md says how each line is read.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/files/names.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/layouts/table_layout.hpp"
#include "corpus/lists/clip_collector.hpp"
#include "corpus/lists/clips_of_lines.hpp"
#include "corpus/lists/line_reader.hpp"
#include "corpus/lists/list_choice.hpp"
#include "corpus/lists/pipe_columns.hpp"
#include "formats/corpus_config.hpp"

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
    XTTS_ASSIGN(LineReader list, read_list(input_, source.list));
    if (list.had_byte_order_mark())
      clips_.note(source.list + " begins with a byte-order mark, which is skipped");
    PipeColumns columns;
    bool is_first = true;
    while (const auto line = list.next()) {
      if (trimmed(line->text).empty()) continue;
      if (std::exchange(is_first, false) && take_header(source, line->text, columns)) continue;
      XTTS_TRY(read_line({source, list, clips_}, *line, {},
                         [&](const ListLine& one) { return add_line(one, columns); }));
    }
    return {};
  }

  bool take_header(const ListSource& source, std::string_view line, PipeColumns& columns) {
    const auto header = PipeColumns::from_header(line);
    // A clip may have the id "id" or "audio".
    if (!header || clips_.has_audio(source, trimmed(line.substr(0, line.find('|'))))) return false;
    columns = *header;
    clips_.note(formatted("{} has a header line: {}", source.list, printable(line)));
    return true;
  }

  std::optional<std::string> add_line(const ListLine& line, const PipeColumns& columns) {
    const auto row = columns.split(line.text);
    if (!row.ok()) return "the line " + row.status().message();
    // An id is a name, not a path: an absolute path or one with ".." is an error.
    if (auto fault = fault_of_listed_path(row->id)) {
      line.refuse(row->id, std::move(*fault));
      return std::nullopt;
    }
    many_fields_count_ += row->field_count > 3 && row->speaker.empty() ? 1 : 0;
    line.add(listed(*row));
    return std::nullopt;
  }

  const LayoutInput& input_;
  ClipCollector clips_;
  std::uint64_t many_fields_count_ = 0;
};

Detected detect(const LayoutInput& input) {
  if (!input.config.metadata_train_file.empty()) {
    return Detected("metadata_train_file is set");
  }
  const MetadataCandidates found = find_metadata(input.tree);
  if (!found.plain && found.others.empty()) return Detected(std::nullopt);
  const std::string& list = found.plain ? *found.plain : found.others.front();
  XTTS_ASSIGN(const bool has_fields, is_table(input, list));
  if (has_fields) return Detected(std::nullopt);  // metadata.csv is a common name
  return Detected(printable(list) + " is in DATA");
}

Result<Findings> read(const LayoutInput& input) {
  XTTS_ASSIGN(const std::vector<ListSource> sources, choose_lists(input));
  auto findings = LjspeechReader(input).read(sources);
  if (findings.status().code() != StatusCode::kInvalidArgument) return findings;
  // metadata.csv is also a common name of tables.
  auto refusal = refusal_of_columns(input, sources.front().list);
  return refusal ? Result<Findings>(std::move(*refusal)) : std::move(findings);
}

}  // namespace
}  // namespace ljspeech_layout

extern const Layout kLjspeechLayout = {"ljspeech",
                                       "metadata.csv (id|text|normalized text) beside wavs/",
                                       ljspeech_layout::detect,
                                       ljspeech_layout::read,
                                       ListPlace::kInData,
                                       ListKeys::kTaken};

}  // namespace xtts::corpus
