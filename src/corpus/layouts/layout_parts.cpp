#include "corpus/layouts/layout_parts.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/try.hpp"
#include "corpus/clips/splits.hpp"
#include "corpus/files/names.hpp"
#include "corpus/lists/line_reader.hpp"
#include "corpus/lists/list_choice.hpp"
#include "formats/corpus_config.hpp"

namespace xtts::corpus {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kLanguages = {{
    {"chinese", "zh"},
    {"dutch", "nl"},
    {"english", "en"},
    {"finnish", "fi"},
    {"french", "fr"},
    {"german", "de"},
    {"greek", "el"},
    {"hungarian", "hu"},
    {"italian", "it"},
    {"japanese", "ja"},
    {"polish", "pl"},
    {"portuguese", "pt"},
    {"russian", "ru"},
    {"spanish", "es"},
}};

// "train-clean-100" -> train, with `rest` "clean-100".
std::optional<Split> split_before_dash(std::string_view name, std::string_view& rest) {
  const auto dash = name.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  rest = name.substr(dash + 1);
  return official_split(name.substr(0, dash));
}

Result<LineReader> read_small_text(const LayoutInput& input, const std::string& path) {
  XTTS_ASSIGN(std::string bytes, read_text_file(input.env, path, kTextBytesMax));
  return LineReader::from_bytes(std::move(bytes), input.config.encoding);
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

std::string_view language_named(std::string_view name) {
  const auto* const found = std::ranges::find_if(
      kLanguages, [&](const auto& language) { return equals_ignoring_case(name, language.first); });
  return found == kLanguages.end() ? std::string_view() : found->second;
}

std::string_view language_by_folders(const DataTree& tree, std::string_view folder,
                                     std::string_view (*of_name)(std::string_view)) {
  while (!folder.empty()) {
    const std::string_view language = of_name(take_last_name(folder));
    if (!language.empty()) return language;
  }
  for (const std::string_view name : data_names(tree)) {
    const std::string_view language = of_name(name);
    if (!language.empty()) return language;
  }
  return {};
}

std::vector<ListSource> shards_by_split(const DataTree& tree,
                                        const std::function<bool(std::string_view)>& is_shard) {
  std::vector<ListSource> shards;
  for_each_file(tree, FileFilter::kNotAudio, [&](const WalkedFile& file) {
    if (!is_shard(file.path)) return;
    auto split = split_of_name(file.path);
    if (!split) split = split_of_word(file_name(folder_of(file.path)));
    shards.push_back({std::string(file.path), "", split});
  });
  const bool are_all_one = std::ranges::all_of(
      shards, [&](const ListSource& shard) { return shard.split == shards.front().split; });
  if (are_all_one) {
    for (ListSource& shard : shards) shard.split.reset();
  }
  return shards;
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

Transcript read_transcript(const LayoutInput& input, const WalkedFile& file) {
  if (input.log != nullptr) input.log->paths.emplace(file.path);
  if (file.refusal != nullptr) {
    return {{}, Fault{"the transcript " + file.refusal->reason, file.refusal->kind}};
  }
  const auto text = read_small_text(input, input.tree.full_path(file.path));
  if (!text.ok()) {
    const bool is_input = text.status().code() == StatusCode::kInvalidArgument;
    return {{},
            Fault{"the transcript cannot be read: " + text.status().message(),
                  is_input ? RejectClass::kInput : RejectClass::kEnvironment}};
  }
  if (const auto fault = fault_of_text_bytes(text->all())) {
    return {{}, Fault{"the transcript " + *fault, RejectClass::kInput}};
  }
  return {std::string(trimmed(text->all())), std::nullopt};
}

bool has_metadata_list(const LayoutInput& input) {
  const MetadataCandidates found = find_metadata(input.tree);
  return !input.config.metadata_train_file.empty() || found.plain || !found.others.empty();
}

}  // namespace xtts::corpus
