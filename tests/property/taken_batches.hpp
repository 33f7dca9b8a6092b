// Batches of a loader on any device, as bytes that can be compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "loader/loader.hpp"
#include "xtts/status.hpp"

namespace xtts::testing {

// One batch, or why there was none.
struct Taken {
  StatusCode code = StatusCode::kOk;
  std::string message = {};
  std::vector<std::uint64_t> positions = {};
  std::vector<std::byte> bytes = {};  // all columns, lengths, speakers

  friend bool operator==(const Taken& a, const Taken& b) = default;
};

// Two epochs, and one that is broken off.
[[nodiscard]] std::vector<Taken> take_some(loader::Loader& loader);

}  // namespace xtts::testing
