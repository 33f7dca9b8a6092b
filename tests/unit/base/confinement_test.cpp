// confined_env.hpp: what a link, a FIFO, a socket or a folder in a file's place can do to the
// real file system's Env, and to the one in memory.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/confined_env.hpp"
#include "support/memory_env.hpp"
#include "support/temp_folder.hpp"

namespace xtts::testing {
namespace {

namespace fs = std::filesystem;

std::string contents_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Empty where it cannot be read.
std::string text_in(Env& env, const std::string& path) {
  auto text = read_text_file(env, path, 100);
  return text.ok() ? *std::move(text) : std::string();
}

// A cache with somebody's folder beside it.
class ConfinedEnv : public ::testing::Test {
 protected:
  ConfinedEnv() {
    folder_.write("cache/shards/mel/a.lmdb", "shard");
    letter_ = folder_.write("elsewhere/letter.txt", "dear");
    folder_.write("elsewhere/mel/a.lmdb", "not the cache's");
    env_ = confined_to(Env::real(), cache_, Links::kNone);
  }
  void replace_by_link(const std::string& name, const std::string& target) {
    fs::remove_all(cache_ + "/" + name);
    fs::create_symlink(target, cache_ + "/" + name);
  }
  void expect_untouched() {
    EXPECT_EQ(contents_of(letter_), "dear");
    EXPECT_EQ(contents_of(elsewhere_ + "/mel/a.lmdb"), "not the cache's");
    EXPECT_EQ(std::distance(fs::directory_iterator(elsewhere_), fs::directory_iterator()), 2);
  }
  void expect_refused(const Status& status, const std::string& name) {
    EXPECT_EQ(status.code(), StatusCode::kCorrupt) << status.message();
    EXPECT_NE(status.message().find(cache_ + "/" + name), std::string::npos) << status.message();
  }

  TempFolder folder_;
  std::string cache_ = folder_.path() + "/cache";
  std::string elsewhere_ = folder_.path() + "/elsewhere";
  std::string letter_;
  std::shared_ptr<Env> env_;
};

TEST_F(ConfinedEnv, ReadsAndWritesWhatIsThere) {
  EXPECT_EQ(text_in(*env_, cache_ + "/shards/mel/a.lmdb"), "shard");
  EXPECT_EQ(text_in(*env_, cache_ + "//shards/./mel//a.lmdb"), "shard");
  EXPECT_TRUE(env_->create_directories(cache_ + "/.build/deeper").ok());
  EXPECT_TRUE(replace_file(*env_, cache_ + "/.build/journal", as_bytes("line")).ok());
  EXPECT_EQ(contents_of(cache_ + "/.build/journal"), "line");
  EXPECT_TRUE(env_->rename(cache_ + "/.build/journal", cache_ + "/journal").ok());
  EXPECT_TRUE(env_->remove_file(cache_ + "/journal").ok());
  EXPECT_TRUE(env_->remove_directory(cache_ + "/.build/deeper").ok());
  EXPECT_EQ(env_->stat(cache_ + "/journal").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(env_->open_for_read(cache_ + "/gone/journal").status().code(), StatusCode::kNotFound);
}

TEST_F(ConfinedEnv, FollowsTheCacheItself) {
  fs::create_symlink(cache_, folder_.path() + "/name");
  const auto named = confined_to(Env::real(), folder_.path() + "/name/", Links::kNone);
  EXPECT_EQ(text_in(*named, folder_.path() + "/name/shards/mel/a.lmdb"), "shard");
}

TEST_F(ConfinedEnv, RefusesALinkAsTheFile) {
  for (const std::string& target : {letter_, elsewhere_ + "/not-there", std::string("file"),
                                    std::string("shards/mel/a.lmdb")}) {
    const std::string path = cache_ + "/file";
    replace_by_link("file", target);
    expect_refused(env_->open_for_read(path).status(), "file");
    expect_refused(env_->open_for_write(path, WriteMode::kTruncate).status(), "file");
    expect_refused(env_->open_for_write(path, WriteMode::kAppend).status(), "file");
    EXPECT_FALSE(open_new_file(*env_, path).ok());
    expect_refused(env_->lock(path, LockKind::kExclusive).status(), "file");
    expect_refused(env_->lock(path, LockKind::kShared).status(), "file");
    expect_refused(env_->link(path, cache_ + "/other"), "file");
    const auto facts = env_->stat(path);
    ASSERT_TRUE(facts.ok());
    EXPECT_EQ(facts->kind, FileKind::kOther);
    expect_untouched();
  }
}

TEST_F(ConfinedEnv, RefusesALinkOnTheWay) {
  replace_by_link("shards", elsewhere_);
  const std::string path = cache_ + "/shards/mel/a.lmdb";
  expect_refused(env_->open_for_read(path).status(), "shards");
  expect_refused(env_->open_for_write(path, WriteMode::kTruncate).status(), "shards");
  expect_refused(env_->stat(path).status(), "shards");
  expect_refused(env_->list(cache_ + "/shards").status(), "shards");
  expect_refused(env_->list(cache_ + "/shards/mel").status(), "shards");
  expect_refused(env_->create_directories(cache_ + "/shards/new"), "shards");
  expect_refused(env_->rename(path, cache_ + "/taken"), "shards");
  expect_refused(env_->remove_file(path), "shards");
  expect_refused(env_->remove_directory(cache_ + "/shards/mel"), "shards");
  expect_refused(env_->sync_directory(cache_ + "/shards"), "shards");
  EXPECT_FALSE(env_->open_for_read(cache_ + "/shards/../../elsewhere/letter.txt").ok());
  expect_untouched();
}

TEST_F(ConfinedEnv, RemovesALinkAndNotItsTarget) {
  replace_by_link("file", letter_);
  EXPECT_TRUE(env_->remove_file(cache_ + "/file").ok());
  EXPECT_FALSE(fs::is_symlink(cache_ + "/file"));
  expect_untouched();
}

TEST_F(ConfinedEnv, ListsALinkAsNeitherFileNorFolder) {
  replace_by_link("file", letter_);
  const auto entries = env_->list(cache_);
  ASSERT_TRUE(entries.ok());
  for (const DirectoryEntry& entry : *entries)
    EXPECT_EQ(entry.kind, entry.is_symlink ? FileKind::kOther : FileKind::kDirectory);
}

TEST_F(ConfinedEnv, WritesToNoFileThatHasAnotherName) {
  fs::create_hard_link(letter_, cache_ + "/lock");
  expect_refused(env_->open_for_write(cache_ + "/lock", WriteMode::kTruncate).status(), "lock");
  expect_refused(env_->open_for_write(cache_ + "/lock", WriteMode::kAppend).status(), "lock");
  expect_untouched();
}

// Of any Env: no open waits for whoever is at the other end, and the message says what is there.
TEST_F(ConfinedEnv, OpensRegularFilesAlone) {
  ASSERT_EQ(::mkfifo((cache_ + "/fifo").c_str(), 0600), 0);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string name = cache_ + "/socket";
  ASSERT_LT(name.size(), sizeof address.sun_path);
  name.copy(static_cast<char*>(address.sun_path), name.size());
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::vector<std::pair<std::string, std::string>> nodes = {
      {"fifo", "a FIFO"}, {"socket", "a socket"}, {"shards", "a folder"}};
  for (Env* env : {&Env::real(), env_.get()}) {
    for (const auto& [node, kind] : nodes) {
      const std::string path = cache_ + "/" + node;
      const std::vector<Status> all = {env->open_for_read(path).status(),
                                       env->open_for_write(path, WriteMode::kTruncate).status(),
                                       env->open_for_write(path, WriteMode::kAppend).status(),
                                       env->lock(path, LockKind::kShared).status(),
                                       env->lock(path, LockKind::kExclusive).status()};
      for (const Status& status : all) {
        EXPECT_EQ(status.code(),
                  env == env_.get() ? StatusCode::kCorrupt : StatusCode::kInvalidArgument);
        EXPECT_NE(status.message().find(path + " is not a regular file but " + kind),
                  std::string::npos)
            << status.message();
      }
    }
  }
  ::close(socket);
}

// Another puts a link in the folder's place, and the folder back, all the time.
TEST_F(ConfinedEnv, NeverLeavesWhileTheWayIsExchanged) {
  fs::create_symlink(elsewhere_, cache_ + "/link");
  std::atomic<bool> is_over = false;
  std::jthread other([&] {
    while (!is_over) {
      (void)::renameat2(AT_FDCWD, (cache_ + "/link").c_str(), AT_FDCWD,
                        (cache_ + "/shards").c_str(), RENAME_EXCHANGE);
    }
  });
  for (int i = 0; i < 3000; ++i) {
    const auto text = read_text_file(*env_, cache_ + "/shards/mel/a.lmdb", 100);
    if (!text) continue;
    ASSERT_EQ(*text, "shard");
    (void)env_->open_for_write(cache_ + "/shards/mel/new", WriteMode::kAppend);
  }
  is_over = true;
  other.join();
  EXPECT_FALSE(fs::exists(elsewhere_ + "/mel/new"));
}

TEST(ConfinedToData, FollowsLinksThatStayInside) {
  TempFolder folder;
  folder.write("data/wavs/a.wav", "sound");
  folder.write("roots/b.wav", "more");
  const std::string secret = folder.write("secret.txt", "secret");
  const std::string data = folder.path() + "/data";
  const auto env = confined_to(Env::real(), data, Links::kInside);
  fs::create_symlink("wavs/a.wav", data + "/relative.wav");
  fs::create_symlink(data + "/wavs", data + "/absolute");
  fs::create_symlink(secret, data + "/secret.wav");
  fs::create_symlink(folder.path(), data + "/out");
  fs::create_symlink("loop.wav", data + "/loop.wav");
  fs::create_symlink(folder.path() + "/roots/b.wav", data + "/b.wav");
  const auto read = [&](Env& from, const std::string& name) {
    return read_text_file(from, data + "/" + name, 100);
  };
  EXPECT_EQ(text_in(*env, data + "/" + "wavs/a.wav"), "sound");
  EXPECT_EQ(text_in(*env, data + "/" + "relative.wav"), "sound");
  EXPECT_EQ(text_in(*env, data + "/" + "absolute/a.wav"), "sound");
  for (const char* name : {"secret.wav", "out/secret.txt", "../secret.txt", "b.wav"}) {
    const auto text = read(*env, name);
    EXPECT_EQ(text.status().code(), StatusCode::kInvalidArgument) << name;
    EXPECT_NE(text.status().message().find("leads out of " + data), std::string::npos)
        << text.status().message();
  }
  EXPECT_FALSE(read(*env, "loop.wav").ok());
  EXPECT_EQ(read(*env, "gone.wav").status().code(), StatusCode::kNotFound);
  const auto both = confined_to(*env, folder.path() + "/roots", Links::kInside);
  EXPECT_EQ(text_in(*both, data + "/" + "b.wav"), "more");
}

TEST(ConfinedMemoryEnv, RefusesLinksAsTheRealOne) {
  MemoryEnv memory;
  memory.add_file("/cache/shards/a", "shard");
  memory.add_file("/elsewhere/a", "other");
  memory.add_link("/cache/link", "/elsewhere/a");
  memory.add_link("/cache/.build", "/elsewhere");
  const auto env = confined_to(memory, "/cache", Links::kNone);
  EXPECT_EQ(text_in(*env, "/cache/shards/a"), "shard");
  for (const char* path : {"/cache/link", "/cache/.build/a"}) {
    EXPECT_EQ(env->open_for_read(path).status().code(), StatusCode::kCorrupt);
    EXPECT_EQ(env->open_for_write(path, WriteMode::kTruncate).status().code(),
              StatusCode::kCorrupt);
    EXPECT_TRUE(memory.open_for_read(path).ok());
  }
  EXPECT_EQ(env->remove_file("/cache/.build/a").code(), StatusCode::kCorrupt);
  EXPECT_EQ(env->create_directories("/cache/.build").code(), StatusCode::kCorrupt);
  EXPECT_EQ(env->stat("/cache/link")->kind, FileKind::kOther);
  EXPECT_TRUE(env->remove_file("/cache/link").ok());
  EXPECT_EQ(memory.contents("/elsewhere/a"), "other");
}

}  // namespace
}  // namespace xtts::testing
