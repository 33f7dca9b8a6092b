#include "base/real_files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "base/direct_reads.hpp"
#include "base/file_mapping.hpp"
#include "base/formatted.hpp"
#include "base/io_uring.hpp"
#include "base/storage_facts.hpp"
#include "base/system_call.hpp"
#include "base/try.hpp"

namespace xtts {
namespace {

std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

class RealFileMapping final : public FileMapping {
 public:
  RealFileMapping(Mapping mapping, bool may_ask)
      : mapping_(std::move(mapping)), bytes_(mapping_.bytes()), may_ask_(may_ask) {}

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

  [[nodiscard]] Status lock_pages(std::uint64_t offset_bytes,
                                  std::uint64_t size_bytes) const override {
    const std::span<std::byte> pages = whole_pages(offset_bytes, size_bytes);
    if (pages.empty() || ::mlock(pages.data(), pages.size()) == 0) return {};
    return {StatusCode::kResource, formatted("mlock: {}; raise the limit of locked memory (ulimit "
                                             "-l), or read without locked memory",
                                             std::generic_category().message(errno))};
  }
  void unlock_pages(std::uint64_t offset_bytes, std::uint64_t size_bytes) const noexcept override {
    const std::span<std::byte> pages = whole_pages(offset_bytes, size_bytes);
    if (!pages.empty()) (void)::munlock(pages.data(), pages.size());
  }

 private:
  // For one MADV_WILLNEED the kernel silently reads no more than the device's read-ahead or, on
  // disks, one request. Both are at least this size (VM_READAHEAD_PAGES).
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

  Mapping mapping_;
  std::span<std::byte> bytes_;
  bool may_ask_;
};

// To other users the kernel reports every page as in memory, so that they cannot spy on readers.
bool may_ask_what_is_in_memory(int fd, const std::string& path) {
  struct stat info {};
  const uid_t user = ::geteuid();
  return user == 0 || (::fstat(fd, &info) == 0 && info.st_uid == user) ||
         ::access(path.c_str(), W_OK) == 0;
}

// The alignment that an open file needs for direct reads. Linux before 6.1 does not tell it; a
// page suits every disk we know.
std::uint32_t direct_alignment_bytes(int fd) {
  std::uint32_t bytes = 4096;
#ifdef STATX_DIOALIGN
  struct statx info {};
  const bool is_told = ::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &info) == 0 &&
                       (info.stx_mask & STATX_DIOALIGN) != 0;
  // An alignment of 0 means that the file has no direct reads.
  if (is_told) bytes = std::max(info.stx_dio_offset_align, info.stx_dio_mem_align);
#endif
  return bytes;
}

class RealTryLock final : public FileLock {
 public:
  explicit RealTryLock(int fd) : fd_(fd) {}
  ~RealTryLock() override { (void)::flock(fd_, LOCK_UN); }
  RealTryLock(const RealTryLock&) = delete;
  RealTryLock& operator=(const RealTryLock&) = delete;

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
    return read_fully(fd_.get(), path_, offset_bytes, out);
  }

  [[nodiscard]] Result<std::shared_ptr<const FileMapping>> map() const override {
    if (size_bytes_ == 0) return RandomAccessFile::map();
    Mapping mapping(::mmap(nullptr, size_bytes_, PROT_READ, MAP_SHARED, fd_.get(), 0), size_bytes_);
    if (mapping) {
      return std::shared_ptr<const FileMapping>(std::make_shared<RealFileMapping>(
          std::move(mapping), may_ask_what_is_in_memory(fd_.get(), path_)));
    }
    if (errno == ENODEV) return RandomAccessFile::map();
    return system_failure("mapping", path_, errno);
  }

  [[nodiscard]] Result<std::shared_ptr<const DirectFile>> open_direct() const override {
    const int fd = retry_interrupted(
        [&] { return ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_DIRECT); });
    if (fd < 0 && errno == EINVAL) return RandomAccessFile::open_direct();
    if (fd < 0) return system_failure("opening", path_, errno);
    Descriptor owner(fd);
    struct stat ours {
    }, theirs{};
    if (::fstat(fd_.get(), &ours) != 0 || ::fstat(fd, &theirs) != 0) {
      return system_failure("examining", path_, errno);
    }
    if (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino) {
      return Status(StatusCode::kResource, path_ + " was replaced by another file");
    }
    // Clears O_NONBLOCK, because it means more for a queue than for read(). With it, some kernels
    // (before 5.13) refuse a read that would have to wait, or, on file systems that cannot begin
    // one without waiting, do it at once and alone.
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0 || ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0) {
      return system_failure("opening", path_, errno);
    }
    const std::uint32_t alignment = direct_alignment_bytes(fd);
    if (alignment == 0) return RandomAccessFile::open_direct();
    return std::shared_ptr<const DirectFile>(
        std::make_shared<DirectFile>(owner.release(), alignment));
  }

  [[nodiscard]] Result<std::unique_ptr<FileLock>> try_lock() const override {
    if (!has_local_locks(fd_.get())) {
      return Status(StatusCode::kUnsupported,
                    path_ + ": it is not locked, because its locks may reach other machines");
    }
    if (retry_interrupted([&] { return ::flock(fd_.get(), LOCK_EX | LOCK_NB); }) == 0) {
      return std::unique_ptr<FileLock>(std::make_unique<RealTryLock>(fd_.get()));
    }
    if (errno == EWOULDBLOCK)
      return Status(StatusCode::kBusy, path_ + ": another process has locked it");
    return Status(StatusCode::kUnsupported, system_failure("locking", path_, errno).message());
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
    return write_fully(fd_.get(), path_, bytes);
  }

  [[nodiscard]] Status sync() override {
    if (retry_interrupted([&] { return ::fsync(fd_.get()); }) != 0)
      return system_failure("syncing", path_, errno);
    return {};
  }

  [[nodiscard]] Status close() override {
    // Linux closes the descriptor even when close() reports EINTR; a second one could hit another
    // file.
    if (::close(fd_.release()) != 0 && errno != EINTR)
      return system_failure("closing", path_, errno);
    return {};
  }

 private:
  std::string path_;
  Descriptor fd_;
};

}  // namespace

std::unique_ptr<RandomAccessFile> own_for_read(std::string path, int fd, std::uint64_t size_bytes) {
  return std::make_unique<RealRandomAccessFile>(std::move(path), fd, size_bytes);
}

std::unique_ptr<WritableFile> own_for_write(std::string path, int fd) {
  return std::make_unique<RealWritableFile>(std::move(path), fd);
}

}  // namespace xtts
