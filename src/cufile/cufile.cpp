#include "cufile/cufile.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>

#include "base/fork_count.hpp"
#include "base/try.hpp"
#include "cuda/library.hpp"

namespace xtts::cufile {
namespace {

constexpr std::array<const char*, 1> kLibraries = {"libcufile.so.0"};

Status no_library(const std::string& why) {
  return {StatusCode::kUnsupported,
          "cuFile could not be opened (" + why +
              "): install it (of the CUDA toolkit, or pip's package nvidia-cufile), name its "
              "folder in XTTS_CUFILE, or take the reading 'direct'"};
}

// Errors that a user can do something about.
const char* in_words(int code) {
  switch (code) {
    case kModuleNotLoaded:
      return "the kernel module nvidia-fs is not loaded, and cufile.json does not allow to work "
             "without it";
    case kModuleMismatch:
      return "nvidia-fs and cuFile are of different versions";
    case kMachineNotSupported:
      return "this machine is not supported";
    case kFileNotSupported:
      return "the file system is not supported";
    case kGpuNotSupported:
      return "this GPU is not supported";
    case kDriverError:
      return "the NVIDIA driver refused a call";
    case kSetupFailed:
      return "it could not be started; its log, cufile.log, may say more";
    case kMemoryNotPinned:
      return "the GPU's memory could not be pinned: its BAR1 window may be too small";
    default:
      return nullptr;
  }
}

// A file that cuFile knows, or has refused. It forgets the file before the descriptor is closed.
class KnownFile final : public FileCompanion {
 public:
  KnownFile(const CuFile& library, std::shared_ptr<const cuda::Context> gpu) noexcept
      : library_(&library), gpu_(std::move(gpu)) {}
  ~KnownFile() override {
    if (handle_ == nullptr) return;
    CuFile::run_quietly(*gpu_, [&] { library_->calls().forget_file(handle_); });
  }
  KnownFile(const KnownFile&) = delete;
  KnownFile& operator=(const KnownFile&) = delete;

  void open(int descriptor) {
    FileDescription description;
    description.descriptor = descriptor;
    CallError error{};
    refusal_ = CuFile::run(*gpu_, "opening a file of the cache", [&] {
      return error = library_->calls().register_file(&handle_, &description);
    });
    if (refusal_.ok()) return;
    handle_ = nullptr;
    if (error.code == kSuccess || error.code == kDriverError) return;
    refusal_ = Status(refusal_.code(), refusal_.message() +
                                           ". Its log, cufile.log, may say more. In a container, "
                                           "cuFile needs the host's /run/udev");
  }
  [[nodiscard]] Result<FileHandle> handle() const {
    if (!refusal_.ok()) return refusal_;
    return handle_;
  }

 private:
  const CuFile* library_;
  std::shared_ptr<const cuda::Context> gpu_;
  FileHandle handle_ = nullptr;
  Status refusal_;
};

std::atomic<bool> is_ending = false;
std::atomic<std::uint32_t> under_way_count = 0;
std::uint32_t forks_at_start = 0;

// A forked child ends without the parent's threads, whose calls it would wait for in vain.
void wait_for_calls() {
  is_ending = true;
  if (fork_count() != forks_at_start) return;
  while (const std::uint32_t count = under_way_count) under_way_count.wait(count);
}

std::mutex mutex;  // guards the two below
CuFile opened;
bool is_open = false;

}  // namespace

CallUnderWay::CallUnderWay() noexcept {
  ++under_way_count;  // before the look, so that either this call sees the end, or the end sees it
  may_begin_ = !is_ending;
}

CallUnderWay::~CallUnderWay() {
  if (--under_way_count == 0) under_way_count.notify_all();
}

Result<const CuFile*> CuFile::open(const cuda::Context& context) {
  const std::scoped_lock lock(mutex);
  if (!is_open) XTTS_TRY(opened.load_and_start(context));
  is_open = true;
  return &opened;
}

// Without /proc/modules, cuFile 1.14 and 1.20 loop for ever.
Status CuFile::check_system() {
  if (::access("/proc/modules", R_OK) == 0) return {};
  return {StatusCode::kUnsupported,
          "/proc/modules cannot be read here, as in some containers, and cuFile would never "
          "return: take the reading 'direct'"};
}

std::string CuFile::name() const {
  if (version_ == 0) return "cuFile";
  return "cuFile " + std::to_string(version_ / 1000) + "." + std::to_string(version_ % 1000 / 10);
}

Status CuFile::load_and_start(const cuda::Context& context) {
  const auto library = cuda::open_library(kLibraries, "XTTS_CUFILE");
  if (!library.ok()) return no_library(library.status().message());
#define XTTS_FIND(name, symbol, result, parameters)        \
  if (!cuda::find_call(*library, #symbol, calls_.name)) {  \
    return no_library("it lacks " + std::string(#symbol)); \
  }
  XTTS_CUFILE_CALLS(XTTS_FIND)
#undef XTTS_FIND
#define XTTS_FIND(name, symbol, result, parameters) \
  (void)cuda::find_call(*library, #symbol, calls_.name);
  XTTS_CUFILE_NEWER_CALLS(XTTS_FIND)
#undef XTTS_FIND
  // Libraries that do not tell their version are older than those that were seen to wait.
  if (calls_.version != nullptr) {
    (void)calls_.version(&version_);
    XTTS_TRY(check_system());
  }
  XTTS_TRY(run(context, "starting cuFile", [&] {
    const CallError error = calls_.open_driver();
    return error.code == kAlreadyOpen ? CallError() : error;
  }));
  forks_at_start = fork_count();
  // Registered behind cuFile's own handlers, so it runs before them.
  (void)std::atexit(wait_for_calls);
  return {};
}

Result<bool> CuFile::copies_through_host(const cuda::Context& context) const {
  DriverProperties properties;
  XTTS_TRY(run(context, "asking what cuFile can do",
               [&] { return calls_.driver_properties(&properties); }));
  return properties.nvidia_fs.supported == 0 && (properties.features & kFeaturePeerToPeer) == 0;
}

Result<FileHandle> CuFile::handle_of(const DirectFile& file,
                                     const std::shared_ptr<const cuda::Context>& gpu) const {
  const auto known = file.companion([&] {
    auto made = std::make_shared<KnownFile>(*this, gpu);
    made->open(file.descriptor());
    return made;
  });
  return static_cast<const KnownFile*>(known.get())->handle();
}

Status CuFile::check(const CallError& error, std::string_view what) {
  if (error.code == kSuccess) return {};
  const char* const words = in_words(error.code);
  std::string message(what);
  message += ": cuFile gives error " + std::to_string(error.code);
  if (words != nullptr) message += ", " + std::string(words);
  if (error.code == kDriverError) message += " (" + std::to_string(error.driver_code) + ")";
  return {StatusCode::kResource, message};
}

Result<RegisteredMemory> RegisteredMemory::make(const CuFile& library,
                                                std::shared_ptr<const cuda::Context> gpu,
                                                std::span<std::byte> memory) {
  XTTS_TRY(CuFile::run(*gpu, "registering with cuFile memory of " + gpu->label(), [&] {
    return library.calls().register_memory(memory.data(), memory.size(), 0);
  }));
  return RegisteredMemory(library, std::move(gpu), memory);
}

RegisteredMemory::~RegisteredMemory() {
  if (memory_.empty()) return;
  CuFile::run_quietly(*gpu_, [&] { (void)library_->calls().forget_memory(memory_.data()); });
}

}  // namespace xtts::cufile
