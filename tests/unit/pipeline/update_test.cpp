// A second build of the same cache: it reads only the audio that it must, and keeps the shards that
// are published.
#include <gtest/gtest.h>

#include <functional>

#include "build_support.hpp"
#include "formats/bytes.hpp"
#include "store/source_table.hpp"

namespace xtts::testing {
namespace {

constexpr std::uint32_t kClips = 10;  // shards of 8 and 2

// A published cache of listed clips, and what was in it then.
struct Published {
  MemoryEnv env;
  pipeline::BuildRequest request;
  Files before;
  Files mel_before;

  explicit Published(const std::vector<std::string>& settings = {})
      : request(request_for(recipe_of_small_shards(settings))) {
    add_listed_sounds(env, kClips);
    must_build(env, request);
    before = files_below(env);
    mel_before = files_named(before, "shards/mel/");
  }

  [[nodiscard]] Files published_before() const {
    Files files = before;
    files.erase("sources.bin");
    return files;
  }
  [[nodiscard]] Files mel_now() { return files_named(files_below(env), "shards/mel/"); }
  [[nodiscard]] std::string wav(std::uint32_t number) const {
    return sound_path(number, kData + "/wavs");
  }
  void set(const std::string& setting) { request.recipe = recipe_of_small_shards({setting}); }
};

// The rows of a clip's mel.
std::vector<std::byte> record_bytes(reader::CacheView& view, std::uint32_t number) {
  const auto position = view.find(clip_name(number));
  EXPECT_TRUE(position.ok() && *position);
  const auto record = view.read_record("mel", **position);
  EXPECT_TRUE(record.ok()) << record.status().message();
  return record->bytes;
}

// A source table as the version before wrote it: rows of 48 bytes instead of 72.
std::string as_version_2(const std::string& table) {
  constexpr std::size_t kHead = 64;
  constexpr std::size_t kCheck = 8;
  const std::uint64_t rows = formats::load<std::uint64_t>(as_bytes(table), 16);
  const std::size_t rows_at = table.size() - kCheck - static_cast<std::size_t>(rows) * 72;
  std::string old = table.substr(0, rows_at);
  old[8] = 2;
  // Another plan: the digest of before had no ctimes in it.
  old[kHead / 2] = static_cast<char>(old[kHead / 2] ^ 1);
  for (std::size_t at = rows_at; at < table.size() - kCheck; at += 72) old += table.substr(at, 48);
  const std::uint64_t check = check64(as_bytes(old));
  formats::append(old, check);
  return old;
}

using Paths = std::set<std::string>;

std::string wav_name(std::uint32_t number) {
  return "wavs/" + clip_name(number) + ".wav";
}

TEST(Update, OfNothingPublishesNothing) {
  Published cache;
  OpenedSources opened(cache.env);
  TestObserver observer;
  const auto report = pipeline::build(cache.env, cache.request, observer);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(report->unchanged);
  EXPECT_EQ(report->generation, 1U);
  EXPECT_EQ(report->record_count, kClips);
  EXPECT_EQ(difference(cache.before, files_below(cache.env)), "");
  EXPECT_EQ(opened.take(), Paths());
}

TEST(Update, OfTheRunAloneIsNone) {
  Published cache;
  cache.request.run.thread_count = 5;
  cache.request.run.memory_bytes *= 2;
  EXPECT_TRUE(must_build(cache.env, cache.request).unchanged);
}

// Whatever changes but the audio: another generation, the same mel shards, and no sound is opened.
struct TextChange {
  std::string name;
  std::function<void(Published&)> apply;
};

class WithoutAudio : public ::testing::TestWithParam<TextChange> {};

TEST_P(WithoutAudio, KeepsTheMelShards) {
  Published cache;
  GetParam().apply(cache);
  OpenedSources opened(cache.env);
  const auto report = must_build(cache.env, cache.request);
  EXPECT_FALSE(report.unchanged);
  EXPECT_EQ(report.generation, 2U);
  EXPECT_EQ(report.computed_count, 0U);
  EXPECT_EQ(report.reused_count, kClips);
  EXPECT_EQ(opened.take(), Paths());
  EXPECT_EQ(difference(cache.mel_before, cache.mel_now()), "");
  EXPECT_EQ(damage_in(cache.env), "");
  EXPECT_TRUE(must_build(cache.env, cache.request).unchanged) << "once is enough";
}

INSTANTIATE_TEST_SUITE_P(
    Changes, WithoutAudio,
    ::testing::Values(
        TextChange{"MendedTranscript",
                   [](Published& cache) {
                     add_list(cache.env, kClips, {{4, "Mended."}});
                   }},
        TextChange{"MoreTokens", [](Published& cache) { cache.set("text.max_tokens=100"); }},
        TextChange{"OtherTokenizer",
                   [](Published& cache) {
                     cache.request.recipe.text.tokens = formats::TokenKind::kCharacters;
                     cache.request.recipe.text.vocabulary = "Sentc 0123456789.";
                   }},
        TextChange{"NoTokens", [](Published& cache) { cache.set("text.tokens=none"); }},
        TextChange{"NoTexts", [](Published& cache) { cache.set("text.store=false"); }},
        TextChange{"OneSpeaker", [](Published& cache) { cache.set("corpus.speaker=Ada"); }},
        TextChange{"SpeakersByPattern",
                   [](Published& cache) { cache.set("corpus.speaker_pattern=clip-000([0-9])"); }},
        TextChange{"Language", [](Published& cache) { cache.set("corpus.language=fa"); }}),
    [](const auto& change) { return change.param.name; });

TEST(Update, AMendedTranscriptIsWhatTheCacheThenSays) {
  Published cache;
  add_list(cache.env, kClips, {{4, "Mended."}});
  must_build(cache.env, cache.request);
  const auto view = open_cache(cache.env);
  const auto facts = view->details(4);
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts->text_normalized, "Mended.");
  const auto tokens = view->read_record("tokens", 4);
  ASSERT_TRUE(tokens.ok()) << tokens.status().message();
  EXPECT_EQ(tokens->shape.front(), std::string("Mended.").size());
}

// A vocoder's recipe makes no tokens. Its cache keeps the texts, and follows them.
TEST(Update, TextsWithoutTokensAreKeptAndFollowed) {
  Published cache({"text.tokens=none"});
  EXPECT_EQ(open_cache(cache.env)->manifest().find_column("tokens"), nullptr);
  EXPECT_EQ(open_cache(cache.env)->details(4)->text_raw, "Sentence 4.");
  EXPECT_EQ(open_cache(cache.env)->details(4)->character_count, 11U);
  add_list(cache.env, kClips, {{4, "Mended."}, {5, ""}});
  OpenedSources opened(cache.env);
  const auto report = must_build(cache.env, cache.request);
  EXPECT_EQ(opened.take(), Paths());
  EXPECT_EQ(report.generation, 2U);
  const auto view = open_cache(cache.env);
  EXPECT_EQ(view->details(4)->text_raw, "Mended.");
  EXPECT_EQ(view->details(4)->text_normalized, "Mended.");
  EXPECT_EQ(view->details(5)->text_raw, std::nullopt);
  EXPECT_EQ(view->details(5)->warnings.size(), 1U) << "it has no text, and the others have";
  EXPECT_EQ(damage_in(cache.env), "");
  EXPECT_TRUE(must_build(cache.env, cache.request).unchanged);
}

// A cache whose tokens went says the same as one that never had any.
TEST(Update, WithoutItsTokensIsACacheWithoutTokens) {
  Published changed({"text.max_tokens=4", "text.too_long=truncate"});
  changed.set("text.tokens=none");
  must_build(changed.env, changed.request);
  Published fresh({"text.tokens=none"});
  const auto view = open_cache(changed.env);
  for (std::uint64_t i = 0; i < kClips; ++i) {
    EXPECT_EQ(*view->details(i), *open_cache(fresh.env)->details(i)) << i;
    EXPECT_EQ(view->plan_row(i)->text_len, 0U) << i;
    EXPECT_EQ(view->plan_row(i)->flags, open_cache(fresh.env)->plan_row(i)->flags) << i;
  }
}

TEST(Update, TextsAreNormalizedBeforeTheirTokensAreMade) {
  Published cache({"text.tokens=characters", "text.vocabulary=\u06CC\u06A9 1"});
  add_list(cache.env, kClips, {{4, "\u064A\u0643 \u06F1"}});
  must_build(cache.env, cache.request);
  EXPECT_EQ(open_cache(cache.env)->plan_row(4)->text_len, 1U) << "the space alone is known";

  formats::Recipe& recipe = cache.request.recipe;
  recipe = recipe_of_small_shards({"text.tokens=characters", "text.vocabulary=\u06CC\u06A9 1",
                                   "text.normalize=[arabic_letters, digits]"});
  OpenedSources opened(cache.env);
  const auto report = must_build(cache.env, cache.request);
  EXPECT_EQ(report.generation, 3U);
  EXPECT_EQ(opened.take(), Paths());
  const auto view = open_cache(cache.env);
  EXPECT_EQ(view->plan_row(4)->text_len, 4U);
  EXPECT_EQ(view->details(4)->text_raw, "\u064A\u0643 \u06F1");
  EXPECT_EQ(view->details(4)->text_normalized, "\u06CC\u06A9 1");
  EXPECT_EQ(view->details(4)->character_count, 4U);
  EXPECT_EQ(damage_in(cache.env), "");
  EXPECT_TRUE(must_build(cache.env, cache.request).unchanged);

  // A changed table is seen.
  recipe.text.normalize.back().rows += ",06F2>0031";
  EXPECT_EQ(must_build(cache.env, cache.request).generation, 4U);
}

TEST(Update, ATextOfWhichNothingIsLeftIsGone) {
  Published cache({"text.normalize=[diacritics]"});
  add_list(cache.env, kClips, {{4, "\u064E\u0640"}});
  must_build(cache.env, cache.request);
  EXPECT_EQ(open_cache(cache.env)->details(4)->warnings.size(), 1U);
  EXPECT_EQ(open_cache(cache.env)->details(4)->text_raw, "");
}

TEST(Update, ANewClipIsTheOnlyOneThatIsRead) {
  Published cache;
  cache.env.add_file(cache.wav(kClips), sound(kClips));
  add_list(cache.env, kClips + 1);
  OpenedSources opened(cache.env);
  const auto report = must_build(cache.env, cache.request);
  EXPECT_EQ(opened.take(), Paths{wav_name(kClips)});
  EXPECT_EQ(report.computed_count, 1U);
  EXPECT_EQ(report.record_count, kClips + 1);
  for (const auto& [path, bytes] : cache.mel_before)
    EXPECT_TRUE(cache.env.contents(kCache + "/" + path) == bytes) << path;
  EXPECT_EQ(cache.mel_now().size(), cache.mel_before.size() + 1);
  EXPECT_EQ(damage_in(cache.env), "");
}

// The same record, to the bit, that a build from nothing makes.
TEST(Update, AddsTheRecordsOfABuildFromNothing) {
  Published cache;
  cache.env.add_file(cache.wav(kClips), sound(kClips));
  add_list(cache.env, kClips + 1);
  must_build(cache.env, cache.request);
  auto fresh = cache.request;
  fresh.options.cache = "/fresh";
  must_build(cache.env, fresh);
  const auto updated = open_cache(cache.env);
  const auto from_nothing = open_cache(cache.env, "/fresh");
  ASSERT_EQ(stored_ids(cache.env), stored_ids(cache.env, "/fresh"));
  for (std::uint64_t i = 0; i < updated->size(); ++i) {
    for (const char* column : {"mel", "tokens"}) {
      const auto a = updated->read_record(column, i);
      const auto b = from_nothing->read_record(column, i);
      ASSERT_TRUE(a.ok() && b.ok());
      EXPECT_EQ(a->shape, b->shape);
      EXPECT_TRUE(a->bytes == b->bytes) << column << " of clip " << i;
    }
  }
}

TEST(Update, OfAnHdf5CacheAppendsItsOwnKind) {
  Published cache({"storage.store=hdf5"});
  cache.env.add_file(cache.wav(kClips), sound(kClips));
  add_list(cache.env, kClips + 1);
  must_build(cache.env, cache.request);
  EXPECT_EQ(damage_in(cache.env), "");
  const Files mel = cache.mel_now();
  EXPECT_EQ(mel.size(), cache.mel_before.size() + 1);
  for (const auto& [path, bytes] : mel) EXPECT_TRUE(path.ends_with(".h5")) << path;
  // And holds what an LMDB cache of the same clips holds.
  auto other = cache.request;
  other.recipe = recipe_of_small_shards();
  other.options.cache = "/fresh";
  must_build(cache.env, other);
  const auto updated = open_cache(cache.env);
  const auto lmdb = open_cache(cache.env, "/fresh");
  ASSERT_EQ(stored_ids(cache.env), stored_ids(cache.env, "/fresh"));
  for (std::uint64_t i = 0; i < updated->size(); ++i) {
    const auto a = updated->read_record("mel", i);
    const auto b = lmdb->read_record("mel", i);
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_TRUE(a->bytes == b->bytes) << i;
  }
}

TEST(Update, AChangedClipIsComputedAgain) {
  Published cache;
  cache.env.add_file(cache.wav(2), sound(50));
  OpenedSources opened(cache.env);
  const auto report = must_build(cache.env, cache.request);
  EXPECT_EQ(opened.take(), Paths{wav_name(2)});
  EXPECT_EQ(report.computed_count, 1U);
  EXPECT_EQ(report.record_count, kClips);
  EXPECT_EQ(damage_in(cache.env), "");
  const auto tombstones = open_cache(cache.env)->tombstones();
  ASSERT_TRUE(tombstones.ok());
  EXPECT_EQ(tombstones->size(), 1U);
}

TEST(Update, AVanishedClipLeavesThePlanAndATombstone) {
  Published cache;
  ASSERT_TRUE(cache.env.remove_file(cache.wav(kClips - 1)).ok());
  add_list(cache.env, kClips - 1);
  OpenedSources opened(cache.env);
  const auto report = must_build(cache.env, cache.request);
  EXPECT_EQ(opened.take(), Paths());
  EXPECT_EQ(report.gone_count, 1U);
  EXPECT_EQ(report.record_count, kClips - 1);
  EXPECT_EQ(stored_ids(cache.env).size(), kClips - 1);
  EXPECT_EQ(difference(cache.mel_before, cache.mel_now()), "");
  EXPECT_EQ(damage_in(cache.env), "");
  const auto tombstones = open_cache(cache.env)->tombstones();
  ASSERT_TRUE(tombstones.ok());
  EXPECT_EQ(tombstones->size(), 1U);

  // And comes back.
  cache.env.add_file(cache.wav(kClips - 1), sound(kClips - 1));
  add_list(cache.env, kClips);
  EXPECT_EQ(must_build(cache.env, cache.request).record_count, kClips);
  EXPECT_EQ(damage_in(cache.env), "");
}

TEST(Update, AMovedDataFolderIsHashedAndNotComputed) {
  Published cache;
  for (const auto& [path, bytes] : files_below(cache.env, kData))
    cache.env.add_file("/moved/" + path, bytes);
  cache.request.data.path = "/moved";
  OpenedSources opened(cache.env, "/moved");
  const auto report = must_build(cache.env, cache.request);
  EXPECT_TRUE(report.unchanged);
  EXPECT_EQ(opened.take().size(), kClips);
  EXPECT_EQ(difference(cache.published_before(), published_files(cache.env)), "");
  EXPECT_TRUE(must_build(cache.env, cache.request).unchanged);
  EXPECT_EQ(opened.take(), Paths()) << "the new place is remembered";
}

TEST(Update, ATouchedFileIsHashedAndNotComputed) {
  Published cache;
  cache.env.add_file(cache.wav(3), sound(3));  // another inode and mtime
  OpenedSources opened(cache.env);
  EXPECT_TRUE(must_build(cache.env, cache.request).unchanged);
  EXPECT_EQ(opened.take(), Paths{wav_name(3)});
  EXPECT_TRUE(must_build(cache.env, cache.request).unchanged);
  EXPECT_EQ(opened.take(), Paths());
}

TEST(Update, WithoutTheSourceTableHashesAll) {
  Published cache;
  ASSERT_TRUE(cache.env.remove_file(kCache + "/sources.bin").ok());
  EXPECT_TRUE(must_build(cache.env, cache.request).unchanged);
  EXPECT_EQ(difference(cache.before, files_below(cache.env)), "");
}

TEST(Update, PutsRejectsForPeopleRight) {
  Published cache;
  cache.env.add_file(kCache + "/rejects.jsonl", "scribbled\n");
  EXPECT_TRUE(must_build(cache.env, cache.request).unchanged);
  EXPECT_EQ(difference(cache.before, files_below(cache.env)), "");
}

// Sound that nobody can decode is not tried by every build; a mended file is.
TEST(Update, RejectedSoundIsTriedAgainWhenItsFileChangesOrWhenAsked) {
  Published cache;
  cache.env.add_file(cache.wav(1), "no sound");
  cache.request.max_rejects.count = 1;
  EXPECT_EQ(must_build(cache.env, cache.request).rejects.size(), 1U);
  OpenedSources opened(cache.env);
  const auto unchanged = must_build(cache.env, cache.request);
  EXPECT_TRUE(unchanged.unchanged);
  EXPECT_EQ(unchanged.rejects.size(), 1U) << "what is missing is said every time";
  EXPECT_EQ(opened.take(), Paths());

  // Another clip comes; the rejected one stays rejected, unread.
  cache.env.add_file(cache.wav(kClips), sound(kClips));
  add_list(cache.env, kClips + 1);
  EXPECT_EQ(must_build(cache.env, cache.request).rejects.size(), 1U);
  EXPECT_EQ(opened.take(), Paths{wav_name(kClips)});

  cache.request.options.retry_rejects = true;
  const auto retried = must_build(cache.env, cache.request);
  EXPECT_EQ(opened.take(), Paths{wav_name(1)});
  EXPECT_TRUE(retried.unchanged) << "nothing came of it";

  cache.request.options.retry_rejects = false;
  cache.env.add_file(cache.wav(1), sound(1));
  EXPECT_EQ(must_build(cache.env, cache.request).record_count, kClips + 1);
  EXPECT_EQ(damage_in(cache.env), "");
}

// A program may give a changed file the modification time of before. No program can set ctime.
TEST(Update, AFileThatChangedInPlaceWithItsTimeRestoredIsComputedAgain) {
  Published cache;
  const std::string other = sound(63);  // as long as sound(3)
  ASSERT_EQ(other.size(), cache.env.contents(cache.wav(3)).size());
  cache.env.change_in_place(cache.wav(3), other);
  OpenedSources opened(cache.env);
  const auto report = must_build(cache.env, cache.request);
  EXPECT_EQ(report.computed_count, 1U);
  EXPECT_EQ(opened.take(), Paths{wav_name(3)});

  MemoryEnv fresh;
  add_listed_sounds(fresh, kClips);
  fresh.add_file(sound_path(3, kData + "/wavs"), other);
  must_build(fresh, cache.request);
  EXPECT_EQ(record_bytes(*open_cache(cache.env), 3), record_bytes(*open_cache(fresh), 3));
}

// chmod, a new link, a copy of the corpus: the times differ, and the bytes do not.
TEST(Update, AnotherCtimeCostsOneHashAndNoDecode) {
  Published cache({"features.max_frames=40"});  // some are too long
  cache.env.add_file(cache.wav(1), "no sound");
  cache.request.max_rejects.count = 1;
  const auto before = must_build(cache.env, cache.request);
  ASSERT_GT(before.rejects.size(), 1U);
  Paths all;
  for (std::uint32_t i = 0; i < kClips; ++i) {
    cache.env.change_in_place(cache.wav(i), cache.env.contents(cache.wav(i)));
    all.insert(wav_name(i));
  }
  OpenedSources opened(cache.env);
  const auto report = must_build(cache.env, cache.request);
  EXPECT_TRUE(report.unchanged);
  EXPECT_EQ(report.computed_count, 0U);
  EXPECT_EQ(report.rejects.size(), before.rejects.size());
  EXPECT_EQ(opened.take(), all);

  EXPECT_TRUE(must_build(cache.env, cache.request).unchanged);
  EXPECT_EQ(opened.take(), Paths()) << "the table has the new ctime";
}

// A table of version 2 has no ctime: its files are hashed once, and not decoded.
TEST(Update, ATableWithoutCtimeIsUpgradedByHashing) {
  Published cache;
  const std::string path = kCache + "/sources.bin";
  cache.env.add_file(path, as_version_2(cache.env.contents(path)));
  ASSERT_TRUE(store::load_source_table(cache.env, kCache));
  OpenedSources opened(cache.env);
  const auto report = must_build(cache.env, cache.request);
  EXPECT_TRUE(report.unchanged);
  EXPECT_EQ(report.computed_count, 0U);
  EXPECT_EQ(opened.take().size(), kClips);
  EXPECT_EQ(cache.env.contents(path), cache.before.at("sources.bin"));
}

// With a text it is dropped, for sound and text must stay a pair; without one it is cut.
TEST(Update, ATooLongClipWhoseTextGoesIsCut) {
  Published cache({"features.max_frames=40"});
  const std::size_t dropped = kClips - stored_ids(cache.env).size();
  ASSERT_GT(dropped, 0U);
  std::map<std::uint32_t, std::string> no_texts;
  for (std::uint32_t i = 0; i < kClips; ++i) no_texts[i] = "";
  add_list(cache.env, kClips, no_texts);
  const auto report = must_build(cache.env, cache.request);
  EXPECT_EQ(report.record_count, kClips);
  EXPECT_EQ(report.cut_count, dropped);
  EXPECT_EQ(report.computed_count, dropped);
  EXPECT_EQ(damage_in(cache.env), "");
}

TEST(Update, RefusesOtherFeaturesAndSaysWhich) {
  Published cache;
  cache.set("features.mel.n_mels=64");
  const auto refused = run_build(cache.env, cache.request);
  ASSERT_EQ(refused.status().code(), StatusCode::kMismatch);
  const std::string message = refused.status().message();
  EXPECT_NE(message.find("features.mel.n_mels"), std::string::npos) << message;
  EXPECT_NE(message.find("80"), std::string::npos) << message;
  EXPECT_NE(message.find("64"), std::string::npos) << message;
  EXPECT_EQ(difference(cache.published_before(), published_files(cache.env)), "");
}

TEST(Update, RefusesAnotherStorage) {
  Published cache;
  cache.set("storage.dtype=float16");
  const auto refused = run_build(cache.env, cache.request);
  ASSERT_EQ(refused.status().code(), StatusCode::kMismatch);
  EXPECT_NE(refused.status().message().find("storage.dtype"), std::string::npos);
}

TEST(Update, RefusesAnotherStoreAndTouchesNothing) {
  Published cache;
  cache.set("storage.store=hdf5");
  const auto refused = run_build(cache.env, cache.request);
  ASSERT_EQ(refused.status().code(), StatusCode::kMismatch);
  const std::string message = refused.status().message();
  EXPECT_NE(message.find("storage.store"), std::string::npos) << message;
  EXPECT_EQ(difference(cache.published_before(), published_files(cache.env)), "");
}

// The other store's shards are garbage as soon as the new manifest names none of them.
TEST(Overwrite, MayChangeTheStore) {
  Published cache;
  cache.set("storage.store=hdf5");
  cache.request.options.overwrite = true;
  must_build(cache.env, cache.request);
  EXPECT_EQ(damage_in(cache.env), "");
  std::size_t shard_count = 0;
  for (const auto& [path, bytes] : files_named(published_files(cache.env), "shards/")) {
    EXPECT_TRUE(path.ends_with(".h5")) << path;
    ++shard_count;
  }
  EXPECT_GT(shard_count, 0U);
}

// Of two who find the cache of another recipe, the second leaves what the first has made.
TEST(Overwrite, OfOneGenerationLeavesALaterOneAlone) {
  Published cache;
  const auto digest = [&] {
    auto opened = reader::CacheView::open(cache.env, cache.request.options.cache);
    EXPECT_TRUE(opened) << opened.status().message();
    return (*opened)->manifest().index_digest.to_hex();
  };
  cache.request.options.overwrite = true;
  cache.request.options.overwrite_only = digest();
  cache.set("storage.store=hdf5");
  must_build(cache.env, cache.request);
  EXPECT_NE(digest(), cache.request.options.overwrite_only);
  const auto first = published_files(cache.env);
  must_build(cache.env, cache.request);
  EXPECT_EQ(difference(first, published_files(cache.env)), "");
  cache.set("storage.store=lmdb");
  EXPECT_EQ(run_build(cache.env, cache.request).status().code(), StatusCode::kMismatch);
  EXPECT_EQ(difference(first, published_files(cache.env)), "");
}

TEST(Overwrite, OfOneGenerationReplacesACacheThatCannotBeOpened) {
  Published cache;
  cache.request.options.overwrite = true;
  cache.request.options.overwrite_only = std::string(32, '0');
  cache.env.add_file(cache.request.options.cache + "/manifest.json", "{}");
  must_build(cache.env, cache.request);
  EXPECT_EQ(damage_in(cache.env), "");
}

// But for its number: generations never restart.
TEST(Overwrite, EqualsABuildFromNothing) {
  Published cache;
  cache.set("features.mel.n_mels=64");
  cache.request.options.overwrite = true;
  EXPECT_EQ(must_build(cache.env, cache.request).generation, 2U);
  auto fresh = cache.request;
  fresh.options.overwrite = false;
  fresh.options.cache = "/fresh";
  must_build(cache.env, fresh);
  EXPECT_EQ(damage_in(cache.env), "");
  EXPECT_EQ(stored_ids(cache.env), stored_ids(cache.env, "/fresh"));
  const auto expected = open_cache(cache.env, "/fresh");
  const auto found = open_cache(cache.env);
  EXPECT_EQ(found->manifest().mel_statistics->mean, expected->manifest().mel_statistics->mean);
  for (std::uint64_t position = 0; position < expected->size(); ++position) {
    EXPECT_EQ(found->read_record("mel", position)->bytes,
              expected->read_record("mel", position)->bytes);
  }
}

TEST(Overwrite, IsAboveEveryGenerationThatAnythingNames) {
  Published cache;
  cache.env.add_file(cache.wav(0), sound(77));
  EXPECT_EQ(must_build(cache.env, cache.request).generation, 2U);
  auto reader = open_cache(cache.env);
  cache.request.options.overwrite = true;
  EXPECT_EQ(must_build(cache.env, cache.request).generation, 3U);
  // The manifest is damaged: indexes tell. These are lost, too: the shards do.
  cache.env.add_file(kCache + "/manifest.json", "damaged");
  EXPECT_EQ(must_build(cache.env, cache.request).generation, 4U);
  reader.reset();
  cache.env.add_file(kCache + "/manifest.json", "damaged");
  for (const auto& [name, bytes] : files_named(files_below(cache.env), "index-"))
    ASSERT_TRUE(cache.env.remove_file(kCache + "/" + name).ok());
  EXPECT_EQ(must_build(cache.env, cache.request).generation, 5U);
  EXPECT_EQ(damage_in(cache.env), "");
}

// Nothing of it was published: its number is to be had again.
TEST(Overwrite, ThatWasInterruptedGoesOnInItsGeneration) {
  Published cache;
  cache.set("features.mel.n_mels=64");
  cache.request.options.overwrite = true;
  TestObserver observer;
  observer.cancel_at = kClipsPerSmallShard;
  ASSERT_FALSE(pipeline::build(cache.env, cache.request, observer).ok());
  EXPECT_EQ(must_build(cache.env, cache.request).generation, 2U);
}

// It would be taken for a first build, and what is published for garbage.
TEST(Update, BesideALostManifestAndAnUnfinishedUpdateIsRefused) {
  Published cache;
  cache.env.add_file(cache.wav(0), sound(77));
  TestObserver observer;
  observer.cancel_at = 0;
  ASSERT_FALSE(pipeline::build(cache.env, cache.request, observer).ok());
  ASSERT_TRUE(cache.env.exists(kCache + "/.build/journal"));
  ASSERT_TRUE(cache.env.remove_file(kCache + "/manifest.json").ok());
  const auto refused = run_build(cache.env, cache.request);
  EXPECT_EQ(refused.status().code(), StatusCode::kCorrupt);
  EXPECT_NE(refused.status().message().find("verify /cache --repair"), std::string::npos);
  EXPECT_EQ(difference(cache.mel_before, cache.mel_now()), "");
}

TEST(Overwrite, KeepsThePublishedCacheUntilTheNewOneIsThere) {
  Published cache;
  cache.set("features.mel.n_mels=64");
  cache.request.options.overwrite = true;
  TestObserver observer;
  observer.cancel_at = kClipsPerSmallShard;
  ASSERT_EQ(pipeline::build(cache.env, cache.request, observer).status().code(),
            StatusCode::kCancelled);
  EXPECT_EQ(damage_in(cache.env), "");
  EXPECT_EQ(open_cache(cache.env)->manifest().columns.front().spec.shape.at(1), 80U);
}

TEST(Overwrite, HelpsWhereThePublishedManifestIsDamaged) {
  Published cache;
  std::string manifest = cache.before.at("manifest.json");
  manifest[manifest.size() / 2] ^= 1;
  cache.env.add_file(kCache + "/manifest.json", manifest);
  const auto refused = run_build(cache.env, cache.request);
  ASSERT_EQ(refused.status().code(), StatusCode::kCorrupt);
  EXPECT_NE(refused.status().message().find("--overwrite"), std::string::npos);
  cache.request.options.overwrite = true;
  EXPECT_EQ(must_build(cache.env, cache.request).generation, 2U);
  EXPECT_EQ(damage_in(cache.env), "");
}

TEST(Update, ByAnotherProcessorIsRefusedUnlessMixedIsAllowed) {
  Published cache;
  if (dsp::best_isa() == dsp::Isa::kScalar) GTEST_SKIP() << "this machine has one instruction set";
  cache.env.add_file(cache.wav(kClips), sound(kClips));
  add_list(cache.env, kClips + 1);
  cache.request.isa = dsp::Isa::kScalar;
  const auto refused = run_build(cache.env, cache.request);
  ASSERT_EQ(refused.status().code(), StatusCode::kMismatch);
  EXPECT_NE(refused.status().message().find("--allow-mixed"), std::string::npos);

  cache.request.options.allow_mixed = true;
  EXPECT_EQ(must_build(cache.env, cache.request).record_count, kClips + 1);
  EXPECT_EQ(damage_in(cache.env), "");
}

TEST(Update, ByAnotherProcessorThatComputesNothingIsWelcome) {
  Published cache;
  add_list(cache.env, kClips, {{0, "Mended."}});
  cache.request.isa = dsp::Isa::kScalar;
  EXPECT_EQ(must_build(cache.env, cache.request).generation, 2U);
}

}  // namespace
}  // namespace xtts::testing
