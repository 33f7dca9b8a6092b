#include "support/cufft/fake_cufft.hpp"

#include <fftw3.h>

#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <utility>

#include "dsp_cuda/cufft_calls.hpp"
#include "support/cuda_driver/added_kernels.hpp"
#include "support/cuda_driver/entry_points.hpp"

namespace xtts::testing::fake_cufft {
namespace {

using dsp_cuda::FftHandle;
using dsp_cuda::FftResult;

constexpr FftResult kInvalidPlan = 1;
constexpr FftResult kInvalidType = 3;
constexpr FftResult kInvalidValue = 4;
constexpr FftResult kExecFailed = 6;
constexpr std::size_t kWorkBytes = 4096;

struct Plan {
  std::size_t size = 0;
  std::size_t batch = 0;
  bool is_double = true;
  cuda::StreamHandle stream = nullptr;
  cuda::DeviceAddress work = 0;  // as the real library's: written by each run
  std::shared_ptr<void> fftw = {};

  [[nodiscard]] std::size_t transform_bytes() const {
    return size * 2 * (is_double ? sizeof(double) : sizeof(float));
  }
};

struct State {
  std::mutex mutex;
  std::map<std::string, std::uint64_t> counts;
  std::map<std::pair<std::string, std::uint64_t>, int> failures;
  std::map<FftHandle, Plan> plans;
  FftHandle next = 0;  // the real library's first handle is 0, too
};

State& state() {
  static State& one = *new State;  // plans may go after all destructors
  return one;
}

// `body` takes the State, whose mutex is held.
template <typename Body>
FftResult make_call(const char* name, Body body) {
  State& now = state();
  const std::scoped_lock lock(now.mutex);
  const std::uint64_t count = ++now.counts[name];
  const auto failure = now.failures.find({name, count});
  if (failure != now.failures.end()) return failure->second;
  return body(now);
}

// In place, at any alignment, so that each transform of a batch may take it.
std::shared_ptr<void> plan_fftw(int size, bool is_double) {
  constexpr unsigned kFlags = FFTW_ESTIMATE | FFTW_UNALIGNED;
  if (is_double) {
    auto* const scratch = fftw_alloc_complex(static_cast<std::size_t>(size));
    std::shared_ptr<void> plan(fftw_plan_dft_1d(size, scratch, scratch, FFTW_FORWARD, kFlags),
                               [](void* made) { fftw_destroy_plan(static_cast<fftw_plan>(made)); });
    fftw_free(scratch);
    return plan;
  }
  auto* const scratch = fftwf_alloc_complex(static_cast<std::size_t>(size));
  std::shared_ptr<void> plan(fftwf_plan_dft_1d(size, scratch, scratch, FFTW_FORWARD, kFlags),
                             [](void* made) { fftwf_destroy_plan(static_cast<fftwf_plan>(made)); });
  fftwf_free(scratch);
  return plan;
}

std::atomic<double> noise_share = 0.0;

template <typename Real>
void add_noise(std::span<Real> numbers) {
  const double share = noise_share.load();
  if (share == 0.0) return;
  double sum = 0.0;
  for (const Real number : numbers)
    sum += static_cast<double>(number) * static_cast<double>(number);
  const double most = share * std::sqrt(sum / static_cast<double>(numbers.size()));
  std::minstd_rand random(1 + static_cast<unsigned>(numbers.size()));
  std::uniform_real_distribution<double> noise(-most, most);
  for (Real& number : numbers)
    number = static_cast<Real>(static_cast<double>(number) + noise(random));
}

void run_one(const Plan& plan, std::byte* data) {
  if (plan.is_double) {
    auto* const numbers = reinterpret_cast<fftw_complex*>(data);
    fftw_execute_dft(static_cast<fftw_plan>(plan.fftw.get()), numbers, numbers);
    add_noise<double>({reinterpret_cast<double*>(data), 2 * plan.size});
  } else {
    auto* const numbers = reinterpret_cast<fftwf_complex*>(data);
    fftwf_execute_dft(static_cast<fftwf_plan>(plan.fftw.get()), numbers, numbers);
    add_noise<float>({reinterpret_cast<float*>(data), 2 * plan.size});
  }
}

FftResult run(const char* name, FftHandle handle, void* in, void* out, int direction,
              bool is_double) {
  return make_call(name, [&](State& now) {
    const auto found = now.plans.find(handle);
    if (found == now.plans.end()) return kInvalidPlan;
    const Plan plan = found->second;
    if (plan.is_double != is_double) return kInvalidType;
    if (in != out || direction != dsp_cuda::kFftForward) return kInvalidValue;  // not imitated
    fake_cuda::KernelWork work;
    work.ranges.push_back({.address = reinterpret_cast<cuda::DeviceAddress>(in),
                           .size_bytes = plan.batch * plan.transform_bytes(),
                           .is_read = true,
                           .is_written = true});
    work.ranges.push_back({.address = plan.work, .size_bytes = kWorkBytes, .is_written = true});
    work.piece_count = plan.batch;
    work.run = [plan](const std::vector<std::byte*>& memory, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        run_one(plan, memory[0] + i * plan.transform_bytes());
      }
    };
    return fake_cuda::launch_work(plan.stream, name, work) == cuda::kSuccess ? 0 : kExecFailed;
  });
}

}  // namespace

void reset() {
  const std::scoped_lock lock(state().mutex);
  state().counts.clear();
  state().failures.clear();
  state().plans.clear();
  noise_share = 0.0;
}

void set_noise(double share) {
  noise_share = share;
}

void fail(const std::string& name, std::uint64_t nth, int code) {
  const std::scoped_lock lock(state().mutex);
  state().failures[{name, nth}] = code;
}

std::uint64_t call_count(const std::string& name) {
  const std::scoped_lock lock(state().mutex);
  return state().counts[name];
}

std::uint64_t plan_count() {
  const std::scoped_lock lock(state().mutex);
  return state().plans.size();
}

extern "C" {

#define XTTS_DECLARE(name, symbol, parameters) XTTS_FAKE_CUFFT_API FftResult symbol parameters;
XTTS_CUFFT_CALLS(XTTS_DECLARE)
#undef XTTS_DECLARE

FftResult cufftGetVersion(int* version) {
  return make_call("cufftGetVersion", [&](State&) {
    *version = 12000;
    return 0;
  });
}

FftResult cufftPlanMany(FftHandle* plan, int rank, int* sizes, int* in_sizes, int in_stride,
                        int in_distance, int* out_sizes, int out_stride, int out_distance, int type,
                        int batch) {
  return make_call("cufftPlanMany", [&](State& now) {
    const bool is_double = type == dsp_cuda::kFftComplexDouble;
    if (!is_double && type != dsp_cuda::kFftComplexFloat) return kInvalidType;
    const bool is_plain = rank == 1 && in_sizes == nullptr && out_sizes == nullptr &&
                          in_stride == 1 && out_stride == 1 && in_distance == sizes[0] &&
                          out_distance == sizes[0] && sizes[0] > 0 && batch > 0;
    if (!is_plain) return kInvalidValue;  // other layouts are not imitated
    Plan made{.size = static_cast<std::size_t>(sizes[0]),
              .batch = static_cast<std::size_t>(batch),
              .is_double = is_double};
    if (fake_cuda::cuMemAlloc_v2(&made.work, kWorkBytes) != cuda::kSuccess) {
      return dsp_cuda::kFftAllocationFailed;
    }
    made.fftw = plan_fftw(sizes[0], is_double);
    *plan = now.next++;
    now.plans[*plan] = made;
    return 0;
  });
}

FftResult cufftSetStream(FftHandle plan, cuda::StreamHandle stream) {
  return make_call("cufftSetStream", [&](State& now) {
    const auto found = now.plans.find(plan);
    if (found == now.plans.end()) return kInvalidPlan;
    found->second.stream = stream;
    return 0;
  });
}

FftResult cufftExecZ2Z(FftHandle plan, void* in, void* out, int direction) {
  return run("cufftExecZ2Z", plan, in, out, direction, true);
}

FftResult cufftExecC2C(FftHandle plan, void* in, void* out, int direction) {
  return run("cufftExecC2C", plan, in, out, direction, false);
}

FftResult cufftDestroy(FftHandle plan) {
  return make_call("cufftDestroy", [&](State& now) {
    const auto found = now.plans.find(plan);
    if (found == now.plans.end()) return kInvalidPlan;
    (void)fake_cuda::cuMemFree_v2(found->second.work);
    now.plans.erase(found);
    return 0;
  });
}

}  // extern "C"
}  // namespace xtts::testing::fake_cufft
