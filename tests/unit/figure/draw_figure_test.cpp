#include "figure/draw_figure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/temp_folder.hpp"

namespace xtts::figure {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Figure small_figure() {
  Panel panel;
  panel.columns = {{"time", Colour::kBlue, {0.2, 0.7}}};
  return {.title = "Größe", .aside = {}, .subtitle = {}, .panels = {panel}};
}

// A program that stands for xtts-draw.
class Script {
 public:
  explicit Script(const std::string& commands) {
    std::ofstream(path()) << "#!/bin/sh\n" << commands << "\n";
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  }
  [[nodiscard]] std::string path() const { return folder_.path() + "/xtts-draw"; }
  [[nodiscard]] Status failure() const {
    return draw_figure(path(), small_figure(), PictureKind::kPng).status();
  }

 private:
  testing::TempFolder folder_;
};

TEST(DrawFigure, TheProgramThatIsInstalledDraws) {
  const auto png = draw_figure(XTTS_DRAW_PROGRAM, small_figure(), PictureKind::kPng);
  ASSERT_TRUE(png.ok()) << png.status().message();
  EXPECT_THAT(png->bytes, StartsWith("\x89PNG\r\n"));
  EXPECT_THAT(png->notes, IsEmpty());
  const auto svg = draw_figure(XTTS_DRAW_PROGRAM, small_figure(), PictureKind::kSvg);
  ASSERT_TRUE(svg.ok()) << svg.status().message();
  EXPECT_THAT(svg->bytes, HasSubstr("<title>Größe</title>"));
}

TEST(DrawFigure, WorksWhereTheEndOfAChildCannotBeAskedFor) {
  auto* const before = std::signal(SIGCHLD, SIG_IGN);
  const auto png = draw_figure(XTTS_DRAW_PROGRAM, small_figure(), PictureKind::kPng);
  std::signal(SIGCHLD, before);
  EXPECT_TRUE(png.ok()) << png.status().message();
}

TEST(DrawFigure, TellsWhatTheProgramSays) {
  EXPECT_THAT(
      Script("echo noise >&2; echo 'xtts-draw: this machine has no font' >&2; exit 1").failure(),
      AllOf(::testing::Property(&Status::code, StatusCode::kInternal),
            ::testing::Property(&Status::message, AllOf(HasSubstr("this machine has no font"),
                                                        Not(HasSubstr("noise"))))));
  EXPECT_THAT(Script("echo 'libpango.so.0: no such file' >&2; exit 127").failure().message(),
              HasSubstr("libpango.so.0"));
  EXPECT_THAT(Script("kill -SEGV $$").failure().message(), HasSubstr("signal 11"));
  EXPECT_THAT(Script("exit 3").failure().message(), HasSubstr("exit code 3"));
  EXPECT_THAT(Script("exit 0").failure().message(), HasSubstr("no picture could be drawn"));
}

TEST(DrawFigure, NotesAreTheProgramsOwnLines) {
  const Script script(
      "cat > /dev/null; echo 'Fontconfig warning' >&2\n"
      "echo 'xtts-draw: 2 letters' >&2; echo picture");
  const auto drawn = draw_figure(script.path(), small_figure(), PictureKind::kSvg);
  ASSERT_TRUE(drawn.ok());
  EXPECT_EQ(drawn->bytes, "picture\n");
  EXPECT_THAT(drawn->notes, ElementsAre("2 letters"));
}

TEST(DrawFigure, AProgramThatIsNotThereIsNamed) {
  const auto drawn = draw_figure("/nothing/xtts-draw", small_figure(), PictureKind::kPng);
  EXPECT_EQ(drawn.status().code(), StatusCode::kInternal);
  EXPECT_THAT(drawn.status().message(), HasSubstr("/nothing/xtts-draw cannot be started"));
}

}  // namespace
}  // namespace xtts::figure
