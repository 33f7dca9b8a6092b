#include "cli/isa_option.hpp"

namespace xtts::cli {

Result<dsp::Isa> parse_isa(const std::string& name) {
  for (const auto isa : {dsp::Isa::kBest, dsp::Isa::kScalar, dsp::Isa::kAvx2, dsp::Isa::kAvx512}) {
    if (dsp::to_string(isa) == name) return isa;
  }
  return Status(StatusCode::kInvalidArgument, "--isa '" + name + "': best, scalar, avx2 or avx512");
}

}  // namespace xtts::cli
