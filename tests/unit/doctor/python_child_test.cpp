// The modules themselves are tested in Python (tests/python). Here stands what a child may do to
// its parent.
#include "doctor/python_child.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "doctor/python_modules.hpp"
#include "tests/support/temp_folder.hpp"

namespace xtts::doctor {
namespace {

// A program that takes the place of Python. It answers the question for the version, then does
// `act`.
std::string fake_python(const testing::TempFolder& folder, const std::string& act) {
  const std::string path = folder.path() + "/python";
  std::ofstream(path) << "#!/bin/sh\ncase \"$2\" in *version_info*) echo 3.11.0; exit 0;; esac\n"
                      << act << "\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

Result<nlohmann::json> run_fake(const std::string& act) {
  const testing::TempFolder folder;
  auto child = PythonChild::open(fake_python(folder, act));
  if (!child.ok()) return child.status();
  return (*child)->run({.module = "on_the_fly", .time_limit = std::chrono::seconds(1)});
}

TEST(PythonChild, GivesTheDocumentThatTheModulePrints) {
  const auto document = run_fake("echo '{\"format\": 1}'");
  ASSERT_TRUE(document.ok()) << document.status().message();
  EXPECT_EQ((*document)["format"], 1);
}

TEST(PythonChild, AModuleThatHangsIsEndedAndNamed) {
  const auto document = run_fake("sleep 60");
  EXPECT_EQ(document.status().code(), StatusCode::kResource);
  EXPECT_THAT(document.status().message(), ::testing::HasSubstr("longer than 1 s"));
}

TEST(PythonChild, AModuleThatCrashesIsNamed) {
  const auto document = run_fake("kill -SEGV $$");
  EXPECT_EQ(document.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(document.status().message(), ::testing::HasSubstr("signal 11"));
}

TEST(PythonChild, TheLastLineOfATracebackIsTheReason) {
  const auto document = run_fake("echo Traceback >&2; echo 'ImportError: no ast' >&2; exit 1");
  EXPECT_THAT(document.status().message(), ::testing::HasSubstr("ImportError: no ast"));
}

TEST(PythonChild, RubbishIsNoAnswer) {
  EXPECT_EQ(run_fake("echo rubbish").status().code(), StatusCode::kUnsupported);
}

TEST(PythonChild, SaysThatThereIsNoPython) {
  EXPECT_EQ(PythonChild::open("/no/such/python").status().code(), StatusCode::kNotFound);
}

TEST(PythonChild, RefusesAPythonThatIsTooOld) {
  const testing::TempFolder folder;
  const std::string path = folder.path() + "/python";
  std::ofstream(path) << "#!/bin/sh\necho 2.7.18; exit 1\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  const auto child = PythonChild::open(path);
  EXPECT_EQ(child.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(child.status().message(), ::testing::HasSubstr("2.7.18"));
}

TEST(PythonChild, TheModulesRunInARealPythonAndLeaveNothingBehind) {
  const testing::TempFolder folder;
  ::setenv("TMPDIR", folder.path().c_str(), 1);
  auto child = PythonChild::open("");
  if (!child.ok()) GTEST_SKIP() << "no Python here: " << child.status().message();
  const auto answer = (*child)->run({.module = "on_the_fly",
                                     .input = {{"files", {"/no/such/file"}},
                                               {"sample_rate", 22'050},
                                               {"n_fft", 1024},
                                               {"hop", 256},
                                               {"win", 1024},
                                               {"n_mels", 80},
                                               {"trims", true},
                                               {"workers", 1},
                                               {"seconds", 0.1},
                                               {"rounds", 1}}});
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  // With librosa, the file is missing; without it, librosa is.
  EXPECT_TRUE(answer->contains("missing"));
  child->reset();
  ::unsetenv("TMPDIR");
  EXPECT_THAT(
      std::vector<std::filesystem::path>(std::filesystem::directory_iterator(folder.path()), {}),
      ::testing::IsEmpty());
}

TEST(PythonModules, HoldTheFilesOfThePackage) {
  std::vector<std::string_view> paths;
  for (const PythonModule& module : python_modules()) paths.push_back(module.path);
  EXPECT_THAT(paths, ::testing::Contains("on_the_fly/__main__.py"));
}

}  // namespace
}  // namespace xtts::doctor
