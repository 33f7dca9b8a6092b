#include "cuda/copy_list.hpp"

namespace xtts::cuda {

void CopyList::add(DeviceAddress to, const std::byte* from, std::size_t size_bytes) {
  if (size_bytes == 0) return;
  to_.push_back(to);
  from_.push_back(reinterpret_cast<DeviceAddress>(from));
  sizes_bytes_.push_back(size_bytes);
}

void CopyList::clear() noexcept {
  to_.clear();
  from_.clear();
  sizes_bytes_.clear();
}

Status CopyList::enqueue(const Context& context, StreamHandle stream) {
  if (to_.empty()) return {};
  const Status status =
      context.run("copying a batch to " + context.label(), [&](const DriverCalls& calls) {
        const CallResult result = to_.size() > 1 ? enqueue_as_one(calls, stream) : kNotSupported;
        return result == kNotSupported ? enqueue_each(calls, stream) : result;
      });
  clear();
  return status;
}

CallResult CopyList::enqueue_as_one(const DriverCalls& calls, StreamHandle stream) {
  CopyAttributes attributes{.source_order = kSourceInStreamOrder};
  std::size_t first_of_attributes = 0;
  CallResult result = kNotSupported;
  if (calls.copy_list != nullptr) {
    result = calls.copy_list(to_.data(), from_.data(), sizes_bytes_.data(), to_.size(), &attributes,
                             &first_of_attributes, 1, stream);
  }
  if (result != kNotSupported || calls.copy_list_of_12 == nullptr) return result;
  std::size_t failed = 0;
  return calls.copy_list_of_12(to_.data(), from_.data(), sizes_bytes_.data(), to_.size(),
                               &attributes, &first_of_attributes, 1, &failed, stream);
}

CallResult CopyList::enqueue_each(const DriverCalls& calls, StreamHandle stream) const {
  for (std::size_t i = 0; i < to_.size(); ++i) {
    const CallResult result = calls.copy(to_[i], from_[i], sizes_bytes_[i], stream);
    if (result != kSuccess) return result;
  }
  return kSuccess;
}

}  // namespace xtts::cuda
