// Files that only the real file system has: FIFOs, sockets, devices behind links. Discovery must
// neither open nor wait.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "corpus_checks.hpp"
#include "support/temp_folder.hpp"

namespace xtts::corpus {
namespace {

void make_socket(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
}

void make_special_files(const testing::TempFolder& data) {
  const std::string root = data.path() + "/";
  data.write("target.wav", "RIFF");
  data.write("directory.wav/inside.wav", "RIFF");
  std::filesystem::create_symlink("target.wav", root + "link_ok.wav");
  std::filesystem::create_symlink("nowhere.wav", root + "link_dangling.wav");
  std::filesystem::create_symlink("link_self.wav", root + "link_self.wav");
  std::filesystem::create_symlink(".", root + "loop_dir");
  std::filesystem::create_symlink("..", root + "loop_up");
  std::filesystem::create_symlink("/dev/zero", root + "link_dev_zero.wav");
  std::filesystem::create_hard_link(root + "target.wav", root + "hardlink.wav");
  ASSERT_EQ(::mkfifo((root + "fifo.wav").c_str(), 0600), 0);
  make_socket(root + "socket.wav");
}

TEST(SpecialFiles, AreRefusedInAFolderWithTheirReasons) {
  const testing::TempFolder data;
  make_special_files(data);
  const auto corpus = discover(Env::real(), data.path(), {});
  ASSERT_TRUE(corpus.ok()) << corpus.status().message();
  EXPECT_EQ(ids_of(*corpus),
            (std::vector<std::string>{"directory.wav/inside", "hardlink", "link_ok", "target"}));
  std::vector<std::string> refused;
  for (const Reject& problem : corpus->problems) refused.push_back(problem.path);
  EXPECT_EQ(refused, (std::vector<std::string>{"fifo.wav", "link_dangling.wav", "link_dev_zero.wav",
                                               "link_self.wav", "loop_up", "socket.wav"}));
  EXPECT_NE(problems_of(*corpus).find("fifo.wav fifo: is a FIFO, socket or device"),
            std::string::npos);
  EXPECT_NE(problems_of(*corpus).find(
                "link_dev_zero: is a symbolic link that leaves DATA (to /dev/zero)"),
            std::string::npos);
  EXPECT_NE(notes_of(*corpus).find("directory.wav is a folder, though named like audio"),
            std::string::npos);
}

TEST(SpecialFiles, AreTheReasonWhereAListNamesThem) {
  const testing::TempFolder data;
  make_special_files(data);
  data.write(
      "metadata.csv",
      "target|x|x\nfifo|x|x\ndirectory|x|x\nlink_dangling|x|x\nlink_self|x|x\nlink_dev_zero|x|x\n");
  const auto corpus = discover(Env::real(), data.path(), {});
  ASSERT_TRUE(corpus.ok()) << corpus.status().message();
  EXPECT_EQ(ids_of(*corpus), std::vector<std::string>{"target"});
  EXPECT_EQ(
      problems_of(*corpus),
      "metadata.csv:2 fifo: fifo.wav is a FIFO, socket or device\n"
      "metadata.csv:3 directory: directory.wav is a folder\n"
      "metadata.csv:4 link_dangling: link_dangling.wav is a symbolic link that leads nowhere or to "
      "itself\n"
      "metadata.csv:5 link_self: link_self.wav is a symbolic link that leads nowhere or to itself\n"
      "metadata.csv:6 link_dev_zero: link_dev_zero.wav is a symbolic link that leaves DATA (to "
      "/dev/zero); "
      "put the target into DATA, or build from the folder that holds it\n");
}

TEST(SpecialFiles, AListOfMoreThanFourGibibytesIsRefusedWithWhatToDo) {
  const testing::TempFolder data;
  data.write("a.wav", "RIFF");
  std::filesystem::resize_file(data.write("metadata.csv", "a|x|x\n"), (4ULL << 30U) + 1);
  const Status status = discover(Env::real(), data.path(), {}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(says(status.message(),
                   "metadata.csv has 4,294,967,297 bytes; a list may have 4 GiB: divide it, and "
                   "name the parts as corpora of a corpora.yaml"))
      << status.message();
}

}  // namespace
}  // namespace xtts::corpus
