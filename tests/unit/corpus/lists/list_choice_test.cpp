#include "corpus/lists/list_choice.hpp"

#include <gtest/gtest.h>

#include "formats/corpus_config.hpp"
#include "support/memory_env.hpp"

namespace xtts::corpus {
namespace {

Result<std::vector<ListSource>> choose(const std::vector<std::string>& files,
                                       const formats::CorpusConfig& config = {}) {
  testing::MemoryEnv env;
  for (const std::string& path : files) env.add_file("/data/" + path, "");
  const auto tree = scan_data(env, {"/data"});
  return choose_lists({env, *tree, config});
}

TEST(ListChoice, TakesMetadataCsvBeforeAllOthers) {
  const auto lists = choose({"metadata.csv", "metadata.txt", "metadata_old.csv", "wavs/a.wav"});
  ASSERT_TRUE(lists.ok());
  ASSERT_EQ(lists->size(), 1U);
  EXPECT_EQ(lists->front().list, "metadata.csv");
  EXPECT_EQ(lists->front().audio_folder, "wavs");
  EXPECT_FALSE(lists->front().split);
}

TEST(ListChoice, TakesAnotherListOnlyWhereItIsTheOnlyOne) {
  EXPECT_EQ(choose({"metadata_flac.csv"})->front().list, "metadata_flac.csv");
  EXPECT_EQ(choose({"metadata.txt", "metadata_flac.csv"})->front().list, "metadata.txt");
  const auto two = choose({"metadata_a.csv", "metadata_b.csv"});
  EXPECT_EQ(two.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(two.status().message().find("metadata_a.csv, metadata_b.csv"), std::string::npos);
}

TEST(ListChoice, AListForEachSplitHasItsOwnAudio) {
  const auto lists =
      choose({"lists/train.csv", "lists/eval.csv", "train_wavs/a.wav", "eval_wavs/b.wav"},
             {.metadata_train_file = "lists/train.csv",
              .metadata_eval_file = "/data/lists/eval.csv",
              .wavs_train_folder = "./train_wavs/",
              .wavs_eval_folder = "eval_wavs"});
  ASSERT_TRUE(lists.ok()) << lists.status().message();
  ASSERT_EQ(lists->size(), 2U);
  EXPECT_EQ((*lists)[0].audio_folder, "train_wavs");
  EXPECT_EQ((*lists)[0].split, Split::kTrain);
  EXPECT_EQ((*lists)[1].list, "lists/eval.csv");
  EXPECT_EQ((*lists)[1].split, Split::kValidation);
}

TEST(ListChoice, TheTrainersTwoFoldersHaveAListAndAudioEach) {
  const formats::CorpusConfig config{.metadata_train_file = "metadata_train.csv",
                                     .metadata_eval_file = "metadata_eval.csv",
                                     .wavs_train_folder = "wavs",
                                     .wavs_eval_folder = "wavs"};
  std::vector<std::string> files = {"dataset_train/metadata_train.csv", "dataset_train/wavs/a.wav",
                                    "dataset_eval/metadata_eval.csv", "dataset_eval/wavs/a.wav"};
  const auto lists = choose(files, config);
  ASSERT_TRUE(lists.ok()) << lists.status().message();
  ASSERT_EQ(lists->size(), 2U);
  EXPECT_EQ((*lists)[0].list, "dataset_train/metadata_train.csv");
  EXPECT_EQ((*lists)[0].audio_folder, "dataset_train/wavs");
  EXPECT_EQ((*lists)[1].list, "dataset_eval/metadata_eval.csv");
  EXPECT_EQ((*lists)[1].audio_folder, "dataset_eval/wavs");

  // One that DATA has itself comes first; two of the same name are asked about.
  auto with_own = files;
  with_own.insert(with_own.end(), {"metadata_train.csv", "wavs/a.wav"});
  const auto own = choose(with_own, config);
  ASSERT_TRUE(own.ok()) << own.status().message();
  EXPECT_EQ(own->front().list, "metadata_train.csv");
  EXPECT_EQ(own->front().audio_folder, "wavs");
  files.emplace_back("old/metadata_train.csv");
  EXPECT_EQ(choose(files, config).status().message(),
            "metadata_train_file: metadata_train.csv is in several folders: "
            "dataset_train/metadata_train.csv, old/metadata_train.csv; give its path in DATA");
}

TEST(ListChoice, RefusesKeysThatWouldBeIgnoredOrLeaveData) {
  const std::vector<std::string> files = {"metadata.csv", "eval.csv", "wavs/a.wav"};
  EXPECT_FALSE(choose(files, {.metadata_eval_file = "eval.csv"}).ok());
  EXPECT_FALSE(choose(files, {.wavs_eval_folder = "wavs"}).ok());
  EXPECT_FALSE(choose(files, {.metadata_train_file = "gone.csv"}).ok());
  EXPECT_FALSE(
      choose(files, {.metadata_train_file = "eval.csv", .metadata_eval_file = "eval.csv"}).ok());
  EXPECT_FALSE(choose(files, {.metadata_train_file = "../metadata.csv"}).ok());
  EXPECT_FALSE(choose(files, {.metadata_train_file = "/etc/passwd"}).ok());
  EXPECT_FALSE(choose(files, {.wavs_train_folder = "sounds"}).ok());
}

}  // namespace
}  // namespace xtts::corpus
