#include "base/storage_facts.hpp"

#include <gtest/gtest.h>

#include "support/temp_folder.hpp"

namespace xtts {
namespace {

constexpr FileSystem kExt4{0xEF53, FileSystemKind::kDisk, "ext4"};

TEST(StorageFacts, KindFollowsTheFileSystemAndThenTheDisk) {
  const FileSystem nfs{0x6969, FileSystemKind::kNetwork, "NFS"};
  const FileSystem tmpfs{0x01021994, FileSystemKind::kMemory, "tmpfs"};
  const FileSystem fuse{0x65735546, FileSystemKind::kProgram, "FUSE"};
  EXPECT_EQ(storage_kind(&tmpfs, "", std::nullopt), StorageKind::kMemory);
  EXPECT_EQ(storage_kind(&nfs, "", std::nullopt), StorageKind::kNetwork);
  EXPECT_EQ(storage_kind(&fuse, "", std::nullopt), StorageKind::kUnknown);
  EXPECT_EQ(storage_kind(nullptr, "sda1", true), StorageKind::kUnknown);
  EXPECT_EQ(storage_kind(&kExt4, "nvme0n1p2", false), StorageKind::kSsd);
  EXPECT_EQ(storage_kind(&kExt4, "sda1", true), StorageKind::kRotating);
  EXPECT_EQ(storage_kind(&kExt4, "", std::nullopt), StorageKind::kUnknown);
}

TEST(StorageFacts, DiskOfAVirtualMachineIsNotBelievedToRotate) {
  EXPECT_EQ(storage_kind(&kExt4, "vda1", true), StorageKind::kUnknown);
  EXPECT_EQ(storage_kind(&kExt4, "xvdb", true), StorageKind::kUnknown);
  EXPECT_EQ(storage_kind(&kExt4, "vda1", false), StorageKind::kSsd);
}

TEST(StorageFacts, QueueOfADiskSaysWhetherItRotates) {
  EXPECT_EQ(parse_rotational("1\n"), true);
  EXPECT_EQ(parse_rotational("0\n"), false);
  EXPECT_EQ(parse_rotational(""), std::nullopt);
  EXPECT_EQ(parse_rotational("x"), std::nullopt);
}

TEST(StorageFacts, MountSourceIsFoundBehindOptionalFields) {
  const std::string text =
      "22 1 0:21 / /proc rw,relatime - proc proc rw\n"
      "29 1 0:26 /@home /home rw,relatime shared:1 master:7 - btrfs /dev/nvme0n1p2 rw,space_cache\n"
      "30 1 8:1 / / rw - ext4 /dev/sda1 rw";
  EXPECT_EQ(find_mount_source(text, "0:26"), "/dev/nvme0n1p2");
  EXPECT_EQ(find_mount_source(text, "8:1"), "/dev/sda1");
  EXPECT_EQ(find_mount_source(text, "8:2"), std::nullopt);
  EXPECT_EQ(find_mount_source("", "8:1"), std::nullopt);
  EXPECT_EQ(find_mount_source("30 1 8:1 / / rw", "8:1"), std::nullopt);
}

TEST(StorageFacts, AvailableMemoryIsReadAndNotGuessed) {
  EXPECT_EQ(parse_available_memory_bytes("MemTotal: 100 kB\nMemAvailable:   64 kB\nX: 1 kB\n"),
            65536U);
  EXPECT_EQ(parse_available_memory_bytes("MemTotal: 100 kB\n"), std::nullopt);
  EXPECT_EQ(parse_available_memory_bytes("MemAvailable: kB\n"), std::nullopt);
  EXPECT_EQ(parse_available_memory_bytes("MemAvailable: 18446744073709551615 kB\n"), std::nullopt);
}

TEST(StorageFacts, MemoryLimitIsANumberOrNone) {
  EXPECT_EQ(parse_memory_limit_bytes("1073741824\n"), 1073741824U);
  EXPECT_EQ(parse_memory_limit_bytes("max\n"), std::nullopt);
  EXPECT_EQ(parse_memory_limit_bytes(""), std::nullopt);
}

TEST(StorageFacts, MemoryGroupIsThatOfTheTreeThatLimits) {
  EXPECT_EQ(find_memory_group("0::/user.slice\n"), "/user.slice");
  EXPECT_EQ(find_memory_group("9:cpu:/a\n8:memory:/b\n0::/c\n"), "/memory/b");
  EXPECT_EQ(find_memory_group("9:cpu:/a\n"), std::nullopt);
  EXPECT_EQ(find_memory_group("nonsense"), std::nullopt);
}

TEST(StorageFacts, OfALimitIsLeftWhatIsNotUsedButForPagesOfFiles) {
  const std::string version1 =
      "cache 1\nshmem 1\ntotal_cache 300\ntotal_rss 500\ntotal_shmem 100\n";
  EXPECT_EQ(remaining_memory_bytes(1000, 800, version1), 400U) << "500 of its own, 100 shared";
  EXPECT_EQ(remaining_memory_bytes(1000, 800, "anon 500\nfile 300\nshmem 100\n"), 400U);
  EXPECT_EQ(remaining_memory_bytes(1000, 1200, "anon 1200\nfile 0\n"), 0U);
  EXPECT_EQ(remaining_memory_bytes(1000, 100, "file 300\n"), 1000U);
  EXPECT_EQ(remaining_memory_bytes(1000, 800, ""), 200U);
  EXPECT_EQ(remaining_memory_bytes(1000, std::nullopt, ""), 1000U);
}

// Slurm, say, limits the job, and leaves the groups below it without a limit.
TEST(StorageFacts, GroupsAboveCountAsWell) {
  EXPECT_EQ(
      groups_above("/system.slice/job_7/step_0/user"),
      (std::vector<std::string>{"/system.slice/job_7/step_0/user", "/system.slice/job_7/step_0",
                                "/system.slice/job_7", "/system.slice", ""}));
  EXPECT_EQ(groups_above("/"), std::vector<std::string>{""});
  EXPECT_EQ(groups_above(""), std::vector<std::string>{""});
  EXPECT_EQ(groups_above("/a/"), (std::vector<std::string>{"/a", ""}));
}

TEST(StorageFacts, OfMemoryIsMemory) {
  const auto facts = real_storage("/dev/shm");
  if (!facts.ok()) GTEST_SKIP() << "SKIPPED: no /dev/shm here";
  EXPECT_EQ(facts->kind, StorageKind::kMemory);
  EXPECT_EQ(facts->file_system, "tmpfs");
}

TEST(StorageFacts, OfAFolderIsThatOfItsFiles) {
  const testing::TempFolder folder;
  folder.write("file", "x");
  const auto of_folder = Env::real().storage(folder.path());
  const auto of_file = Env::real().storage(folder.path() + "/file");
  ASSERT_TRUE(of_folder.ok() && of_file.ok());
  EXPECT_EQ(of_folder->kind, of_file->kind);
  EXPECT_EQ(of_folder->device, of_file->device);
}

TEST(StorageFacts, OfNothingIsNotFound) {
  EXPECT_EQ(real_storage("/proc/nothing-of-that-name").status().code(), StatusCode::kNotFound);
}

TEST(StorageFacts, SomeMemoryIsAvailable) {
  const auto bytes = real_available_memory_bytes();
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  EXPECT_GT(*bytes, std::uint64_t{1} << 20U);
}

}  // namespace
}  // namespace xtts
