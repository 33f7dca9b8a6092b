#include "support/cuda_driver/fake_cuda.hpp"
#include "support/cuda_under_test.hpp"

namespace xtts::testing::cuda_under_test {

bool is_double() {
  return true;
}

void begin(std::uint64_t seed, const FailingCall& failing_call) {
  fake_cuda::Options options{.seed = seed, .is_started = true};
  if (!failing_call.name.empty())
    options.failing_calls = {{.name = failing_call.name, .nth = failing_call.nth}};
  fake_cuda::reset(options);
}

std::vector<std::string> end() {
  std::vector<std::string> wrong = fake_cuda::faults();
  for (const std::string& left : fake_cuda::leftovers()) wrong.push_back("left: " + left);
  return wrong;
}

std::vector<std::byte> read(std::span<const std::byte> bytes) {
  return fake_cuda::copy_to_host(bytes.data(), bytes.size());
}

std::uintptr_t make_stream() {
  return fake_cuda::make_stream();
}

void launch(std::uintptr_t stream, std::span<const std::byte> bytes,
            std::function<void(std::vector<std::byte> bytes)> work) {
  fake_cuda::launch_read(stream, bytes.data(), bytes.size(), std::move(work));
}

void finish(std::uintptr_t stream) {
  fake_cuda::finish(stream);
}

}  // namespace xtts::testing::cuda_under_test
