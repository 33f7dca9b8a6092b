#include "doctor/config_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>

#include "base/confined_env.hpp"
#include "base/try.hpp"

namespace xtts::doctor {
namespace {

constexpr int kBackupsMax = 10000;

Result<std::string> free_backup_name(Env& env, const std::string& path) {
  // A list has links without a target, too, which stat() does not find.
  XTTS_ASSIGN(const auto entries, env.list(parent_path(path)));
  std::set<std::string> taken;
  for (const DirectoryEntry& entry : entries) taken.insert(entry.name);
  const std::string first = path + ".bak";
  for (int number = 0; number < kBackupsMax; ++number) {
    const std::string name = number == 0 ? first : first + "." + std::to_string(number);
    if (!taken.contains(std::string(file_name(name)))) return name;
  }
  return Status(StatusCode::kResource, "there are " + std::to_string(kBackupsMax) +
                                           " backups beside " + path + ": remove some");
}

Status write_new_file(Env& env, const std::string& path, const std::string& like,
                      std::string_view text) {
  XTTS_ASSIGN(const auto file, open_new_file(env, path));
  // The permissions come first: nobody may read the text meanwhile who may not read the old file.
  struct stat facts {};
  Status status;
  if (::stat(like.c_str(), &facts) == 0) {
    // A process that is not root may give a file to its own groups alone.
    if (::chown(path.c_str(), facts.st_uid, facts.st_gid) != 0)
      (void)!::chown(path.c_str(), static_cast<uid_t>(-1), facts.st_gid);
    if (::chmod(path.c_str(), facts.st_mode & 07777) != 0)
      status = {StatusCode::kResource, "giving " + path + " the permissions of " + like};
  }
  if (status.ok()) status = file->append(as_bytes(text));
  if (status.ok()) status = file->sync();
  if (status.ok()) status = file->close();
  if (!status.ok()) (void)env.remove_file(path);
  return status;
}

Status make_backup(Env& env, const std::string& path, const std::string& backup,
                   std::string_view text) {
  const Status linked = env.link(path, backup);
  if (linked.code() != StatusCode::kUnsupported) return linked;
  return write_new_file(env, backup, path, text);
}

std::string temporary_name(const std::string& path) {
  std::random_device random;
  return path + ".new-" + std::to_string(random());
}

// The file that a link leads to, else `path` as the caller names it.
Result<std::string> target_of(Env& env, const std::string& path) {
  XTTS_ASSIGN(const auto entries, env.list(parent_path(path)));
  const auto entry = std::ranges::find(entries, file_name(path), &DirectoryEntry::name);
  if (entry != entries.end() && !entry->is_symlink) return path;
  return env.real_path(path);
}

Status check_unchanged(Env& env, const std::string& path, std::string_view before) {
  XTTS_ASSIGN(const std::string now, read_text_file(env, path, before.size() + 1));
  if (now == before) return {};
  return {StatusCode::kResource, path + " was changed meanwhile: try again"};
}

}  // namespace

Result<std::string> replace_config(Env& env, const std::string& path, std::string_view before,
                                   std::string_view after) {
  XTTS_ASSIGN(const std::string target, target_of(env, path));
  if (::access(target.c_str(), W_OK) != 0)
    return Status(StatusCode::kResource, target + " may not be written");
  XTTS_ASSIGN(const std::string backup, free_backup_name(env, target));
  const std::string made = temporary_name(target);
  XTTS_TRY(write_new_file(env, made, target, after).with_context("writing " + target));
  Status status = check_unchanged(env, target, before);
  bool has_backup = false;
  if (status.ok()) {
    status = make_backup(env, target, backup, before).with_context("keeping " + target);
    has_backup = status.ok();
  }
  if (status.ok()) status = env.rename(made, target).with_context("replacing " + target);
  if (!status.ok()) {
    (void)env.remove_file(made);
    if (has_backup) (void)env.remove_file(backup);
    return status;
  }
  // The new file is there, so a failure here is none of the edit's.
  (void)env.sync_directory(parent_path(target));
  return backup;
}

}  // namespace xtts::doctor
