#include "build_support.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "decode/libav_decoder.hpp"
#include "recipe/recipe_file.hpp"
#include "request/verify_words.hpp"
#include "support/wav_file.hpp"
#include "verify/verify.hpp"

namespace xtts::testing {

formats::Recipe recipe_with(const std::vector<std::string>& settings) {
  auto recipe = recipe::load(Env::real(), "myxtts");
  EXPECT_TRUE(recipe.ok()) << recipe.status().message();
  std::vector<std::string> all = {"features.max_frames=800", "text.max_tokens=200"};
  all.insert(all.end(), settings.begin(), settings.end());
  for (const std::string& setting : all) {
    const Status status = recipe::apply_setting(Env::real(), *recipe, setting);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  const Status status = recipe::check(*recipe);
  EXPECT_TRUE(status.ok()) << status.message();
  return *recipe;
}

formats::Recipe recipe_of_small_shards(const std::vector<std::string>& settings) {
  std::vector<std::string> all = {"storage.layout=packed", "features.max_frames=52428",
                                  "corpus.train_split=1", "corpus.validation_split=0"};
  all.insert(all.end(), settings.begin(), settings.end());
  return recipe_with(all);
}

std::string sound(std::uint32_t number) {
  constexpr std::uint32_t kRates[] = {22050, 16000, 44100};
  const WavShape shape{.seconds = 0.2 + 0.1 * (number % 5),
                       .rate_hz = kRates[number % 3],
                       .channel_count = static_cast<std::uint16_t>(number % 4 == 3 ? 2 : 1)};
  return number % 2 == 0 ? tone_wav(200.0 + 10.0 * number, shape) : noise_wav(number, shape);
}

std::string clip_name(std::uint32_t number) {
  char text[16];
  std::snprintf(text, sizeof text, "clip-%04u", number);
  return text;
}

void add_sounds(MemoryEnv& env, std::uint32_t count, const std::string& data) {
  for (std::uint32_t i = 0; i < count; ++i) env.add_file(sound_path(i, data), sound(i));
}

void add_listed_sounds(MemoryEnv& env, std::uint32_t count) {
  add_sounds(env, count, kData + "/wavs");
  add_list(env, count);
}

void add_list(MemoryEnv& env, std::uint32_t count,
              const std::map<std::uint32_t, std::string>& texts) {
  std::string list;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto text = texts.find(i);
    const std::string sentence =
        text == texts.end() ? "Sentence " + std::to_string(i) + "." : text->second;
    list += clip_name(i) + "|" + sentence + "|" + sentence + "\n";
  }
  env.add_file(kData + "/metadata.csv", list);
}

void TestObserver::progress(const pipeline::BuildProgress& progress) {
  last_ = progress;
  ++call_count_;
  if (cancel_at && progress.done_count >= *cancel_at) cancelled_ = true;
}

audio::MakeDecoder in_this_process() {
  return [](const std::function<bool()>&) { return decode::make_libav_decoder(); };
}

namespace {

class CountingDecoder final : public audio::AudioDecoder {
 public:
  explicit CountingDecoder(std::shared_ptr<DecodedSources::Counts> counts)
      : counts_(std::move(counts)), decoder_(decode::make_libav_decoder()) {
    ++counts_->decoders;
  }
  Result<audio::SourceFacts> decode(const RandomAccessFile& source,
                                    const audio::DecodeRequest& request,
                                    const audio::TakeSamples& take) override {
    ++counts_->sources;
    return decoder_->decode(source, request, take);
  }
  Result<audio::Recognition> recognise(const RandomAccessFile& source,
                                       std::string_view suffix) override {
    return decoder_->recognise(source, suffix);
  }
  Result<audio::SourceLength> length(const RandomAccessFile& source,
                                     std::string_view suffix) override {
    return decoder_->length(source, suffix);
  }
  std::chrono::nanoseconds resampling_time() const noexcept override {
    return decoder_->resampling_time();
  }
  Result<std::string> libraries() override { return decoder_->libraries(); }
  Result<audio::FormatList> formats() override { return decoder_->formats(); }

 private:
  std::shared_ptr<DecodedSources::Counts> counts_;
  std::unique_ptr<audio::AudioDecoder> decoder_;
};

}  // namespace

audio::MakeDecoder DecodedSources::maker() {
  return [counts = counts_](const std::function<bool()>&) {
    return std::make_unique<CountingDecoder>(counts);
  };
}

pipeline::BuildRequest request_for(formats::Recipe recipe, std::uint32_t thread_count) {
  pipeline::BuildRequest request;
  request.data.path = kData;
  request.options.cache = kCache;
  request.recipe = std::move(recipe);
  request.run.thread_count = thread_count;
  request.run.make_decoder = in_this_process();
  // One clip of ten is much: losses_test.cpp has the limits.
  request.max_losses = {.dropped = 1.0, .gone = 1.0};
  return request;
}

Result<pipeline::BuildReport> run_build(Env& env, const pipeline::BuildRequest& request) {
  TestObserver observer;
  return pipeline::build(env, request, observer);
}

pipeline::BuildReport must_build(Env& env, const pipeline::BuildRequest& request) {
  auto report = run_build(env, request);
  EXPECT_TRUE(report.ok()) << report.status().message();
  return report ? *report : pipeline::BuildReport{};
}

Files files_below(MemoryEnv& env, const std::string& folder) {
  Files files;
  for (const std::string& path : env.all_files()) {
    if (path.starts_with(folder + "/")) files[path.substr(folder.size() + 1)] = env.contents(path);
  }
  return files;
}

Files files_named(const Files& files, std::string_view prefix) {
  Files found;
  for (const auto& [path, bytes] : files) {
    if (path.starts_with(prefix)) found[path] = bytes;
  }
  return found;
}

Files published_files(MemoryEnv& env, const std::string& folder) {
  Files files = files_below(env, folder);
  files.erase("sources.bin");
  return files;
}

std::string difference(const Files& expected, const Files& found) {
  std::string text;
  for (const auto& [path, bytes] : expected) {
    const auto other = found.find(path);
    if (other == found.end())
      text += "missing " + path + "\n";
    else if (other->second != bytes)
      text += "other bytes in " + path + "\n";
  }
  for (const auto& [path, bytes] : found) {
    if (!expected.contains(path)) text += "unexpected " + path + "\n";
  }
  return text;
}

std::string damage_in(Env& env, const std::string& cache) {
  const auto report = verify::verify_cache(env, cache, {.level = verify::Level::kFull});
  if (!report) return report.status().message();
  std::string text;
  for (const auto& finding : report->findings)
    text += finding.file + ": " + request::what_of(finding) + ", expected " +
            request::words_of(finding.expected) + ", found " + request::words_of(finding.found) +
            "\n";
  return report->ok && text.empty() ? "" : "damaged\n" + text;
}

std::shared_ptr<reader::CacheView> open_cache(Env& env, const std::string& cache) {
  auto view = reader::CacheView::open(env, cache);
  EXPECT_TRUE(view.ok()) << view.status().message();
  return view ? *view : nullptr;
}

std::uint64_t shard_count(Env& env, std::size_t column, const std::string& cache) {
  const auto view = open_cache(env, cache);
  return view && view->manifest().columns.size() > column
             ? view->manifest().columns[column].shards.size()
             : 0;
}

std::vector<std::string> stored_ids(Env& env, const std::string& cache) {
  std::vector<std::string> ids;
  const auto view = open_cache(env, cache);
  for (std::uint64_t i = 0; view && i < view->size(); ++i) {
    const auto facts = view->details(i);
    EXPECT_TRUE(facts.ok()) << facts.status().message();
    if (facts) ids.push_back(facts->id.value_or(""));
  }
  return ids;
}

OpenedSources::OpenedSources(MemoryEnv& env, std::string data) : state_(std::make_shared<State>()) {
  env.set_hook([state = state_, prefix = std::move(data) + "/"](EnvOperation& operation) {
    if (operation.call == EnvCall::kOpenForRead && operation.path.starts_with(prefix) &&
        operation.path.ends_with(".wav")) {
      const std::lock_guard lock(state->mutex);
      state->paths.insert(operation.path.substr(prefix.size()));
    }
    return Status();
  });
}

std::set<std::string> OpenedSources::take() {
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->paths, {});
}

}  // namespace xtts::testing
