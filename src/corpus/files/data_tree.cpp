#include "corpus/files/data_tree.hpp"

#include <algorithm>

#include "base/check_cancelled.hpp"
#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/shell_words.hpp"
#include "base/try.hpp"
#include "corpus/files/audio_extensions.hpp"
#include "corpus/files/names.hpp"
#include "formats/rules.hpp"

namespace xtts::corpus {
namespace {

bool leads_through_hidden(std::string_view path) {
  return path.starts_with('.') || path.find("/.") != std::string_view::npos;
}

// Tells the user how to read the target of a link that leaves DATA. Devices are never read.
std::string ways_to_read(FileKind kind, std::string_view target) {
  const std::string from_there = "build from the folder that holds it";
  if (kind == FileKind::kOther) return "or " + from_there;
  const auto slash = target.rfind('/');
  if (kind != FileKind::kDirectory) target = slash == 0 ? "/" : target.substr(0, slash);
  return formatted("{}, or give {}", from_there, option("audio-root", target));
}

class Scanner {
 public:
  Scanner(Env& env, DataTree& tree, std::string real_root, const std::function<bool()>& cancelled)
      : env_(env), tree_(tree), real_root_(std::move(real_root)), cancelled_(cancelled) {}

  Status run() {
    std::vector<std::string> todo{""};
    while (!todo.empty()) {
      const std::string folder = std::move(todo.back());
      todo.pop_back();
      XTTS_TRY(check_cancelled(cancelled_));
      auto entries = env_.list(tree_.full_path(folder));
      if (!entries.ok()) {
        if (folder.empty()) return entries.status();
        refuse(folder, "cannot be listed: " + entries.status().message(), FileKind::kDirectory,
               RejectClass::kEnvironment);
        continue;
      }
      std::sort(entries->begin(), entries->end(),
                [](const auto& a, const auto& b) { return a.name < b.name; });
      const std::size_t first_child = todo.size();
      for (const DirectoryEntry& entry : *entries) {
        XTTS_TRY(check_cancelled(cancelled_));
        visit(folder, entry, todo);
      }
      // The stack returns its last entry first: reversed, folders are walked by name.
      std::reverse(todo.begin() + static_cast<std::ptrdiff_t>(first_child), todo.end());
      tree_.folders.push_back(folder);
    }
    std::sort(tree_.folders.begin(), tree_.folders.end());
    std::sort(tree_.refusals.begin(), tree_.refusals.end(),
              [](const Refusal& a, const Refusal& b) { return a.path < b.path; });
    return {};
  }

 private:
  void visit(const std::string& folder, const DirectoryEntry& entry,
             std::vector<std::string>& todo) {
    if (entry.name.starts_with("._") && audio_rank(file_extension(entry.name))) {
      refuse(join_path(folder, entry.name),
             "is a file that macOS leaves beside another (AppleDouble), without sound", entry.kind,
             RejectClass::kPolicy, formats::Rule::kNoRecording);
      return;
    }
    if (entry.name.starts_with('.')) {
      ++tree_.hidden_count;
      return;
    }
    std::string path = join_path(folder, entry.name);
    if (entry.is_symlink && !accept_link(path, entry.kind)) return;
    if (entry.kind == FileKind::kDirectory && !entry.is_symlink && is_known_outside(path)) return;
    if (entry.kind == FileKind::kDirectory) {
      todo.push_back(std::move(path));
    } else if (entry.kind == FileKind::kOther) {
      refuse(path, "is a FIFO, socket or device", entry.kind);
    } else {
      const auto rank = audio_rank(file_extension(entry.name));
      tree_.files.push_back({std::move(path), rank, false});
    }
  }

  // Accepts a link that is to be treated as its target: a regular file, or a folder of an audio
  // root.
  bool accept_link(const std::string& path, FileKind kind) {
    const auto target = env_.real_path(tree_.full_path(path));
    if (!target.ok()) {
      refuse(path, "is a symbolic link that leads nowhere or to itself", kind);
      return false;
    }
    auto inside = relative_to(real_root_, *target);
    const auto in_root = inside ? std::nullopt : path_in_any_root(*target);
    if (!inside && !in_root) {
      refuse(path,
             formatted("is a symbolic link that leaves DATA (to {}); put the target into DATA, {}",
                       *target, ways_to_read(kind, *target)),
             kind, RejectClass::kInput, formats::Rule::kOutsideOfData);
      return false;
    }
    if (kind == FileKind::kOther) {
      refuse(path, "is a symbolic link to a FIFO, socket or device", kind);
      return false;
    }
    if (in_root) return accept_outside(path, kind, *target, *in_root);
    if (kind != FileKind::kDirectory) return true;
    if (leads_through_hidden(*inside)) {
      refuse(path, "is a symbolic link into a hidden folder", kind);
    } else {
      tree_.folder_links.emplace(path, std::move(*inside));
    }
    return false;
  }

  [[nodiscard]] std::optional<std::string> path_in_any_root(std::string_view target) const {
    for (const std::string& root : tree_.real_audio_roots) {
      if (auto path = relative_to(root, target)) return path;
    }
    return std::nullopt;
  }

  // Accepts a link into an audio root. A folder is walked under the link's name, once only.
  bool accept_outside(const std::string& path, FileKind kind, const std::string& target,
                      std::string_view in_root) {
    if (leads_through_hidden(in_root)) {
      refuse(path, "is a symbolic link into a hidden folder", kind);
      return false;
    }
    if (kind == FileKind::kDirectory) {
      const auto [known, is_new] = outside_.try_emplace(target, path);
      if (!is_new) {
        tree_.folder_links.emplace(path, known->second);
        return false;
      }
    }
    tree_.mounts.add(path, target);
    return true;
  }

  // Checks folders of audio roots only: the walk meets DATA's own folders once, by their names.
  bool is_known_outside(const std::string& path) {
    if (outside_.empty()) return false;
    std::string real = tree_.mounts.full_path(real_root_, path);
    if (relative_to(real_root_, real) == path) return false;
    if (auto inside = relative_to(real_root_, real)) {
      tree_.folder_links.emplace(path, std::move(*inside));
      return true;
    }
    const auto [known, is_new] = outside_.try_emplace(std::move(real), path);
    if (!is_new) tree_.folder_links.emplace(path, known->second);
    return !is_new;
  }

  void refuse(const std::string& path, std::string reason, FileKind entry,
              RejectClass kind = RejectClass::kInput,
              formats::Rule rule = formats::Rule::kBadFile) {
    tree_.refusals.push_back(
        {path, std::move(reason), kind, entry == FileKind::kDirectory, false, rule});
  }

  Env& env_;
  DataTree& tree_;
  std::string real_root_;
  const std::function<bool()>& cancelled_;
  std::map<std::string, std::string> outside_;  // folders of audio roots, real -> in the tree
};

Status add_audio_root(Env& env, std::string_view folder, DataTree& tree) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.remove_suffix(1);
  const std::string named(folder);
  const auto facts = env.stat(named);
  if (!facts.ok()) return facts.status().with_context("looking for " + option("audio-root", named));
  if (facts->kind != FileKind::kDirectory) {
    return {StatusCode::kInvalidArgument, option("audio-root", named) + " is not a folder"};
  }
  XTTS_ASSIGN(std::string real, env.real_path(named));
  tree.mounts.add(place_of_root(tree.audio_roots.size()), real);
  tree.audio_roots.push_back(named);
  tree.real_audio_roots.push_back(std::move(real));
  return {};
}

}  // namespace

std::string_view stem_of(const TreeFile& file) noexcept {
  return file.is_named_otherwise ? without_suffix(file.path) : without_audio_extension(file.path);
}

std::string DataTree::resolve(std::string_view path) const {
  if (folder_links.empty()) return std::string(path);
  std::string resolved;
  while (!path.empty()) {
    const auto slash = path.find('/');
    resolved = join_path(resolved, path.substr(0, slash));
    // Targets have no links, so one look-up for each step is enough.
    if (const auto link = folder_links.find(resolved); link != folder_links.end()) {
      resolved = link->second;
    }
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return resolved;
}

bool DataTree::has_folder(std::string_view path) const {
  return std::binary_search(folders.begin(), folders.end(), resolve(path));
}

std::string DataTree::full_path(std::string_view path) const {
  return mounts.full_path(root, path);
}

const Refusal* DataTree::refusal_of(std::string_view path) const {
  const auto place =
      std::lower_bound(refusals.begin(), refusals.end(), path,
                       [](const Refusal& refusal, std::string_view p) { return refusal.path < p; });
  return place != refusals.end() && place->path == path ? &*place : nullptr;
}

Result<DataTree> scan_data(Env& env, const formats::DataFolders& data,
                           const std::function<bool()>& cancelled) {
  const auto facts = env.stat(data.path);
  if (facts.status().code() == StatusCode::kNotFound) {
    return Status(StatusCode::kNotFound,
                  formatted("the data folder {} is not there: give the folder that holds the audio",
                            data.path));
  }
  if (!facts.ok()) return facts.status().with_context("looking for the data folder");
  if (facts->kind != FileKind::kDirectory) {
    return Status(StatusCode::kInvalidArgument,
                  data.path + " is not a folder; give the folder that holds the audio");
  }
  XTTS_ASSIGN(std::string real_root, env.real_path(data.path));
  DataTree tree;
  tree.root = data.path;
  tree.real_root = real_root;
  for (const std::string& folder : data.audio_roots) XTTS_TRY(add_audio_root(env, folder, tree));
  XTTS_TRY(Scanner(env, tree, std::move(real_root), cancelled).run());
  return tree;
}

}  // namespace xtts::corpus
