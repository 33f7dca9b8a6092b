// PassingEnv: an Env that passes every call on to another. Tests derive from it to change a call.
#pragma once

#include "base/direct_reads.hpp"
#include "base/env.hpp"
#include "base/scratch_file.hpp"

namespace xtts::testing {

class PassingEnv : public Env, public ScratchPlace {
 public:
  explicit PassingEnv(Env& target) : target_(target) {}  // `target` must outlive it

  [[nodiscard]] Result<std::unique_ptr<RandomAccessFile>> open_for_read(
      const std::string& path) override {
    return target_.open_for_read(path);
  }
  [[nodiscard]] Result<std::unique_ptr<WritableFile>> open_for_write(const std::string& path,
                                                                     WriteMode mode) override {
    return target_.open_for_write(path, mode);
  }
  [[nodiscard]] Result<FileFacts> stat(const std::string& path) override {
    return target_.stat(path);
  }
  [[nodiscard]] Result<std::vector<DirectoryEntry>> list(const std::string& path) override {
    return target_.list(path);
  }
  [[nodiscard]] Status create_directories(const std::string& path) override {
    return target_.create_directories(path);
  }
  [[nodiscard]] Status rename(const std::string& from, const std::string& to) override {
    return target_.rename(from, to);
  }
  [[nodiscard]] Status link(const std::string& from, const std::string& to) override {
    return target_.link(from, to);
  }
  [[nodiscard]] Status remove_file(const std::string& path) override {
    return target_.remove_file(path);
  }
  [[nodiscard]] Status remove_directory(const std::string& path) override {
    return target_.remove_directory(path);
  }
  [[nodiscard]] Status sync_directory(const std::string& path) override {
    return target_.sync_directory(path);
  }
  [[nodiscard]] Result<std::uint64_t> free_bytes(const std::string& path) override {
    return target_.free_bytes(path);
  }
  [[nodiscard]] Result<std::string> real_path(const std::string& path) override {
    return target_.real_path(path);
  }
  [[nodiscard]] Result<std::unique_ptr<FileLock>> lock(const std::string& path,
                                                       LockKind kind) override {
    return target_.lock(path, kind);
  }
  [[nodiscard]] Result<LockScope> lock_scope(const std::string& folder) override {
    return target_.lock_scope(folder);
  }
  [[nodiscard]] Result<std::unique_ptr<ScratchFile>> open_scratch(
      const std::string& folder) override {
    return xtts::open_scratch(target_, folder);
  }
  [[nodiscard]] Result<StorageFacts> storage(const std::string& path) override {
    return target_.storage(path);
  }
  [[nodiscard]] Result<std::uint64_t> available_memory_bytes() override {
    return target_.available_memory_bytes();
  }
  [[nodiscard]] Result<std::unique_ptr<DirectQueue>> open_direct_queue(
      std::uint32_t depth) override {
    return target_.open_direct_queue(depth);
  }
  [[nodiscard]] std::chrono::nanoseconds now() override { return target_.now(); }
  void sleep_for(std::chrono::nanoseconds duration) override { target_.sleep_for(duration); }

 private:
  Env& target_;
};

}  // namespace xtts::testing
