// CuFile: NVIDIA's library for reading files into a GPU's memory (GPUDirect Storage), opened at run
// time. One for the process.
//
// When the process ends, its calls are waited for, and no more begin: cuFile ends itself then.
//
// Any number of threads. Failures: kUnsupported (no library, no /proc/modules, a forked child),
// kResource (cuFile refused a call, as on a machine or a file system that it does not support).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/direct_reads.hpp"
#include "base/try.hpp"
#include "cuda/context.hpp"
#include "cufile/cufile_calls.hpp"
#include "xtts/status.hpp"

namespace xtts::cufile {

// Stands for a call of cuFile while it lives.
class CallUnderWay {
 public:
  CallUnderWay() noexcept;
  ~CallUnderWay();
  CallUnderWay(const CallUnderWay&) = delete;
  CallUnderWay& operator=(const CallUnderWay&) = delete;
  // False: the process is ending.
  [[nodiscard]] bool may_begin() const noexcept { return may_begin_; }

 private:
  bool may_begin_;
};

class CuFile {
 public:
  // Opens the library at the first call. Later calls return the same CuFile, or try again after a
  // failure.
  [[nodiscard]] static Result<const CuFile*> open(const cuda::Context& context);

  [[nodiscard]] const CuFileCalls& calls() const noexcept { return calls_; }
  // "cuFile 1.14"; "cuFile" for libraries that cannot tell their version.
  [[nodiscard]] std::string name() const;
  // True: nothing on this machine lets a disk write to a GPU's memory, so cuFile reads into memory
  // of its own on the host, and copies from there.
  [[nodiscard]] Result<bool> copies_through_host(const cuda::Context& context) const;
  // The file's handle. It is made once, and lives until the file is closed. It keeps the context of
  // the GPU that asked first. A file that is refused is not asked for again while it is open.
  [[nodiscard]] Result<FileHandle> handle_of(const DirectFile& file,
                                             const std::shared_ptr<const cuda::Context>& gpu) const;
  // Turns a call's result into a Status. `what` says what was tried.
  [[nodiscard]] static Status check(const CallError& error, std::string_view what);
  // Makes a call of cuFile with the GPU's context current. `what` says what is tried. Fails without
  // the call where the process ends, or where the context does not become current.
  template <typename Call>
  [[nodiscard]] static Status run(const cuda::Context& gpu, const std::string& what, Call call) {
    const CallUnderWay under_way;
    if (!under_way.may_begin()) return {StatusCode::kCancelled, what + ": the process is ending"};
    CallError error{};
    XTTS_TRY(gpu.run(what, [&](const cuda::DriverCalls&) {
      error = call();
      return cuda::kSuccess;
    }));
    return check(error, what);
  }
  // The same, where nobody hears of a failure.
  template <typename Call>
  static void run_quietly(const cuda::Context& gpu, Call call) noexcept {
    const CallUnderWay under_way;
    if (!under_way.may_begin()) return;
    gpu.run_quietly([&](const cuda::DriverCalls&) {
      call();
      return cuda::kSuccess;
    });
  }

 private:
  [[nodiscard]] Status load_and_start(const cuda::Context& context);
  [[nodiscard]] static Status check_system();

  CuFileCalls calls_;
  int version_ = 0;  // 1140: 1.14
};

// Tells cuFile of memory of a GPU that it will read into, while this object lives. The memory must
// live longer. Move-only.
class RegisteredMemory {
 public:
  [[nodiscard]] static Result<RegisteredMemory> make(const CuFile& library,
                                                     std::shared_ptr<const cuda::Context> gpu,
                                                     std::span<std::byte> memory);
  ~RegisteredMemory();
  RegisteredMemory(RegisteredMemory&& other) noexcept
      : library_(other.library_),
        gpu_(std::move(other.gpu_)),
        memory_(std::exchange(other.memory_, {})) {}
  RegisteredMemory& operator=(RegisteredMemory&&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return memory_; }

 private:
  RegisteredMemory(const CuFile& library, std::shared_ptr<const cuda::Context> gpu,
                   std::span<std::byte> memory) noexcept
      : library_(&library), gpu_(std::move(gpu)), memory_(memory) {}

  const CuFile* library_;
  std::shared_ptr<const cuda::Context> gpu_;
  std::span<std::byte> memory_;
};

}  // namespace xtts::cufile
