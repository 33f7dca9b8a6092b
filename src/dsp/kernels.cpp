#include "dsp/kernels.hpp"

namespace xtts::dsp {

const Kernels* find_kernels(Isa isa) noexcept {
  const Isa best = best_isa();
  switch (isa) {
    case Isa::kBest:
      return find_kernels(best);
    case Isa::kScalar:
      return &scalar_kernels();
    case Isa::kAvx2:
      return best >= Isa::kAvx2 ? avx2_kernels() : nullptr;
    case Isa::kAvx512:
      return best >= Isa::kAvx512 ? avx512_kernels() : nullptr;
  }
  return nullptr;
}

}  // namespace xtts::dsp
