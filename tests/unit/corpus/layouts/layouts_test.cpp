// The rules for every layout of the table, tried with its example (layout_example.hpp): each corpus
// is taken for its own layout and for no other, and what only looks like one for none.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>

#include "corpus/layouts/layout.hpp"
#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const Layout& entry_of(const LayoutExample& example) {
  return *layout_named(example.layout);
}

// Those in memory: another process reads huggingface's files (column_files_test.cpp).
std::vector<const LayoutExample*> readable_examples() {
  std::vector<const LayoutExample*> readable = LayoutExample::all();
  std::erase_if(readable,
                [](const LayoutExample* example) { return example->layout == "huggingface"; });
  return readable;
}

TEST(Layouts, EachHasAnExampleAndARowInTheReadme) {
  std::multiset<std::string_view> with_example;
  for (const LayoutExample* example : LayoutExample::all()) with_example.insert(example->layout);
  std::ifstream readme(std::string(XTTS_SOURCE_DIR) + "/src/corpus/README.md");
  std::multiset<std::string> in_readme;
  std::smatch row;
  for (std::string line; std::getline(readme, line);) {
    if (std::regex_search(line, row, std::regex("^\\| `([a-z0-9_]+)` \\|")))
      in_readme.insert(row[1]);
  }
  for (const Layout& layout : layouts()) {
    EXPECT_EQ(with_example.count(layout.name), 1U)
        << layout.name << ": declare a LayoutExample in its test file";
    EXPECT_EQ(in_readme.count(std::string(layout.name)), 1U)
        << layout.name << ": give it a row in a table of src/corpus/README.md";
    EXPECT_EQ(layout_named(layout.name), &layout) << "two are called " << layout.name;
  }
  EXPECT_EQ(with_example.size(), layouts().size());
  EXPECT_EQ(in_readme.size(), layouts().size()) << "README.md has a row of no layout";
}

TEST(Layouts, EachCorpusIsTakenForItself) {
  for (const LayoutExample* example : readable_examples()) {
    MemoryEnv env;
    example->add_to(env, example->folder);
    const Corpus corpus = discover_data(env);
    EXPECT_EQ(corpus.layout, example->layout);
    EXPECT_EQ(problems_of(corpus), example->problems) << example->layout;
    EXPECT_TRUE(corpus.has_text) << example->layout;
    const std::string note = example->why + " (layout " + std::string(example->layout) + ")\n";
    EXPECT_TRUE(says(notes_of(corpus), note)) << notes_of(corpus) << "lacks\n" << note;
  }
}

std::string all_of(const Clip& clip) {
  std::string text;
  for (const SharedText& part :
       {clip.id, clip.dataset, clip.source, clip.text_raw, clip.text_normalized, clip.speaker,
        clip.language, clip.extra_json})
    text += std::string(part) + "|";
  if (clip.segment)
    text += std::to_string(clip.segment->start_s) + "-" +
            std::to_string(clip.segment->end_s.value_or(-1.0));
  if (clip.range) text += "+" + std::to_string(clip.range->offset_bytes);
  if (clip.has_own_split) text += std::string(to_string(clip.split));
  for (const std::uint64_t number : {std::uint64_t{clip.container_bytes}, clip.source_bytes,
                                     clip.source_inode, std::uint64_t{clip.folder}})
    text += "|" + std::to_string(number);
  return text;
}

class ClipsOneByOne final : public FoundClips {
 public:
  void take(Clip clip, const ClipPlace& /*place*/) override { clips.insert(all_of(clip)); }
  [[nodiscard]] Status status() const override { return {}; }

  std::multiset<std::string> clips;
};

TEST(Layouts, EachGivesTheSameClipsOneByOne) {
  for (const LayoutExample* example : readable_examples()) {
    MemoryEnv env;
    example->add_to(env, example->folder);
    const Corpus held = discover_data(env);
    std::multiset<std::string> clips;
    for (const Clip& clip : held.clips) clips.insert(all_of(clip));
    ClipsOneByOne receiver;
    const formats::CorpusConfig config;
    const auto passed =
        discover({.env = env, .data = {"/data"}, .config = config, .receiver = &receiver});
    ASSERT_TRUE(passed.ok()) << passed.status().message();
    EXPECT_EQ(receiver.clips, clips) << example->layout;
    EXPECT_TRUE(passed->clips.empty());
    EXPECT_EQ(passed->layout, held.layout);
    EXPECT_EQ(problems_of(*passed), problems_of(held)) << example->layout;
    EXPECT_EQ(passed->ignored_file_count, held.ignored_file_count) << example->layout;
    EXPECT_EQ(passed->unread_lists, held.unread_lists) << example->layout;
  }
}

TEST(Layouts, NoneThatFindsItsListsReadsAnothersCorpus) {
  for (const LayoutExample* example : readable_examples()) {
    for (const Layout& other : layouts()) {
      const bool is_asked = entry_of(*example).list_place == ListPlace::kAnywhere &&
                            other.list_place == ListPlace::kAnywhere &&
                            other.name != layouts().back().name && other.name != example->layout;
      // The audio of MLS is named after its folders, as that of LibriTTS is; asked for, it is read.
      if (!is_asked || (example->layout == "mls" && other.name == "libritts")) continue;
      MemoryEnv env;
      example->add_to(env, example->folder);
      const auto forced = discover(env, "/data", {.layout = std::string(other.name)});
      EXPECT_EQ(forced.status().code(), StatusCode::kInvalidArgument)
          << example->layout << " read as " << other.name;
      EXPECT_TRUE(says(forced.status().message(), "no ")) << forced.status().message();
    }
  }
}

TEST(Layouts, AListThatIsNamedGoesFirst) {
  for (const LayoutExample* example : readable_examples()) {
    if (entry_of(*example).list_keys == ListKeys::kTaken) continue;
    MemoryEnv env;
    example->add_to(env, example->folder);
    env.add_file("/data/mine.csv", "a|x|x\n");
    env.add_file("/data/a.wav", "");
    EXPECT_EQ(discover_data(env, {.metadata_train_file = "mine.csv"}).layout, "ljspeech")
        << example->layout;
    const Status forced =
        discover(env, "/data",
                 {.layout = std::string(example->layout), .metadata_train_file = "mine.csv"})
            .status();
    EXPECT_EQ(forced.code(), StatusCode::kInvalidArgument) << example->layout;
    EXPECT_TRUE(says(forced.message(), "layout " + std::string(example->layout) +
                                           " finds its lists itself and reads no lists that are "
                                           "named to it"))
        << forced.message();
  }
}

TEST(Layouts, AMetadataListInDataGoesBeforeCorporaInFoldersBelow) {
  for (const LayoutExample* example : readable_examples()) {
    // A wav.scp is as sure in any folder.
    if (example->folder.empty() || example->layout == "kaldi") continue;
    MemoryEnv env;
    example->add_to(env, example->folder);
    add_ljspeech(env, "a|x|x\n", {"a.wav"});
    EXPECT_EQ(discover_data(env).layout, "ljspeech") << example->layout;
  }
}

TEST(Layouts, WhatOnlyLooksLikeACorpusIsAFolder) {
  const LayoutExample::Files cases[] = {
      {{"a/b/notes.trans.txt", "x y"}, {"a/b/c.wav", ""}},
      {{"a/b/c.normalized.txt", "x"}, {"a/b/c.wav", ""}},
      {{"a/b/a_b_c.wav", ""}},
      {{"train/transcripts.txt", "first.wav\thello\n"}, {"train/audio/first.wav", ""}},
      {{"train/transcripts.txt", "1_2_3\thello\n"}, {"train/wav/1_2_3.wav", ""}},
      {{"wav48/a.wav", ""}, {"wav48/p225/take1.wav", ""}},
      {{"wav22/p225/p225_001.wav", ""}},
  };
  for (const LayoutExample::Files& files : cases) {
    MemoryEnv env;
    for (const auto& [path, contents] : files) env.add_file("/data/" + path, contents);
    EXPECT_EQ(discover_data(env).layout, "folder") << files.front().first;
  }
}

// A table is one whatever else is there: sound without its text would be half of the corpus.
TEST(Layouts, ATableWithoutItsAudioIsRefusedAndNoFolder) {
  MemoryEnv env;
  env.add_file("/data/train.tsv", "file\ttext\nb.wav\thello\n");
  env.add_file("/data/clips/a.wav", "");
  EXPECT_TRUE(says(refusal_of(env), "none of the 1 clip named in train.tsv has audio"));
}

TEST(Layouts, TheOrderOfTheFileSystemDoesNotMatter) {
  for (const LayoutExample* example : readable_examples()) {
    if (example->folder.empty()) continue;
    std::string first;
    for (const std::uint64_t seed : {0, 1, 2, 3}) {
      MemoryEnv env;
      for (const auto folder : {"a", "b", "c"}) example->add_to(env, folder);
      if (seed != 0) env.shuffle_listings(seed);
      const Corpus corpus = discover_data(env);
      const std::string all = problems_of(corpus) + notes_of(corpus) + corpus.clips.front().source;
      if (seed == 0) first = all;
      EXPECT_EQ(all, first) << example->layout << ", seed " << seed;
      EXPECT_EQ((corpus.clips.size() + corpus.problems.size()) % 3, 0U)
          << example->layout << ": two are copies\n"
          << problems_of(corpus);
    }
  }
}

}  // namespace
}  // namespace xtts::corpus
