// The losses that a build may have, and the account of every clip: whole builds with drops, faults,
// disappearances and renames planted.
#include "pipeline/losses.hpp"
#include "formats/rules.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "build_support.hpp"
#include "support/wav_file.hpp"

namespace xtts::testing {
namespace {

std::string wav(const std::string& id) {
  return kData + "/wavs/" + id + ".wav";
}

// A corpus whose list is written from what is in it.
struct ListedCorpus {
  MemoryEnv env;
  std::map<std::string, std::string> texts;  // by id

  void add(const std::string& id, std::string bytes, std::string text = {}) {
    env.add_file(wav(id), bytes);
    texts[id] = text.empty() ? "Sentence of " + id + "." : std::move(text);
  }
  void add_sounds(std::uint32_t first, std::uint32_t count) {
    for (std::uint32_t i = first; i < first + count; ++i) add(clip_name(i), unique_sound(i));
  }
  void remove(const std::string& id) {
    ASSERT_TRUE(env.remove_file(wav(id)).ok());
    texts.erase(id);
  }
  void rename(const std::string& from, const std::string& to) {
    add(to, *read_text_file(env, wav(from), 1U << 20U), texts[from]);
    remove(from);
  }
  void write_list() {
    std::string list;
    for (const auto& [id, text] : texts) list += id + "|" + text + "|" + text + "\n";
    env.add_file(kData + "/metadata.csv", list);
  }

  static std::string unique_sound(std::uint32_t number) {
    return tone_wav(200.0 + number, {.seconds = 0.1, .rate_hz = 16000});
  }
};

std::string long_sound(std::uint32_t number) {
  return tone_wav(300.0 + number, {.seconds = 2.0, .rate_hz = 16000});
}

// Names its libraries, and decodes nothing.
class IdleDecoder final : public audio::AudioDecoder {
 public:
  Result<audio::SourceFacts> decode(const RandomAccessFile&, const audio::DecodeRequest&,
                                    const audio::TakeSamples&) override {
    return Status(StatusCode::kInternal, "it was asked to decode");
  }
  Result<audio::Recognition> recognise(const RandomAccessFile&, std::string_view) override {
    return Status(StatusCode::kInternal, "it was asked to look");
  }
  Result<audio::SourceLength> length(const RandomAccessFile&, std::string_view) override {
    return Status(StatusCode::kInternal, "it was asked for a length");
  }
  [[nodiscard]] std::chrono::nanoseconds resampling_time() const noexcept override { return {}; }
  Result<std::string> libraries() override { return in_this_process()({})->libraries(); }
  Result<audio::FormatList> formats() override { return audio::FormatList(); }
};

// Longer than 40 frames (0.46 s) is dropped; the sounds have 0.1 s.
pipeline::BuildRequest request_with_limits(double dropped, double gone) {
  auto request = request_for(recipe_of_small_shards({"features.max_frames=40"}));
  request.max_losses = {.dropped = dropped, .gone = gone};
  return request;
}

void expect_that_numbers_add_up(const pipeline::BuildReport& report) {
  const auto& all = report.accounting;
  EXPECT_EQ(all.found, all.stored + all.dropped + all.rejected);
  EXPECT_EQ(all.stored, all.reused + all.changed + all.renamed + all.added);
  EXPECT_EQ(all.before, all.reused + all.changed + all.renamed + all.lost + all.gone);
  EXPECT_EQ(all.stored, report.record_count);
  EXPECT_EQ(all.dropped + all.rejected, report.rejects.size());
  std::uint64_t by_rule = 0;
  for (const auto& [rule, count] : all.dropped_by_rule) by_rule += count;
  EXPECT_EQ(by_rule, all.dropped);
  std::uint64_t by_class = 0;
  for (const auto& [name, count] : all.rejected_by_class) by_class += count;
  EXPECT_EQ(by_class, all.rejected);
}

TEST(Accounting, HasEveryClipOfABuildAndOfItsUpdateOnce) {
  ListedCorpus corpus;
  corpus.add_sounds(0, 160);
  for (std::uint32_t i = 200; i < 206; ++i) corpus.add(clip_name(i), long_sound(i));
  const std::string long_text(300, 'x');
  for (std::uint32_t i = 210; i < 215; ++i) corpus.add(clip_name(i), sound(i), long_text);
  for (std::uint32_t i = 220; i < 224; ++i) corpus.add(clip_name(i), "no sound at all");
  for (std::uint32_t i = 230; i < 233; ++i) corpus.texts[clip_name(i)] = "Without a file.";
  corpus.write_list();
  const auto request = request_with_limits(1.0, 0.10);
  const auto first = must_build(corpus.env, request);
  expect_that_numbers_add_up(first);
  EXPECT_EQ(first.accounting,
            (pipeline::Accounting{.found = 178,
                                  .stored = 160,
                                  .dropped = 11,
                                  .rejected = 7,
                                  .dropped_by_rule = {{"text_too_long", 5}, {"too_long", 6}},
                                  .rejected_by_class = {{"input", 7}},
                                  .added = 160}));

  std::set<std::string> renamed;
  for (std::uint32_t i = 0; i < 9; ++i) {
    renamed.insert("renamed-" + clip_name(i));
    corpus.rename(clip_name(i), "renamed-" + clip_name(i));
  }
  for (std::uint32_t i = 20; i < 27; ++i) corpus.remove(clip_name(i));
  for (std::uint32_t i = 30; i < 35; ++i)
    corpus.add(clip_name(i), ListedCorpus::unique_sound(i + 400));                  // changed
  for (std::uint32_t i = 40; i < 44; ++i) corpus.add(clip_name(i), long_sound(i));  // lost
  corpus.texts[clip_name(50)] = long_text;                                          // lost, too
  corpus.add_sounds(300, 12);                                                       // new
  corpus.add("broken", "no sound either");
  corpus.write_list();
  const auto second = must_build(corpus.env, request);
  expect_that_numbers_add_up(second);
  EXPECT_EQ(second.accounting,
            (pipeline::Accounting{.found = 184,
                                  .stored = 160,
                                  .dropped = 16,
                                  .rejected = 8,
                                  .dropped_by_rule = {{"text_too_long", 6}, {"too_long", 10}},
                                  .rejected_by_class = {{"input", 8}},
                                  .reused = 134,
                                  .changed = 5,
                                  .renamed = 9,
                                  .added = 12,
                                  .before = 160,
                                  .lost = 5,
                                  .gone = 7}));
  EXPECT_EQ(damage_in(corpus.env), "");
  const auto ids = stored_ids(corpus.env);
  for (const std::string& id : renamed) EXPECT_EQ(std::ranges::count(ids, id), 1) << id;
  EXPECT_TRUE(must_build(corpus.env, request).unchanged);
}

// Its decoder ends at once: a clip that had to be decoded would be a reject.
TEST(RenamedClip, IsCopiedAndNotDecoded) {
  ListedCorpus corpus;
  corpus.add_sounds(0, 20);
  corpus.write_list();
  auto request = request_with_limits(0.0, 0.0);
  must_build(corpus.env, request);
  const auto before = *open_cache(corpus.env)->read_record("mel", 3);
  const auto facts = *open_cache(corpus.env)->details(3);

  corpus.rename(clip_name(3), "aaa");
  corpus.texts["aaa"] = "It says something else now.";
  corpus.write_list();
  request.run.make_decoder = [](const std::function<bool()>&) {
    return std::make_unique<IdleDecoder>();
  };
  const auto report = must_build(corpus.env, request);
  EXPECT_EQ(report.accounting.renamed, 1U);
  EXPECT_EQ(report.accounting.gone, 0U);
  EXPECT_EQ(report.computed_count, 0U);
  EXPECT_TRUE(report.rejects.empty());
  const auto cache = open_cache(corpus.env);
  const auto position = *cache->find("aaa");
  ASSERT_TRUE(position.has_value());
  EXPECT_EQ(cache->read_record("mel", *position)->bytes, before.bytes);
  const auto now = *cache->details(*position);
  EXPECT_EQ(now.content_digest, facts.content_digest);
  EXPECT_EQ(now.source_path, "wavs/aaa.wav");
  EXPECT_EQ(now.text_raw, "It says something else now.");
  EXPECT_EQ(damage_in(corpus.env), "");
}

TEST(RenamedClip, GivesTheRecordsOfABuildFromNothing) {
  ListedCorpus corpus;
  corpus.add_sounds(0, 20);
  corpus.write_list();
  const auto request = request_with_limits(0.0, 0.0);
  must_build(corpus.env, request);
  corpus.rename(clip_name(3), "zzz");
  corpus.write_list();
  must_build(corpus.env, request);
  auto anew = request;
  anew.options.cache = "/anew";
  must_build(corpus.env, anew);
  const auto updated = open_cache(corpus.env);
  const auto fresh = open_cache(corpus.env, "/anew");
  ASSERT_EQ(updated->size(), fresh->size());
  for (std::uint64_t position = 0; position < fresh->size(); ++position) {
    EXPECT_EQ(updated->read_record("mel", position)->bytes,
              fresh->read_record("mel", position)->bytes);
    EXPECT_EQ(*updated->details(position), *fresh->details(position));
  }
}

// Another sound of the same size: its hash tells.
TEST(RenamedClip, IsKnownByItsContentAndNotByItsSize) {
  ListedCorpus corpus;
  corpus.add_sounds(0, 20);
  corpus.write_list();
  const auto request = request_with_limits(0.0, 0.10);
  must_build(corpus.env, request);
  corpus.remove(clip_name(3));
  corpus.add("other", ListedCorpus::unique_sound(500));
  corpus.write_list();
  const auto report = must_build(corpus.env, request);
  EXPECT_EQ(report.accounting.renamed, 0U);
  EXPECT_EQ(report.accounting.gone, 1U);
  EXPECT_EQ(report.accounting.added, 1U);
}

TEST(DroppedClips, BeyondTheLimitEndTheBuildAndASecondTryPublishesAtOnce) {
  ListedCorpus corpus;
  corpus.add_sounds(0, 8);
  for (std::uint32_t i = 20; i < 24; ++i) corpus.add(clip_name(i), long_sound(i));
  corpus.write_list();
  auto request = request_with_limits(0.10, 0.05);
  const auto refused = run_build(corpus.env, request);
  ASSERT_EQ(refused.status().code(), StatusCode::kTooManyRejects);
  const std::string message = refused.status().message();
  EXPECT_NE(message.find("4 of 12 clips (33"), std::string::npos) << message;
  EXPECT_NE(message.find("4 by features.max_frames: --set features.max_frames=173 keeps all"),
            std::string::npos)
      << message;
  EXPECT_EQ(reader::CacheView::open(corpus.env, kCache).status().code(), StatusCode::kNotFound);

  OpenedSources opened(corpus.env);
  // The hours are the worse share: what the message names is enough.
  const auto at = message.find("--max-dropped ", message.find("Run again"));
  ASSERT_NE(at, std::string::npos) << message;
  request.max_losses.dropped = std::stod(message.substr(at + 14)) / 100.0;
  EXPECT_GT(request.max_losses.dropped, 0.34);
  EXPECT_EQ(must_build(corpus.env, request).record_count, 8U);
  EXPECT_TRUE(opened.take().empty());  // all was sealed
}

TEST(DroppedClips, WithinTheLimitAreToldOfInTheReport) {
  ListedCorpus corpus;
  corpus.add_sounds(0, 40);
  corpus.add("long", long_sound(1));
  corpus.write_list();
  const auto report = must_build(corpus.env, request_with_limits(1.0, 0.05));
  ASSERT_EQ(report.drops.size(), 1U);
  EXPECT_EQ(report.drops[0].rule, formats::Rule::kTooLong);
  EXPECT_EQ(report.drops[0].keeps_all->value, 173.0);
}

// 2 s of 6 s are a third of the hours, and a 41st of the clips.
TEST(DroppedClips, CountByTheHourWhereThatIsWorse) {
  ListedCorpus corpus;
  corpus.add_sounds(0, 40);
  corpus.add("long", long_sound(1));
  corpus.write_list();
  const auto refused = run_build(corpus.env, request_with_limits(0.10, 0.05));
  ASSERT_EQ(refused.status().code(), StatusCode::kTooManyRejects);
  EXPECT_NE(refused.status().message().find("of the hours, "), std::string::npos)
      << refused.status().message();
}

// Six of twelve texts: letters of Persian are two bytes each.
TEST(DroppedClips, ByTheirTextsEndTheBuildBeforeAnythingIsDecoded) {
  ListedCorpus corpus;
  std::string persian;
  for (int i = 0; i < 120; ++i) persian += "س";
  for (std::uint32_t i = 0; i < 12; ++i)
    corpus.add(clip_name(i), ListedCorpus::unique_sound(i), i % 2 == 0 ? persian : "");
  corpus.write_list();
  OpenedSources opened(corpus.env);
  const auto refused = run_build(corpus.env, request_with_limits(0.10, 0.05));
  ASSERT_EQ(refused.status().code(), StatusCode::kTooManyRejects);
  const std::string message = refused.status().message();
  EXPECT_NE(message.find("6 by text.max_tokens: --set text.max_tokens=240 keeps all"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("counts bytes"), std::string::npos) << message;
  EXPECT_TRUE(opened.take().empty());

  auto dry = request_with_limits(0.10, 0.05);
  dry.options.dry_run = true;
  TestObserver observer;
  ASSERT_TRUE(pipeline::build(corpus.env, dry, observer).ok());
  EXPECT_TRUE(observer.preview()->would_pass_max_dropped);
  EXPECT_EQ(observer.preview()->drops.at(0).count, 6U);
}

TEST(GoneClips, BeyondTheLimitEndTheBuildAndChangeNothing) {
  ListedCorpus corpus;
  corpus.add_sounds(0, 35);
  corpus.write_list();
  auto request = request_with_limits(0.10, 0.05);
  must_build(corpus.env, request);
  const Files before = published_files(corpus.env);
  for (std::uint32_t i = 1; i < 35; ++i) corpus.remove(clip_name(i));
  corpus.write_list();
  const auto refused = run_build(corpus.env, request);
  ASSERT_EQ(refused.status().code(), StatusCode::kTooManyRejects);
  const std::string message = refused.status().message();
  EXPECT_NE(message.find("34 of the 35 clips in the cache are gone from DATA"), std::string::npos)
      << message;
  EXPECT_NE(message.find("clip-0001"), std::string::npos) << message;
  EXPECT_NE(message.find("--max-gone 97.2%"), std::string::npos) << message;
  EXPECT_EQ(difference(before, published_files(corpus.env)), "");
  request.max_losses.gone = 0.972;
  EXPECT_EQ(must_build(corpus.env, request).record_count, 1U);
}

// Whoever asks for a part of the training clips has asked for the others to go.
TEST(GoneClips, ThatTheRecipeDoesNotChooseAnyMoreAreNotMissed) {
  ListedCorpus corpus;
  corpus.add_sounds(0, 40);
  corpus.write_list();
  auto request = request_with_limits(0.10, 0.05);
  must_build(corpus.env, request);
  request.recipe =
      recipe_of_small_shards({"features.max_frames=40", "corpus.train_subset_fraction=0.5"});
  const auto report = must_build(corpus.env, request);
  EXPECT_LT(report.record_count, 30U);
  EXPECT_EQ(report.accounting.gone, 40U - report.record_count);
  expect_that_numbers_add_up(report);
}

TEST(UnreadLists, StopABuildUnlessSomebodyMeansThat) {
  MemoryEnv env;
  add_sounds(env, 4);
  env.add_file(kData + "/train.csv",
               "sound_of_it,bytes,what_is_said\nclip-0000.wav,1,one\nclip-0001.wav,1,two\n");
  auto request = request_for(recipe_of_small_shards());
  const auto refused = run_build(env, request);
  ASSERT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("train.csv"), std::string::npos)
      << refused.status().message();
  auto named = request;
  named.recipe.corpus.layout = "folder";
  named.options.cache = "/named";
  EXPECT_EQ(must_build(env, named).record_count, 4U);
  request.recipe.text.store = false;
  EXPECT_EQ(must_build(env, request).record_count, 4U);
}

TEST(NoText, LeavesTheTextsOutAndKeepsTheSound) {
  MemoryEnv env;
  add_listed_sounds(env, 4);
  auto request = request_for(recipe_of_small_shards());
  request.recipe.text.store = false;
  EXPECT_EQ(must_build(env, request).record_count, 4U);
  EXPECT_EQ(open_cache(env)->manifest().find_column("tokens"), nullptr);
  EXPECT_EQ(damage_in(env), "");
  request.recipe.text.store = true;
  EXPECT_EQ(must_build(env, request).computed_count, 0U);
  EXPECT_NE(open_cache(env)->manifest().find_column("tokens"), nullptr);
}

}  // namespace
}  // namespace xtts::testing
