// The operating system's Env (Linux).

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/confined_env.hpp"
#include "base/confinement.hpp"
#include "base/direct_reads.hpp"
#include "base/env.hpp"
#include "base/formatted.hpp"
#include "base/io_uring.hpp"
#include "base/real_files.hpp"
#include "base/scratch_file.hpp"
#include "base/storage_facts.hpp"
#include "base/system_call.hpp"
#include "base/try.hpp"

namespace xtts {
namespace {

std::int64_t nanoseconds_of(const struct timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

FileFacts facts_of(const struct stat& info) {
  FileFacts facts;
  facts.kind = S_ISREG(info.st_mode)   ? FileKind::kRegular
               : S_ISDIR(info.st_mode) ? FileKind::kDirectory
                                       : FileKind::kOther;
  facts.size_bytes = static_cast<std::uint64_t>(info.st_size);
  facts.mtime_ns = nanoseconds_of(info.st_mtim);
  facts.ctime_ns = nanoseconds_of(info.st_ctim);
  facts.device = info.st_dev;
  facts.inode = info.st_ino;
  return facts;
}

class RealFileLock final : public FileLock {
 public:
  explicit RealFileLock(int fd) : fd_(fd) {}

 private:
  Descriptor fd_;
};

class RealEnv final : public Env, public RuledEnv, public ScratchPlace {
 public:
  RealEnv() = default;
  explicit RealEnv(Confinement rules) : rules_(std::move(rules)) {}

  [[nodiscard]] std::shared_ptr<Env> with_rule(const std::string& folder, Links links) override {
    return std::make_shared<RealEnv>(rules_.with(folder, links));
  }

  [[nodiscard]] Result<std::unique_ptr<RandomAccessFile>> open_for_read(
      const std::string& path) override {
    struct stat info {};
    XTTS_ASSIGN(Descriptor fd, rules_.open_file(path, O_RDONLY, info));
    return own_for_read(path, fd.release(), static_cast<std::uint64_t>(info.st_size));
  }

  [[nodiscard]] Result<std::unique_ptr<WritableFile>> open_for_write(const std::string& path,
                                                                     WriteMode mode) override {
    struct stat info {};
    const int extra = mode == WriteMode::kAppend ? O_APPEND : 0;
    XTTS_ASSIGN(Descriptor fd, rules_.open_file(path, O_WRONLY | O_CREAT | extra, info));
    // A second name of this file may lie anywhere and belong to anybody.
    if (info.st_nlink > 1 && rules_.confines(path)) {
      return Status(StatusCode::kCorrupt,
                    formatted("{} has {} hard links, so it is not written to: remove this one",
                              path, info.st_nlink));
    }
    if (mode == WriteMode::kTruncate && info.st_size != 0 && ::ftruncate(fd.get(), 0) != 0)
      return system_failure("emptying", path, errno);
    return own_for_write(path, fd.release());
  }

  [[nodiscard]] Result<std::unique_ptr<WritableFile>> open_new(const std::string& path) override {
    struct stat info {};
    XTTS_ASSIGN(Descriptor fd, rules_.open_file(path, O_WRONLY | O_CREAT | O_EXCL, info));
    return own_for_write(path, fd.release());
  }

  [[nodiscard]] Result<FileFacts> stat(const std::string& path) override {
    XTTS_ASSIGN(const ConfinedName place, rules_.find(path));
    struct stat info {};
    if (!place.look_at(info)) return system_failure("examining", path, errno);
    return facts_of(info);
  }

  [[nodiscard]] Result<std::vector<DirectoryEntry>> list(const std::string& path) override {
    XTTS_ASSIGN(const ConfinedName place, rules_.find(path));
    XTTS_ASSIGN(Descriptor fd, open_folder(place, path, "listing"));
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(fd.get()), ::closedir);
    if (!folder) return system_failure("listing", path, errno);
    (void)fd.release();
    const bool follows = !rules_.confines(join_path(path, "entry"));
    std::vector<DirectoryEntry> entries;
    for (;;) {
      errno = 0;
      const dirent* item = ::readdir(folder.get());
      if (item == nullptr) {
        if (errno != 0) return system_failure("listing", path, errno);
        break;
      }
      const std::string_view name(item->d_name);
      if (name == "." || name == "..") continue;
      DirectoryEntry entry;
      entry.name = name;
      if (item->d_type == DT_REG) {
        entry.kind = FileKind::kRegular;
      } else if (item->d_type == DT_DIR) {
        entry.kind = FileKind::kDirectory;
      } else if (item->d_type == DT_LNK || item->d_type == DT_UNKNOWN) {
        struct stat info {};
        if (::fstatat(::dirfd(folder.get()), item->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
          continue;
        entry.is_symlink = S_ISLNK(info.st_mode);
        // A dangling link stays kOther; so does every link where none is followed.
        const bool is_known =
            !entry.is_symlink ||
            (follows && ::fstatat(::dirfd(folder.get()), item->d_name, &info, 0) == 0);
        if (is_known) entry.kind = facts_of(info).kind;
      }
      entries.push_back(std::move(entry));
    }
    return entries;
  }

  [[nodiscard]] Status create_directories(const std::string& path) override {
    return rules_.create_folders(path);
  }

  [[nodiscard]] Status rename(const std::string& from, const std::string& to) override {
    XTTS_ASSIGN(const ConfinedName source, rules_.find(from));
    XTTS_ASSIGN(const ConfinedName target, rules_.find(to));
    if (::renameat(source.folder.get(), source.name.c_str(), target.folder.get(),
                   target.name.c_str()) != 0) {
      return system_failure("renaming to", to, errno);
    }
    return {};
  }

  [[nodiscard]] Status link(const std::string& from, const std::string& to) override {
    XTTS_ASSIGN(const ConfinedName source, rules_.find(from));
    XTTS_ASSIGN(const ConfinedName target, rules_.find(to));
    XTTS_TRY(check_no_link(source, from));
    if (::linkat(source.folder.get(), source.name.c_str(), target.folder.get(), target.name.c_str(),
                 0) != 0) {
      const bool cannot =
          errno == EXDEV || errno == EPERM || errno == EOPNOTSUPP || errno == EMLINK;
      if (cannot)
        return {StatusCode::kUnsupported, formatted("{} cannot be a link to {}", to, from)};
      return system_failure("linking", from, errno);
    }
    // The source may have been replaced by a link meanwhile.
    Status status = check_no_link(target, to);
    if (!status.ok()) (void)::unlinkat(target.folder.get(), target.name.c_str(), 0);
    return status;
  }

  [[nodiscard]] Status remove_file(const std::string& path) override {
    XTTS_ASSIGN(const ConfinedName place, rules_.find(path));
    if (::unlinkat(place.folder.get(), place.name.c_str(), 0) != 0)
      return system_failure("removing", path, errno);
    return {};
  }

  [[nodiscard]] Status remove_directory(const std::string& path) override {
    XTTS_ASSIGN(const ConfinedName place, rules_.find(path));
    if (::unlinkat(place.folder.get(), place.name.c_str(), AT_REMOVEDIR) != 0)
      return system_failure("removing folder", path, errno);
    return {};
  }

  [[nodiscard]] Status sync_directory(const std::string& path) override {
    XTTS_ASSIGN(const ConfinedName place, rules_.find(path));
    XTTS_ASSIGN(const Descriptor folder, open_folder(place, path, "opening folder"));
    if (retry_interrupted([&] { return ::fsync(folder.get()); }) != 0)
      return system_failure("syncing folder", path, errno);
    return {};
  }

  [[nodiscard]] Result<std::uint64_t> free_bytes(const std::string& path) override {
    struct statvfs info {};
    if (retry_interrupted([&] { return ::statvfs(path.c_str(), &info); }) != 0) {
      return system_failure("examining the file system of", path, errno);
    }
    return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
  }

  [[nodiscard]] Result<std::string> real_path(const std::string& path) override {
    const auto resolved = resolved_path(path);
    if (!resolved) return system_failure("resolving", path, errno);
    return *resolved;
  }

  [[nodiscard]] Result<std::unique_ptr<FileLock>> lock(const std::string& path,
                                                       LockKind kind) override {
    // A shared lock must work where the reader may not write (read-only file systems).
    struct stat info {};
    XTTS_ASSIGN(
        Descriptor fd,
        rules_.open_file(path, kind == LockKind::kShared ? O_RDONLY : O_RDWR | O_CREAT, info));
    struct flock request {};
    request.l_type = kind == LockKind::kShared ? F_RDLCK : F_WRLCK;
    request.l_whence = SEEK_SET;
    // Open-file-description locks follow the descriptor, not the process: a library that opens and
    // closes the same file elsewhere in this process cannot drop them, as it would drop a classic
    // POSIX lock.
    if (retry_interrupted([&] { return ::fcntl(fd.get(), F_OFD_SETLK, &request); }) != 0) {
      const int error = errno;
      if (error == EAGAIN || error == EACCES) return Status(StatusCode::kBusy, path + " is locked");
      Status refused = system_failure("locking", path, error);
      const bool has_none = error == ENOSYS || error == EOPNOTSUPP || error == ENOLCK;
      return has_none ? Status(StatusCode::kUnsupported, refused.message()) : refused;
    }
    return std::unique_ptr<FileLock>(std::make_unique<RealFileLock>(fd.release()));
  }

  [[nodiscard]] Result<std::unique_ptr<ScratchFile>> open_scratch(
      const std::string& folder) override {
    return open_real_scratch(folder);
  }

  [[nodiscard]] Result<LockScope> lock_scope(const std::string& folder) override {
    return real_lock_scope(folder);
  }

  [[nodiscard]] Result<StorageFacts> storage(const std::string& path) override {
    return real_storage(path);
  }
  [[nodiscard]] Result<std::uint64_t> available_memory_bytes() override {
    return real_available_memory_bytes();
  }
  [[nodiscard]] Result<std::unique_ptr<DirectQueue>> open_direct_queue(
      std::uint32_t depth) override {
    XTTS_ASSIGN(auto ring, IoUring::open(depth));
    return std::unique_ptr<DirectQueue>(std::move(ring));
  }

  [[nodiscard]] std::chrono::nanoseconds now() override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }

  void sleep_for(std::chrono::nanoseconds duration) override {
    std::this_thread::sleep_for(duration);
  }

 private:
  [[nodiscard]] static Result<Descriptor> open_folder(const ConfinedName& place,
                                                      const std::string& path,
                                                      std::string_view operation) {
    Descriptor fd(retry_interrupted([&] {
      return ::openat(place.folder.get(), place.name.c_str(),
                      O_RDONLY | O_DIRECTORY | O_CLOEXEC | place.open_flags());
    }));
    const int error = errno;
    if (fd.get() >= 0) return fd;
    if (place.is_confined) return why_no_folder(place.folder.get(), place.name, path, error);
    return system_failure(operation, path, error);
  }

  // Needed because linkat() does not follow a link, but gives the link itself a second name.
  [[nodiscard]] static Status check_no_link(const ConfinedName& place, const std::string& path) {
    struct stat info {};
    if (!place.is_confined) return {};
    if (!place.look_at(info)) return system_failure("examining", path, errno);
    if (S_ISREG(info.st_mode)) return {};
    return {StatusCode::kCorrupt,
            formatted("{} is not a regular file but {}", path, describe_kind(info.st_mode))};
  }

  Confinement rules_;
};

}  // namespace

Env& Env::real() {
  static RealEnv env;
  return env;
}

}  // namespace xtts
