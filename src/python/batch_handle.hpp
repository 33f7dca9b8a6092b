// What Python's Batch holds, and every array taken from it.
#pragma once

#include <memory>

#include "xtts/batch.hpp"

namespace xtts::python {

struct BatchHandle {
  std::shared_ptr<const Batch> batch;
};

}  // namespace xtts::python
