// BatchHandle: what Python's Batch holds. Each array that is taken from it holds the same batch.
#pragma once

#include <memory>

#include "xtts/batch.hpp"

namespace xtts::python {

struct BatchHandle {
  std::shared_ptr<const Batch> batch;
};

}  // namespace xtts::python
