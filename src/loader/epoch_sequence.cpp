#include "loader/epoch_sequence.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <span>

#include "base/formatted.hpp"
#include "base/try.hpp"

namespace xtts::loader {
namespace {

constexpr double kTemperatureMax = 16.0;

// Returns -1 for a clip without a group.
std::int64_t group_number(const formats::PlanRow& row, WeightBy by) {
  switch (by) {
    case WeightBy::kLanguage:
      return row.language;
    case WeightBy::kSpeaker:
      return row.speaker;
    case WeightBy::kDataset:
      return row.dataset;
  }
  return -1;
}

// How many numbers of groups there are. Clips without a data set have number 0, also where there
// are no names.
std::size_t name_count(const reader::ClipSet& clips, WeightBy by) {
  switch (by) {
    case WeightBy::kLanguage:
      return clips.whole().languages.size();
    case WeightBy::kSpeaker:
      return clips.whole().speakers.size();
    case WeightBy::kDataset:
      return std::max<std::size_t>(clips.whole().datasets.size(), 1);
  }
  return 0;
}

}  // namespace

Status check_weights(const Weights& weights) {
  if (weights.temperature >= 0.0 && weights.temperature <= kTemperatureMax) return {};
  return {
      StatusCode::kInvalidArgument,
      "temperature must be from 0 to 16: 0 draws all groups alike, 1 as they are in the corpus"};
}

Result<SampleGroups> group_samples(const reader::ClipSet& clips, const Selection& selection,
                                   const Weights& weights) {
  XTTS_TRY(check_weights(weights));
  SampleGroups groups;
  const auto number_end = static_cast<std::int64_t>(name_count(clips, weights.by));
  std::array<formats::PlanRow, 128> rows;
  std::uint64_t sample = 0;
  for (const PositionRange& range : selection.positions_of(0, selection.size())) {
    for (std::uint64_t done = 0; done < range.count; done += rows.size()) {
      const auto now =
          static_cast<std::size_t>(std::min<std::uint64_t>(rows.size(), range.count - done));
      XTTS_TRY(clips.plan_rows(range.first_position + done, std::span(rows).first(now)));
      for (std::size_t i = 0; i < now; ++i) {
        const std::int64_t number = group_number(rows[i], weights.by);
        if (number < -1 || number >= number_end) {
          return Status(
              StatusCode::kCorrupt,
              formatted(
                  "the index gives a clip the language, speaker or data set {}, which the manifest "
                  "does not name: 'xtts-precompute verify CACHE' says what is damaged",
                  number));
        }
        const auto group = static_cast<std::size_t>(number + 1);
        if (group >= groups.samples.size()) groups.samples.resize(group + 1);
        groups.samples[group].push_back(sample++);
      }
    }
  }
  for (const auto& samples : groups.samples) groups.counts.push_back(samples.size());
  groups.weights = temperature_weights(groups.counts, weights.temperature);
  groups.draw_count = weights.draw_count != 0 ? weights.draw_count : selection.size();
  if (selection.size() == 0) groups.draw_count = 0;
  // Fails where these shares are impossible. Every epoch has the same ones.
  if (groups.draw_count > 0) {
    XTTS_TRY(share_draws(groups.counts, groups.weights, groups.draw_count).status());
  }
  return groups;
}

EpochSequence::EpochSequence(const Selection& selection, const SampleGroups* groups,
                             const EpochOrderOptions& options)
    : selection_(&selection), groups_(groups), order_(options) {
  if (groups == nullptr || groups->draw_count == 0) return;
  auto draws = WeightedDraws::make({.sample_counts = groups->counts,
                                    .weights = groups->weights,
                                    .draw_count = groups->draw_count,
                                    .seed = options.seed,
                                    .epoch = options.epoch});
  assert(draws.ok());  // group_samples() has tried them
  if (draws.ok()) draws_.emplace(std::move(*draws));
}

std::uint64_t EpochSequence::sample_at(std::uint64_t place) const noexcept {
  const std::uint64_t number = order_.sample_at(place);
  if (!draws_) return number;
  const Draw draw = draws_->draw(number);
  return groups_->samples[draw.group][draw.index];
}

std::uint64_t EpochSequence::position_at(std::uint64_t place) const noexcept {
  return selection_->position_of(sample_at(place));
}

}  // namespace xtts::loader
