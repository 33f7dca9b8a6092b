// EngineTables: the window, the turns and the mel filters of a recipe, in a GPU's memory. Immutable
// once made. Failures: kResource.
#pragma once

#include "cuda/device_pool.hpp"
#include "cuda/stream.hpp"
#include "dsp_cuda/kernels/frame_tables.hpp"
#include "dsp_cuda/staging.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::dsp_cuda {

class EngineTables {
 public:
  explicit EngineTables(std::shared_ptr<cuda::DevicePool> pool) : memory_(std::move(pool)) {}
  // Copies the tables, waits for it, and notes their addresses in `table`.
  [[nodiscard]] Status fill(const formats::FeatureConfig& config, const cuda::Stream& stream,
                            FrameTable& table);
  // As Staging's.
  void abandon() noexcept { memory_.abandon(); }

 private:
  Staging memory_;
};

}  // namespace xtts::dsp_cuda
