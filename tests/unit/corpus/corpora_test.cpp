// Several corpora as one.
#include <gtest/gtest.h>

#include "corpus_checks.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

// An LJSpeech corpus in /lj and a folder of sounds by two speakers in /loose.
void add_two(MemoryEnv& env) {
  env.add_file("/lj/metadata.csv", "a|one|one\ngone|no|no\nb|two|two\n");
  for (const char* name : {"a", "b"}) env.add_file("/lj/wavs/" + std::string(name) + ".wav", "x");
  for (const char* name : {"s1_a", "s2_a"})
    env.add_file("/loose/" + std::string(name) + ".wav", "x");
}

std::vector<formats::CorporaEntry> two_entries() {
  formats::CorporaEntry lj{.name = "lj", .folder = "/lj"};
  lj.language = "en";
  lj.speaker = "linda";
  formats::CorporaEntry loose{.name = "loose", .folder = "/loose"};
  loose.speaker_pattern = "^(s[0-9])_";
  loose.split = "validation";
  return {lj, loose};
}

Corpus read(MemoryEnv& env, const std::vector<formats::CorporaEntry>& entries) {
  auto corpus = discover({.env = env, .corpora = entries, .config = {}});
  EXPECT_TRUE(corpus.ok()) << corpus.status().message();
  return corpus.ok() ? std::move(*corpus) : Corpus();
}

const Clip* find(const Corpus& corpus, std::string_view dataset, std::string_view id) {
  for (const Clip& clip : corpus.clips) {
    if (clip.dataset == dataset && clip.id == id) return &clip;
  }
  return nullptr;
}

TEST(Corpora, AreOneCorpusWithTheirNamesAsDataSets) {
  MemoryEnv env;
  add_two(env);
  const Corpus corpus = read(env, two_entries());
  EXPECT_EQ(corpus.layout, "corpora");
  ASSERT_EQ(corpus.clips.size(), 4U);
  const Clip* a = find(corpus, "lj", "a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->text_raw, "one");
  EXPECT_EQ(a->language, "en");
  EXPECT_EQ(corpus.path_of(*a), "/lj/wavs/a.wav");
  const Clip* loose = find(corpus, "loose", "s2_a");
  ASSERT_NE(loose, nullptr);
  EXPECT_EQ(loose->split, Split::kValidation);
  EXPECT_EQ(corpus.path_of(*loose), "/loose/s2_a.wav");
}

// p225 of one corpus is nobody in another; a name that the entry itself gives is meant as it is.
TEST(Corpora, SpeakersBelongToTheirCorpusUnlessTheEntryNamesThem) {
  MemoryEnv env;
  add_two(env);
  const Corpus corpus = read(env, two_entries());
  EXPECT_EQ(find(corpus, "loose", "s1_a")->speaker, "loose/s1");
  EXPECT_EQ(find(corpus, "lj", "b")->speaker, "linda");
}

TEST(Corpora, ProblemsAndNotesNameTheCorpus) {
  MemoryEnv env;
  add_two(env);
  const Corpus corpus = read(env, two_entries());
  EXPECT_EQ(problems_of(corpus), "lj/metadata.csv:2 lj/gone: no audio named gone in wavs/\n");
  EXPECT_NE(notes_of(corpus).find("lj: layout ljspeech, 2 clips"), std::string::npos);
  EXPECT_NE(notes_of(corpus).find("loose: layout folder, 2 clips"), std::string::npos);
}

TEST(Corpora, TheSameIdInTwoOfThemIsTwoClips) {
  MemoryEnv env;
  add_two(env);
  auto entries = two_entries();
  entries[1].folder = "/lj/wavs";
  entries[1].speaker_pattern.clear();
  const Corpus corpus = read(env, entries);
  EXPECT_NE(find(corpus, "lj", "a"), nullptr);
  EXPECT_NE(find(corpus, "loose", "a"), nullptr);
  EXPECT_EQ(notes_of(corpus).find("differ only"), std::string::npos);
}

TEST(Corpora, ASplitIsDealtByTheFullIdAndKeptByIt) {
  MemoryEnv env;
  for (int i = 0; i < 200; ++i) {
    env.add_file("/x/" + std::to_string(i) + ".wav", "x");
    env.add_file("/y/" + std::to_string(i) + ".wav", "x");
  }
  const std::vector<formats::CorporaEntry> entries{{.name = "x", .folder = "/x"},
                                                   {.name = "y", .folder = "/y"}};
  const Corpus corpus = read(env, entries);
  int differing = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string id = std::to_string(i);
    differing += find(corpus, "x", id)->split != find(corpus, "y", id)->split ? 1 : 0;
  }
  EXPECT_GT(differing, 0) << "the data set does not enter the hash";

  const auto known = [](std::string_view id) -> std::optional<Split> {
    return id == "x/7" ? std::optional(Split::kTest) : std::nullopt;
  };
  const auto again =
      discover({.env = env, .corpora = entries, .config = {}, .known_splits = known});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(find(*again, "x", "7")->split, Split::kTest);
  EXPECT_NE(find(*again, "y", "7")->split, Split::kTest);
}

TEST(Corpora, AFailureNamesTheCorpus) {
  MemoryEnv env;
  add_two(env);
  auto entries = two_entries();
  entries[1].folder = "/nowhere";
  const Status status = discover({.env = env, .corpora = entries, .config = {}}).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_NE(status.message().find("corpus loose"), std::string::npos);
}

TEST(Corpora, ListsOfOneCorpusAreRefused) {
  MemoryEnv env;
  add_two(env);
  const auto entries = two_entries();
  const auto corpus =
      discover({.env = env, .corpora = entries, .config = {.metadata_train_file = "metadata.csv"}});
  EXPECT_EQ(corpus.status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace xtts::corpus
