#include "memory_tree.hpp"

#include <deque>
#include <vector>

#include "base/try.hpp"

namespace xtts::testing {
namespace {

constexpr int kLinksFollowedMax = 40;  // Linux gives up with ELOOP after as many

void push_components(std::deque<std::string>& components, std::string_view path) {
  std::vector<std::string> found;
  while (!path.empty()) {
    const auto slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") found.emplace_back(part);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  components.insert(components.begin(), found.begin(), found.end());
}

Status missing(const std::string& path) {
  return {StatusCode::kNotFound, path + ": No such file or directory"};
}

// The folders walked so far, with their names. ".." needs them.
struct Trail {
  std::vector<std::pair<std::string, std::shared_ptr<Node>>> steps;

  [[nodiscard]] std::string path() const {
    std::string text;
    for (std::size_t i = 1; i < steps.size(); ++i) text += "/" + steps[i].first;
    return text.empty() ? "/" : text;
  }
};

Place place_of(const Trail& trail) {
  const auto& [name, node] = trail.steps.back();
  const bool is_root = trail.steps.size() == 1;
  return {is_root ? node : trail.steps[trail.steps.size() - 2].second, is_root ? "" : name, node,
          trail.path()};
}

}  // namespace

MemoryTree::MemoryTree() : root_(make_node(NodeKind::kFolder)) {}

std::shared_ptr<Node> MemoryTree::make_node(NodeKind kind) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->inode = next_inode_++;
  touch(*node);
  return node;
}

void MemoryTree::touch(Node& node) {
  node.mtime_ns = node.ctime_ns = next_mtime_ns_++;
}

Result<Place> MemoryTree::find(const std::string& path, LastLink last) const {
  std::deque<std::string> todo;
  push_components(todo, path);
  Trail trail{{{"", root_}}};
  int links_followed = 0;
  while (!todo.empty()) {
    const std::string name = std::move(todo.front());
    todo.pop_front();
    const std::shared_ptr<Node> folder = trail.steps.back().second;
    if (folder->kind != NodeKind::kFolder) return missing(path);
    if (name == "..") {
      if (trail.steps.size() > 1) trail.steps.pop_back();
      continue;
    }
    const auto entry = folder->entries.find(name);
    if (entry == folder->entries.end()) {
      if (!todo.empty()) return missing(path);
      const std::string parent = trail.path();
      return Place{folder, name, nullptr, (parent == "/" ? "" : parent) + "/" + name};
    }
    const std::shared_ptr<Node>& node = entry->second;
    if (node->kind == NodeKind::kLink && (last == LastLink::kFollow || !todo.empty())) {
      if (++links_followed > kLinksFollowedMax) {
        return Status(StatusCode::kResource, path + ": Too many levels of symbolic links");
      }
      if (node->bytes.starts_with('/')) trail.steps.resize(1);
      push_components(todo, node->bytes);
      continue;
    }
    trail.steps.emplace_back(name, node);
  }
  return place_of(trail);
}

Result<Place> MemoryTree::find_existing(const std::string& path, LastLink last) const {
  XTTS_ASSIGN(Place place, find(path, last));
  if (!place.node) return missing(path);
  return place;
}

namespace {

// Some names that were never synced may have reached the disk all the same, and so may removals.
void keep_by_chance(Node& folder, const std::function<bool()>& survives) {
  for (const auto& [name, node] : folder.entries) {
    const auto durable = folder.durable_entries.find(name);
    const bool is_synced = durable != folder.durable_entries.end() && durable->second == node;
    if (!is_synced && survives()) folder.durable_entries[name] = node;
  }
  std::erase_if(folder.durable_entries, [&](const auto& entry) {
    return !folder.entries.contains(entry.first) && survives();
  });
}

}  // namespace

void MemoryTree::forget_unsynced(const std::function<bool()>& survives) {
  std::vector<Node*> todo{root_.get()};
  while (!todo.empty()) {
    Node& folder = *todo.back();
    todo.pop_back();
    if (survives) keep_by_chance(folder, survives);
    folder.entries = folder.durable_entries;
    for (auto& [name, node] : folder.entries) {
      if (node->kind == NodeKind::kFolder) todo.push_back(node.get());
      // Open files keep the old node: what they still write must not reach the file that survived.
      if (node->kind != NodeKind::kFile) continue;
      auto survivor = std::make_shared<Node>();
      survivor->inode = node->inode;
      survivor->mtime_ns = node->mtime_ns;
      survivor->ctime_ns = node->ctime_ns;
      const bool keeps_all = survives && node->bytes != node->durable_bytes && survives();
      survivor->bytes = survivor->durable_bytes = keeps_all ? node->bytes : node->durable_bytes;
      folder.durable_entries[name] = survivor;
      node = survivor;
    }
  }
}

}  // namespace xtts::testing
