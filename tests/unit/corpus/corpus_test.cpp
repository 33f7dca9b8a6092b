#include "corpus/corpus.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "corpus_checks.hpp"

namespace xtts::corpus {
namespace {

using testing::EnvCall;
using testing::EnvOperation;
using testing::MemoryEnv;

std::string everything(const Corpus& corpus) {
  std::string text = corpus.layout + "\n" + problems_of(corpus) + notes_of(corpus);
  for (const Clip& clip : corpus.clips) {
    text += clip.id + "|" + clip.source + "|" + clip.text_raw + "|" + clip.speaker + "|" +
            std::string(to_string(clip.split)) + "|" + std::to_string(clip.source_inode) + "\n";
  }
  return text + std::to_string(corpus.ignored_file_count);
}

void add_mixed_folder(MemoryEnv& env) {
  for (int i = 0; i < 200; ++i) {
    const std::string stem = "/data/s" + std::to_string(i % 7) + "/clip" + std::to_string(i);
    env.add_file(stem + ".wav", "x");
    if (i % 3 == 0) env.add_file(stem + ".txt", "text");
    if (i % 5 == 0) env.add_file(stem + ".mp3", "x");
    if (i % 11 == 0) env.add_special(stem + ".ogg");
    if (i % 13 == 0) env.add_link("/data/link" + std::to_string(i), "s" + std::to_string(i % 7));
  }
  env.add_file("/data/Case.wav", "");
  env.add_file("/data/case.wav", "");
}

TEST(Corpus, TheOrderOfTheFileSystemDoesNotMatter) {
  for (const bool with_list : {false, true}) {
    std::string first;
    for (const std::uint64_t seed : {0, 1, 2, 3}) {
      MemoryEnv env;
      add_mixed_folder(env);
      if (with_list) {
        std::string list;
        for (int i = 0; i < 210; ++i)
          list += "s" + std::to_string(i % 7) + "/clip" + std::to_string(i) + "|t\n";
        env.add_file("/data/metadata.csv", list);
      }
      if (seed != 0) env.shuffle_listings(seed);
      const auto corpus = discover(env, "/data", {.speaker_pattern = "^clip([0-4]).*"});
      ASSERT_TRUE(corpus.ok()) << corpus.status().message();
      if (seed == 0) first = everything(*corpus);
      EXPECT_EQ(everything(*corpus), first)
          << "seed " << seed << (with_list ? ", list" : ", folder");
    }
  }
}

TEST(Corpus, ComesInCanonicalOrder) {
  MemoryEnv env;
  add_mixed_folder(env);
  const auto corpus = discover(env, "/data", {});
  ASSERT_TRUE(corpus.ok());
  const auto key = [](const Clip& clip) { return std::tie(clip.dataset, clip.split, clip.id); };
  EXPECT_TRUE(std::is_sorted(corpus->clips.begin(), corpus->clips.end(),
                             [&](const Clip& a, const Clip& b) { return key(a) < key(b); }));
  EXPECT_EQ(corpus->clips.size(), 242U);
}

TEST(Corpus, AsksForEachClipOnceAndOpensNoAudio) {
  MemoryEnv env;
  for (int i = 0; i < 100; ++i) env.add_file("/data/wavs/" + std::to_string(i) + ".flac", "");
  std::string list;
  for (int i = 0; i < 100; ++i) list += std::to_string(i) + "|x\n";
  env.add_file("/data/metadata.csv", list);
  int stat_count = 0;
  int open_count = 0;
  int list_count = 0;
  env.set_hook([&](EnvOperation& operation) {
    stat_count += operation.call == EnvCall::kStat ? 1 : 0;
    open_count += operation.call == EnvCall::kOpenForRead ? 1 : 0;
    list_count += operation.call == EnvCall::kList ? 1 : 0;
    return Status();
  });
  ASSERT_TRUE(discover(env, "/data", {}).ok());
  EXPECT_EQ(stat_count, 100 + 1) << "each clip, and DATA";
  EXPECT_EQ(open_count, 4) << "the list: its first line thrice to know what it is, then all of it";
  EXPECT_EQ(list_count, 2);
}

TEST(Corpus, ASourceThatCannotBeExaminedIsTriedAgainByLaterBuilds) {
  MemoryEnv env;
  env.add_file("/data/a.wav", "");
  env.add_file("/data/b.wav", "");
  env.set_hook([](EnvOperation& operation) {
    const bool fails = operation.call == EnvCall::kStat && operation.path == "/data/b.wav";
    return fails ? Status(StatusCode::kResource, "examining /data/b.wav: Input/output error")
                 : Status();
  });
  const auto corpus = discover(env, "/data", {});
  ASSERT_TRUE(corpus.ok());
  EXPECT_EQ(ids_of(*corpus), std::vector<std::string>{"a"});
  ASSERT_EQ(corpus->problems.size(), 1U);
  EXPECT_EQ(corpus->problems[0].kind, RejectClass::kEnvironment);
  EXPECT_EQ(corpus->problems[0].id, "b");
}

TEST(Corpus, AutomaticDetectionIsExplained) {
  MemoryEnv env;
  add_ljspeech(env, "a|x|x\n", {"a.wav"});
  EXPECT_NE(notes_of(*discover(env, "/data", {})).find("metadata.csv is in DATA (layout ljspeech)"),
            std::string::npos);
  const auto as_folder = discover(env, "/data", {.layout = "folder"});
  EXPECT_EQ(ids_of(*as_folder), std::vector<std::string>{"wavs/a"});
  EXPECT_EQ(discover(env, "/data", {.layout = "unheard of"}).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(Corpus, TheLanguageOfTheRecipeFillsGaps) {
  MemoryEnv env;
  env.add_file("/data/metadata.csv", "id|text|language\na|x|fa\nb|x|\n");
  env.add_file("/data/a.wav", "");
  env.add_file("/data/b.wav", "");
  const auto corpus = discover(env, "/data", {.language = "en"});
  ASSERT_TRUE(corpus.ok()) << corpus.status().message();
  EXPECT_EQ(clip_of(*corpus, "a").language, "fa");
  EXPECT_EQ(clip_of(*corpus, "b").language, "en");
}

TEST(Corpus, EveryLayoutHasANameForTheCommandLine) {
  const std::vector<LayoutName> names = layout_names();
  EXPECT_EQ(names.front().name, "auto");
  EXPECT_EQ(names.back().name, "folder") << "any folder is one";
  for (const LayoutName& layout : names) EXPECT_FALSE(layout.about.empty()) << layout.name;
}

// A slow disk with millions of files must not keep anybody waiting who has asked it to stop.
TEST(Corpus, IsCancelledAtEachFolderLineAndFile) {
  MemoryEnv folder;
  MemoryEnv list;
  std::string lines;
  for (int i = 0; i < 10; ++i) {
    const std::string name = "clip-" + std::to_string(i);
    folder.add_file("/data/" + name + "/" + name + ".wav", "");
    list.add_file("/data/wavs/" + name + ".wav", "");
    lines += name + "|a text|a text\n";
  }
  list.add_file("/data/metadata.csv", lines);
  for (MemoryEnv* env : {&folder, &list}) {
    int asked_max = 0;
    for (;; ++asked_max) {
      int asked = 0;
      const auto corpus = discover({.env = *env, .data = {"/data"}, .config = {}, .cancelled = [&] {
                                      return asked++ == asked_max;
                                    }});
      if (corpus.ok()) break;
      ASSERT_EQ(corpus.status().code(), StatusCode::kCancelled) << corpus.status().message();
    }
    EXPECT_GE(asked_max, 30) << "ten folders or files, ten clips, ten sources";
  }
}

}  // namespace
}  // namespace xtts::corpus
