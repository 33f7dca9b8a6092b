// MemoryTree: the nodes of MemoryEnv, and the resolution of paths among them. One thread at a time:
// MemoryEnv holds the lock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "xtts/status.hpp"

namespace xtts::testing {

enum class NodeKind : std::uint8_t { kFile, kFolder, kLink, kSpecial };

struct Node {
  using Entries = std::map<std::string, std::shared_ptr<Node>, std::less<>>;

  NodeKind kind = NodeKind::kFile;
  std::uint64_t inode = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  std::string bytes;  // of a file; the target of a link
  std::string durable_bytes;
  Entries entries;  // of a folder
  Entries durable_entries;
  // The locks that open files hold, by host: a host does not see the others' locks. A file that is
  // renamed or removed keeps its locks.
  struct Locks {
    int shared_count = 0;
    bool is_exclusive = false;
  };
  std::map<std::string, Locks> locks;
};

enum class LastLink : std::uint8_t { kFollow, kKeep };

// Place: the end of a path. It has the folder that holds (or would hold) the last name, and the
// node there, if any.
struct Place {
  std::shared_ptr<Node> folder;
  std::string name;  // empty for "/"
  std::shared_ptr<Node> node;
  std::string real_path;  // without links, "." and ".."
};

class MemoryTree {
 public:
  MemoryTree();

  // kNotFound where a folder on the way is missing. Where only the last name is, `node` is null.
  [[nodiscard]] Result<Place> find(const std::string& path, LastLink last) const;
  // Like find(), but the node must exist.
  [[nodiscard]] Result<Place> find_existing(const std::string& path, LastLink last) const;
  [[nodiscard]] std::shared_ptr<Node> make_node(NodeKind kind);
  void touch(Node& node);  // gives it new times
  void forget_unsynced(const std::function<bool()>& survives);

  [[nodiscard]] const std::shared_ptr<Node>& root() const { return root_; }

 private:
  std::shared_ptr<Node> root_;
  std::uint64_t next_inode_ = 1;
  std::int64_t next_mtime_ns_ = 1;
};

}  // namespace xtts::testing
