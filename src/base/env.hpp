// Env is the one replaceable interface to the file system and the clocks, so that tests can fail
// any call, cut any write and forget unsynced data. LMDB and HDF5 only make images in memory and
// libav reads through our callbacks, so no file of a cache or corpus is opened behind Env's back.
//
// Real implementation: Env::real(), synchronised inside (it holds no state). Files belong to one
// thread at a time, except RandomAccessFile::read_at, which any number of threads may call. All
// failures are Status values: kNotFound (the path is not there), kResource (full disk, I/O error,
// refused), kInvalidArgument (not a regular file). Short reads, short writes and EINTR are handled
// inside. Paths are bytes; nothing is interpreted in them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "xtts/status.hpp"

namespace xtts {

enum class FileKind : std::uint8_t { kRegular, kDirectory, kOther };

struct FileFacts {
  FileKind kind = FileKind::kOther;
  std::uint64_t size_bytes = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;  // of the last change of bytes or facts; no program can set it
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  friend bool operator==(const FileFacts&, const FileFacts&) = default;
};

struct DirectoryEntry {
  std::string name;
  FileKind kind = FileKind::kOther;  // of the entry's target where the entry is a symbolic link
  bool is_symlink = false;
};

class FileMapping;  // file_mapping.hpp
class DirectFile;   // direct_reads.hpp
class DirectQueue;

// The lock is held until the object is destroyed.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

class RandomAccessFile {
 public:
  virtual ~RandomAccessFile() = default;
  [[nodiscard]] virtual std::uint64_t size_bytes() const = 0;  // as it was when the file was opened
  // Fills `out` from `offset_bytes`; returns the bytes read, fewer than asked only at the end of
  // the file.
  [[nodiscard]] virtual Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                                    std::span<std::byte> out) const = 0;
  // Maps the whole file. kUnsupported where that is impossible (an empty file, some network file
  // systems): then use read_at().
  [[nodiscard]] virtual Result<std::shared_ptr<const FileMapping>> map() const;
  // Opens the file again, for a DirectQueue. kUnsupported where the file system cannot read past
  // the page cache.
  [[nodiscard]] virtual Result<std::shared_ptr<const DirectFile>> open_direct() const;
  // Takes a turn: a lock on this file, shared with other openings in this process or in other
  // processes of this machine. It is separate from Env::lock() and must not outlive this file.
  // Never waits: kBusy when another opening has the turn. kUnsupported: the file system has no
  // such locks.
  [[nodiscard]] virtual Result<std::unique_ptr<FileLock>> try_lock() const;
};

class WritableFile {
 public:
  virtual ~WritableFile() = default;  // closes; what was not synced may be lost
  [[nodiscard]] virtual Status append(std::span<const std::byte> bytes) = 0;
  // A failed sync is final: the file's state is unknown and it must be thrown away, never synced
  // again.
  [[nodiscard]] virtual Status sync() = 0;
  [[nodiscard]] virtual Status close() = 0;
};

enum class LockKind : std::uint8_t { kShared, kExclusive };

// Which processes see a lock in a folder.
struct LockScope {
  // True: the file system belongs to this machine, so all writers see the lock. If the machine
  // also exports it (as an NFS server does), other machines do not, and we cannot detect that.
  bool covers_all = true;
  std::string file_system = {};  // if not `covers_all`: "NFS"
  // Processes with the same name here surely see one another's locks: this boot of the kernel,
  // this mount. Empty: not certain for any.
  std::string domain = {};
};
enum class WriteMode : std::uint8_t { kTruncate, kAppend };

enum class StorageKind : std::uint8_t {
  kUnknown,   // a program's file system (FUSE), or a disk of unknown kind
  kMemory,    // no disk at all
  kSsd,       // seeks cost nothing
  kRotating,  // each seek costs a hundredth of a second
  kNetwork,
};

// The storage below a file, as far as the system tells.
struct StorageFacts {
  StorageKind kind = StorageKind::kUnknown;
  std::string file_system = {};  // "ext4"; empty: unknown
  std::string device = {};       // "nvme0n1"; empty: not one device
};

class Env {
 public:
  virtual ~Env() = default;
  [[nodiscard]] static Env& real();

  [[nodiscard]] virtual Result<std::unique_ptr<RandomAccessFile>> open_for_read(
      const std::string& path) = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<WritableFile>> open_for_write(
      const std::string& path, WriteMode mode) = 0;
  // Follows symbolic links.
  [[nodiscard]] virtual Result<FileFacts> stat(const std::string& path) = 0;
  // In no particular order; "." and ".." left out.
  [[nodiscard]] virtual Result<std::vector<DirectoryEntry>> list(const std::string& path) = 0;
  [[nodiscard]] virtual Status create_directories(const std::string& path) = 0;
  [[nodiscard]] virtual Status rename(const std::string& from, const std::string& to) = 0;
  // Gives a file a second name (hard link). kUnsupported: impossible here; the caller copies it.
  [[nodiscard]] virtual Status link(const std::string& from, const std::string& to) = 0;
  [[nodiscard]] virtual Status remove_file(const std::string& path) = 0;
  [[nodiscard]] virtual Status remove_directory(const std::string& path) = 0;  // an empty one
  [[nodiscard]] virtual Status sync_directory(const std::string& path) = 0;
  [[nodiscard]] virtual Result<std::uint64_t> free_bytes(const std::string& path) = 0;
  // Absolute, without symbolic links, "." and "..".
  [[nodiscard]] virtual Result<std::string> real_path(const std::string& path) = 0;
  // Never waits: kBusy when another holder has the lock. It is an open-file-description lock: the
  // system releases it when the process ends in any way. Creates the file when it is absent.
  // kUnsupported where the file system has no locks.
  [[nodiscard]] virtual Result<std::unique_ptr<FileLock>> lock(const std::string& path,
                                                               LockKind kind) = 0;
  [[nodiscard]] virtual Result<LockScope> lock_scope(const std::string& folder) = 0;

  // The next three calls concern the machine. An Env without a machine returns kUnsupported.
  [[nodiscard]] virtual Result<StorageFacts> storage(const std::string& path);
  // Memory that can be filled without swapping, page cache included; within a container's limit.
  [[nodiscard]] virtual Result<std::uint64_t> available_memory_bytes();
  // A queue for up to `depth` direct reads. kUnsupported: io_uring is missing or forbidden here.
  [[nodiscard]] virtual Result<std::unique_ptr<DirectQueue>> open_direct_queue(std::uint32_t depth);

  // Monotonic: immune to clock jumps. The only clock the project decides by.
  [[nodiscard]] virtual std::chrono::nanoseconds now() = 0;
  virtual void sleep_for(std::chrono::nanoseconds duration) = 0;
};

// Whole small files. `size_bytes_max` bounds what a hostile file can make us allocate.
[[nodiscard]] Result<std::string> read_text_file(Env& env, const std::string& path,
                                                 std::uint64_t size_bytes_max);
// Replaces a file atomically: writes a new file with a random name beside it, syncs it, renames it
// over `path` and syncs the directory. After a crash the file is the old one or the new one.
[[nodiscard]] Status replace_file(Env& env, const std::string& path,
                                  std::span<const std::byte> bytes);

[[nodiscard]] std::string join_path(std::string_view folder, std::string_view name);
[[nodiscard]] std::string parent_path(std::string_view path);  // "." for a bare name
[[nodiscard]] std::string_view file_name(std::string_view path);
[[nodiscard]] std::string_view file_stem(std::string_view name);  // "a.b" of "x/a.b.wav"
[[nodiscard]] std::string_view file_extension(
    std::string_view name);  // "wav" of "x/a.b.wav"; empty where there is none

[[nodiscard]] inline std::span<const std::byte> as_bytes(std::string_view text) noexcept {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

}  // namespace xtts
