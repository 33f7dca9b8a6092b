// ColdEnv: a machine whose page cache is empty at first, for tests of a reader's use of the disk.
// It notes each read of the disk, and remembers which pages have been read. Mapped memory is the
// real file's: reads through it are not seen here.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/file_mapping.hpp"
#include "support/passing_env.hpp"

namespace xtts::testing {

struct DiskRead {
  std::string path;
  std::uint64_t offset_bytes = 0;
  std::uint64_t size_bytes = 0;

  [[nodiscard]] std::uint64_t end_bytes() const { return offset_bytes + size_bytes; }
};

// The disk and the memory above it. Synchronised inside.
class ColdDisk {
 public:
  static constexpr std::uint64_t kPageBytes = 4096;

  // From now on memory keeps nothing: each read goes to the disk.
  void forget_everything_always() { is_forgetful_ = true; }
  void refuse_to_hold() { is_hold_refused_ = true; }

  // Fetches the pages of these bytes that are not in memory. They take a moment to come. A read
  // that wants the same pages meanwhile fetches them again, as when two programs race.
  void read(const std::string& path, std::uint64_t offset_bytes, std::uint64_t size_bytes) {
    const Pages wanted = pages_of(path, offset_bytes, size_bytes);
    bool is_asked = false;
    {
      const std::scoped_lock lock(mutex_);
      for (const auto& page : wanted) {
        if (memory_.contains(page)) continue;
        is_asked = true;
        add(page.first, page.second);
      }
    }
    if (!is_asked || is_forgetful_) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::scoped_lock lock(mutex_);
    memory_.insert(wanted.begin(), wanted.end());
  }
  [[nodiscard]] std::uint64_t resident_bytes(const std::string& path, std::uint64_t offset_bytes,
                                             std::uint64_t size_bytes) const {
    const std::scoped_lock lock(mutex_);
    std::uint64_t count = 0;
    for (const auto& page : pages_of(path, offset_bytes, size_bytes)) count += memory_.count(page);
    return std::min(count * kPageBytes, size_bytes);
  }

  std::atomic<std::uint64_t> turns_tried = 0;

  // The reads in order. Reads that continue the one before are joined: there are as many as seeks.
  [[nodiscard]] std::vector<DiskRead> reads(const std::string& part_of_path = "") const {
    const std::scoped_lock lock(mutex_);
    std::vector<DiskRead> some;
    for (const DiskRead& read : reads_) {
      if (read.path.find(part_of_path) != std::string::npos) some.push_back(read);
    }
    return some;
  }

  [[nodiscard]] Status lock_pages(const std::string& path, std::uint64_t offset_bytes,
                                  std::uint64_t size_bytes) {
    if (is_hold_refused_) return {StatusCode::kResource, "mlock: not allowed"};
    const std::scoped_lock lock(mutex_);
    held_.insert({path, offset_bytes, size_bytes});
    return {};
  }
  void unlock_pages(const std::string& path, std::uint64_t offset_bytes, std::uint64_t size_bytes) {
    const std::scoped_lock lock(mutex_);
    held_.erase({path, offset_bytes, size_bytes});
  }
  [[nodiscard]] std::uint64_t held_bytes(const std::string& part_of_path) const {
    const std::scoped_lock lock(mutex_);
    std::uint64_t sum = 0;
    for (const auto& [path, offset, size] : held_) {
      if (path.find(part_of_path) != std::string::npos) sum += size;
    }
    return sum;
  }

 private:
  using Pages = std::set<std::pair<std::string, std::uint64_t>>;

  [[nodiscard]] static Pages pages_of(const std::string& path, std::uint64_t offset_bytes,
                                      std::uint64_t size_bytes) {
    Pages pages;
    for (std::uint64_t page = offset_bytes / kPageBytes;
         page * kPageBytes < offset_bytes + size_bytes; ++page) {
      pages.emplace(path, page);
    }
    return pages;
  }
  void add(const std::string& path, std::uint64_t page) {
    if (!reads_.empty() && reads_.back().path == path &&
        reads_.back().end_bytes() == page * kPageBytes) {
      reads_.back().size_bytes += kPageBytes;
    } else {
      reads_.push_back({path, page * kPageBytes, kPageBytes});
    }
  }

  mutable std::mutex
      mutex_;  // guards what stands below, except the two settings made before the first read
  Pages memory_;
  std::vector<DiskRead> reads_;
  std::set<std::tuple<std::string, std::uint64_t, std::uint64_t>> held_;
  bool is_forgetful_ = false;
  bool is_hold_refused_ = false;
};

class ColdMapping final : public FileMapping {
 public:
  ColdMapping(std::string path, std::shared_ptr<const FileMapping> real, ColdDisk& disk)
      : path_(std::move(path)), real_(std::move(real)), disk_(disk) {}
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept override {
    return real_->bytes();
  }
  void will_need(std::uint64_t, std::uint64_t) const noexcept override {}
  void populate(std::uint64_t, std::uint64_t) const noexcept override {}
  [[nodiscard]] std::uint64_t resident_bytes(std::uint64_t offset_bytes,
                                             std::uint64_t size_bytes) const override {
    return disk_.resident_bytes(path_, offset_bytes, size_bytes);
  }
  [[nodiscard]] Status lock_pages(std::uint64_t offset_bytes,
                                  std::uint64_t size_bytes) const override {
    return disk_.lock_pages(path_, offset_bytes, size_bytes);
  }
  void unlock_pages(std::uint64_t offset_bytes, std::uint64_t size_bytes) const noexcept override {
    disk_.unlock_pages(path_, offset_bytes, size_bytes);
  }

 private:
  std::string path_;
  std::shared_ptr<const FileMapping> real_;
  ColdDisk& disk_;
};

class ColdFile final : public RandomAccessFile {
 public:
  ColdFile(std::string path, std::unique_ptr<RandomAccessFile> real, ColdDisk& disk)
      : path_(std::move(path)), real_(std::move(real)), disk_(disk) {}
  [[nodiscard]] std::uint64_t size_bytes() const override { return real_->size_bytes(); }
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                            std::span<std::byte> out) const override {
    const std::uint64_t end = std::min<std::uint64_t>(offset_bytes + out.size(), size_bytes());
    if (offset_bytes < end) disk_.read(path_, offset_bytes, end - offset_bytes);
    return real_->read_at(offset_bytes, out);
  }
  [[nodiscard]] Result<std::shared_ptr<const FileMapping>> map() const override {
    auto real = real_->map();
    if (!real.ok()) return real;
    return std::shared_ptr<const FileMapping>(
        std::make_shared<ColdMapping>(path_, std::move(*real), disk_));
  }
  [[nodiscard]] Result<std::unique_ptr<FileLock>> try_lock() const override {
    ++disk_.turns_tried;
    return real_->try_lock();
  }

 private:
  std::string path_;
  std::unique_ptr<RandomAccessFile> real_;
  ColdDisk& disk_;
};

// Nothing is known of its disk and memory, and it has no queue for direct reads.
class ColdEnv final : public PassingEnv {
 public:
  ColdEnv() : PassingEnv(Env::real()) {}

  [[nodiscard]] Result<std::unique_ptr<RandomAccessFile>> open_for_read(
      const std::string& path) override {
    auto real = PassingEnv::open_for_read(path);
    if (!real.ok()) return real;
    return std::unique_ptr<RandomAccessFile>(
        std::make_unique<ColdFile>(path, std::move(*real), disk));
  }
  [[nodiscard]] Result<StorageFacts> storage(const std::string& path) override {
    return Env::storage(path);
  }
  [[nodiscard]] Result<std::uint64_t> available_memory_bytes() override {
    return Env::available_memory_bytes();
  }
  [[nodiscard]] Result<std::unique_ptr<DirectQueue>> open_direct_queue(
      std::uint32_t depth) override {
    return Env::open_direct_queue(depth);
  }

  ColdDisk disk;
};

}  // namespace xtts::testing
