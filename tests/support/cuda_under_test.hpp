// The driver below the CUDA device in tests, and its consumer's side. fake_cuda_under_test.cpp has
// the adversarial driver of cuda_driver/; real_cuda_under_test.cpp has NVIDIA's, on a real GPU. A
// test program links one of the two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace xtts::testing::cuda_under_test {

// True: the adversarial driver.
[[nodiscard]] bool is_double();
// A call of the driver that fails, as fake_cuda::FailingCall has it. A real GPU takes none.
struct FailingCall {
  std::string name = {};
  std::uint64_t nth = 1;
};
void begin(std::uint64_t seed, const FailingCall& failing_call = {});
// Returns the faults in words, and also what is left.
[[nodiscard]] std::vector<std::string> end();

[[nodiscard]] std::vector<std::byte> read(std::span<const std::byte> bytes);
[[nodiscard]] std::uintptr_t make_stream();
// Reads the bytes in the stream's order, and calls `work` with them, at the latest in finish().
void launch(std::uintptr_t stream, std::span<const std::byte> bytes,
            std::function<void(std::vector<std::byte> bytes)> work);
void finish(std::uintptr_t stream);

}  // namespace xtts::testing::cuda_under_test
