// AlignedBuffer: owned, zeroed memory of fixed size at a 64-byte boundary. FFTW chooses codelets by
// alignment. So plans are made for these buffers and run only on them, never on a caller's memory.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace xtts::dsp {

template <typename T>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t count)
      : data_(static_cast<T*>(::operator new(count * sizeof(T), kAlignment))), count_(count) {
    for (std::size_t i = 0; i < count; ++i) data_.get()[i] = T{};
  }

  [[nodiscard]] T* data() noexcept { return data_.get(); }
  [[nodiscard]] const T* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] std::span<T> span() noexcept { return {data(), count_}; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data_.get()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data_.get()[i]; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(T* memory) const noexcept { ::operator delete(memory, kAlignment); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t count_ = 0;
};

}  // namespace xtts::dsp
