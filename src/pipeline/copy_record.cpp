#include "pipeline/copy_record.hpp"

#include <utility>

#include "base/try.hpp"
#include "dsp/channel_sums.hpp"
#include "formats/recipe.hpp"
#include "pipeline/plan.hpp"
#include "pipeline/shard_facts.hpp"
#include "reader/repair_advice.hpp"
#include "records/clip_rules.hpp"
#include "records/columns.hpp"

namespace xtts::pipeline {

Result<records::ClipOutcome> copy_record(reader::CacheView& from, std::uint64_t position,
                                         const formats::Recipe& recipe,
                                         std::span<const formats::ColumnSpec> columns,
                                         const corpus::Clip& clip) {
  records::ClipOutcome outcome;
  XTTS_ASSIGN(auto details, from.details(position));
  outcome.facts = facts_of_sound(std::move(details));
  // These are the clip's, not the sound's, and set from its list.
  outcome.facts.dataset.reset();
  outcome.facts.speaker.reset();
  outcome.facts.language.reset();
  outcome.frame_count_before_cut = outcome.facts.frame_count_before_cut.value_or(0);
  if (const auto rate_hz = outcome.facts.source_rate_hz.value_or(0); rate_hz > 0) {
    outcome.source_seconds =
        static_cast<double>(outcome.facts.source_frame_count.value_or(0)) / rate_hz;
  }
  // The rules of the corpus section may have changed since it was stored.
  if (auto refusal = records::refusal_of(outcome.facts, recipe.corpus)) {
    outcome.reject = records::reject_of(clip, formats::RejectClass::kPolicy, std::move(*refusal));
    return outcome;
  }
  for (const formats::ColumnSpec& column : columns) {
    XTTS_ASSIGN(auto stored,
                reader::with_repair(from.read_record(column.name, position), from.path()));
    if (records::has_sums(column))
      dsp::sum_channels(stored.bytes, column.dtype, column.shape.back(), outcome.sums);
    outcome.records.push_back({.length = stored.shape.front(),
                               .fill_bits = stored.fill_bits,
                               .rows = std::move(stored.bytes)});
  }
  return outcome;
}

}  // namespace xtts::pipeline
