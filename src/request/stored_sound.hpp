// StoredSound reads the conditioned sound of a cache's clips. It takes the column wave if the
// cache has one; otherwise it decodes the sources again, with a build's workers. For listening
// (`show --wav`) and for add_column. Synchronised inside, once opened.
//
// Decoders start with the first clip that is decoded. expect() lets it decode clips ahead on
// threads of its own. Memory: a worker's buffers for each thread, and what SoundsAhead keeps. Disk:
// what SharedSources keeps, in TMPDIR. Failures: kInvalidArgument (the place of the sources is not
// known), kNotFound, kSourceIo, kBadInput, kMismatch (the source has changed since the build).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "audio/audio_decoder.hpp"
#include "base/env.hpp"
#include "corpus/files/source_place.hpp"
#include "formats/recipe.hpp"
#include "reader/cache_view.hpp"
#include "recipe/recipe_file.hpp"
#include "records/clip_workers.hpp"
#include "request/build_options.hpp"
#include "request/sounds_ahead.hpp"
#include "xtts/status.hpp"

namespace xtts::request {

class StoredSound {
 public:
  // What is empty in `data` is where the last build found the sources. Audio roots have the
  // numbering of that build. `caller` must outlive the StoredSound.
  [[nodiscard]] static Result<std::unique_ptr<StoredSound>> open(Env& env, reader::CacheView& view,
                                                                 formats::DataFolders data,
                                                                 const Caller& caller);
  ~StoredSound();  // ends what is decoded ahead
  StoredSound(const StoredSound&) = delete;
  StoredSound& operator=(const StoredSound&) = delete;

  // The clips that read() will be asked for, in this ascending order, `clips_together` at a time.
  // Of several processes, each names its own part. A later call takes the place of this one; call
  // it while nothing is read.
  struct Expected {
    std::vector<std::uint64_t> positions;
    std::size_t clips_together = 1;
    std::uint32_t process_count = 1;
  };
  [[nodiscard]] Status expect(Expected expected);

  // Names the source that the clip is a part of. Empty: no source is decoded for it, or all of one.
  [[nodiscard]] Result<std::string> source_of(std::uint64_t position);
  [[nodiscard]] std::uint32_t sample_rate_hz() const noexcept;
  // Full scale is 1.
  [[nodiscard]] Result<std::vector<float>> read(std::uint64_t position);

 private:
  StoredSound(Env& env, reader::CacheView& view) : env_(&env), view_(&view) {}
  [[nodiscard]] Result<std::vector<float>> read_wave(std::uint64_t position);
  [[nodiscard]] Result<std::vector<float>> decode(std::uint64_t position);
  [[nodiscard]] Status find_sources(const Caller& caller);
  [[nodiscard]] Result<corpus::SourcePlace> place_of(const formats::RecordFacts& facts) const;
  [[nodiscard]] Status make_workers(std::uint32_t process_count);
  void expect_segments(const Expected& expected);

  Env* env_;
  reader::CacheView* view_;
  formats::Recipe recipe_;  // only what decides the sound
  bool has_wave_ = false;
  formats::DataFolders data_;
  std::vector<formats::CorporaEntry> corpora_;  // of DATA, where it is a corpora.yaml
  std::shared_ptr<Env> confined_;               // to DATA
  audio::MakeDecoder make_decoder_;
  std::atomic<bool> is_ending_ = false;
  const corpus::Corpus no_corpus_;
  std::mutex mutex_;  // of the first decode
  std::optional<records::ClipWorkers> workers_;
  std::optional<SoundsAhead> ahead_;
};

}  // namespace xtts::request
