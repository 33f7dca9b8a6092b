#include "memory_env.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <random>

#include "base/try.hpp"
#include "memory_tree.hpp"

namespace xtts::testing {

struct MemoryEnv::State {
  std::mutex mutex;
  MemoryTree tree;
  EnvHook hook;
  std::uint64_t free_bytes = std::uint64_t{1} << 40U;
  std::chrono::nanoseconds clock{0};
  std::optional<std::uint64_t> shuffle_seed;
  std::uint64_t listing_count = 0;
  bool is_network = false;
  std::size_t scratch_count = 0;
  std::function<void()> on_sleep;

  Status ask(EnvOperation& operation) const { return hook ? hook(operation) : Status(); }
  Status ask(EnvCall call, const std::string& path) const {
    EnvOperation operation{.call = call, .path = path, .to = {}};
    return ask(operation);
  }

  // Makes the folders of `path` and returns the last; null where something else stands in the way.
  std::shared_ptr<Node> make_folders(const std::string& path, bool durable) {
    std::shared_ptr<Node> folder = tree.root();
    std::string so_far;
    std::string_view rest = path;
    while (!rest.empty()) {
      const auto slash = rest.find('/');
      so_far += "/" + std::string(rest.substr(0, slash));
      rest.remove_prefix(slash == std::string_view::npos ? rest.size() : slash + 1);
      const auto place = tree.find(so_far, LastLink::kFollow);
      if (!place.ok()) return nullptr;
      if (!place->node) {
        const auto made = tree.make_node(NodeKind::kFolder);
        place->folder->entries[place->name] = made;
        if (durable) place->folder->durable_entries[place->name] = made;
        folder = made;
        continue;
      }
      if (place->node->kind != NodeKind::kFolder) return nullptr;
      folder = place->node;
    }
    return folder;
  }

  Node& add(const std::string& path, NodeKind kind, std::string_view bytes) {
    const auto folder = make_folders(parent_path(path), true);
    const auto node = tree.make_node(kind);
    node->bytes = node->durable_bytes = bytes;
    folder->entries[std::string(file_name(path))] = node;
    folder->durable_entries[std::string(file_name(path))] = node;
    return *node;
  }
};

namespace {

Status wrong_kind(const std::string& path, std::string_view expected) {
  return {StatusCode::kInvalidArgument, path + " is not " + std::string(expected)};
}

Status no_file(const std::string& path, bool is_confined) {
  return {is_confined ? StatusCode::kCorrupt : StatusCode::kInvalidArgument,
          path + " is not a regular file"};
}

Status no_folder(const std::string& path, bool is_confined) {
  return {is_confined ? StatusCode::kCorrupt : StatusCode::kInvalidArgument,
          path + " is not a folder"};
}

FileKind kind_of(const Node& node) {
  if (node.kind == NodeKind::kFile) return FileKind::kRegular;
  return node.kind == NodeKind::kFolder ? FileKind::kDirectory : FileKind::kOther;
}

template <typename State>
class MemoryReadFile final : public RandomAccessFile {
 public:
  MemoryReadFile(std::shared_ptr<State> state, std::string path, std::shared_ptr<Node> node)
      : state_(std::move(state)),
        path_(std::move(path)),
        node_(std::move(node)),
        size_bytes_(node_->bytes.size()) {}

  [[nodiscard]] std::uint64_t size_bytes() const override { return size_bytes_; }

  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                            std::span<std::byte> out) const override {
    EnvOperation operation{
        .call = EnvCall::kRead, .path = path_, .to = {}, .size_bytes = out.size()};
    XTTS_TRY(state_->ask(operation));
    const std::lock_guard lock(state_->mutex);
    if (offset_bytes >= node_->bytes.size()) return std::size_t{0};
    const std::size_t count = std::min<std::size_t>(out.size(), node_->bytes.size() - offset_bytes);
    std::memcpy(out.data(), node_->bytes.data() + offset_bytes, count);
    return count;
  }

 private:
  std::shared_ptr<State> state_;
  std::string path_;
  std::shared_ptr<Node> node_;
  std::uint64_t size_bytes_;
};

template <typename State>
class MemoryWriteFile final : public WritableFile {
 public:
  MemoryWriteFile(std::shared_ptr<State> state, std::string path, std::shared_ptr<Node> node)
      : state_(std::move(state)), path_(std::move(path)), node_(std::move(node)) {}

  [[nodiscard]] Status append(std::span<const std::byte> bytes) override {
    EnvOperation operation{
        .call = EnvCall::kAppend, .path = path_, .to = {}, .size_bytes = bytes.size()};
    const Status answer = state_->ask(operation);
    if (!answer.ok())
      bytes = bytes.first(std::min<std::size_t>(operation.torn_bytes, bytes.size()));
    const std::lock_guard lock(state_->mutex);
    node_->bytes.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    state_->tree.touch(*node_);
    return answer;
  }

  [[nodiscard]] Status sync() override {
    XTTS_TRY(state_->ask(EnvCall::kSync, path_));
    const std::lock_guard lock(state_->mutex);
    node_->durable_bytes = node_->bytes;
    return {};
  }

  [[nodiscard]] Status close() override { return state_->ask(EnvCall::kClose, path_); }

 private:
  std::shared_ptr<State> state_;
  std::string path_;
  std::shared_ptr<Node> node_;
};

// A file that can be written and read, on a node that no folder has.
template <typename State>
class MemoryScratchFile final : public ScratchFile {
 public:
  MemoryScratchFile(const std::shared_ptr<State>& state, const std::string& folder,
                    const std::shared_ptr<Node>& node)
      : state_(state), writer_(state, folder, node), reader_(state, folder, node) {
    const std::lock_guard lock(state_->mutex);
    ++state_->scratch_count;
  }
  MemoryScratchFile(const MemoryScratchFile&) = delete;
  MemoryScratchFile& operator=(const MemoryScratchFile&) = delete;
  ~MemoryScratchFile() override {
    const std::lock_guard lock(state_->mutex);
    --state_->scratch_count;
  }

  [[nodiscard]] Status append(std::span<const std::byte> bytes) override {
    return writer_.append(bytes);
  }
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                            std::span<std::byte> out) const override {
    return reader_.read_at(offset_bytes, out);
  }

 private:
  std::shared_ptr<State> state_;
  MemoryWriteFile<State> writer_;
  MemoryReadFile<State> reader_;
};

template <typename State>
class MemoryLock final : public FileLock {
 public:
  MemoryLock(std::shared_ptr<State> state, std::shared_ptr<Node> node, std::string host,
             LockKind kind)
      : state_(std::move(state)), node_(std::move(node)), host_(std::move(host)), kind_(kind) {}
  MemoryLock(const MemoryLock&) = delete;
  MemoryLock& operator=(const MemoryLock&) = delete;
  ~MemoryLock() override {
    const std::lock_guard lock(state_->mutex);
    Node::Locks& locks = node_->locks[host_];
    if (kind_ == LockKind::kExclusive) {
      locks.is_exclusive = false;
    } else {
      --locks.shared_count;
    }
  }

 private:
  std::shared_ptr<State> state_;
  std::shared_ptr<Node> node_;
  std::string host_;
  LockKind kind_;
};

void collect_files(const Node& folder, const std::string& path, std::vector<std::string>& files) {
  for (const auto& [name, node] : folder.entries) {
    std::string child = path;
    child += "/";
    child += name;
    if (node->kind == NodeKind::kFile) files.push_back(child);
    if (node->kind == NodeKind::kFolder) collect_files(*node, child, files);
  }
}

}  // namespace

struct MemoryEnv::Target : Place {
  bool is_confined = false;
};

MemoryEnv::MemoryEnv() : MemoryEnv(std::make_shared<State>(), "first", {}) {}
MemoryEnv::MemoryEnv(std::shared_ptr<State> state, std::string host,
                     std::vector<std::string> link_free)
    : state_(std::move(state)), host_(std::move(host)), link_free_(std::move(link_free)) {}
MemoryEnv::~MemoryEnv() = default;

std::shared_ptr<Env> MemoryEnv::with_rule(const std::string& folder, Links links) {
  std::vector<std::string> link_free = link_free_;
  if (links == Links::kNone) link_free.push_back(folder);
  return std::shared_ptr<Env>(new MemoryEnv(state_, host_, std::move(link_free)));
}

Result<MemoryEnv::Target> MemoryEnv::find(const std::string& path, bool follows_last) const {
  std::size_t begin = std::string::npos;  // from here on no part of the path may be a link
  for (const std::string& folder : link_free_) {
    if (path.starts_with(folder + "/") && (begin == std::string::npos || folder.size() > begin))
      begin = folder.size();
  }
  const bool is_confined = begin != std::string::npos;
  for (std::size_t slash = begin; is_confined;) {
    slash = path.find('/', slash + 1);
    if (slash == std::string::npos) break;
    const std::string step = path.substr(0, slash);
    XTTS_ASSIGN(const Place place, state_->tree.find_existing(step, LastLink::kKeep));
    if (place.node->kind != NodeKind::kFolder)
      return Status(StatusCode::kCorrupt, step + " is not a folder");
  }
  const bool follows = follows_last && !is_confined;
  XTTS_ASSIGN(Place place, state_->tree.find(path, follows ? LastLink::kFollow : LastLink::kKeep));
  return Target{std::move(place), is_confined};
}

Result<MemoryEnv::Target> MemoryEnv::find_existing(const std::string& path,
                                                   bool follows_last) const {
  XTTS_ASSIGN(Target target, find(path, follows_last));
  if (!target.node) return Status(StatusCode::kNotFound, path + ": No such file or directory");
  return target;
}

void MemoryEnv::add_file(const std::string& path, std::string_view contents) {
  const std::lock_guard lock(state_->mutex);
  state_->add(path, NodeKind::kFile, contents);
}

void MemoryEnv::change_in_place(const std::string& path, std::string_view contents, Times times) {
  const std::lock_guard lock(state_->mutex);
  const auto place = state_->tree.find_existing(path, LastLink::kFollow);
  if (!place.ok()) return;
  Node& node = *place->node;
  const std::int64_t mtime_ns = node.mtime_ns;
  node.bytes = node.durable_bytes = contents;
  state_->tree.touch(node);
  if (times == Times::kKeep) node.mtime_ns = mtime_ns;
}

void MemoryEnv::add_folder(const std::string& path) {
  const std::lock_guard lock(state_->mutex);
  state_->make_folders(path, true);
}

void MemoryEnv::add_link(const std::string& path, const std::string& target) {
  const std::lock_guard lock(state_->mutex);
  state_->add(path, NodeKind::kLink, target);
}

void MemoryEnv::add_special(const std::string& path) {
  const std::lock_guard lock(state_->mutex);
  state_->add(path, NodeKind::kSpecial, {});
}

void MemoryEnv::set_network() {
  const std::lock_guard lock(state_->mutex);
  state_->is_network = true;
}

std::unique_ptr<MemoryEnv> MemoryEnv::other_host(const std::string& name) {
  return std::unique_ptr<MemoryEnv>(new MemoryEnv(state_, name, link_free_));
}

void MemoryEnv::set_hook(EnvHook hook) {
  state_->hook = std::move(hook);
}

void MemoryEnv::set_on_sleep(std::function<void()> on_sleep) {
  state_->on_sleep = std::move(on_sleep);
}

void MemoryEnv::set_free_bytes(std::uint64_t size_bytes) {
  const std::lock_guard lock(state_->mutex);
  state_->free_bytes = size_bytes;
}

void MemoryEnv::advance_clock(std::chrono::nanoseconds by) {
  const std::lock_guard lock(state_->mutex);
  state_->clock += by;
}

void MemoryEnv::shuffle_listings(std::uint64_t seed) {
  const std::lock_guard lock(state_->mutex);
  state_->shuffle_seed = seed;
}

void MemoryEnv::forget_unsynced(const std::function<bool()>& survives) {
  const std::lock_guard lock(state_->mutex);
  state_->tree.forget_unsynced(survives);
}

bool MemoryEnv::exists(const std::string& path) {
  const std::lock_guard lock(state_->mutex);
  return state_->tree.find_existing(path, LastLink::kFollow).ok();
}

std::string MemoryEnv::contents(const std::string& path) {
  const std::lock_guard lock(state_->mutex);
  const auto place = state_->tree.find_existing(path, LastLink::kFollow);
  return place.ok() && place->node->kind == NodeKind::kFile ? place->node->bytes : std::string();
}

std::vector<std::string> MemoryEnv::all_files() {
  const std::lock_guard lock(state_->mutex);
  std::vector<std::string> files;
  collect_files(*state_->tree.root(), "", files);
  std::sort(files.begin(), files.end());
  return files;
}

std::size_t MemoryEnv::scratch_count() {
  const std::lock_guard lock(state_->mutex);
  return state_->scratch_count;
}

Result<std::unique_ptr<RandomAccessFile>> MemoryEnv::open_for_read(const std::string& path) {
  XTTS_TRY(state_->ask(EnvCall::kOpenForRead, path));
  const std::lock_guard lock(state_->mutex);
  XTTS_ASSIGN(const Target place, find_existing(path, true));
  if (place.node->kind != NodeKind::kFile) return no_file(path, place.is_confined);
  return std::unique_ptr<RandomAccessFile>(
      std::make_unique<MemoryReadFile<State>>(state_, path, place.node));
}

Result<std::unique_ptr<WritableFile>> MemoryEnv::open_for_write(const std::string& path,
                                                                WriteMode mode) {
  XTTS_TRY(state_->ask(EnvCall::kOpenForWrite, path));
  const std::lock_guard lock(state_->mutex);
  XTTS_ASSIGN(Target place, find(path, true));
  if (!place.node) {
    place.node = state_->tree.make_node(NodeKind::kFile);
    place.folder->entries[place.name] = place.node;
  }
  if (place.node->kind != NodeKind::kFile) return no_file(path, place.is_confined);
  if (mode == WriteMode::kTruncate) place.node->bytes.clear();
  return std::unique_ptr<WritableFile>(
      std::make_unique<MemoryWriteFile<State>>(state_, path, place.node));
}

Result<std::unique_ptr<WritableFile>> MemoryEnv::open_new(const std::string& path) {
  {
    const std::lock_guard lock(state_->mutex);
    XTTS_ASSIGN(const Target place, find(path, false));
    if (place.node) return Status(StatusCode::kResource, "creating " + path + ": File exists");
  }
  return open_for_write(path, WriteMode::kTruncate);
}

Result<FileFacts> MemoryEnv::stat(const std::string& path) {
  XTTS_TRY(state_->ask(EnvCall::kStat, path));
  const std::lock_guard lock(state_->mutex);
  XTTS_ASSIGN(const Target place, find_existing(path, true));
  return FileFacts{.kind = kind_of(*place.node),
                   .size_bytes = place.node->bytes.size(),
                   .mtime_ns = place.node->mtime_ns,
                   .ctime_ns = place.node->ctime_ns,
                   .device = 1,
                   .inode = place.node->inode};
}

Result<std::vector<DirectoryEntry>> MemoryEnv::list(const std::string& path) {
  XTTS_TRY(state_->ask(EnvCall::kList, path));
  const std::lock_guard lock(state_->mutex);
  XTTS_ASSIGN(const Target place, find_existing(path, true));
  if (place.node->kind != NodeKind::kFolder) return no_folder(path, place.is_confined);
  const bool is_link_free = std::ranges::any_of(link_free_, [&](const std::string& folder) {
    return path == folder || path.starts_with(folder + "/");
  });
  std::vector<DirectoryEntry> entries;
  for (const auto& [name, node] : place.node->entries) {
    DirectoryEntry entry{.name = name, .kind = kind_of(*node)};
    if (node->kind == NodeKind::kLink) {
      entry.is_symlink = true;
      const auto target =
          state_->tree.find_existing(join_path(place.real_path, name), LastLink::kFollow);
      if (target.ok() && !is_link_free) entry.kind = kind_of(*target->node);
    }
    entries.push_back(std::move(entry));
  }
  if (state_->shuffle_seed) {
    // Each listing has its own order: even two listings of one folder need not agree.
    std::mt19937_64 random(*state_->shuffle_seed + state_->listing_count++);
    std::shuffle(entries.begin(), entries.end(), random);
  }
  return entries;
}

Status MemoryEnv::create_directories(const std::string& path) {
  XTTS_TRY(state_->ask(EnvCall::kCreateDirectories, path));
  const std::lock_guard lock(state_->mutex);
  if (!link_free_.empty()) {
    const auto target = find(path, true);
    if (!target && target.status().code() == StatusCode::kCorrupt) return target.status();
    if (target && target->is_confined && target->node && target->node->kind != NodeKind::kFolder)
      return no_file(path, true);
  }
  return state_->make_folders(path, false) ? Status() : wrong_kind(path, "a folder");
}

Status MemoryEnv::rename(const std::string& from, const std::string& to) {
  EnvOperation operation{.call = EnvCall::kRename, .path = from, .to = to};
  XTTS_TRY(state_->ask(operation));
  const std::lock_guard lock(state_->mutex);
  XTTS_ASSIGN(const Target source, find_existing(from, false));
  XTTS_ASSIGN(const Target target, find(to, false));
  if (target.node == source.node) return {};
  if (target.node && target.node->kind == NodeKind::kFolder &&
      (source.node->kind != NodeKind::kFolder || !target.node->entries.empty())) {
    return {StatusCode::kResource, "renaming to " + to + ": a folder stands there"};
  }
  source.folder->entries.erase(source.name);
  target.folder->entries[target.name] = source.node;
  return {};
}

Status MemoryEnv::link(const std::string& from, const std::string& to) {
  EnvOperation operation{.call = EnvCall::kLink, .path = from, .to = to};
  XTTS_TRY(state_->ask(operation));
  const std::lock_guard lock(state_->mutex);
  XTTS_ASSIGN(const Target source, find_existing(from, false));
  XTTS_ASSIGN(const Target target, find(to, false));
  if (target.node) return {StatusCode::kResource, "linking " + to + ": File exists"};
  if (source.node->kind == NodeKind::kFolder) return wrong_kind(from, "a file");
  if (source.is_confined && source.node->kind != NodeKind::kFile) return no_file(from, true);
  target.folder->entries[target.name] = source.node;
  return {};
}

Status MemoryEnv::remove_file(const std::string& path) {
  XTTS_TRY(state_->ask(EnvCall::kRemoveFile, path));
  const std::lock_guard lock(state_->mutex);
  XTTS_ASSIGN(const Target place, find_existing(path, false));
  if (place.node->kind == NodeKind::kFolder) {
    return {StatusCode::kResource, path + ": Is a directory"};
  }
  place.folder->entries.erase(place.name);
  return {};
}

Status MemoryEnv::remove_directory(const std::string& path) {
  XTTS_TRY(state_->ask(EnvCall::kRemoveDirectory, path));
  const std::lock_guard lock(state_->mutex);
  XTTS_ASSIGN(const Target place, find_existing(path, false));
  if (place.node->kind != NodeKind::kFolder || !place.node->entries.empty()) {
    return {StatusCode::kResource, path + " is not an empty folder"};
  }
  place.folder->entries.erase(place.name);
  return {};
}

Status MemoryEnv::sync_directory(const std::string& path) {
  XTTS_TRY(state_->ask(EnvCall::kSyncDirectory, path));
  const std::lock_guard lock(state_->mutex);
  XTTS_ASSIGN(const Target place, find_existing(path, true));
  if (place.node->kind != NodeKind::kFolder) return wrong_kind(path, "a folder");
  place.node->durable_entries = place.node->entries;
  return {};
}

Result<std::uint64_t> MemoryEnv::free_bytes(const std::string& path) {
  XTTS_TRY(state_->ask(EnvCall::kFreeBytes, path));
  const std::lock_guard lock(state_->mutex);
  return state_->free_bytes;
}

Result<std::string> MemoryEnv::real_path(const std::string& path) {
  XTTS_TRY(state_->ask(EnvCall::kRealPath, path));
  const std::lock_guard lock(state_->mutex);
  XTTS_ASSIGN(Target place, find_existing(path, true));
  return std::move(place.real_path);
}

Result<std::unique_ptr<FileLock>> MemoryEnv::lock(const std::string& path, LockKind kind) {
  XTTS_TRY(state_->ask(EnvCall::kLock, path));
  const std::lock_guard guard(state_->mutex);
  XTTS_ASSIGN(Target place, find(path, true));
  if (!place.node) {
    // As in the real Env, a shared lock never creates its file: so it works on a read-only file
    // system.
    if (kind == LockKind::kShared) return Status(StatusCode::kNotFound, path + " is not there");
    place.node = state_->tree.make_node(NodeKind::kFile);
    place.folder->entries[place.name] = place.node;
  }
  if (place.node->kind != NodeKind::kFile) return no_file(path, place.is_confined);
  Node::Locks& locks = place.node->locks[host_];
  if (locks.is_exclusive || (kind == LockKind::kExclusive && locks.shared_count > 0)) {
    return Status(StatusCode::kBusy, path + " is locked");
  }
  if (kind == LockKind::kExclusive) {
    locks.is_exclusive = true;
  } else {
    ++locks.shared_count;
  }
  return std::unique_ptr<FileLock>(
      std::make_unique<MemoryLock<State>>(state_, place.node, host_, kind));
}

Result<std::unique_ptr<ScratchFile>> MemoryEnv::open_scratch(const std::string& folder) {
  XTTS_TRY(state_->ask(EnvCall::kOpenScratch, folder));
  std::shared_ptr<Node> node;
  {
    const std::lock_guard lock(state_->mutex);
    XTTS_ASSIGN(const Place place, state_->tree.find_existing(folder, LastLink::kFollow));
    if (place.node->kind != NodeKind::kFolder) return wrong_kind(folder, "a folder");
    node = state_->tree.make_node(NodeKind::kFile);
  }
  return std::unique_ptr<ScratchFile>(
      std::make_unique<MemoryScratchFile<State>>(state_, folder, node));
}

Result<LockScope> MemoryEnv::lock_scope(const std::string& folder) {
  XTTS_TRY(state_->ask(EnvCall::kLockScope, folder));
  const std::lock_guard guard(state_->mutex);
  if (!state_->is_network) return LockScope{.domain = host_};
  return LockScope{.covers_all = false, .file_system = "NFS", .domain = host_};
}

std::chrono::nanoseconds MemoryEnv::now() {
  const std::lock_guard lock(state_->mutex);
  return state_->clock;
}

void MemoryEnv::sleep_for(std::chrono::nanoseconds duration) {
  advance_clock(duration);
  if (state_->on_sleep) state_->on_sleep();
}

}  // namespace xtts::testing
