#include "request/stored_sound.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/shortage.hpp"
#include "base/try.hpp"
#include "corpus/files/find_source.hpp"
#include "formats/feature_config.hpp"
#include "formats/manifest_recipe.hpp"
#include "pipeline/confined_data.hpp"
#include "pipeline/published_clip.hpp"
#include "pipeline/run_config.hpp"
#include "reader/repair_advice.hpp"
#include "recipe/corpora_file.hpp"
#include "request/option_values.hpp"
#include "request/temporary_folder.hpp"
#include "store/source_table.hpp"

namespace xtts::request {
namespace {

// A worker's buffers for the bytes of a source and its sound.
constexpr std::size_t kWorkerBytes = std::size_t{64} << 20U;
// Sounds that wait to be asked for.
constexpr std::uint64_t kBytesAheadMax = std::uint64_t{256} << 20U;

}  // namespace

Result<std::unique_ptr<StoredSound>> StoredSound::open(Env& env, reader::CacheView& view,
                                                       formats::DataFolders data,
                                                       const Caller& caller) {
  std::unique_ptr<StoredSound> sound(new StoredSound(env, view));
  sound->data_ = std::move(data);
  XTTS_ASSIGN(*sound->recipe_.features,
              formats::feature_config_from_json(view.manifest().features));
  // The clips are stored, so they were not too long.
  sound->recipe_.corpus.max_source_seconds = std::numeric_limits<double>::infinity();
  sound->has_wave_ = view.manifest().find_column("wave") != nullptr;
  if (!sound->has_wave_) XTTS_TRY(sound->find_sources(caller));
  return sound;
}

StoredSound::~StoredSound() {
  is_ending_ = true;
}

Status StoredSound::find_sources(const Caller& caller) {
  const std::uint64_t shortages = shortage_count();
  const auto sources = store::load_source_table(*env_, view_->path());
  const bool is_remembered = data_.path.empty();
  if (sources) data_.complete_from(sources->data);
  if (!sources && is_remembered && shortage_count() != shortages) {
    return {StatusCode::kResource,
            "too few open files or too little memory to read where the sources are: raise the "
            "limits (ulimit -n, ulimit -v)"};
  }
  if (is_remembered) {
    if (!sources) {
      return {
          StatusCode::kInvalidArgument,
          "the source has to be decoded again, and this cache does not know where it is: give " +
              option("data", "DATA")};
    }
    if (env_->stat(data_.path).status().code() == StatusCode::kNotFound)
      return moved_sources_failure(data_.path);
  }
  if (recipe::is_corpora_file(data_.path)) {
    XTTS_ASSIGN(corpora_, recipe::load_corpora(*env_, data_.path));
  }
  confined_ = pipeline::confined_to_data(*env_, data_, corpora_);
  XTTS_ASSIGN(make_decoder_, caller.make_decoder());
  return {};
}

// Makes them once. All processes together keep as much sound on the disk as one alone would.
Status StoredSound::make_workers(std::uint32_t process_count) {
  const std::lock_guard lock(mutex_);
  if (workers_) return {};
  workers_.emplace(
      records::WorkerJob{.env = *confined_,
                         .recipe = recipe_,
                         .corpus = no_corpus_,
                         .make_decoder = make_decoder_,
                         .cancelled = [this] { return is_ending_.load(); },
                         .scratch_folder = temporary_folder(*env_),
                         .shared_bytes_max = records::SharedSources::kDiskBytesMax / process_count,
                         .memory_bytes = kWorkerBytes},
      std::span<const std::uint32_t>());
  return workers_->start();
}

Status StoredSound::expect(Expected expected) {
  if (!std::ranges::is_sorted(expected.positions))
    return {StatusCode::kInvalidArgument, "the positions of expected clips do not ascend"};
  ahead_.reset();
  if (has_wave_) return {};
  const std::uint32_t processes = std::max(expected.process_count, 1U);
  XTTS_TRY(make_workers(processes));
  expect_segments(expected);
  const SoundsAhead::Options options{
      .thread_count = std::max(pipeline::default_thread_count() / processes, 1U),
      .clips_together = std::max<std::size_t>(expected.clips_together, 1),
      .bytes_max = kBytesAheadMax / processes};
  ahead_.emplace([this](std::uint64_t position) { return decode(position); },
                 std::move(expected.positions), options);
  return {};
}

// A source that several of the clips are parts of is decoded once. Another process may have the
// rest of its clips, so nobody knows there which is the last.
void StoredSound::expect_segments(const Expected& expected) {
  std::map<std::pair<std::string, std::string>, std::uint32_t> counts;
  for (const std::uint64_t position : expected.positions) {
    const auto facts = view_->details(position);
    if (!facts || !facts->segment_start_s) continue;
    ++counts[{facts->dataset.value_or(""), facts->source_path.value_or("")}];
  }
  for (const auto& [source, count] : counts) {
    formats::RecordFacts facts;
    facts.dataset = source.first;
    facts.source_path = source.second;
    const auto place = place_of(facts);  // a source that is not there fails when it is read
    if (place) workers_->expect(place->key(), expected.process_count > 1 ? UINT32_MAX : count);
  }
}

Result<corpus::SourcePlace> StoredSound::place_of(const formats::RecordFacts& facts) const {
  if (corpora_.empty()) return corpus::find_source(*env_, data_, *facts.source_path);
  const auto entry =
      std::ranges::find(corpora_, facts.dataset.value_or(""), &formats::CorporaEntry::name);
  if (entry == corpora_.end()) {
    return Status(StatusCode::kNotFound,
                  formatted("{} names no corpus {}", data_.path, facts.dataset.value_or("(none)")));
  }
  return corpus::find_source(*env_, entry->folders(data_), *facts.source_path);
}

Result<std::string> StoredSound::source_of(std::uint64_t position) {
  if (has_wave_) return std::string();
  XTTS_ASSIGN(const auto facts, view_->details(position));
  if (!facts.segment_start_s) return std::string();
  return facts.dataset.value_or("") + '\0' + facts.source_path.value_or("");
}

std::uint32_t StoredSound::sample_rate_hz() const noexcept {
  return recipe_.features->sample_rate_hz;
}

Result<std::vector<float>> StoredSound::read_wave(std::uint64_t position) {
  XTTS_ASSIGN(const auto wave,
              reader::with_repair(view_->read_record("wave", position), view_->path()));
  std::vector<float> samples(wave.shape.front());
  if (wave.dtype == DType::kFloat32) {
    std::memcpy(samples.data(), wave.bytes.data(), wave.bytes.size());
    return samples;
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::int16_t sample = 0;
    std::memcpy(&sample, wave.bytes.data() + i * sizeof sample, sizeof sample);
    samples[i] = static_cast<float>(sample) / 32768.0F;
  }
  return samples;
}

Result<std::vector<float>> StoredSound::decode(std::uint64_t position) {
  XTTS_ASSIGN(auto stored, view_->details(position));
  if (!stored.source_path)
    return Status(StatusCode::kUnsupported, "the clip's source is not known");
  XTTS_ASSIGN(const corpus::SourcePlace place, place_of(stored));
  const auto content = stored.content_digest;
  const auto pcm = stored.pcm_digest;
  std::optional<corpus::Segment> segment;
  if (stored.segment_start_s) segment = {*stored.segment_start_s, stored.segment_end_s};
  corpus::Clip clip = pipeline::clip_of(std::move(stored));
  clip.segment = segment;
  XTTS_TRY(make_workers(1));
  XTTS_ASSIGN(auto conditioned, workers_->condition(clip, place));
  const bool is_other_file = content && conditioned.facts.content_digest != content;
  const bool is_other_sound = !pcm || conditioned.facts.pcm_digest != pcm;
  if (is_other_file && is_other_sound) {
    return Status(StatusCode::kMismatch,
                  formatted("{} has changed since the build: its sound is no longer that of clip "
                            "'{}'. Build again, which computes the clip anew",
                            place.path, full_id(clip)));
  }
  return std::move(conditioned.samples);
}

Result<std::vector<float>> StoredSound::read(std::uint64_t position) {
  if (has_wave_) return read_wave(position);
  return ahead_ ? ahead_->get(position) : decode(position);
}

}  // namespace xtts::request
