// The project's kernels, done by the host: src/cuda/kernels/range_work.hpp has the arithmetic. Each
// launch says which ranges it reads and writes. A table that asks for the impossible is refused.
#pragma once

#include "cuda/kernels/range_tables.hpp"
#include "support/cuda_driver/fake_driver.hpp"

namespace xtts::testing::fake_cuda {

struct Launch {
  unsigned grid[3];
  unsigned block[3];
};

[[nodiscard]] Work make_fill(FakeDriver& driver, const Launch& launch,
                             const cuda::FillTable& table);
[[nodiscard]] Work make_change(FakeDriver& driver, const Launch& launch,
                               const cuda::ChangeTable& table);

}  // namespace xtts::testing::fake_cuda
