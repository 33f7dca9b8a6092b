// include/xtts/cycle.hpp on search_cycle().
#include "xtts/cycle.hpp"

#include "api/reader/public_cache.hpp"
#include "base/cycle_search.hpp"

namespace xtts {

Result<std::optional<Cycle>> find_cycle(std::span<const double> times) {
  return api::guarded([&]() -> Result<std::optional<Cycle>> { return search_cycle(times); });
}

}  // namespace xtts
