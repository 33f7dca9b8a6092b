#include "corpus/layout_parts.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "corpus/audio_extensions.hpp"
#include "corpus/layouts/ljspeech_lists.hpp"
#include "corpus/names.hpp"

namespace xtts::corpus {
namespace {

// "train-clean-100" -> train, with `rest` "clean-100".
std::optional<Split> split_before_dash(std::string_view name, std::string_view& rest) {
  const auto dash = name.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  rest = name.substr(dash + 1);
  return official_split(name.substr(0, dash));
}

Result<ListText> read_small_text(Env& env, const std::string& path) {
  XTTS_ASSIGN(std::string bytes, read_text_file(env, path, kTextBytesMax));
  return ListText::from_bytes(std::move(bytes), path);
}

Result<ListText> text_of_list(const LayoutInput& input, std::string_view list) {
  const bool is_packed = equals_ignoring_case(file_extension(list), "gz");
  return ListText::open(input.env, input.tree.full_path(list), is_packed,
                        input.log == nullptr ? nullptr : &input.log->list);
}

}  // namespace

std::string_view take_last_name(std::string_view& path) {
  const std::string_view name = file_name(path);
  path = folder_of(path);
  return name;
}

std::vector<std::string_view> data_names(const DataTree& tree) {
  std::string_view given = tree.root;
  while (given.ends_with('/')) given.remove_suffix(1);
  std::vector<std::string_view> names;
  for (const std::string_view name : {file_name(given), file_name(tree.real_root)}) {
    const bool is_new = names.empty() || names.front() != name;
    if (is_new && !name.empty() && name != "." && name != "..") names.push_back(name);
  }
  return names;
}

NearestFolders nearest_folders(const DataTree& tree, std::string_view file_path) {
  std::string_view inside = folder_of(file_path);
  std::string_view above = tree.real_root;
  const auto next = [&] { return take_last_name(inside.empty() ? above : inside); };
  NearestFolders found;
  found.nearest = next();
  found.above = next();
  return found;
}

std::optional<Split> official_split(std::string_view name) {
  if (name == "train") return Split::kTrain;
  if (name == "dev") return Split::kValidation;
  if (name == "test") return Split::kTest;
  return std::nullopt;
}

std::optional<Split> libri_split(const DataTree& tree, std::string_view folder) {
  std::string_view rest;
  while (!folder.empty()) {
    if (const auto split = split_before_dash(take_last_name(folder), rest)) return split;
  }
  for (const std::string_view name : data_names(tree)) {
    const auto split = split_before_dash(name, rest);
    if (split && (rest.starts_with("clean") || rest.starts_with("other"))) return split;
  }
  return std::nullopt;
}

bool met_folder(const DataTree& tree, const std::string& folder) {
  return tree.has_folder(folder) || tree.refusal_of(folder) != nullptr;
}

bool met_file(const DataTree& tree, std::string_view path) {
  return any_file(tree, FilesAsked::kNotAudio,
                  [&](const MetFile& file) { return file.path == path; });
}

bool is_audio(const MetFile& file) {
  if (file.file != nullptr) return file.file->audio_rank.has_value();
  return file.refusal->is_sound || audio_rank(file_extension(file.path));
}

std::string_view stem_of_audio(const MetFile& file) {
  if (file.file != nullptr) return stem_of(*file.file);
  return file.refusal->is_sound ? without_suffix(file.path) : without_audio_extension(file.path);
}

Transcript read_transcript(const LayoutInput& input, const MetFile& file) {
  if (input.log != nullptr) input.log->paths.emplace(file.path);
  if (file.refusal != nullptr) {
    return {{}, Fault{"the transcript " + file.refusal->reason, file.refusal->kind}};
  }
  const auto text = read_small_text(input.env, input.tree.full_path(file.path));
  if (!text.ok()) {
    const bool is_input = text.status().code() == StatusCode::kInvalidArgument;
    return {{},
            Fault{"the transcript cannot be read: " + text.status().message(),
                  is_input ? ProblemClass::kInput : ProblemClass::kEnvironment}};
  }
  if (const auto fault = fault_of_text_bytes(text->all())) {
    return {{}, Fault{"the transcript " + *fault, ProblemClass::kInput}};
  }
  return {std::string(trimmed(text->all())), std::nullopt};
}

Status status_of(const Refusal& refusal) {
  const bool may_pass = refusal.kind == ProblemClass::kEnvironment;
  return {may_pass ? StatusCode::kResource : StatusCode::kInvalidArgument,
          printable(refusal.path) + " " + refusal.reason};
}

Result<ListText> read_list(const LayoutInput& input, std::string_view list) {
  if (input.log != nullptr) input.log->paths.emplace(list);
  if (const Refusal* refusal = input.tree.refusal_of(list)) return status_of(*refusal);
  auto text = text_of_list(input, list);
  if (text.ok()) return text;
  const auto facts = input.env.stat(input.tree.full_path(list));
  if (facts.ok() && facts->size_bytes > kListBytesMax) {
    return Status(StatusCode::kInvalidArgument,
                  printable(list) + " has " + counted(facts->size_bytes, "byte", "bytes") +
                      "; a list may have 4 GiB: divide it, and name the parts as corpora of a "
                      "corpora.yaml");
  }
  return text.status().with_context("reading the list");
}

Status read_lines(ListText& list, const ListSource& source, ListedClips& clips,
                  const std::function<void(const ListText::Line&)>& read) {
  while (const auto line = list.next()) {
    if (trimmed(line->text).empty()) continue;
    clips.count_line();
    read(*line);
    XTTS_TRY(clips.check_bounds(source));
  }
  return {};
}

bool has_metadata_list(const LayoutInput& input) {
  const MetadataCandidates found = find_metadata(input.tree);
  return !input.config.metadata_train_file.empty() || found.plain || !found.others.empty();
}

Status not_this_layout(const LayoutInput& input, std::string_view expected) {
  return {StatusCode::kInvalidArgument,
          "there is no " + std::string(expected) + " in " + input.tree.root +
              "; give the folder that holds the corpus, or choose layout auto"};
}

}  // namespace xtts::corpus
