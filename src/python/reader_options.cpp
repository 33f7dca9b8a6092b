#include "python/reader_options.hpp"

#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "python/option_table.hpp"
#include "xtts/dtype.hpp"

namespace xtts::python {
namespace {

namespace nb = nanobind;

// name; dtype or None; pad value or None; "none", "corpus" or "given"; means; deviations
using ColumnWish = std::tuple<std::string, std::optional<std::string>, std::optional<double>,
                              std::string, std::vector<double>, std::vector<double>>;
// "language", "speaker" or "dataset"; temperature; number of draws
using WeightsWish = std::tuple<std::string, double, std::uint64_t>;

// batch size, most frames, most tokens
using BucketWish = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

StatusError refused(std::string message) {
  return StatusError({StatusCode::kInvalidArgument, std::move(message)});
}

template <typename T>
T choose(const std::string& name, std::initializer_list<std::pair<std::string_view, T>> choices) {
  for (const auto& [choice, value] : choices) {
    if (choice == name) return value;
  }
  throw refused("there is no choice '" + name + "'");
}

ColumnRequest to_request(const ColumnWish& wish) {
  const auto& [name, dtype, pad_value, normalize, means, deviations] = wish;
  ColumnRequest request{.name = name,
                        .pad_value = pad_value,
                        .normalize = choose<Normalize>(normalize, {{"none", Normalize::kNone},
                                                                   {"corpus", Normalize::kCorpus},
                                                                   {"given", Normalize::kGiven}}),
                        .means = means,
                        .deviations = deviations};
  if (dtype) {
    request.dtype = parse_dtype(*dtype);
    if (!request.dtype) throw refused("there is no dtype '" + *dtype + "'");
  }
  return request;
}

Weights to_weights(const WeightsWish& wish) {
  const auto& [by, temperature, draw_count] = wish;
  return {.by = choose<WeightBy>(by, {{"language", WeightBy::kLanguage},
                                      {"speaker", WeightBy::kSpeaker},
                                      {"dataset", WeightBy::kDataset}}),
          .temperature = temperature,
          .draw_count = draw_count};
}

void put_shuffle(ReaderOptions& options, nb::handle value) {
  options.shuffle = choose<Shuffle>(
      nb::cast<std::string>(value),
      {{"none", Shuffle::kNone}, {"global", Shuffle::kGlobal}, {"window", Shuffle::kWindow}});
}

void put_last_batch(ReaderOptions& options, nb::handle value) {
  options.last_batch = choose<LastBatch>(nb::cast<std::string>(value),
                                         {{"drop", LastBatch::kDrop}, {"pad", LastBatch::kPad}});
}

void put_on_damage(ReaderOptions& options, nb::handle value) {
  options.on_damage = choose<OnDamage>(
      nb::cast<std::string>(value),
      {{"raise", OnDamage::kRaise}, {"skip", OnDamage::kSkip}, {"ignore", OnDamage::kIgnore}});
}

void put_on_range(ReaderOptions& options, nb::handle value) {
  options.on_range = choose<OnRange>(nb::cast<std::string>(value),
                                     {{"raise", OnRange::kRaise}, {"clip", OnRange::kClip}});
}

void put_reading(ReaderOptions& options, nb::handle value) {
  options.reading = choose<Reading>(
      nb::cast<std::string>(value),
      {{"auto", Reading::kAuto}, {"mapped", Reading::kMapped}, {"direct", Reading::kDirect}});
}

void put_columns(ReaderOptions& options, nb::handle value) {
  for (const auto& wish : nb::cast<std::vector<ColumnWish>>(value)) {
    options.columns.push_back(to_request(wish));
  }
}

void put_weights(ReaderOptions& options, nb::handle value) {
  if (!value.is_none()) options.weights = to_weights(nb::cast<WeightsWish>(value));
}

void put_buckets(ReaderOptions& options, nb::handle value) {
  for (const auto& [size, frames_max, tokens_max] : nb::cast<std::vector<BucketWish>>(value)) {
    options.buckets.push_back({size, frames_max, tokens_max});
  }
}

constexpr OptionRow<ReaderOptions> kRows[] = {
    {"batch_size", put_member<&ReaderOptions::batch_size>},
    {"split", put_member<&ReaderOptions::split>},
    {"shuffle", put_shuffle},
    {"seed", put_member<&ReaderOptions::seed>},
    {"rank", put_member<&ReaderOptions::rank>},
    {"world_size", put_member<&ReaderOptions::world_size>},
    {"last_batch", put_last_batch},
    {"columns", put_columns},
    {"where", put_member<&ReaderOptions::where>},
    {"ids", put_member<&ReaderOptions::ids>},
    {"exclude", put_member<&ReaderOptions::exclude>},
    {"weights", put_weights},
    {"buckets", put_buckets},
    {"crop_frames", put_member<&ReaderOptions::crop_frames>},
    {"verify_records", put_member<&ReaderOptions::verify_records>},
    {"on_damage", put_on_damage},
    {"on_range", put_on_range},
    {"slot_count", put_member<&ReaderOptions::slot_count>},
    {"thread_count", put_member<&ReaderOptions::thread_count>},
    {"device", put_member<&ReaderOptions::device>},
    {"data_device", put_member<&ReaderOptions::data_device>},
    {"data_device_memory_bytes", put_member<&ReaderOptions::data_device_memory_bytes>},
    {"device_memory_bytes", put_member<&ReaderOptions::device_memory_bytes>},
    {"lock_memory", put_member<&ReaderOptions::lock_memory>},
    {"stretch_samples", put_member<&ReaderOptions::stretch_samples>},
    {"stretches_per_window", put_member<&ReaderOptions::stretches_per_window>},
    {"reading", put_reading},
    {"max_damage", put_member<&ReaderOptions::max_damage>},
};

}  // namespace

ReaderOptions to_reader_options(const nb::dict& given) {
  return options_of(given, kRows, "reader");
}

}  // namespace xtts::python
