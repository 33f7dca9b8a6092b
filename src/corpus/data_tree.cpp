#include "corpus/data_tree.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "corpus/audio_extensions.hpp"

namespace xtts::corpus {
namespace {

// `path` relative to `root`, both absolute and without links; nullopt where it is not inside.
std::optional<std::string> relative_to(std::string_view root, std::string_view path) {
  if (root == "/") root = "";
  if (path == root || (root.empty() && path == "/")) return "";
  if (!path.starts_with(root) || path.size() <= root.size() || path[root.size()] != '/') {
    return std::nullopt;
  }
  return std::string(path.substr(root.size() + 1));
}

bool leads_through_hidden(std::string_view path) {
  return path.starts_with('.') || path.find("/.") != std::string_view::npos;
}

class Scanner {
 public:
  Scanner(Env& env, DataTree& tree, std::string real_root)
      : env_(env), tree_(tree), real_root_(std::move(real_root)) {}

  Status run() {
    std::vector<std::string> todo{""};
    while (!todo.empty()) {
      const std::string folder = std::move(todo.back());
      todo.pop_back();
      auto entries = env_.list(tree_.full_path(folder));
      if (!entries.ok()) {
        if (folder.empty()) return entries.status();
        refuse(folder, "cannot be listed: " + entries.status().message(), FileKind::kDirectory,
               ProblemClass::kEnvironment);
        continue;
      }
      std::sort(entries->begin(), entries->end(),
                [](const auto& a, const auto& b) { return a.name < b.name; });
      const std::size_t first_child = todo.size();
      for (const DirectoryEntry& entry : *entries) visit(folder, entry, todo);
      // The stack hands out its last first: folders are walked in the order of their names.
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
             "is what macOS leaves beside a file (AppleDouble), no sound", entry.kind,
             ProblemClass::kPolicy);
      return;
    }
    if (entry.name.starts_with('.')) {
      ++tree_.hidden_count;
      return;
    }
    std::string path = join_path(folder, entry.name);
    if (entry.is_symlink && !accept_link(path, entry.kind)) return;
    if (entry.kind == FileKind::kDirectory) {
      todo.push_back(std::move(path));
    } else if (entry.kind == FileKind::kOther) {
      refuse(path, "is a FIFO, socket or device", entry.kind);
    } else {
      tree_.files.push_back({std::move(path), audio_rank(file_extension(entry.name))});
    }
  }

  // Whether the entry is to be treated as what it links to: a regular file in DATA.
  bool accept_link(const std::string& path, FileKind kind) {
    const auto target = env_.real_path(tree_.full_path(path));
    if (!target.ok()) {
      refuse(path, "is a symbolic link that leads nowhere or to itself", kind);
      return false;
    }
    auto inside = relative_to(real_root_, *target);
    if (!inside) {
      refuse(path,
             "is a symbolic link that leaves DATA (to " + *target +
                 "); put the target into DATA, or build from the folder that holds it",
             kind);
      return false;
    }
    if (kind == FileKind::kOther) {
      refuse(path, "is a symbolic link to a FIFO, socket or device", kind);
      return false;
    }
    if (kind != FileKind::kDirectory) return true;
    if (leads_through_hidden(*inside)) {
      refuse(path, "is a symbolic link into a hidden folder", kind);
    } else {
      tree_.folder_links.emplace(path, std::move(*inside));
    }
    return false;
  }

  void refuse(const std::string& path, std::string reason, FileKind entry,
              ProblemClass kind = ProblemClass::kInput) {
    tree_.refusals.push_back({path, std::move(reason), kind, entry == FileKind::kDirectory});
  }

  Env& env_;
  DataTree& tree_;
  std::string real_root_;
};

}  // namespace

std::string DataTree::resolve(std::string_view path) const {
  if (folder_links.empty()) return std::string(path);
  std::string resolved;
  while (!path.empty()) {
    const auto slash = path.find('/');
    resolved = join_path(resolved, path.substr(0, slash));
    // Targets are free of links, so that one look for each step is enough.
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
  return path.empty() ? root : join_path(root, path);
}

const Refusal* DataTree::refusal_of(std::string_view path) const {
  const auto place =
      std::lower_bound(refusals.begin(), refusals.end(), path,
                       [](const Refusal& refusal, std::string_view p) { return refusal.path < p; });
  return place != refusals.end() && place->path == path ? &*place : nullptr;
}

Result<DataTree> scan_data(Env& env, const std::string& data_folder) {
  const auto facts = env.stat(data_folder);
  if (!facts.ok()) return facts.status().with_context("looking for the data folder");
  if (facts->kind != FileKind::kDirectory) {
    return Status(StatusCode::kInvalidArgument,
                  data_folder + " is not a folder; give the folder that holds the audio");
  }
  XTTS_ASSIGN(std::string real_root, env.real_path(data_folder));
  DataTree tree;
  tree.root = data_folder;
  tree.real_root = real_root;
  XTTS_TRY(Scanner(env, tree, std::move(real_root)).run());
  return tree;
}

}  // namespace xtts::corpus
