// MadeDirectQueue: a DirectQueue for tests on any machine. It reads with pread when it is asked for
// finished reads. It returns them in another order than it got them, and some of them changed.
// MadeDirectEnv: an Env with such queues, whose files are direct on every file system.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/file_mapping.hpp"
#include "support/passing_env.hpp"

namespace xtts::testing {

struct DirectFaults {
  // Changes the result of a finished read. `number` counts reads, from 1.
  std::function<void(std::uint64_t number, const DirectRead& read, DirectDone& done)> on_done = {};
  // Decides how many of `count` submitted reads are taken.
  std::function<Result<std::size_t>(std::size_t count)> on_submit = {};
  bool is_lost = false;             // reap() fails from now on
  bool refuses_files = false;       // no file can be read directly
  bool refuses_maps = false;        // no file can be mapped
  std::uint32_t in_flight_max = 0;  // the most reads that were pending at once
  std::uint64_t read_count = 0;
};

class MadeDirectQueue final : public DirectQueue {
 public:
  MadeDirectQueue(std::uint32_t depth, std::shared_ptr<DirectFaults> faults)
      : depth_(depth), faults_(std::move(faults)) {}

  [[nodiscard]] Result<std::size_t> submit(std::span<const DirectRead> reads) override {
    std::size_t count = reads.size();
    if (faults_->on_submit) {
      const auto taken = faults_->on_submit(count);
      if (!taken.ok()) return taken;
      count = *taken;
    }
    const std::scoped_lock lock(mutex_);
    count = std::min<std::size_t>(count, depth_ - pending_.size());
    pending_.insert(pending_.end(), reads.begin(),
                    reads.begin() + static_cast<std::ptrdiff_t>(count));
    faults_->in_flight_max =
        std::max(faults_->in_flight_max, static_cast<std::uint32_t>(pending_.size()));
    return count;
  }

  [[nodiscard]] Result<std::size_t> reap(std::span<DirectDone> done) override {
    if (faults_->is_lost) return Status(StatusCode::kResource, "the queue is gone");
    const std::scoped_lock lock(mutex_);
    std::size_t count = 0;
    while (count < std::min<std::size_t>(done.size(), 2) && !pending_.empty()) {
      // Takes one from the middle of the list.
      const auto chosen = pending_.begin() + static_cast<std::ptrdiff_t>(pending_.size() / 2);
      const DirectRead read = *chosen;
      pending_.erase(chosen);
      const ssize_t got = ::pread(read.file->descriptor(), read.out.data(), read.out.size(),
                                  static_cast<off_t>(read.offset_bytes));
      DirectDone& one = done[count++];
      one = {.tag = read.tag,
             .error = got < 0 ? errno : 0,
             .read_bytes = got < 0 ? 0 : static_cast<std::size_t>(got)};
      ++faults_->read_count;
      if (faults_->on_done) faults_->on_done(faults_->read_count, read, one);
    }
    return count;
  }

 private:
  std::uint32_t depth_;
  std::shared_ptr<DirectFaults> faults_;
  std::mutex mutex_;
  std::vector<DirectRead> pending_;
};

// Opens a file for a MadeDirectQueue, with the alignment of many disks.
[[nodiscard]] inline std::shared_ptr<const DirectFile> made_direct_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return fd < 0 ? nullptr : std::make_shared<DirectFile>(fd, 512);
}

class MadeDirectEnv final : public PassingEnv {
 public:
  MadeDirectEnv() : PassingEnv(Env::real()) {}

  [[nodiscard]] Result<std::unique_ptr<RandomAccessFile>> open_for_read(
      const std::string& path) override {
    auto real = PassingEnv::open_for_read(path);
    if (!real.ok()) return real;
    return std::unique_ptr<RandomAccessFile>(
        std::make_unique<File>(path, std::move(*real), faults));
  }
  [[nodiscard]] Result<std::unique_ptr<DirectQueue>> open_direct_queue(
      std::uint32_t depth) override {
    return std::unique_ptr<DirectQueue>(std::make_unique<MadeDirectQueue>(depth, faults));
  }

  std::shared_ptr<DirectFaults> faults = std::make_shared<DirectFaults>();

 private:
  class File final : public RandomAccessFile {
   public:
    File(std::string path, std::unique_ptr<RandomAccessFile> real,
         std::shared_ptr<const DirectFaults> faults)
        : path_(std::move(path)), real_(std::move(real)), faults_(std::move(faults)) {}
    [[nodiscard]] std::uint64_t size_bytes() const override { return real_->size_bytes(); }
    [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                              std::span<std::byte> out) const override {
      return real_->read_at(offset_bytes, out);
    }
    [[nodiscard]] Result<std::shared_ptr<const FileMapping>> map() const override {
      return faults_->refuses_maps ? RandomAccessFile::map() : real_->map();
    }
    [[nodiscard]] Result<std::shared_ptr<const DirectFile>> open_direct() const override {
      if (faults_->refuses_files) return RandomAccessFile::open_direct();
      auto file = made_direct_file(path_);
      if (file == nullptr) return Status(StatusCode::kResource, "opening " + path_);
      return file;
    }

   private:
    std::string path_;
    std::unique_ptr<RandomAccessFile> real_;
    std::shared_ptr<const DirectFaults> faults_;
  };
};

}  // namespace xtts::testing
