#include "base/shared_text.hpp"

#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>

namespace xtts {

SharedText::Shared* SharedText::make(std::string_view text) {
  if (text.empty()) return nullptr;
  if (text.size() > std::numeric_limits<std::uint32_t>::max())
    throw std::length_error("a text of more than 4 GiB");
  void* const memory = ::operator new(sizeof(Shared) + text.size());
  auto* const shared = new (memory) Shared{1, static_cast<std::uint32_t>(text.size())};
  std::memcpy(static_cast<void*>(shared + 1), text.data(), text.size());
  return shared;
}

void SharedText::release() noexcept {
  if (shared_ == nullptr) return;
  // The last holder must see all reads of the others as done before it frees the letters.
  if (shared_->holder_count.fetch_sub(1, std::memory_order_acq_rel) == 1)
    ::operator delete(shared_);
}

}  // namespace xtts
