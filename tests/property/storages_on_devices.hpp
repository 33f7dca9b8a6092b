// The storages and devices that readers are tried with: each storage on each device. Under a
// sanitizer two pairs, which have no store, layout or device in common.
#pragma once

#include <tuple>
#include <vector>

#include "real_test_cache.hpp"
#include "support/device_under_test.hpp"
#include "support/sanitized.hpp"

namespace xtts::testing {

[[nodiscard]] inline std::vector<std::tuple<Storage, DeviceChoice>> storages_on_devices() {
  const std::vector<Storage> storages = all_storages();
  if (kIsSanitized)
    return {{storages.front(), DeviceChoice::kCpu}, {storages.back(), DeviceChoice::kCuda}};
  std::vector<std::tuple<Storage, DeviceChoice>> all;
  for (const Storage& storage : storages) {
    for (const auto device : {DeviceChoice::kCpu, DeviceChoice::kCuda})
      all.emplace_back(storage, device);
  }
  return all;
}

}  // namespace xtts::testing
