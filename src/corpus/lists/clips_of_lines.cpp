#include "corpus/lists/clips_of_lines.hpp"

#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/files/names.hpp"
#include "corpus/files/walked_files.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "formats/corpus_config.hpp"

namespace xtts::corpus {
namespace {

Result<LineReader> open_list(const LayoutInput& input, std::string_view list) {
  const bool is_packed = equals_ignoring_case(file_extension(list), "gz");
  return LineReader::open(input.env, input.tree.full_path(list), is_packed,
                          input.log == nullptr ? nullptr : &input.log->list, input.config.encoding);
}

// The first field of a line; empty where the line has only one, which may be anything.
std::string_view first_field(std::string_view line, std::string_view separators) {
  line = trimmed(line);
  const auto end = line.find_first_of(separators);
  return end == std::string_view::npos ? std::string_view() : trimmed(line.substr(0, end));
}

}  // namespace

Result<LineReader> read_list(const LayoutInput& input, std::string_view list) {
  if (input.log != nullptr) input.log->paths.emplace(list);
  if (const Refusal* refusal = input.tree.refusal_of(list)) return status_of(*refusal);
  auto text = open_list(input, list);
  if (text.ok()) return text;
  const auto facts = input.env.stat(input.tree.full_path(list));
  if (facts.ok() && facts->size_bytes > kListBytesMax) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} has {}; a list may have 4 GiB: divide it, and name the parts as "
                            "corpora of a corpora.yaml",
                            printable(list), counted(facts->size_bytes, "byte", "bytes")));
  }
  return text.status().with_context("reading the list");
}

void ListLine::add(ListedClip clip) const {
  clip.line = number;
  list.clips.add(list.source, clip);
}

void ListLine::refuse(std::string_view id, std::string reason) const {
  list.clips.refuse(list.source, number, id, std::move(reason));
}

Status read_line(const OpenList& list, const LineReader::Line& line, std::string_view separators,
                 const ReadLine& read) {
  list.clips.count_line();
  auto fault = fault_of_text_bytes(line.text);
  if (fault) {
    fault->insert(0, "the line ");
  } else {
    fault = read({list, line.number, line.text});
  }
  if (fault) {
    list.clips.refuse(list.source, line.number, first_field(line.text, separators),
                      std::move(*fault));
  }
  return list.clips.check_bounds(list.source);
}

Status read_lines(const OpenList& list, std::string_view separators, const ReadLine& read) {
  while (const auto line = list.lines.next()) {
    if (!trimmed(line->text).empty()) XTTS_TRY(read_line(list, *line, separators, read));
  }
  return {};
}

}  // namespace xtts::corpus
