// Fault: what a program may not do, in words. It stays within this folder: parse() and run() return
// it as a Status.
#pragma once

#include <stdexcept>

namespace xtts::testing::ptx {

class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace xtts::testing::ptx
