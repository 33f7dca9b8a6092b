// Names of options in messages, for who types them and for who sets them in code.
#include "base/option_names.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/shell_words.hpp"

namespace xtts {
namespace {

// The process goes on naming options as flags.
class OptionsInCode : public ::testing::Test {
 protected:
  OptionsInCode() { name_options_as(OptionNames::kFields); }
  ~OptionsInCode() override { name_options_as(OptionNames::kFlags); }
  OptionsInCode(const OptionsInCode&) = delete;
  OptionsInCode& operator=(const OptionsInCode&) = delete;
};

TEST(ACommandInASentence, IsQuotedSoThatItCanBePasted) {
  EXPECT_EQ(command_in_text("verify " + shell_quoted("cache")), "'verify cache'");
  EXPECT_EQ(command_in_text("verify " + shell_quoted("my cache")), "`verify 'my cache'`");
}

TEST(OptionsOfTheCommandLine, ArePastedIntoAShell) {
  EXPECT_EQ(option("max-rejects"), "--max-rejects");
  EXPECT_EQ(option("max-dropped", "41.7%"), "--max-dropped 41.7%");
  EXPECT_EQ(option("data", "DATA"), "--data DATA");
  EXPECT_EQ(option("data", "/mnt/my disk"), "--data '/mnt/my disk'");
  EXPECT_EQ(option_on("overwrite"), "--overwrite");
  EXPECT_EQ(option_set("features.max_frames", "1397"), "--set features.max_frames=1397");
  EXPECT_EQ(option("audio-root", std::array<std::string, 2>{"/mnt/my disk", "/b"}),
            "--audio-root '/mnt/my disk' --audio-root /b");
}

TEST_F(OptionsInCode, ArePastedIntoAProgram) {
  EXPECT_EQ(option("max-rejects"), "max_rejects");
  EXPECT_EQ(option("max-dropped", "41.7%"), "max_dropped=\"41.7%\"");
  EXPECT_EQ(option("data", "DATA"), "data=DATA");
  EXPECT_EQ(option("data", "/mnt/my disk"), "data=\"/mnt/my disk\"");
  EXPECT_EQ(option("data", "a\"b\\c"), R"(data="a\"b\\c")");
  EXPECT_EQ(option_on("overwrite"), "overwrite=True");
  EXPECT_EQ(option("set"), "settings");
  EXPECT_EQ(option_set("features.max_frames", "1397"), "settings=[\"features.max_frames=1397\"]");
  EXPECT_EQ(option("audio-root"), "audio_roots");
  EXPECT_EQ(option("audio-root", std::array<std::string, 2>{"/mnt/my disk", "/b"}),
            "audio_roots=[\"/mnt/my disk\", \"/b\"]");
}

}  // namespace
}  // namespace xtts
