#include "corpus/lists/clips_of_rows.hpp"

#include <algorithm>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/clips/splits.hpp"
#include "corpus/files/audio_extensions.hpp"
#include "corpus/files/names.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "corpus/lists/list_choice.hpp"
#include "corpus/lists/named_rows.hpp"

namespace xtts::corpus {
namespace {

class RowListsReader {
 public:
  RowListsReader(const LayoutInput& input, std::span<const FieldNames> names, RowIds ids)
      : input_(input), names_(names), ids_(ids), clips_(input) {}

  Status read_list(const ListSource& source) {
    XTTS_ASSIGN(NamedRows rows, NamedRows::open(input_, source.list));
    if (rows.had_byte_order_mark()) {
      clips_.note(source.list + " begins with a byte-order mark, which is skipped");
    }
    return read_rows(rows, source, clips_, [&](std::uint64_t line, nlohmann::json fields) {
      add_row(source, line, std::move(fields));
      return Status();
    });
  }

  ClipCollector& clips() { return clips_; }

 private:
  void add_row(const ListSource& source, std::uint64_t line, nlohmann::json fields) {
    auto read = read_row(std::move(fields), names_);
    if (!read.ok()) return refuse(source, line, read.status().message());
    if (read->audio.empty()) return refuse(source, line, "names no audio");
    if (ids_ == RowIds::kInListFolder) {
      if (const auto fault = fault_of_listed_path(read->audio)) {
        return clips_.refuse(source, line, read->audio, *fault);
      }
      read->id = id_in_folder(source, read->audio);
    }
    add(source, line, *read);
  }

  void add(const ListSource& source, std::uint64_t line, const RowClip& row) {
    ListedClip clip = listed(row);
    clip.line = line;
    const std::string suffix = row.segment ? segment_suffix(*row.segment) : std::string();
    clip.id_suffix = suffix;
    clips_.add(source, clip);
  }

  void refuse(const ListSource& source, std::uint64_t line, const std::string& fault) {
    clips_.refuse(source, line, {}, "the line " + fault);
  }

  static std::string id_in_folder(const ListSource& source, std::string_view audio) {
    while (audio.starts_with("./")) audio.remove_prefix(2);
    return join_path(folder_of(source.list), without_audio_extension(audio));
  }

  const LayoutInput& input_;
  std::span<const FieldNames> names_;
  RowIds ids_;
  ClipCollector clips_;
};

bool has_json_field(std::string_view text, std::span<const FieldNames> names, FieldRole role) {
  return begins_with_object(text, [&](const nlohmann::json& row) {
    const nlohmann::json* const value = field_of(row, names, role);
    return value != nullptr && value->is_string();
  });
}

// A single name is no header: it may be the first line of a poem.
bool has_header_field(std::string_view text, std::span<const FieldNames> names, FieldRole role,
                      PipeHeaders pipes) {
  const std::string_view line = first_line(text);
  if (pipes == PipeHeaders::kRefused && line.find('|') != std::string_view::npos) return false;
  const std::vector<std::string> header = names_of_header(line);
  if (header.size() < 2) return false;
  const auto known = std::ranges::find(names, role, &FieldNames::role);
  return known != names.end() && std::ranges::any_of(header, [&](const std::string& name) {
           return known->rank_of(name).has_value();
         });
}

}  // namespace

ListedClip listed(const RowClip& row) {
  ListedClip clip;
  clip.audio = row.audio;
  clip.id = row.id;
  clip.text_raw = row.text_raw;
  clip.text_normalized = row.text_normalized;
  clip.speaker = row.speaker;
  clip.language = row.language;
  clip.split = row.split;
  clip.segment = row.segment;
  clip.extra_json = row.extra_json;
  return clip;
}

Status read_rows(NamedRows& rows, const ListSource& source, ClipCollector& clips,
                 const ReadRow& read) {
  while (auto row = rows.next()) {
    clips.count_line();
    if (row->fields.ok()) {
      XTTS_TRY(read(row->line, std::move(*row->fields)));
    } else {
      clips.refuse(source, row->line, {}, "the line " + row->fields.status().message());
    }
    XTTS_TRY(clips.check_bounds(source));
  }
  return {};
}

Result<Findings> clips_of_rows(const LayoutInput& input, std::span<const ListSource> sources,
                               std::span<const FieldNames> names, RowIds ids,
                               std::string_view expected, std::vector<std::string> notes) {
  RowListsReader reader(input, names, ids);
  for (std::string& note : notes) reader.clips().note(std::move(note));
  for (const ListSource& source : sources) XTTS_TRY(reader.read_list(source));
  return reader.clips().finish(sources, expected);
}

Result<bool> begins_with_rows(const LayoutInput& input, std::string_view list,
                              std::span<const FieldNames> names, FieldRole role,
                              PipeHeaders pipes) {
  XTTS_ASSIGN(const std::string text, beginning_of(input, list));
  return has_json_lines(list) ? has_json_field(text, names, role)
                              : has_header_field(text, names, role, pipes);
}

Result<std::vector<std::string>> lists_with_rows(const LayoutInput& input, std::string_view folder,
                                                 std::span<const std::string_view> endings,
                                                 std::span<const FieldNames> names, FieldRole role,
                                                 PipeHeaders pipes) {
  std::vector<std::string> lists;
  for (std::string& list : lists_in(input.tree, folder, endings)) {
    XTTS_ASSIGN(const bool has_rows, begins_with_rows(input, list, names, role, pipes));
    if (has_rows) lists.push_back(std::move(list));
  }
  return lists;
}

Result<std::vector<ListSource>> lists_by_split(const LayoutInput& input,
                                               std::span<const std::string> lists,
                                               std::string_view layout) {
  std::vector<ListSource> sources;
  for (const std::string& list : lists) {
    ListSource& source = sources.emplace_back();
    source.list = list;
    source.audio_folder = usual_audio_folder(input.tree, list);
    if (lists.size() == 1) return sources;
    source.split = split_of_name(list);
    if (!source.split) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("{} holds {} ({}), and the name of {} is no split; say which with "
                              "metadata_train_file (and metadata_eval_file) and layout {}",
                              input.tree.root, counted(lists.size(), "list", "lists"),
                              names_of(lists), printable(list), layout));
    }
  }
  return sources;
}

}  // namespace xtts::corpus
