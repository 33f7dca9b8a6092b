#include "corpus/clips/splits.hpp"

#include <gtest/gtest.h>

namespace xtts::corpus {
namespace {

TEST(SplitNames, WordsMeanSplitsInAnyLetterCase) {
  EXPECT_EQ(split_of_word("train"), Split::kTrain);
  for (const auto word : {"validation", "VALID", "val", "Dev", "eval"}) {
    EXPECT_EQ(split_of_word(word), Split::kValidation) << word;
  }
  EXPECT_EQ(split_of_word("Test"), Split::kTest);
  EXPECT_EQ(split_of_word("holdout"), std::nullopt);
  EXPECT_EQ(split_of_word(""), std::nullopt);
}

TEST(SplitNames, NamesHoldThemAsWholeWords) {
  EXPECT_EQ(split_of_name("lists/ljs_audio_text_train_filelist.txt"), Split::kTrain);
  EXPECT_EQ(split_of_name("train/val.json"), Split::kValidation) << "the folder does not matter";
  EXPECT_EQ(split_of_name("test-clean.manifest.json"), Split::kTest);
  EXPECT_EQ(split_of_name("latest.json"), std::nullopt);
  EXPECT_EQ(split_of_name("trainer.json"), std::nullopt);
  EXPECT_EQ(split_of_name("___"), std::nullopt);
}

TEST(SplitNames, TwoDifferentWordsMeanNone) {
  EXPECT_EQ(split_of_name("train_val.json"), std::nullopt);
  EXPECT_EQ(split_of_name("val_dev.json"), Split::kValidation);
}

}  // namespace
}  // namespace xtts::corpus
