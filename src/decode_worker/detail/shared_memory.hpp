// SharedMemory: the memory that parent and worker both see: a window for pieces of the source and
// two buffers for samples. It controls nothing, so wrong content can only give wrong sound.
//
// It is a sealed memfd: its size cannot change, so no access can fault. Each buffer belongs to one
// side at a time, as the messages say. One thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "base/system_call.hpp"
#include "xtts/status.hpp"

namespace xtts::decode_worker::detail {

constexpr std::size_t kWindowBytes = std::size_t{1} << 20U;
constexpr std::size_t kBufferSamples = std::size_t{1} << 18U;
constexpr std::size_t kBufferCount = 2;
constexpr std::size_t kSharedBytes = kWindowBytes + kBufferCount * kBufferSamples * sizeof(float);

class SharedMemory {
 public:
  // The parent's side.
  [[nodiscard]] static Result<SharedMemory> make();
  // The worker's side. Refuses memory of another size or with seals missing.
  [[nodiscard]] static Result<SharedMemory> attach(Descriptor descriptor);

  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
  [[nodiscard]] std::span<std::byte> window() const noexcept {
    return memory_.bytes().first(kWindowBytes);
  }
  [[nodiscard]] std::span<float> buffer(std::size_t index) const noexcept;

 private:
  SharedMemory(Descriptor descriptor, Mapping memory) noexcept
      : descriptor_(std::move(descriptor)), memory_(std::move(memory)) {}
  [[nodiscard]] static Result<SharedMemory> map(Descriptor descriptor);

  Descriptor descriptor_;
  Mapping memory_;
};

}  // namespace xtts::decode_worker::detail
