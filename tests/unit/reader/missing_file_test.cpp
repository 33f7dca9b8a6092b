#include "reader/missing_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "base/system_call.hpp"

namespace xtts::reader {
namespace {

using ::testing::HasSubstr;

// A cache's folder with a filler that answers one question.
class MissingFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    if (filler_.joinable()) filler_.join();
    std::filesystem::remove_all(folder_);
  }

  void name_filler(const std::string& text) { std::ofstream(folder_ / "filler") << text; }

  void answer_with(const std::string& answer, std::chrono::milliseconds pause = {}) {
    name_filler(folder_.string() + "/socket\nparts/0001/\n");
    Descriptor listening(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = folder_.string() + "/socket";
    ASSERT_LT(path.size(), sizeof address.sun_path);
    std::memcpy(address.sun_path, path.data(), path.size());
    ASSERT_EQ(::bind(listening.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(listening.get(), 1), 0);
    filler_ = std::thread([this, answer, pause, listening = std::move(listening)] {
      const Descriptor connection(::accept(listening.get(), nullptr, nullptr));
      std::array<char, 256> piece{};
      while (!asked_.ends_with('\n')) {
        const ssize_t got = ::recv(connection.get(), piece.data(), piece.size(), 0);
        if (got <= 0) return;
        asked_.append(piece.data(), static_cast<std::size_t>(got));
      }
      std::this_thread::sleep_for(pause);
      for (const char letter : answer) ::send(connection.get(), &letter, 1, MSG_NOSIGNAL);
    });
  }

  Status fetch() {
    return fetch_missing(Env::real(), folder_.string(), "shards/mel/00000.lmdb",
                         std::chrono::seconds(1));
  }

  std::filesystem::path folder_;
  std::string asked_;
  std::thread filler_;
};

TEST_F(MissingFile, IsThereWhenTheFillerSaysSo) {
  answer_with("...o");
  EXPECT_TRUE(fetch().ok());
  filler_.join();
  EXPECT_EQ(asked_, "parts/0001/shards/mel/00000.lmdb\n");
}

TEST_F(MissingFile, FailsInTheFillersWords) {
  answer_with(".ethe store refuses these credentials...");
  const Status status = fetch();
  EXPECT_EQ(status.code(), StatusCode::kResource);
  EXPECT_EQ(status.message(), "the store refuses these credentials...");
}

TEST_F(MissingFile, FailsWhenTheFillerDies) {
  answer_with("..");
  const Status status = fetch();
  EXPECT_EQ(status.code(), StatusCode::kResource);
  EXPECT_THAT(status.message(), HasSubstr("has ended: open the cache again"));
}

TEST_F(MissingFile, FailsWhenTheFillerIsSilent) {
  answer_with("o", std::chrono::milliseconds(1500));
  const Status status = fetch();
  EXPECT_EQ(status.code(), StatusCode::kResource);
  EXPECT_THAT(status.message(), HasSubstr("does not answer"));
}

TEST_F(MissingFile, FailsWhenTheFillerHasEnded) {
  name_filler(folder_.string() + "/socket\n\n");
  const Status status = fetch();
  EXPECT_EQ(status.code(), StatusCode::kResource);
  EXPECT_THAT(status.message(), HasSubstr("has ended: open the cache again"));
}

TEST_F(MissingFile, IsMissingWhereNobodyFetches) {
  EXPECT_EQ(fetch().code(), StatusCode::kNotFound);
  for (const char* text : {"", "socket\n\n", "/socket", "/socket\n"}) {
    name_filler(text);
    EXPECT_EQ(fetch().code(), StatusCode::kNotFound) << text;
  }
}

}  // namespace
}  // namespace xtts::reader
