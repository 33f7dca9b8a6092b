#include "verify/evidence.hpp"

#include "base/formatted.hpp"
#include "formats/rules.hpp"
#include "report/reasons.hpp"

namespace xtts::verify {

Evidence refused(const formats::Reason& reason) {
  return {"refused",
          formatted("{}: {}", formats::to_string(stage_of(reason)), report::words_of(reason))};
}

}  // namespace xtts::verify
