#include "dsp_cuda/cufft.hpp"

#include <array>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "cuda/library.hpp"

namespace xtts::dsp_cuda {
namespace {

struct Library {
  const char* name;
  int driver_version_min;  // of the CUDA that it belongs to
};
constexpr std::array<Library, 2> kLibraries = {
    {{"libcufft.so.12", 13000}, {"libcufft.so.11", 12000}}};

Status no_library(const std::string& why) {
  return {StatusCode::kUnsupported,
          formatted(
              "cuFFT is not on this machine ({}): install it (of the CUDA toolkit, or the package "
              "nvidia-cufft of pip), name its folder in XTTS_CUFFT, or take the device 'cpu'",
              why)};
}

// The newest library that the driver can serve.
Result<void*> load(int driver_version) {
  std::vector<const char*> names;
  for (const Library& library : kLibraries) {
    if (driver_version >= library.driver_version_min) names.push_back(library.name);
  }
  auto library = cuda::open_library(names, "XTTS_CUFFT");
  return library.ok() ? library : no_library(library.status().message());
}

const char* in_words(FftResult result) {
  switch (result) {
    case 1:
      return "CUFFT_INVALID_PLAN";
    case kFftAllocationFailed:
      return "CUFFT_ALLOC_FAILED: the GPU's memory is full";
    case 4:
      return "CUFFT_INVALID_VALUE";
    case 5:
      return "CUFFT_INTERNAL_ERROR";
    case 6:
      return "CUFFT_EXEC_FAILED";
    case 7:
      return "CUFFT_SETUP_FAILED";
    case 8:
      return "CUFFT_INVALID_SIZE";
    case 16:
      return "CUFFT_NOT_SUPPORTED";
    default:
      return nullptr;
  }
}

std::mutex mutex;  // guards the two below
Cufft opened;
bool is_open = false;

}  // namespace

Result<const Cufft*> Cufft::open() {
  XTTS_ASSIGN(const cuda::Driver* driver, cuda::Driver::open());
  const std::scoped_lock lock(mutex);
  if (is_open) return &opened;
  XTTS_ASSIGN(void* const library, load(driver->version()));
#define XTTS_FIND(name, symbol, parameters)                     \
  if (!cuda::find_call(library, #symbol, opened.calls_.name)) { \
    return no_library("it lacks " + std::string(#symbol));      \
  }
  XTTS_CUFFT_CALLS(XTTS_FIND)
#undef XTTS_FIND
  XTTS_TRY(check(opened.calls_.version(&opened.version_), "asking for cuFFT's version"));
  is_open = true;
  return &opened;
}

std::string Cufft::version_text() const {
  return formatted("cuFFT {}.{}.{}", version_ / 1000, version_ % 1000 / 100, version_ % 100);
}

Status Cufft::check(FftResult result, std::string_view what) {
  if (result == kFftSuccess) return {};
  const char* const words = in_words(result);
  std::string message(what);
  message += ": cuFFT says ";
  message += words != nullptr ? std::string(words) : formatted("error {}", result);
  if (result == kFftAllocationFailed) {
    message += ". Take fewer threads, or free memory of the GPU";
  }
  return {StatusCode::kResource, message};
}

// Makes a call of cuFFT with the context current.
template <typename Call>
static Status run_fft(const cuda::Context& context, const std::string& what, Call call) {
  FftResult result = kFftSuccess;
  XTTS_TRY(context.run(what, [&](const cuda::DriverCalls&) {
    result = call();
    return cuda::kSuccess;
  }));
  return Cufft::check(result, what);
}

Result<FftPlan> FftPlan::create(std::shared_ptr<const cuda::Context> context, const Shape& shape,
                                cuda::StreamHandle stream) {
  XTTS_ASSIGN(const Cufft* library, Cufft::open());
  const std::string what =
      formatted("planning transforms of {} points on {}", shape.size, context->label());
  int size = static_cast<int>(shape.size);
  FftHandle handle = 0;
  // One at a time: when sixteen threads planned at once, a clip of one of them failed, on
  // cuFFT 12.0.
  static std::mutex planning;
  const std::scoped_lock lock(planning);
  XTTS_TRY(run_fft(*context, what, [&] {
    return library->calls().plan(&handle, 1, &size, nullptr, 1, size, nullptr, 1, size,
                                 shape.is_double ? kFftComplexDouble : kFftComplexFloat,
                                 static_cast<int>(shape.batch));
  }));
  FftPlan plan(std::move(context), library, handle, shape.is_double);
  XTTS_TRY(
      run_fft(*plan.context_, what, [&] { return library->calls().set_stream(handle, stream); }));
  return plan;
}

FftPlan::~FftPlan() {
  if (!is_there_) return;
  context_->run_quietly([&](const cuda::DriverCalls&) {
    (void)library_->calls().destroy(handle_);
    return cuda::kSuccess;
  });
}

FftPlan::FftPlan(FftPlan&& other) noexcept
    : context_(std::move(other.context_)),
      library_(other.library_),
      handle_(other.handle_),
      is_double_(other.is_double_),
      is_there_(std::exchange(other.is_there_, false)) {}

FftPlan& FftPlan::operator=(FftPlan&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(library_, other.library_);
  std::swap(handle_, other.handle_);
  std::swap(is_double_, other.is_double_);
  std::swap(is_there_, other.is_there_);
  return *this;
}

Status FftPlan::run(cuda::DeviceAddress data) const {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver's addresses are integers, cuFFT's are not
  auto* const memory = reinterpret_cast<void*>(data);
  return run_fft(*context_, "transforming frames on " + context_->label(), [&] {
    const CufftCalls& calls = library_->calls();
    return is_double_ ? calls.run_double(handle_, memory, memory, kFftForward)
                      : calls.run_float(handle_, memory, memory, kFftForward);
  });
}

}  // namespace xtts::dsp_cuda
