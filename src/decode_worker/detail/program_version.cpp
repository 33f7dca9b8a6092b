#include "decode_worker/detail/program_version.hpp"

namespace xtts::decode_worker::detail {

std::string_view program_version() noexcept {
  return XTTS_VERSION;  // of CMakeLists.txt
}

}  // namespace xtts::decode_worker::detail
