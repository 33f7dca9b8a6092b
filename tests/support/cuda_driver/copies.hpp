// Copies between the host and a device: their pieces, and what they check of the host's memory.
#pragma once

#include <cstddef>

#include "support/cuda_driver/fake_driver.hpp"

namespace xtts::testing::fake_cuda {

void enqueue_copy_to_device(FakeDriver& driver, Stream& stream, const DeviceRange& to,
                            const std::byte* from);
void enqueue_copy_to_host(FakeDriver& driver, Stream& stream, std::byte* to,
                          const DeviceRange& from);
void enqueue_copy_to_peer(FakeDriver& driver, Stream& stream, const DeviceRange& to,
                          const DeviceRange& from);

}  // namespace xtts::testing::fake_cuda
