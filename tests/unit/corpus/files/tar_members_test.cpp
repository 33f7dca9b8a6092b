#include "corpus/files/tar_members.hpp"
#include "corpus/files/find_source.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "support/memory_env.hpp"
#include "tests/unit/corpus/tar_bytes.hpp"

namespace xtts::corpus {
namespace {

struct ListedMembers {
  std::vector<TarMember> members;
  std::string failure;
  bool has_end_mark = false;
};

ListedMembers list_members(const std::string& bytes) {
  testing::MemoryEnv env;
  env.add_file("/a.tar", bytes);
  const auto file = env.open_for_read("/a.tar");
  TarMembers members(**file);
  ListedMembers listed;
  while (true) {
    auto member = members.next();
    if (!member.ok()) {
      EXPECT_EQ(member.status().code(), StatusCode::kBadInput);
      listed.failure = member.status().message();
      return listed;
    }
    if (!*member) break;
    listed.members.push_back(std::move(**member));
  }
  listed.has_end_mark = members.has_end_mark();
  return listed;
}

TEST(TarMembers, TellsNamesAndPlacesOfTheirBytes) {
  const ListedMembers listed =
      list_members(tar_member("dir/", "", '5') + tar_member("./dir/a.flac", "fLaC") +
                   tar_header({.name = "b.wav", .size_bytes = 600, .prefix = "long/prefix"}) +
                   std::string(1024, 'x') + tar_end());
  ASSERT_EQ(listed.members.size(), 3U);
  EXPECT_EQ(listed.failure, "");
  EXPECT_TRUE(listed.has_end_mark);
  EXPECT_TRUE(listed.members[0].is_folder);
  EXPECT_EQ(listed.members[1].name, "dir/a.flac");
  EXPECT_EQ(listed.members[1].data, (ByteRange{1024, 4}));
  EXPECT_EQ(listed.members[2].name, "long/prefix/b.wav");
  EXPECT_EQ(listed.members[2].data, (ByteRange{2048, 600}));
}

TEST(TarMembers, ReadsLongNamesAndSizesOfGnuAndPax) {
  const std::string name(300, 'n');
  std::string large = tar_member("large.wav", "12345");
  std::string pax_large =
      tar_header({.name = "short", .size_bytes = 0}) + padded_to_blocks("12345");
  const ListedMembers listed = list_members(
      tar_member("././@LongLink", name + '\0', 'L') + tar_member("cut", "1") +
      tar_member("pax", pax_record("path", name + ".wav") + pax_record("size", "5"), 'x') +
      pax_large + tar_member("pax", pax_record("comment", "c"), 'g') + large + tar_end());
  ASSERT_EQ(listed.members.size(), 3U) << listed.failure;
  EXPECT_EQ(listed.members[0].name, name);
  EXPECT_EQ(listed.members[1].name, name + ".wav");
  EXPECT_EQ(listed.members[1].data.size_bytes, 5U);
  EXPECT_EQ(listed.members[2].name, "large.wav") << "what was said of one holds for one";
}

TEST(TarMembers, WhatCannotBeReadInPlaceHasItsReason) {
  const ListedMembers listed = list_members(
      tar_header({.name = "soft.wav", .type = '2', .link = "/etc/passwd"}) +
      tar_header({.name = "hard.wav", .size_bytes = 1 << 30, .type = '1', .link = "a"}) +
      tar_header({.name = "fifo.wav", .type = '6'}) + tar_member("old.wav", "x", 'S') +
      tar_member("pax", pax_record("GNU.sparse.major", "1"), 'x') + tar_member("new.wav", "x") +
      tar_member("../up.wav", "x") + tar_member("/abs.wav", "x") + tar_member("good.wav", "x"));
  ASSERT_EQ(listed.members.size(), 8U) << listed.failure;
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_TRUE(listed.members[i].fault) << listed.members[i].name;
  }
  EXPECT_NE(listed.members[0].fault->find("is a link"), std::string::npos);
  EXPECT_NE(listed.members[3].fault->find("sparse"), std::string::npos);
  EXPECT_NE(listed.members[4].fault->find("sparse"), std::string::npos);
  EXPECT_FALSE(listed.members[7].fault);
  EXPECT_FALSE(listed.has_end_mark);
}

TEST(TarMembers, DamageEndsTheListAndKeepsWhatCameBefore) {
  const std::string good = tar_member("a.wav", "x");
  std::string flipped = good + tar_member("b.wav", "y");
  flipped[1024] ^= 1;
  std::string negative = tar_member("n.wav", "");
  negative[124] = '\xFF';
  for (const auto& [bytes, reason] : {
           std::pair(flipped, "is damaged, or no tar, at byte 1024"),
           {good + tar_header({.name = "b.wav", .size_bytes = 5000}) + "123",
            "is cut short: b.wav"},
           {good + std::string("ab"), "is cut short within a header"},
           {good + tar_header({.name = "L", .size_bytes = 1ULL << 30U, .type = 'L'}),
            "has a header of"},
           {good + tar_header({.name = "x", .size_bytes = 100, .type = 'x'}) + "1",
            "is cut short within a header"},
           {good + tar_member("x", "99999 path=a\n", 'x'), "has a damaged pax header"},
           {good + tar_member("x", pax_record("size", "-5"), 'x'), "with a size that is no number"},
           {good + tar_member("x", pax_record("size", "18446744073709551615"), 'x') +
                tar_member("b", ""),
            "is cut short: b has"},
       }) {
    const ListedMembers listed = list_members(bytes);
    EXPECT_EQ(listed.members.size(), 1U) << reason;
    EXPECT_NE(listed.failure.find(reason), std::string::npos) << listed.failure;
  }
}

TEST(TarMembers, HeadersWithoutEndAreNoMember) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += tar_member("x", pax_record("path", "p"), 'x');
  EXPECT_NE(list_members(bytes).failure.find("more headers than members"), std::string::npos);
}

// Any byte of the headers may be anything: a member lies within the file, or there is none.
TEST(TarMembers, NoMemberLeavesTheFileWhateverTheBytes) {
  const std::string good = tar_member("x", pax_record("size", "4"), 'x') +
                           tar_member("a.wav", "1234") + tar_member("b.wav", "5678") + tar_end();
  for (std::size_t at = 0; at < good.size(); at += 7) {
    for (const char value : {'\0', '7', '\x80', '\xFF'}) {
      std::string bytes = good;
      bytes[at] = value;
      for (const TarMember& member : list_members(bytes).members) {
        ASSERT_LE(member.data.offset_bytes + member.data.size_bytes, bytes.size());
      }
    }
  }
}

TEST(SourcePlaces, AreFoundByThePathsThatCachesKeep) {
  testing::MemoryEnv env;
  env.add_file("/data/a.wav", "1");
  env.add_file("/data/s/b.tar", tar_member("x/y.wav", "12") + tar_end());
  env.add_file("/data/no.tar/c.wav", "1");
  env.add_file("/mnt/d.wav", "1");
  const std::vector<std::string> roots{"/mnt"};
  const auto place = [&](std::string_view source) {
    auto found = find_source(env, {"/data", roots}, source);
    return found.ok() ? *found : SourcePlace{found.status().message()};
  };
  EXPECT_EQ(place("a.wav"), (SourcePlace{"/data/a.wav"}));
  EXPECT_EQ(place("s/b.tar/x/y.wav"), (SourcePlace{"/data/s/b.tar", ByteRange{512, 2}}));
  EXPECT_EQ(place("no.tar/c.wav"), (SourcePlace{"/data/no.tar/c.wav"})) << "a folder";
  EXPECT_EQ(place(".audio-root-1/d.wav"), (SourcePlace{"/mnt/d.wav"}));
  EXPECT_EQ(place("s/b.tar/z.wav").path, "/data/s/b.tar has no member z.wav any more");
}

TEST(SourcePlaces, APartEndsWhereItEnds) {
  testing::MemoryEnv env;
  env.add_file("/a", "0123456789");
  const auto part = open_source(env, {"/a", ByteRange{2, 3}});
  ASSERT_TRUE(part.ok());
  EXPECT_EQ((*part)->size_bytes(), 3U);
  std::array<std::byte, 8> bytes{};
  EXPECT_EQ(*(*part)->read_at(1, bytes), 2U);
  EXPECT_EQ(bytes[0], std::byte{'3'});
  EXPECT_EQ(*(*part)->read_at(3, bytes), 0U);
  EXPECT_EQ(open_source(env, {"/a", ByteRange{8, 3}}).status().code(), StatusCode::kBadInput);
  EXPECT_EQ(open_source(env, {"/a", ByteRange{UINT64_MAX, 3}}).status().code(),
            StatusCode::kBadInput);
  EXPECT_NE((SourcePlace{"/a", ByteRange{2, 3}}).key(), (SourcePlace{"/a", ByteRange{2, 4}}).key());
}

}  // namespace
}  // namespace xtts::corpus
