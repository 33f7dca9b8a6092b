// Corpora, recipes and an observer for tests that build whole caches in a MemoryEnv. Shared with
// tests/fault. One thread at a time, but for TestObserver and OpenedSources (synchronised inside).
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "audio/audio_decoder.hpp"
#include "pipeline/build.hpp"
#include "pipeline/build_observer.hpp"
#include "pipeline/build_request.hpp"
#include "reader/cache_view.hpp"
#include "support/memory_env.hpp"

namespace xtts::testing {

inline const std::string kData = "/data";
inline const std::string kCache = "/cache";

// `myxtts` with 800 frames and 200 tokens, and settings as of --set on top.
[[nodiscard]] formats::Recipe recipe_with(const std::vector<std::string>& settings = {});
// Shards of eight clips: a record may be 16 MiB, and packed ones take what they need. One thing
// more for tests that name clips by their order: all are of one split.
[[nodiscard]] formats::Recipe recipe_of_small_shards(const std::vector<std::string>& settings = {});
inline constexpr std::size_t kClipsPerSmallShard = 8;

// The bytes of the sound number `number`: tones and noise, 0.2 to 0.6 s, of three rates, mono and
// stereo.
[[nodiscard]] std::string sound(std::uint32_t number);
[[nodiscard]] std::string clip_name(std::uint32_t number);  // "clip-0007"

// DATA/clip-0000.wav ... without text.
void add_sounds(MemoryEnv& env, std::uint32_t count, const std::string& data = kData);
// DATA/metadata.csv and DATA/wavs/: every clip with "Sentence NUMBER." as its text.
void add_listed_sounds(MemoryEnv& env, std::uint32_t count);
// The list alone; `texts` replaces the sentence of some.
void add_list(MemoryEnv& env, std::uint32_t count,
              const std::map<std::uint32_t, std::string>& texts = {});

// The order in which discovery will list clips of one split: that of their ids.
[[nodiscard]] inline std::string sound_path(std::uint32_t number,
                                            const std::string& folder = kData) {
  return folder + "/" + clip_name(number) + ".wav";
}

class TestObserver : public pipeline::BuildObserver {
 public:
  bool has_estimate = false;
  // Cancels when so many clips were done; at 0, before the first.
  std::optional<std::uint64_t> cancel_at;

  [[nodiscard]] bool wants_estimate() const override { return has_estimate; }
  void before(const pipeline::BuildPreview& preview) override {
    preview_ = preview;
    if (cancel_at == 0U) cancelled_ = true;
  }
  void notice(const std::string& text) override { notices_.push_back(text); }
  void progress(const pipeline::BuildProgress& progress) override;
  [[nodiscard]] bool cancelled() const override { return cancelled_; }

  [[nodiscard]] const std::optional<pipeline::BuildPreview>& preview() const { return preview_; }
  [[nodiscard]] const pipeline::BuildProgress& last() const { return last_; }
  [[nodiscard]] const std::vector<std::string>& notices() const { return notices_; }
  [[nodiscard]] std::uint64_t call_count() const { return call_count_; }

 private:
  std::optional<pipeline::BuildPreview> preview_;
  std::vector<std::string> notices_;
  pipeline::BuildProgress last_;
  std::uint64_t call_count_ = 0;
  std::atomic<bool> cancelled_ = false;
};

// Decoders that work here: quicker than a process for each, and seen by the sanitizers.
[[nodiscard]] audio::MakeDecoder in_this_process();
// Counts the sources that are decoded, and the decoders, of builds whose requests have its maker.
class DecodedSources {
 public:
  struct Counts {
    std::atomic<std::size_t> sources = 0;
    std::atomic<std::size_t> decoders = 0;
  };
  [[nodiscard]] audio::MakeDecoder maker();
  [[nodiscard]] std::size_t count() const { return counts_->sources; }
  [[nodiscard]] std::size_t decoder_count() const { return counts_->decoders; }

 private:
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

[[nodiscard]] pipeline::BuildRequest request_for(formats::Recipe recipe,
                                                 std::uint32_t thread_count = 2);
[[nodiscard]] Result<pipeline::BuildReport> run_build(Env& env,
                                                      const pipeline::BuildRequest& request);
// As run_build, with a test failure where the build fails.
pipeline::BuildReport must_build(Env& env, const pipeline::BuildRequest& request);

using Files = std::map<std::string, std::string>;  // by path relative to the folder
[[nodiscard]] Files files_below(MemoryEnv& env, const std::string& folder = kCache);
[[nodiscard]] Files files_named(const Files& files, std::string_view prefix);
// Without sources.bin, which is local.
[[nodiscard]] Files published_files(MemoryEnv& env, const std::string& folder = kCache);
// The names of `files`, and where bytes differ; empty when they are equal. For messages.
[[nodiscard]] std::string difference(const Files& expected, const Files& found);

// verify --full, in words; empty when all is well.
[[nodiscard]] std::string damage_in(Env& env, const std::string& cache = kCache);
[[nodiscard]] std::shared_ptr<reader::CacheView> open_cache(Env& env,
                                                            const std::string& cache = kCache);
[[nodiscard]] std::uint64_t shard_count(Env& env, std::size_t column = 0,
                                        const std::string& cache = kCache);
// Full ids, by position.
[[nodiscard]] std::vector<std::string> stored_ids(Env& env, const std::string& cache = kCache);

// Hears which audio files below `data` are opened for reading. Takes the env's hook.
class OpenedSources {
 public:
  explicit OpenedSources(MemoryEnv& env, std::string data = kData);
  // Since the last call: relative paths, sorted; a file opened twice is there once.
  [[nodiscard]] std::set<std::string> take();

 private:
  struct State {
    std::mutex mutex;
    std::set<std::string> paths;
  };
  std::shared_ptr<State> state_;
};

}  // namespace xtts::testing
