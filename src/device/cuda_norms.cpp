#include "device/cuda_norms.hpp"

#include <cstring>

#include "base/try.hpp"

namespace xtts::device {

Result<CudaNorms::Tables> CudaNorms::find(const ChannelNorm& norm, cuda::DevicePool& pool,
                                          const cuda::Stream& stream) {
  const std::size_t table_bytes = norm.channel_count() * sizeof(float);
  const auto tables_in = [table_bytes](const cuda::DeviceMemory& memory) {
    return Tables{.means = memory.address(), .divisors = memory.address() + table_bytes};
  };
  const std::scoped_lock lock(mutex_);
  if (const auto known = tables_.find(&norm); known != tables_.end()) {
    return tables_in(known->second);
  }
  const auto& context = pool.context();
  XTTS_ASSIGN(cuda::DeviceMemory memory, pool.allocate(2 * table_bytes));
  XTTS_ASSIGN(HostMemory staged,
              HostMemory::allocate(2 * table_bytes, {.is_kept_from_children = true}));
  std::memcpy(staged.bytes().data(), norm.means().data(), table_bytes);
  std::memcpy(staged.bytes().data() + table_bytes, norm.divisors().data(), table_bytes);
  XTTS_ASSIGN(const auto locked, cuda::HostLock::lock(context, staged.bytes()));
  XTTS_TRY(context->run("copying statistics to " + context->label(),
                        [&](const cuda::DriverCalls& calls) {
                          return calls.copy_to_device(memory.address(), staged.bytes().data(),
                                                      2 * table_bytes, stream.handle());
                        }));
  if (Status status = stream.wait(); !status.ok()) {
    staged.abandon();  // the copy may still read it
    memory.abandon();
    return status;
  }
  return tables_in(tables_.emplace(&norm, std::move(memory)).first->second);
}

}  // namespace xtts::device
