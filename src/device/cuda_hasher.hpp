// CudaHasher: hashes pieces of a GPU's memory on a stream of its own. See device.hpp.
//
// Results of at most `call_count_max` calls may be in use. A call is one launch, and one copy
// of the results to page-locked memory.
#pragma once

#include <memory>

#include "device/cuda_parts.hpp"
#include "device/device.hpp"

namespace xtts::device {

class CudaHasher final : public Hasher {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Hasher>> make(std::shared_ptr<CudaParts> parts,
                                                            std::size_t call_count_max);
  [[nodiscard]] Result<std::shared_ptr<const Hashes>> hash(std::span<const HashJob> jobs) override;

 private:
  struct Shared;
  class Results;
  explicit CudaHasher(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  std::shared_ptr<Shared> shared_;  // results have it, too
};

}  // namespace xtts::device
