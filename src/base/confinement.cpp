#include "base/confinement.hpp"

#include <fcntl.h>

#include <cerrno>
#include <optional>

#include "base/formatted.hpp"
#include "base/try.hpp"

namespace xtts {
namespace {

std::string without_last_slashes(std::string_view folder) {
  while (!folder.empty() && folder.back() == '/') folder.remove_suffix(1);
  return std::string(folder);
}

// The part of `path` after `folder`; nullopt where the path is not below it.
std::optional<std::string_view> part_below(std::string_view folder, std::string_view path) {
  if (!path.starts_with(folder)) return std::nullopt;
  std::string_view rest = path.substr(folder.size());
  if (!rest.starts_with('/')) return std::nullopt;
  while (rest.starts_with('/')) rest.remove_prefix(1);
  if (rest.empty()) return std::nullopt;
  return rest;
}

// Takes the first name off `rest`.
std::string next_name(std::string_view& rest) {
  const auto slash = rest.find('/');
  std::string name(rest.substr(0, slash));
  rest.remove_prefix(slash == std::string_view::npos ? rest.size() : slash);
  while (rest.starts_with('/')) rest.remove_prefix(1);
  return name;
}

Status not_followed(const std::string& path, const char* found, const char* wanted) {
  return {StatusCode::kCorrupt,
          formatted("{} is not {} but {}, which is not followed here", path, wanted, found)};
}

enum class Missing : std::uint8_t { kFails, kIsMade };

// Walks from folder to folder; `so_far` is the path of the last one.
class Walk {
 public:
  static Result<Walk> begin(const std::string& folder) {
    const std::string path = folder.empty() ? "/" : folder;
    Descriptor at(
        retry_interrupted([&] { return ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC); }));
    if (at.get() < 0) return system_failure("opening", path, errno);
    return Walk(std::move(at), path);
  }

  Status enter(const std::string& name, Missing missing) {
    so_far_ = join_path(so_far_, name);
    if (name == "..") return {StatusCode::kCorrupt, so_far_ + " leads back out of its folder"};
    if (missing == Missing::kIsMade && ::mkdirat(at_.get(), name.c_str(), 0777) != 0 &&
        errno != EEXIST) {
      return system_failure("creating folder", so_far_, errno);
    }
    Descriptor next(retry_interrupted([&] {
      return ::openat(at_.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }));
    if (next.get() < 0) return why_no_folder(at_.get(), name, so_far_, errno);
    at_ = std::move(next);
    return {};
  }

  [[nodiscard]] Descriptor release() { return std::move(at_); }

 private:
  Walk(Descriptor at, std::string path) : at_(std::move(at)), so_far_(std::move(path)) {}

  Descriptor at_;
  std::string so_far_;
};

Result<ConfinedName> find_below(const std::string& folder, std::string_view rest) {
  XTTS_ASSIGN(Walk walk, Walk::begin(folder));
  for (;;) {
    std::string name = next_name(rest);
    if (rest.empty() && name != "..") return ConfinedName{walk.release(), std::move(name), true};
    if (name != ".") XTTS_TRY(walk.enter(name, Missing::kFails));
  }
}

Status refused(const std::string& path, const char* found, bool is_confined) {
  return {is_confined ? StatusCode::kCorrupt : StatusCode::kInvalidArgument,
          formatted("{} is not a regular file but {}", path, found)};
}

Result<Descriptor> open_at(const ConfinedName& place, const std::string& path, int flags,
                           struct stat& info) {
  // Checks before opening, because opening alone has effects on some devices.
  if (place.look_at(info) && !S_ISREG(info.st_mode))
    return refused(path, describe_kind(info.st_mode), place.is_confined);
  const int all = flags | place.open_flags() | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  Descriptor fd(retry_interrupted(
      [&] { return ::openat(place.folder.get(), place.name.c_str(), all, 0666); }));
  const int error = errno;
  if (fd.get() < 0 && place.is_confined && error == ELOOP)
    return refused(path, "a symbolic link", true);
  const char* const operation = (flags & O_CREAT) != 0 ? "creating" : "opening";
  if (fd.get() < 0) return system_failure(operation, path, error);
  if (::fstat(fd.get(), &info) != 0) return system_failure("examining", path, errno);
  if (!S_ISREG(info.st_mode)) return refused(path, describe_kind(info.st_mode), place.is_confined);
  return fd;
}

}  // namespace

Status why_no_folder(int folder, const std::string& name, const std::string& path, int error) {
  struct stat info {};
  const bool is_other = (error == ENOTDIR || error == ELOOP) &&
                        ::fstatat(folder, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_other) return not_followed(path, describe_kind(info.st_mode), "a folder");
  return system_failure("opening", path, error);
}

int ConfinedName::open_flags() const noexcept {
  return is_confined ? O_NOFOLLOW : 0;
}
bool ConfinedName::look_at(struct stat& info) const noexcept {
  const int flags = is_confined ? AT_SYMLINK_NOFOLLOW : 0;
  return ::fstatat(folder.get(), name.c_str(), &info, flags) == 0;
}

const char* describe_kind(mode_t mode) noexcept {
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return S_ISREG(mode) ? "a regular file" : "a device";
}

Confinement Confinement::with(const std::string& folder, Links links) const {
  Confinement more = *this;
  more.rules_.push_back({without_last_slashes(folder), links});
  return more;
}

const Confinement::Rule* Confinement::rule_of(std::string_view path) const {
  const Rule* innermost = nullptr;
  for (const Rule& rule : rules_) {
    const bool is_inner = innermost == nullptr || rule.folder.size() > innermost->folder.size();
    if (is_inner && part_below(rule.folder, path)) innermost = &rule;
  }
  return innermost;
}

bool Confinement::confines(const std::string& path) const {
  const Rule* const rule = rule_of(path);
  return rule != nullptr && rule->links == Links::kNone;
}

Result<ConfinedName> Confinement::find(const std::string& path) const {
  const Rule* const rule = rule_of(path);
  if (rule == nullptr || rule->links != Links::kNone)
    return ConfinedName{Descriptor(AT_FDCWD), path};
  return find_below(rule->folder, *part_below(rule->folder, path));
}

Result<Descriptor> Confinement::open_file(const std::string& path, int flags,
                                          struct stat& info) const {
  const Rule* const rule = rule_of(path);
  if (rule != nullptr && rule->links == Links::kInside && (flags & O_CREAT) == 0)
    return open_inside(path, flags, info);
  XTTS_ASSIGN(const ConfinedName place, find(path));
  return open_at(place, path, flags, info);
}

// Opens the resolved target without following anything. A target that has become a link is
// refused.
Result<Descriptor> Confinement::open_inside(const std::string& path, int flags,
                                            struct stat& info) const {
  const Rule& rule = *rule_of(path);
  if (const auto place = find_below(rule.folder, *part_below(rule.folder, path)); place) {
    auto opened = open_at(*place, path, flags, info);
    if (opened || opened.status().code() != StatusCode::kCorrupt) return opened;
  } else if (place.status().code() != StatusCode::kCorrupt) {
    return place.status();
  }
  const auto target = resolved_path(path);
  if (!target) return system_failure("opening", path, errno);
  for (const Rule& other : rules_) {
    const auto folder = other.links == Links::kInside
                            ? resolved_path(other.folder.empty() ? "/" : other.folder)
                            : std::nullopt;
    const auto rest = folder ? part_below(without_last_slashes(*folder), *target) : std::nullopt;
    if (!rest) continue;
    XTTS_ASSIGN(const ConfinedName place, find_below(without_last_slashes(*folder), *rest));
    auto opened = open_at(place, path, flags, info);
    if (opened || opened.status().code() != StatusCode::kCorrupt) return opened;
    return Status(StatusCode::kInvalidArgument, opened.status().message());
  }
  return Status(StatusCode::kInvalidArgument,
                formatted("{} leads out of {} (to {})", path, rule.folder, *target));
}

Status Confinement::create_folders(const std::string& path) const {
  const Rule* const rule = rule_of(path);
  if (rule != nullptr && rule->links == Links::kNone) {
    XTTS_TRY(create_folders(rule->folder));
    XTTS_ASSIGN(Walk walk, Walk::begin(rule->folder));
    std::string_view rest = *part_below(rule->folder, path);
    while (!rest.empty()) {
      const std::string name = next_name(rest);
      if (name != ".") XTTS_TRY(walk.enter(name, Missing::kIsMade));
    }
    return {};
  }
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    return S_ISDIR(info.st_mode) ? Status() : system_failure("creating folder", path, EEXIST);
  }
  const std::string parent = parent_path(path);
  if (parent != "." && parent != path) XTTS_TRY(create_folders(parent));
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST)
    return system_failure("creating folder", path, errno);
  return {};
}

}  // namespace xtts
