// SharedText is an immutable text in eight bytes. Copies share its letters, so a corpus of a
// million clips keeps each text, speaker or path once. The empty text takes no memory. It converts
// to std::string_view and std::string; views are valid while any copy lives. Only assignment
// changes an object; copies may live in several threads.
#pragma once

#include <atomic>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace xtts {

class SharedText {
 public:
  SharedText() noexcept = default;
  // Implicit, so that texts of any kind can be assigned to a field. At most 4 GiB.
  template <std::convertible_to<std::string_view> Text>
  requires(!std::same_as<std::remove_cvref_t<Text>, SharedText>) SharedText(const Text& text)
      : shared_(make(text)) {}

  SharedText(const SharedText& other) noexcept : shared_(other.shared_) {
    if (shared_ != nullptr) shared_->holder_count.fetch_add(1, std::memory_order_relaxed);
  }
  SharedText(SharedText&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
  SharedText& operator=(SharedText other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~SharedText() { release(); }

  [[nodiscard]] std::string_view view() const noexcept {
    return shared_ == nullptr
               ? std::string_view()
               : std::string_view(reinterpret_cast<const char*>(shared_ + 1), shared_->size_bytes);
  }
  operator std::string_view() const noexcept { return view(); }
  operator std::string() const { return std::string(view()); }
  [[nodiscard]] std::size_t size() const noexcept { return view().size(); }
  [[nodiscard]] bool empty() const noexcept { return shared_ == nullptr; }
  void clear() noexcept { *this = SharedText(); }

  template <std::convertible_to<std::string_view> Text>
  friend bool operator==(const SharedText& left, const Text& right) {
    return left.view() == std::string_view(right);
  }
  template <std::convertible_to<std::string_view> Text>
  friend std::strong_ordering operator<=>(const SharedText& left, const Text& right) {
    return left.view() <=> std::string_view(right);
  }
  friend std::string operator+(std::string left, const SharedText& right) {
    return std::move(left.append(right.view()));
  }
  friend std::string operator+(const SharedText& left, std::string_view right) {
    return std::string(left.view()).append(right);
  }
  friend std::ostream& operator<<(std::ostream& out, const SharedText& text) {
    return out << text.view();
  }

 private:
  // The header of an allocation; the letters follow it.
  struct Shared {
    std::atomic<std::uint32_t> holder_count;
    std::uint32_t size_bytes;
  };
  static Shared* make(std::string_view text);
  void release() noexcept;

  Shared* shared_ = nullptr;  // null: empty
};

}  // namespace xtts
