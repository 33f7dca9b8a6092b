#include "request/stored_sound.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/option_names.hpp"
#include "base/shortage.hpp"
#include "base/try.hpp"
#include "corpus/find_source.hpp"
#include "formats/feature_config.hpp"
#include "formats/manifest_recipe.hpp"
#include "pipeline/confined_data.hpp"
#include "reader/repair_advice.hpp"
#include "recipe/corpora_file.hpp"
#include "records/condition_clip.hpp"
#include "request/option_values.hpp"
#include "store/source_table.hpp"

namespace xtts::request {

Result<StoredSound> StoredSound::open(Env& env, reader::CacheView& view, const std::string& data,
                                      const std::vector<std::string>& audio_roots,
                                      const Caller& caller) {
  StoredSound sound(env, view, caller);
  sound.audio_roots_ = audio_roots;
  XTTS_ASSIGN(*sound.config_, formats::feature_config_from_json(view.manifest().features));
  sound.has_wave_ = view.manifest().find_column("wave") != nullptr;
  if (!sound.has_wave_) XTTS_TRY(sound.find_sources(data));
  return sound;
}

Status StoredSound::find_sources(const std::string& data) {
  data_ = data;
  const std::uint64_t shortages = shortage_count();
  const auto sources = store::load_source_table(*env_, view_->path());
  if (sources && audio_roots_.empty()) audio_roots_ = sources->audio_roots;
  if (!sources && data_.empty() && shortage_count() != shortages) {
    return {StatusCode::kResource,
            "too few open files or too little memory to read where the sources are: raise the "
            "limits (ulimit -n, ulimit -v)"};
  }
  if (data_.empty()) {
    if (!sources) {
      return {
          StatusCode::kInvalidArgument,
          "the source has to be decoded again, and this cache does not know where it is: give " +
              option("data", "DATA")};
    }
    data_ = sources->data_path;
    if (env_->stat(data_).status().code() == StatusCode::kNotFound)
      return moved_sources_failure(data_);
  }
  if (recipe::is_corpora_file(data_)) {
    XTTS_ASSIGN(corpora_, recipe::load_corpora(*env_, data_));
  }
  XTTS_ASSIGN(make_decoder_, caller_->make_decoder());
  return {};
}

Result<corpus::SourcePlace> StoredSound::place_of(const formats::RecordFacts& facts) const {
  if (corpora_.empty()) {
    return corpus::find_source(*env_, data_, audio_roots_, *facts.source_path);
  }
  const auto entry =
      std::ranges::find(corpora_, facts.dataset.value_or(""), &formats::CorporaEntry::name);
  if (entry == corpora_.end()) {
    return Status(StatusCode::kNotFound,
                  data_ + " names no corpus " + facts.dataset.value_or("(none)"));
  }
  return corpus::find_source(*env_, entry->folder,
                             entry->audio_roots.empty() ? audio_roots_ : entry->audio_roots,
                             *facts.source_path);
}

std::uint32_t StoredSound::sample_rate_hz() const noexcept {
  return config_->sample_rate_hz;
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

Result<std::vector<float>> StoredSound::read(std::uint64_t position) {
  if (has_wave_) return read_wave(position);
  XTTS_ASSIGN(const auto facts, view_->details(position));
  if (!facts.source_path) return Status(StatusCode::kUnsupported, "the clip's source is not known");
  XTTS_ASSIGN(const corpus::SourcePlace place, place_of(facts));
  const auto confined = pipeline::confined_to_data(*env_, data_, corpora_, audio_roots_);
  return records::condition_clip(*confined, make_decoder_, *config_, place, facts);
}

}  // namespace xtts::request
