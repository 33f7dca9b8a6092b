#include "store/durable.hpp"

#include <algorithm>
#include <vector>

#include "base/confined_env.hpp"
#include "base/try.hpp"

namespace xtts::store {
namespace {

// One write() of this size is as fast as a larger one, and a signal or a full disk loses little.
constexpr std::size_t kPieceBytes = std::size_t{8} << 20U;
constexpr std::size_t kCompareBytes = std::size_t{1} << 20U;

bool is_absent(const Status& status) {
  return status.code() == StatusCode::kNotFound;
}

}  // namespace

Status make_durable_folder(Env& env, const std::string& path) {
  const std::string parent = parent_path(path);
  const auto found = env.stat(path);
  if (!found && !is_absent(found.status())) return found.status();
  const bool was_there = found.ok();
  if (!was_there) {
    if (parent != path && !env.stat(parent)) XTTS_TRY(make_durable_folder(env, parent));
    XTTS_TRY(env.create_directories(path));
  } else if (found->kind != FileKind::kDirectory) {
    return {StatusCode::kResource, path + " is not a folder"};
  }
  Status status = env.sync_directory(parent);
  // A folder that existed before may lie in a parent that we cannot open.
  if (!status.ok() && was_there && !env.list(parent)) return {};
  return status;
}

Result<std::unique_ptr<WritableFile>> create_file(Env& env, const std::string& path) {
  auto file = open_new_file(env, path);
  if (file || is_absent(env.stat(path).status())) return file;
  XTTS_TRY(remove_if_there(env, path));
  return open_new_file(env, path);
}

Status write_synced_file(Env& env, const std::string& path, std::span<const std::byte> bytes) {
  XTTS_ASSIGN(const auto file, create_file(env, path));
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t size = std::min(kPieceBytes, bytes.size() - done);
    XTTS_TRY(file->append(bytes.subspan(done, size)));
    done += size;
  }
  XTTS_TRY(file->sync());
  return file->close();
}

Status rename_durably(Env& env, const std::string& from, const std::string& to) {
  XTTS_TRY(env.rename(from, to));
  return env.sync_directory(parent_path(to));
}

Status copy_synced(Env& env, const std::string& from, WritableFile& to) {
  XTTS_ASSIGN(const auto source, env.open_for_read(from));
  std::vector<std::byte> piece(kPieceBytes);
  for (std::uint64_t done = 0; done < source->size_bytes();) {
    XTTS_ASSIGN(const std::size_t got, source->read_at(done, piece));
    if (got == 0) return {StatusCode::kCorrupt, from + " became shorter while it was copied"};
    XTTS_TRY(to.append(std::span(piece).first(got)));
    done += got;
  }
  XTTS_TRY(to.sync());
  return to.close();
}

Result<bool> link_or_copy(Env& env, const std::string& from, const std::string& to) {
  Status linked = env.link(from, to);
  if (linked.ok()) return false;
  if (linked.code() != StatusCode::kUnsupported) return linked;
  XTTS_ASSIGN(const auto target, create_file(env, to));
  XTTS_TRY(copy_synced(env, from, *target));
  return true;
}

Status remove_if_there(Env& env, const std::string& path) {
  Status status = env.remove_file(path);
  return is_absent(status) ? Status() : status;
}

Result<bool> same_contents(Env& env, const std::string& first, const std::string& second) {
  const auto a = env.open_for_read(first);
  const auto b = env.open_for_read(second);
  if (!a || !b) {
    if (!a && !is_absent(a.status())) return a.status();
    if (!b && !is_absent(b.status())) return b.status();
    return false;
  }
  if ((*a)->size_bytes() != (*b)->size_bytes()) return false;
  std::vector<std::byte> from_a(kCompareBytes);
  std::vector<std::byte> from_b(kCompareBytes);
  for (std::uint64_t offset = 0; offset < (*a)->size_bytes(); offset += kCompareBytes) {
    XTTS_ASSIGN(const std::size_t got_a, (*a)->read_at(offset, from_a));
    XTTS_ASSIGN(const std::size_t got_b, (*b)->read_at(offset, from_b));
    if (!std::ranges::equal(std::span(from_a).first(got_a), std::span(from_b).first(got_b))) {
      return false;
    }
  }
  return true;
}

}  // namespace xtts::store
