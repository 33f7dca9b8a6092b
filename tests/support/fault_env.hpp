// FaultEnv puts faults into any Env. It counts the calls that change the file system, fails a
// chosen one, or everything from it on, and passes all others through.
//
// It also watches one rule: after a failed sync() nobody may sync, extend or rename those bytes as
// if they were safe. (Kernels forget pages that they could not write, and report success the next
// time.) misuse() lists the breaches. One thread at a time may make changing calls and use the
// setters. Any thread may make reading calls.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/confined_env.hpp"
#include "base/env.hpp"
#include "base/scratch_file.hpp"

namespace xtts::testing {

enum class Aftermath : std::uint8_t {
  kGoesOn,    // the next call works again
  kIsACrash,  // the process is dead: no later call works, not even a reading one
};

struct Fault {
  std::uint64_t at_call = 1;  // the number of the changing call, from 1
  Aftermath aftermath = Aftermath::kGoesOn;
  Status failure{StatusCode::kResource, "injected fault"};
  // For an append: the share of its bytes that still reach the file, as when a disk fills up.
  double torn_share = 0.0;
};

class FaultEnv final : public Env, public RuledEnv, public ScratchPlace {
 public:
  explicit FaultEnv(Env& target);  // `target` must outlive it
  ~FaultEnv() override;

  void set_fault(std::optional<Fault> fault);
  // The disk takes so many more appended bytes. An append that does not fit is cut, and fails with
  // kResource.
  void set_room_bytes(std::optional<std::uint64_t> room_bytes);

  [[nodiscard]] std::uint64_t call_count() const;  // changing calls so far
  [[nodiscard]] bool fault_happened() const;
  // The failed call, as "rename /a/b"; empty before.
  [[nodiscard]] std::string failed_call() const;
  [[nodiscard]] std::vector<std::string> misuse() const;

  [[nodiscard]] std::shared_ptr<Env> with_rule(const std::string& folder, Links links) override;
  [[nodiscard]] Result<std::unique_ptr<WritableFile>> open_new(const std::string& path) override;
  [[nodiscard]] Result<std::unique_ptr<RandomAccessFile>> open_for_read(
      const std::string& path) override;
  [[nodiscard]] Result<std::unique_ptr<WritableFile>> open_for_write(const std::string& path,
                                                                     WriteMode mode) override;
  [[nodiscard]] Result<FileFacts> stat(const std::string& path) override;
  [[nodiscard]] Result<std::vector<DirectoryEntry>> list(const std::string& path) override;
  [[nodiscard]] Status create_directories(const std::string& path) override;
  [[nodiscard]] Status rename(const std::string& from, const std::string& to) override;
  [[nodiscard]] Status link(const std::string& from, const std::string& to) override;
  [[nodiscard]] Status remove_file(const std::string& path) override;
  [[nodiscard]] Status remove_directory(const std::string& path) override;
  [[nodiscard]] Status sync_directory(const std::string& path) override;
  [[nodiscard]] Result<std::uint64_t> free_bytes(const std::string& path) override;
  [[nodiscard]] Result<std::string> real_path(const std::string& path) override;
  [[nodiscard]] Result<std::unique_ptr<FileLock>> lock(const std::string& path,
                                                       LockKind kind) override;
  [[nodiscard]] Result<LockScope> lock_scope(const std::string& folder) override;
  [[nodiscard]] Result<std::unique_ptr<ScratchFile>> open_scratch(
      const std::string& folder) override;
  [[nodiscard]] std::chrono::nanoseconds now() override;
  void sleep_for(std::chrono::nanoseconds duration) override;

 private:
  struct State;
  FaultEnv(std::shared_ptr<State> state, std::shared_ptr<Env> target);

  std::shared_ptr<State> state_;  // shared with open files, and with what with_rule() made
  std::shared_ptr<Env> target_;
};

}  // namespace xtts::testing
