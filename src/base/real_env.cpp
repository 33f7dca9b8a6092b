// The operating system's Env (Linux).

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/direct_reads.hpp"
#include "base/env.hpp"
#include "base/file_mapping.hpp"
#include "base/io_uring.hpp"
#include "base/lock_reach.hpp"
#include "base/storage_facts.hpp"
#include "base/try.hpp"

namespace xtts {
namespace {

Status failure(std::string_view operation, const std::string& path, int error) {
  const StatusCode code =
      error == ENOENT || error == ENOTDIR ? StatusCode::kNotFound : StatusCode::kResource;
  std::string text(operation);
  text += " ";
  text += path;
  text += ": ";
  text += std::generic_category().message(error);
  return {code, std::move(text)};
}

template <typename Call>
auto retry_interrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

FileFacts facts_of(const struct stat& info) {
  FileFacts facts;
  facts.kind = S_ISREG(info.st_mode)   ? FileKind::kRegular
               : S_ISDIR(info.st_mode) ? FileKind::kDirectory
                                       : FileKind::kOther;
  facts.size_bytes = static_cast<std::uint64_t>(info.st_size);
  facts.mtime_ns =
      static_cast<std::int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
  facts.device = info.st_dev;
  facts.inode = info.st_ino;
  return facts;
}

std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

class RealFileMapping final : public FileMapping {
 public:
  RealFileMapping(std::byte* begin, std::size_t size_bytes, bool may_ask)
      : bytes_(begin, size_bytes), may_ask_(may_ask) {}
  ~RealFileMapping() override { (void)::munmap(bytes_.data(), bytes_.size()); }
  RealFileMapping(const RealFileMapping&) = delete;
  RealFileMapping& operator=(const RealFileMapping&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept override { return bytes_; }

  void will_need(std::uint64_t offset_bytes, std::uint64_t size_bytes) const noexcept override {
    const std::uint64_t end = offset_bytes + std::min(size_bytes, bytes_.size());
    for (std::uint64_t begin = offset_bytes; begin < end; begin += kWillNeedBytesMax) {
      advise(begin, std::min(kWillNeedBytesMax, end - begin), MADV_WILLNEED);
    }
  }
  void populate(std::uint64_t offset_bytes, std::uint64_t size_bytes) const noexcept override {
    advise(offset_bytes, size_bytes, kPopulateRead);
  }

  [[nodiscard]] std::uint64_t resident_bytes(std::uint64_t offset_bytes,
                                             std::uint64_t size_bytes) const override {
    if (!may_ask_) return 0;
    const std::span<std::byte> pages = whole_pages(offset_bytes, size_bytes);
    std::vector<unsigned char> is_resident((pages.size() + page_bytes() - 1) / page_bytes());
    if (is_resident.empty() || ::mincore(pages.data(), pages.size(), is_resident.data()) != 0) {
      return 0;
    }
    std::uint64_t count = 0;
    for (const unsigned char page : is_resident) count += page & 1U;
    return std::min(count * page_bytes(), size_bytes);
  }
  [[nodiscard]] bool tells_what_is_resident() const noexcept override { return may_ask_; }

  [[nodiscard]] Status hold(std::uint64_t offset_bytes, std::uint64_t size_bytes) const override {
    const std::span<std::byte> pages = whole_pages(offset_bytes, size_bytes);
    if (pages.empty() || ::mlock(pages.data(), pages.size()) == 0) return {};
    return {StatusCode::kResource,
            "mlock: " + std::generic_category().message(errno) +
                "; raise the limit of locked memory (ulimit -l), or do without"};
  }
  void let_go(std::uint64_t offset_bytes, std::uint64_t size_bytes) const noexcept override {
    const std::span<std::byte> pages = whole_pages(offset_bytes, size_bytes);
    if (!pages.empty()) (void)::munlock(pages.data(), pages.size());
  }

 private:
  // Of one MADV_WILLNEED the kernel reads no more than the device's read-ahead, or, on disks, than
  // one request takes, and leaves the rest out in silence. That is never less than this
  // (VM_READAHEAD_PAGES).
  static constexpr std::uint64_t kWillNeedBytesMax = std::uint64_t{128} << 10U;
  static constexpr int kPopulateRead = 22;  // Linux 5.14; older headers lack the name

  [[nodiscard]] std::span<std::byte> whole_pages(std::uint64_t offset_bytes,
                                                 std::uint64_t size_bytes) const noexcept {
    const std::uint64_t begin = std::min<std::uint64_t>(offset_bytes, bytes_.size());
    const std::uint64_t end = begin + std::min(size_bytes, bytes_.size() - begin);
    const std::uint64_t first_page = begin - begin % page_bytes();
    return bytes_.subspan(first_page, end - first_page);
  }
  void advise(std::uint64_t offset_bytes, std::uint64_t size_bytes, int advice) const noexcept {
    const std::span<std::byte> pages = whole_pages(offset_bytes, size_bytes);
    if (!pages.empty()) (void)::madvise(pages.data(), pages.size(), advice);
  }

  std::span<std::byte> bytes_;
  bool may_ask_;
};

// To all others the kernel says that every page is in memory, lest they spy on who reads what.
bool may_ask_what_is_in_memory(int fd, const std::string& path) {
  struct stat info {};
  const uid_t user = ::geteuid();
  return user == 0 || (::fstat(fd, &info) == 0 && info.st_uid == user) ||
         ::access(path.c_str(), W_OK) == 0;
}

// What an open file wants its direct reads to be aligned to. Before Linux 6.1 it is not told, and a
// page suits every disk we know.
std::uint32_t direct_alignment_bytes(int fd) {
  std::uint32_t bytes = 4096;
#ifdef STATX_DIOALIGN
  struct statx info {};
  const bool is_told = ::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &info) == 0 &&
                       (info.stx_mask & STATX_DIOALIGN) != 0;
  // No alignment at all: a file that cannot be read in this way.
  if (is_told) bytes = std::max(info.stx_dio_offset_align, info.stx_dio_mem_align);
#endif
  return bytes;
}

class RealTurn final : public FileLock {
 public:
  explicit RealTurn(int fd) : fd_(fd) {}
  ~RealTurn() override { (void)::flock(fd_, LOCK_UN); }
  RealTurn(const RealTurn&) = delete;
  RealTurn& operator=(const RealTurn&) = delete;

 private:
  int fd_;
};

class RealRandomAccessFile final : public RandomAccessFile {
 public:
  RealRandomAccessFile(std::string path, int fd, std::uint64_t size)
      : path_(std::move(path)), fd_(fd), size_bytes_(size) {}

  [[nodiscard]] std::uint64_t size_bytes() const override { return size_bytes_; }

  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                            std::span<std::byte> out) const override {
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t got = retry_interrupted([&] {
        return ::pread(fd_.get(), out.data() + done, out.size() - done,
                       static_cast<off_t>(offset_bytes + done));
      });
      if (got < 0) return failure("reading", path_, errno);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  [[nodiscard]] Result<std::shared_ptr<const FileMapping>> map() const override {
    if (size_bytes_ == 0) return RandomAccessFile::map();
    void* const begin = ::mmap(nullptr, size_bytes_, PROT_READ, MAP_SHARED, fd_.get(), 0);
    if (begin != MAP_FAILED) {
      return std::shared_ptr<const FileMapping>(
          std::make_shared<RealFileMapping>(static_cast<std::byte*>(begin), size_bytes_,
                                            may_ask_what_is_in_memory(fd_.get(), path_)));
    }
    if (errno == ENODEV) return RandomAccessFile::map();
    return failure("mapping", path_, errno);
  }

  [[nodiscard]] Result<std::shared_ptr<const DirectFile>> open_direct() const override {
    const int fd = retry_interrupted(
        [&] { return ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_DIRECT); });
    if (fd < 0 && errno == EINVAL) return RandomAccessFile::open_direct();
    if (fd < 0) return failure("opening", path_, errno);
    Descriptor owner(fd);
    struct stat ours {
    }, theirs{};
    if (::fstat(fd_.get(), &ours) != 0 || ::fstat(fd, &theirs) != 0) {
      return failure("examining", path_, errno);
    }
    if (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino) {
      return Status(StatusCode::kResource, path_ + " is another file than it was");
    }
    const std::uint32_t alignment = direct_alignment_bytes(fd);
    if (alignment == 0) return RandomAccessFile::open_direct();
    return std::shared_ptr<const DirectFile>(
        std::make_shared<DirectFile>(owner.release(), alignment));
  }

  [[nodiscard]] Result<std::unique_ptr<FileLock>> try_turn() const override {
    if (!may_take_turns(fd_.get())) {
      return Status(StatusCode::kUnsupported, path_ + ": its locks may reach other machines");
    }
    if (retry_interrupted([&] { return ::flock(fd_.get(), LOCK_EX | LOCK_NB); }) == 0) {
      return std::unique_ptr<FileLock>(std::make_unique<RealTurn>(fd_.get()));
    }
    if (errno == EWOULDBLOCK) return Status(StatusCode::kBusy, path_ + ": another has the turn");
    return Status(StatusCode::kUnsupported, failure("locking", path_, errno).message());
  }

 private:
  std::string path_;
  Descriptor fd_;
  std::uint64_t size_bytes_;
};

class RealWritableFile final : public WritableFile {
 public:
  RealWritableFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  [[nodiscard]] Status append(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t put =
          retry_interrupted([&] { return ::write(fd_.get(), bytes.data(), bytes.size()); });
      if (put < 0) return failure("writing", path_, errno);
      bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    return {};
  }

  [[nodiscard]] Status sync() override {
    if (retry_interrupted([&] { return ::fsync(fd_.get()); }) != 0)
      return failure("syncing", path_, errno);
    return {};
  }

  [[nodiscard]] Status close() override {
    // Linux has closed the descriptor even when close() reports EINTR; a second close could hit
    // somebody else's file.
    if (::close(fd_.release()) != 0 && errno != EINTR) return failure("closing", path_, errno);
    return {};
  }

 private:
  std::string path_;
  Descriptor fd_;
};

class RealFileLock final : public FileLock {
 public:
  explicit RealFileLock(int fd) : fd_(fd) {}

 private:
  Descriptor fd_;
};

class RealEnv final : public Env {
 public:
  [[nodiscard]] Result<std::unique_ptr<RandomAccessFile>> open_for_read(
      const std::string& path) override {
    // O_NONBLOCK: opening a FIFO must not wait for a writer. It has no effect on regular files.
    const int fd =
        retry_interrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
    if (fd < 0) return failure("opening", path, errno);
    Descriptor owner(fd);
    struct stat info {};
    if (::fstat(fd, &info) != 0) return failure("examining", path, errno);
    if (!S_ISREG(info.st_mode))
      return Status(StatusCode::kInvalidArgument, path + " is not a regular file");
    return std::unique_ptr<RandomAccessFile>(std::make_unique<RealRandomAccessFile>(
        path, owner.release(), static_cast<std::uint64_t>(info.st_size)));
  }

  [[nodiscard]] Result<std::unique_ptr<WritableFile>> open_for_write(const std::string& path,
                                                                     WriteMode mode) override {
    const int extra = mode == WriteMode::kTruncate ? O_TRUNC : O_APPEND;
    const int fd = retry_interrupted(
        [&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | extra, 0666); });
    if (fd < 0) return failure("creating", path, errno);
    return std::unique_ptr<WritableFile>(std::make_unique<RealWritableFile>(path, fd));
  }

  [[nodiscard]] Result<FileFacts> stat(const std::string& path) override {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return failure("examining", path, errno);
    return facts_of(info);
  }

  [[nodiscard]] Result<std::vector<DirectoryEntry>> list(const std::string& path) override {
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
    if (!folder) return failure("listing", path, errno);
    std::vector<DirectoryEntry> entries;
    for (;;) {
      errno = 0;
      const dirent* item = ::readdir(folder.get());
      if (item == nullptr) {
        if (errno != 0) return failure("listing", path, errno);
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
        // A dangling link stays kOther.
        if (::fstatat(::dirfd(folder.get()), item->d_name, &info, 0) == 0)
          entry.kind = facts_of(info).kind;
      }
      entries.push_back(std::move(entry));
    }
    return entries;
  }

  [[nodiscard]] Status create_directories(const std::string& path) override {
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0) {
      return S_ISDIR(info.st_mode) ? Status() : failure("creating folder", path, EEXIST);
    }
    const std::string parent = parent_path(path);
    if (parent != "." && parent != path) XTTS_TRY(create_directories(parent));
    if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST)
      return failure("creating folder", path, errno);
    return {};
  }

  [[nodiscard]] Status rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return failure("renaming to", to, errno);
    return {};
  }

  [[nodiscard]] Status link(const std::string& from, const std::string& to) override {
    if (::link(from.c_str(), to.c_str()) == 0) return {};
    const bool cannot = errno == EXDEV || errno == EPERM || errno == EOPNOTSUPP || errno == EMLINK;
    if (cannot) return {StatusCode::kUnsupported, to + " cannot be a link to " + from};
    return failure("linking", from, errno);
  }

  [[nodiscard]] Status remove_file(const std::string& path) override {
    if (::unlink(path.c_str()) != 0) return failure("removing", path, errno);
    return {};
  }

  [[nodiscard]] Status remove_directory(const std::string& path) override {
    if (::rmdir(path.c_str()) != 0) return failure("removing folder", path, errno);
    return {};
  }

  [[nodiscard]] Status sync_directory(const std::string& path) override {
    const Descriptor folder(retry_interrupted(
        [&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (folder.get() < 0) return failure("opening folder", path, errno);
    if (retry_interrupted([&] { return ::fsync(folder.get()); }) != 0)
      return failure("syncing folder", path, errno);
    return {};
  }

  [[nodiscard]] Result<std::uint64_t> free_bytes(const std::string& path) override {
    struct statvfs info {};
    if (retry_interrupted([&] { return ::statvfs(path.c_str(), &info); }) != 0) {
      return failure("examining the file system of", path, errno);
    }
    return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
  }

  [[nodiscard]] Result<std::string> real_path(const std::string& path) override {
    const std::unique_ptr<char, void (*)(void*)> resolved(::realpath(path.c_str(), nullptr),
                                                          std::free);
    if (!resolved) return failure("resolving", path, errno);
    return std::string(resolved.get());
  }

  [[nodiscard]] Result<std::unique_ptr<FileLock>> lock(const std::string& path,
                                                       LockKind kind) override {
    // A shared lock must work where the reader may not write (read-only file systems).
    const int flags =
        kind == LockKind::kShared ? O_RDONLY | O_CLOEXEC : O_RDWR | O_CREAT | O_CLOEXEC;
    Descriptor fd(retry_interrupted([&] { return ::open(path.c_str(), flags, 0666); }));
    if (fd.get() < 0) return failure("opening lock", path, errno);
    struct flock request {};
    request.l_type = kind == LockKind::kShared ? F_RDLCK : F_WRLCK;
    request.l_whence = SEEK_SET;
    // Open-file-description locks follow the descriptor, not the process: a library that opens and
    // closes the same file elsewhere in this process cannot drop them, as it would drop a classic
    // POSIX lock.
    if (retry_interrupted([&] { return ::fcntl(fd.get(), F_OFD_SETLK, &request); }) != 0) {
      const int error = errno;
      if (error == EAGAIN || error == EACCES) return Status(StatusCode::kBusy, path + " is locked");
      Status refused = failure("locking", path, error);
      const bool has_none = error == ENOSYS || error == EOPNOTSUPP || error == ENOLCK;
      return has_none ? Status(StatusCode::kUnsupported, refused.message()) : refused;
    }
    return std::unique_ptr<FileLock>(std::make_unique<RealFileLock>(fd.release()));
  }

  [[nodiscard]] Result<LockReach> lock_reach(const std::string& folder) override {
    return real_lock_reach(folder);
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
};

}  // namespace

Result<std::shared_ptr<const FileMapping>> RandomAccessFile::map() const {
  return Status(StatusCode::kUnsupported, "this file cannot be mapped");
}

Result<std::shared_ptr<const DirectFile>> RandomAccessFile::open_direct() const {
  return Status(StatusCode::kUnsupported, "this file cannot be read past the page cache");
}

Result<StorageFacts> Env::storage(const std::string&) {
  return Status(StatusCode::kUnsupported, "what these files lie on is not known");
}
Result<std::uint64_t> Env::available_memory_bytes() {
  return Status(StatusCode::kUnsupported, "how much memory is free is not known");
}
Result<std::unique_ptr<DirectQueue>> Env::open_direct_queue(std::uint32_t) {
  return Status(StatusCode::kUnsupported, "these files cannot be read past the page cache");
}

Result<std::unique_ptr<FileLock>> RandomAccessFile::try_turn() const {
  return Status(StatusCode::kUnsupported, "nobody takes turns at this file");
}

Env& Env::real() {
  static RealEnv env;
  return env;
}

Result<std::string> read_text_file(Env& env, const std::string& path,
                                   std::uint64_t size_bytes_max) {
  XTTS_ASSIGN(const auto file, env.open_for_read(path));
  const std::uint64_t size = file->size_bytes();
  if (size > size_bytes_max) {
    return Status(StatusCode::kInvalidArgument, path + " has " + std::to_string(size) +
                                                    " bytes; at most " +
                                                    std::to_string(size_bytes_max) + " are read");
  }
  std::string text(size, '\0');
  XTTS_ASSIGN(const std::size_t got, file->read_at(0, std::as_writable_bytes(std::span(text))));
  text.resize(got);
  return text;
}

Status replace_file(Env& env, const std::string& path, std::span<const std::byte> bytes) {
  const std::string temporary = path + ".tmp";
  XTTS_ASSIGN(const auto file, env.open_for_write(temporary, WriteMode::kTruncate));
  XTTS_TRY(file->append(bytes));
  XTTS_TRY(file->sync());
  XTTS_TRY(file->close());
  XTTS_TRY(env.rename(temporary, path));
  return env.sync_directory(parent_path(path));
}

}  // namespace xtts
