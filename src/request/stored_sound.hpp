// StoredSound reads the conditioned sound of a cache's clips. It takes the column wave if the
// cache has one; otherwise it decodes the sources again. For listening (`show --wav`) and for
// add_column. One thread at a time. Failures: kInvalidArgument (the place of the sources is not
// known), kNotFound, kSourceIo, kBadInput.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audio/audio_decoder.hpp"
#include "base/env.hpp"
#include "corpus/source_place.hpp"
#include "formats/recipe.hpp"
#include "reader/cache_view.hpp"
#include "recipe/recipe_file.hpp"
#include "request/build_request.hpp"
#include "xtts/status.hpp"

namespace xtts::request {

class StoredSound {
 public:
  // An empty `data` means the place where the last build found the sources. Empty `audio_roots`
  // mean those of that build; given ones have the same numbering. `caller` must outlive the
  // StoredSound.
  [[nodiscard]] static Result<StoredSound> open(Env& env, reader::CacheView& view,
                                                const std::string& data,
                                                const std::vector<std::string>& audio_roots,
                                                const Caller& caller);

  [[nodiscard]] std::uint32_t sample_rate_hz() const noexcept;
  // Full scale is 1.
  [[nodiscard]] Result<std::vector<float>> read(std::uint64_t position);

 private:
  StoredSound(Env& env, reader::CacheView& view, const Caller& caller)
      : env_(&env), view_(&view), caller_(&caller) {}
  [[nodiscard]] Result<std::vector<float>> read_wave(std::uint64_t position);
  [[nodiscard]] Status find_sources(const std::string& data);
  [[nodiscard]] Result<corpus::SourcePlace> place_of(const formats::RecordFacts& facts) const;

  Env* env_;
  reader::CacheView* view_;
  const Caller* caller_;
  formats::HeldFeatures config_;
  bool has_wave_ = false;
  std::string data_;
  std::vector<formats::CorporaEntry> corpora_;  // of DATA, where it is a corpora.yaml
  std::vector<std::string> audio_roots_;
  audio::MakeDecoder make_decoder_;
};

}  // namespace xtts::request
