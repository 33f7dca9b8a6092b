#include "corpus/several_corpora.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "corpus/clips/splits.hpp"
#include "corpus/files/data_tree.hpp"
#include "corpus/files/names.hpp"
#include "formats/corpus_config.hpp"

namespace xtts::corpus {
namespace {

// More folders than this are speakers or books of one corpus.
constexpr std::size_t kFoldersMax = 64;
constexpr std::size_t kNameBytesMax = 100;

std::string_view first_step(std::string_view path) {
  return path.substr(0, path.find('/'));
}

std::string_view behind(std::string_view folder, std::string_view path) {
  return path.size() > folder.size() ? path.substr(folder.size() + 1) : std::string_view();
}

// The tree of each folder in DATA, cut from DATA's own tree.
std::map<std::string, DataTree, std::less<>> trees_below(const DataTree& tree) {
  std::map<std::string, DataTree, std::less<>> trees;
  for (const std::string& folder : tree.folders) {
    if (folder.empty()) continue;
    DataTree& part = trees[std::string(first_step(folder))];
    part.folders.emplace_back(behind(first_step(folder), folder));
    if (trees.size() > kFoldersMax) return {};
  }
  for (auto& [folder, part] : trees) {
    part.root = tree.full_path(folder);
    part.real_root = join_path(tree.real_root, folder);
    part.audio_roots = tree.audio_roots;
    part.real_audio_roots = tree.real_audio_roots;
    part.mounts = tree.mounts.below(folder);
    std::sort(part.folders.begin(), part.folders.end());
  }
  const auto part_of = [&](std::string_view path) -> DataTree* {
    const auto place = trees.find(first_step(path));
    return place == trees.end() || path.find('/') == std::string_view::npos ? nullptr
                                                                            : &place->second;
  };
  for (const TreeFile& file : tree.files) {
    if (DataTree* part = part_of(file.path)) {
      part->files.push_back(file);
      part->files.back().path = behind(first_step(file.path), file.path);
    }
  }
  for (const Refusal& refusal : tree.refusals) {
    if (DataTree* part = part_of(refusal.path)) {
      part->refusals.push_back(refusal);
      part->refusals.back().path = behind(first_step(refusal.path), refusal.path);
    }
  }
  for (const auto& [link, target] : tree.folder_links) {
    DataTree* part = part_of(link);
    if (part != nullptr && first_step(link) == first_step(target)) {
      part->folder_links.emplace(behind(first_step(link), link),
                                 behind(first_step(target), target));
    }
  }
  return trees;
}

// A folder whose lists cannot be looked into has an unknown layout; its build gives the reason.
const Layout* layout_of_part(const LayoutInput& input) {
  for (const Layout& layout : layouts()) {
    const auto reason = detect_layout(layout, input);
    if (!reason.ok()) return nullptr;
    if (*reason) return &layout;
  }
  return nullptr;
}

std::string name_of(std::string_view folder, std::size_t number) {
  const bool is_fit = folder.size() <= kNameBytesMax && printable(folder) == folder;
  return is_fit ? std::string(folder) : formatted("corpus_{}", number);
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// The folders in DATA that are corpora by themselves. Each part is tried as DATA, without the
// config's columns and lists: those are of one corpus.
std::vector<formats::CorporaEntry> entries_of_parts(const LayoutInput& input) {
  std::vector<formats::CorporaEntry> entries;
  formats::CorpusConfig config = input.config;
  config.metadata_train_file.clear();
  for (const auto& [folder, tree] : trees_below(input.tree)) {
    const Layout* const found = layout_of_part({input.env, tree, config});
    if (found == nullptr || found->name == layouts().back().name) continue;
    formats::CorporaEntry& entry = entries.emplace_back();
    entry.name = name_of(folder, entries.size());
    entry.folder = join_path(input.tree.real_root, folder);
    entry.layout = found->name;
    if (const auto split = split_of_word(folder)) entry.split = to_string(*split);
  }
  return entries;
}

// Only a layout that finds its lists in folders below DATA can read corpora there.
std::string other_ways(std::span<const formats::CorporaEntry> entries) {
  const auto reads_below = [](const formats::CorporaEntry& entry) {
    const Layout* const layout = layout_named(entry.layout);
    return layout != nullptr && layout->list_place == ListPlace::kAnywhere;
  };
  const auto found = std::ranges::find_if(entries, reads_below);
  const std::string all =
      option("layout-of-data", layouts().back().name) + " reads all audio without texts";
  if (found == entries.end()) return all;
  return formatted("{} reads those of that kind, {}", option("layout-of-data", found->layout), all);
}

}  // namespace

Result<std::vector<formats::CorporaEntry>> corpora_in(const LayoutInput& input,
                                                      const Layout& layout) {
  std::vector<formats::CorporaEntry> entries;
  if (layout.list_place == ListPlace::kInData) return entries;
  entries = entries_of_parts(input);
  const bool are_of_one_kind = std::ranges::all_of(
      entries, [&](const auto& entry) { return entry.layout == entries.front().layout; });
  // If all parts are of one kind, the layout of DATA reads them as one corpus, unless that layout
  // looks for lists in DATA only.
  const bool are_several =
      entries.size() > 1 && (!are_of_one_kind || layout.name == layouts().back().name);
  if (!are_several) entries.clear();
  return entries;
}

std::optional<formats::CorporaEntry> only_corpus_in(const LayoutInput& input) {
  std::vector<formats::CorporaEntry> entries = entries_of_parts(input);
  if (entries.size() != 1) return std::nullopt;
  return std::move(entries.front());
}

Result<std::vector<formats::CorporaEntry>> find_corpora(Env& env, const formats::DataFolders& data,
                                                        const formats::CorpusConfig& config) {
  XTTS_ASSIGN(const DataTree tree, scan_data(env, data));
  const LayoutInput input{env, tree, config};
  const Layout* const layout = layout_of_part(input);
  return corpora_in(input, layout == nullptr ? layouts().back() : *layout);
}

std::string corpora_yaml(std::span<const formats::CorporaEntry> entries) {
  std::string yaml;
  for (const formats::CorporaEntry& entry : entries) {
    yaml += "- name: " + quoted(entry.name) + "\n  path: " + quoted(entry.folder) +
            "\n  layout: " + entry.layout + "\n";
    if (!entry.split.empty()) yaml += formatted("  split: {}\n", entry.split);
  }
  return yaml;
}

Status refusal_of_several(const std::string& data, std::span<const formats::CorporaEntry> entries) {
  std::string names;
  for (const formats::CorporaEntry& entry : entries) {
    names += formatted("{}{} ({})", names.empty() ? "" : ", ", printable(entry.name), entry.layout);
  }
  return {StatusCode::kInvalidArgument,
          data + " holds " + counted(entries.size(), "corpus", "corpora") + ": " + names +
              ". Build from a file that names them, in place of DATA; --write-corpora corpora.yaml "
              "writes this one:\n\n" +
              corpora_yaml(entries) + "\nOr name a layout: " + other_ways(entries)};
}

}  // namespace xtts::corpus
