#include "dsp/isa.hpp"

#include "base/formatted.hpp"
#include "dsp/extract.hpp"
#include "dsp/fft.hpp"

namespace xtts::dsp {

Isa best_isa() noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
    return Isa::kAvx512;
  }
  if (__builtin_cpu_supports("avx2")) return Isa::kAvx2;
#endif
  return Isa::kScalar;
}

std::string_view to_string(Isa isa) noexcept {
  switch (isa) {
    case Isa::kBest:
      return "best";
    case Isa::kScalar:
      return "scalar";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
  }
  return "unknown";
}

std::string feature_libraries(Isa isa) {
  const Isa used = isa == Isa::kBest ? best_isa() : isa;
  return formatted("{}, {}", fft_library_version(), to_string(used));
}

}  // namespace xtts::dsp
