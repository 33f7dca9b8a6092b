// Any bytes as an expression: an error that points into the text, or a tree that evaluates; never a
// hang or a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "query/expression.hpp"

namespace {

struct Sample {
  std::vector<std::string> names{"anna", "bob"};
  xtts::query::Tables tables{0.0116, names, names, names};
  xtts::formats::PlanRow plan;
  xtts::formats::RecordFacts facts;

  Sample() {
    plan.mel_len = 100;
    plan.speaker = 1;
    facts.id = "LJ001-0001";
    facts.text_raw = std::string(300, 'a') + "سلام b\xff";
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Sample sample;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto expression = xtts::query::Expression::parse(text);
  if (!expression.ok()) {
    if (expression.status().message().empty()) std::abort();
    return 0;
  }
  const xtts::query::Clip clip{sample.tables, sample.plan, sample.facts};
  if (expression->matches(clip) != expression->matches(clip)) std::abort();
  return 0;
}
