// Runs a test once for each instruction set; what the processor lacks is skipped aloud.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "dsp/extract.hpp"

namespace xtts::dsp {

class EachIsa : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (GetParam() > best_isa()) {
      GTEST_SKIP() << "this processor lacks " << to_string(GetParam());
    }
  }
};

inline std::string isa_name(const ::testing::TestParamInfo<Isa>& isa) {
  return std::string(to_string(isa.param));
}

}  // namespace xtts::dsp
