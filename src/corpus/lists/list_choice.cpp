#include "corpus/lists/list_choice.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/files/names.hpp"
#include "corpus/files/walked_files.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "formats/corpus_config.hpp"

namespace xtts::corpus {
namespace {

constexpr std::array<std::string_view, 3> kAudioFolderNames = {"wavs", "wav", "audio"};

void consider(std::string_view path, MetadataCandidates& found) {
  if (path.find('/') != std::string_view::npos) return;
  if (path == "metadata.csv" || (path == "metadata.txt" && !found.plain)) {
    found.plain = path;
  } else if (equals_ignoring_case(file_extension(path), "csv") &&
             folded(path).find("metadata") != std::string::npos) {
    found.others.emplace_back(path);
  }
}

Status invalid(std::string message) {
  return {StatusCode::kInvalidArgument, std::move(message)};
}

// A path of the config, relative to DATA. A full path inside DATA is accepted too.
Result<std::string> config_path(const DataTree& tree, std::string_view key,
                                std::string_view value) {
  std::string_view path = value;
  if (path.starts_with(tree.root + "/")) path.remove_prefix(tree.root.size() + 1);
  while (path.starts_with("./")) path.remove_prefix(2);
  while (path.ends_with('/')) path.remove_suffix(1);
  if (path == ".") path = {};
  if (fault_of_listed_path(path)) {
    return invalid(formatted("{}: {} is not inside DATA ({})", key, value, tree.root));
  }
  return std::string(path);
}

// The list with links followed, if the walk of DATA found it; else why it may not be read.
Result<std::string> readable_list(const DataTree& tree, const std::string& path) {
  std::string resolved = tree.resolve(path);
  const bool is_found = std::any_of(tree.files.begin(), tree.files.end(),
                                    [&](const TreeFile& file) { return file.path == resolved; });
  if (is_found) return resolved;
  for (const Refusal& refusal : tree.refusals) {
    const bool is_on_the_way = resolved == refusal.path || resolved.starts_with(refusal.path + "/");
    if (is_on_the_way) return invalid(formatted("{} {}", printable(refusal.path), refusal.reason));
  }
  return invalid(formatted("there is no list {} in {}", printable(path), tree.root));
}

bool holds(const DataTree& tree, const std::string& path) {
  return std::any_of(tree.files.begin(), tree.files.end(),
                     [&](const TreeFile& file) { return file.path == path; });
}

// If DATA itself does not hold the list, a file of that name in a folder below is used. The
// trainer has a folder for training and one for validation, each with its list and audio.
Result<std::string> configured_list(const DataTree& tree, std::string_view key,
                                    const std::string& configured) {
  XTTS_ASSIGN(std::string path, config_path(tree, key, configured));
  if (path.empty() || holds(tree, tree.resolve(path))) return readable_list(tree, path);
  std::vector<std::string> below;
  for (const TreeFile& file : tree.files) {
    if (file.path.ends_with("/" + path)) below.push_back(file.path);
  }
  if (below.size() > 1) {
    return invalid(formatted("{}: {} is in several folders: {}; give its path in DATA", key,
                             printable(path), names_of(below)));
  }
  return readable_list(tree, below.empty() ? path : below.front());
}

// `list` is the file that `named` led to, perhaps in a folder below.
Result<std::string> audio_folder_of(const LayoutInput& input, const std::string& list,
                                    const std::string& named, std::string_view key,
                                    const std::string& configured) {
  if (configured.empty()) return usual_audio_folder(input.tree, list);
  XTTS_ASSIGN(std::string folder, config_path(input.tree, key, configured));
  if (!named.empty() && list.size() > named.size() && list.ends_with("/" + named)) {
    std::string beside = join_path(list.substr(0, list.size() - named.size() - 1), folder);
    if (has_walked_folder(input.tree, beside)) return beside;
  }
  if (!has_walked_folder(input.tree, folder)) {
    return invalid(formatted("{}: there is no folder {} in {}", key, folder, input.tree.root));
  }
  return folder;
}

Result<std::string> only_metadata(const DataTree& tree) {
  const MetadataCandidates found = find_metadata(tree);
  if (found.plain) return *found.plain;
  if (found.others.size() == 1) return found.others.front();
  if (found.others.empty()) {
    return invalid(
        formatted("no metadata.csv in {} (also looked for metadata.txt and *metadata*.csv); give "
                  "the folder that holds it, set metadata_train_file, or choose layout folder",
                  tree.root));
  }
  return invalid(
      formatted("{} holds {} ({}) and no metadata.csv; say which with metadata_train_file (and "
                "metadata_eval_file), or choose layout folder to use the audio without text",
                tree.root, counted(found.others.size(), "list", "lists"), names_of(found.others)));
}

Status check_keys(const formats::CorpusConfig& config) {
  if (!config.metadata_eval_file.empty() && config.metadata_train_file.empty()) {
    return invalid("metadata_eval_file is set without metadata_train_file: set both");
  }
  if (!config.metadata_eval_file.empty() &&
      config.metadata_eval_file == config.metadata_train_file) {
    return invalid(
        "metadata_train_file and metadata_eval_file are the same list: set metadata_train_file "
        "alone");
  }
  if (!config.wavs_eval_folder.empty() && config.metadata_eval_file.empty()) {
    return invalid(
        "wavs_eval_folder is set without metadata_eval_file, the list of its audio: set both");
  }
  return {};
}

}  // namespace

std::string usual_audio_folder(const DataTree& tree, const std::string& list) {
  for (const std::string_view base : {folder_of(list), std::string_view()}) {
    for (const std::string_view name : kAudioFolderNames) {
      std::string folder = join_path(base, name);
      if (has_walked_folder(tree, folder)) return folder;
    }
  }
  return std::string(folder_of(list));
}

MetadataCandidates find_metadata(const DataTree& tree) {
  MetadataCandidates found;
  for (const TreeFile& file : tree.files) {
    if (!file.audio_rank) consider(file.path, found);
  }
  // A refused list (a link that leaves DATA) still shows the layout; reading it gives the reason.
  for (const Refusal& refusal : tree.refusals) consider(refusal.path, found);
  return found;
}

Result<std::vector<ListSource>> choose_lists(const LayoutInput& input) {
  const formats::CorpusConfig& config = input.config;
  XTTS_TRY(check_keys(config));
  ListSource train;
  if (config.metadata_train_file.empty()) {
    XTTS_ASSIGN(const std::string found, only_metadata(input.tree));
    XTTS_ASSIGN(train.list, readable_list(input.tree, found));
  } else {
    XTTS_ASSIGN(train.list,
                configured_list(input.tree, "metadata_train_file", config.metadata_train_file));
  }
  XTTS_ASSIGN(train.audio_folder, audio_folder_of(input, train.list, config.metadata_train_file,
                                                  "wavs_train_folder", config.wavs_train_folder));
  if (config.metadata_eval_file.empty()) return std::vector<ListSource>{std::move(train)};

  ListSource eval;
  XTTS_ASSIGN(eval.list,
              configured_list(input.tree, "metadata_eval_file", config.metadata_eval_file));
  XTTS_ASSIGN(eval.audio_folder, audio_folder_of(input, eval.list, config.metadata_eval_file,
                                                 "wavs_eval_folder", config.wavs_eval_folder));
  train.split = Split::kTrain;
  eval.split = Split::kValidation;
  return std::vector<ListSource>{std::move(train), std::move(eval)};
}

}  // namespace xtts::corpus
