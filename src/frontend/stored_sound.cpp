#include "frontend/stored_sound.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/try.hpp"
#include "formats/feature_config_json.hpp"
#include "frontend/option_values.hpp"
#include "pipeline/condition_clip.hpp"
#include "store/source_table.hpp"

namespace xtts::frontend {

Result<StoredSound> StoredSound::open(Env& env, reader::CacheView& view, const std::string& data,
                                      const Asker& asker) {
  StoredSound sound(env, view, asker);
  XTTS_ASSIGN(sound.config_, formats::feature_config_from_json(view.manifest().features));
  sound.has_wave_ = view.manifest().find_column("wave") != nullptr;
  if (!sound.has_wave_) XTTS_TRY(sound.find_sources(data));
  return sound;
}

Status StoredSound::find_sources(const std::string& data) {
  data_ = data;
  if (data_.empty()) {
    const auto sources = store::load_source_table(*env_, view_->path());
    if (!sources) {
      return {StatusCode::kInvalidArgument,
              "the source has to be decoded again, and this cache does not know where it lies: "
              "give " + std::string(asker_->spelling == Spelling::kFlags ? "--data DATA" : "data")};
    }
    data_ = sources->data_path;
  }
  if (recipe::is_corpora_file(data_)) {
    XTTS_ASSIGN(corpora_, recipe::load_corpora(*env_, data_));
  }
  XTTS_ASSIGN(decoder_command_, asker_->decoder_command());
  return {};
}

Result<std::string> StoredSound::folder_of(const formats::RecordFacts& facts) const {
  if (corpora_.empty()) return data_;
  const auto entry = std::ranges::find(corpora_, facts.dataset.value_or(""),
                                       &formats::CorporaEntry::name);
  if (entry != corpora_.end()) return entry->folder;
  return Status(StatusCode::kNotFound,
                data_ + " names no corpus " + facts.dataset.value_or("(none)"));
}

Result<std::vector<float>> StoredSound::read_wave(std::uint64_t position) {
  XTTS_ASSIGN(const auto wave, view_->read_record("wave", position));
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
  if (!facts.source_path)
    return Status(StatusCode::kUnsupported, "the clip's source is not known");
  XTTS_ASSIGN(const std::string folder, folder_of(facts));
  return pipeline::condition_clip(*env_, decoder_command_, config_,
                                  join_path(folder, *facts.source_path), facts);
}

}  // namespace xtts::frontend
