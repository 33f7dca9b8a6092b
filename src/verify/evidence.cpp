#include "verify/evidence.hpp"

#include "formats/rules.hpp"
#include "report/reasons.hpp"

namespace xtts::verify {

Evidence refused(const formats::Reason& reason) {
  return {"refused",
          std::string(formats::to_string(stage_of(reason))) + ": " + report::words_of(reason)};
}

}  // namespace xtts::verify
