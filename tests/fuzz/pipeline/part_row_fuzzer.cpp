#include "pipeline/part_row.hpp"
#include "tests/fuzz/formats/require.hpp"

// The input is the rows of a part, without chunks and checks.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace xtts;
  static const pipeline::RowNames names{.datasets = {SharedText(), SharedText("b")},
                                        .speakers = {SharedText("ann")},
                                        .languages = {SharedText("fa")}};
  pipeline::PartRowReader reader(names, 2);
  std::string_view rows(reinterpret_cast<const char*>(data), size);
  while (true) {
    const auto row = reader.take(rows);
    if (!row || !*row) return 0;
    const auto* const clip = std::get_if<corpus::Clip>(&**row);
    if (clip == nullptr) continue;
    std::string written;
    pipeline::PartRowWriter().append(*clip, {}, written);
    std::string_view rest = written;
    const auto again = pipeline::PartRowReader(names, 2).take(rest);
    formats::require(again.ok() && again->has_value() && rest.empty(),
                     "what was written can be read");
    formats::require(std::get<corpus::Clip>(**again).source == clip->source, "a source comes back");
  }
}
