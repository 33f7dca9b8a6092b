// Files whose names do not say what they are. The look itself is a stand-in that knows three words;
// decode/ has the tests of the real one.
#include "corpus/files/content_probe.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/corpus/corpus_checks.hpp"

namespace xtts::corpus {
namespace {

using testing::EnvCall;
using testing::EnvOperation;
using testing::MemoryEnv;
using Counts = std::map<std::string, std::uint64_t>;

const std::string kSound("\0sound", 6);
const std::string kOther("\0other", 6);
const std::string kRefused("\0refused", 8);

struct FakeProbe {
  std::vector<std::string> suffixes;  // of the files that were looked into
  Status failure;                     // of every look, where it is one

  ProbeContent function() {
    return [this](const RandomAccessFile& file, std::string_view suffix) -> Result<ProbeResult> {
      suffixes.emplace_back(suffix);
      if (!failure.ok()) return failure;
      std::array<char, 8> head{};
      const auto got = file.read_at(0, std::as_writable_bytes(std::span(head)));
      if (!got.ok()) return got.status();
      const std::string_view bytes(head.data(), *got);
      if (bytes == kSound) return ProbeResult{ProbeResult::Kind::kSound, ""};
      if (bytes == kRefused) return ProbeResult{ProbeResult::Kind::kRefused, "is raw samples"};
      return ProbeResult{};
    };
  }
};

Corpus read(MemoryEnv& env, FakeProbe& probe) {
  auto corpus = discover({.env = env, .data = {"/data"}, .config = {}, .probe = probe.function()});
  EXPECT_TRUE(corpus.ok()) << corpus.status().message();
  return corpus.ok() ? std::move(*corpus) : Corpus();
}

TEST(ContentProbe, AudioUnderAnyNameIsAClip) {
  MemoryEnv env;
  env.add_file("/data/a.xyz", kSound);
  env.add_file("/data/b", kSound);
  env.add_file("/data/c.0001", kSound);
  env.add_file("/data/d.wav", kSound);
  FakeProbe probe;
  const Corpus corpus = read(env, probe);
  EXPECT_EQ(ids_of(corpus), (Ids{"a", "b", "c.0001", "d"}));
  EXPECT_EQ(clip_of(corpus, "a").source, "a.xyz");
  EXPECT_EQ(probe.suffixes, (std::vector<std::string>{"", "0001", "xyz"}));
  EXPECT_TRUE(corpus.not_audio.empty());
}

TEST(ContentProbe, ListsFindAudioUnderAnyName) {
  MemoryEnv env;
  env.add_file("/data/metadata.csv", "a|one|one\nb.xyz|two|two\nc|three|three\nd|four|four\n");
  env.add_file("/data/wavs/a.xyz", kSound);
  env.add_file("/data/wavs/b.xyz", kSound);
  env.add_file("/data/wavs/c", kSound);
  env.add_file("/data/wavs/d.xyz", kOther);
  FakeProbe probe;
  const Corpus corpus = read(env, probe);
  EXPECT_EQ(corpus.layout, "ljspeech");
  EXPECT_EQ(ids_of(corpus), (Ids{"a", "b", "c"}));
  EXPECT_EQ(clip_of(corpus, "a").source, "wavs/a.xyz");
  EXPECT_EQ(problems_of(corpus), "metadata.csv:4 d: no audio named d in wavs/\n");
  EXPECT_EQ(corpus.not_audio, (Counts{{"xyz", 1}}));
}

TEST(ContentProbe, WhatIsNotAudioIsCountedBySuffix) {
  MemoryEnv env;
  env.add_file("/data/a.wav", kSound);
  env.add_file("/data/a.txt", "its transcript");
  env.add_file("/data/b.txt", "of nothing");
  env.add_file("/data/c.TXT", "of nothing");
  env.add_file("/data/x.pdf", kOther);
  env.add_file("/data/LICENSE", "free");
  env.add_file("/data/y.bin", kOther);
  FakeProbe probe;
  const Corpus corpus = read(env, probe);
  EXPECT_EQ(ids_of(corpus), (Ids{"a"}));
  EXPECT_EQ(corpus.not_audio, (Counts{{"", 1}, {"bin", 1}, {"pdf", 1}, {"txt", 2}}));
  EXPECT_TRUE(says(notes_of(corpus), "not audio: 2 .txt, 1 without a suffix, 1 .bin, 1 .pdf\n"))
      << notes_of(corpus);
}

// A corpus may have a million transcripts, and a disk that seeks a hundred times a second.
TEST(ContentProbe, NamesOfTextAndPicturesAreNotOpened) {
  MemoryEnv env;
  env.add_file("/data/a.wav", kSound);
  for (const auto name : {"b.html", "c.PDF", "d.TextGrid", "e.npy", "f.jpg"})
    env.add_file("/data/" + std::string(name), kSound);
  env.add_file("/data/g.dat", kOther);
  std::vector<std::string> opened;
  env.set_hook([&](EnvOperation& operation) {
    if (operation.call == EnvCall::kOpenForRead) opened.push_back(operation.path);
    return Status();
  });
  FakeProbe probe;
  EXPECT_EQ(ids_of(read(env, probe)), (Ids{"a"}));
  EXPECT_EQ(opened, (std::vector<std::string>{"/data/g.dat"}));
}

TEST(ContentProbe, PlainTextNeedsNoDecoder) {
  MemoryEnv env;
  env.add_file("/data/a.wav", kSound);
  env.add_file("/data/README", std::string(10'000, 'a'));
  env.add_file("/data/cut", std::string(4095, 'a') + "\xD8\xB3");  // a letter across the look's end
  env.add_file("/data/empty.xyz", "");
  env.add_file("/data/index.ts", "export const x: number = 1;\n");
  FakeProbe probe;
  const Corpus corpus = read(env, probe);
  EXPECT_EQ(ids_of(corpus), (Ids{"a"}));
  EXPECT_TRUE(probe.suffixes.empty());
  EXPECT_EQ(corpus.not_audio, (Counts{{"", 2}, {"ts", 1}, {"xyz", 1}}));
}

TEST(ContentProbe, ASuffixOfSoundAndOfOtherThingsIsLookedInto) {
  MemoryEnv env;
  env.add_file("/data/a.ts", kSound);
  env.add_file("/data/b.ps", kOther);
  env.add_file("/data/c.raw", kRefused);
  FakeProbe probe;
  const Corpus corpus = read(env, probe);
  EXPECT_EQ(ids_of(corpus), (Ids{"a"}));
  EXPECT_EQ(problems_of(corpus), "c.raw c: is raw samples\n");
  EXPECT_EQ(corpus.not_audio, (Counts{{"ps", 1}}));
}

TEST(ContentProbe, ARefusedFileHasNotTheIdOfAClip) {
  MemoryEnv env;
  env.add_file("/data/a.raw", kRefused);
  env.add_file("/data/a.wav", kSound);
  FakeProbe probe;
  const Corpus corpus = read(env, probe);
  EXPECT_EQ(ids_of(corpus), (Ids{"a"}));
  EXPECT_EQ(problems_of(corpus), "a.raw a.raw: is raw samples\n");
}

TEST(ContentProbe, SoundThatIsNotReadIsAProblemWithItsReason) {
  MemoryEnv env;
  env.add_file("/data/metadata.csv", "a|one|one\nb|two|two\n");
  env.add_file("/data/wavs/a.wav", kSound);
  env.add_file("/data/wavs/b.xyz", kRefused);
  FakeProbe probe;
  const Corpus corpus = read(env, probe);
  EXPECT_EQ(problems_of(corpus), "metadata.csv:2 b: wavs/b.xyz is raw samples\n");
}

TEST(ContentProbe, AFileThatCrashesTheDecoderCostsItself) {
  MemoryEnv env;
  env.add_file("/data/a.wav", kSound);
  env.add_file("/data/b.xyz", kOther);
  FakeProbe probe;
  probe.failure = Status(StatusCode::kCrashed, "its decoder crashed (SIGSEGV)");
  const Corpus corpus = read(env, probe);
  EXPECT_EQ(ids_of(corpus), (Ids{"a"}));
  ASSERT_EQ(corpus.problems.size(), 1U);
  EXPECT_EQ(corpus.problems[0].kind, RejectClass::kCrash);
  EXPECT_EQ(corpus.problems[0].id, "b");
}

TEST(ContentProbe, AFileThatCannotBeReadIsTriedAgain) {
  MemoryEnv env;
  env.add_file("/data/a.wav", kSound);
  env.add_file("/data/b.xyz", kSound);
  env.set_hook([](EnvOperation& operation) {
    const bool fails = operation.call == EnvCall::kOpenForRead && operation.path == "/data/b.xyz";
    return fails ? Status(StatusCode::kResource, "Input/output error") : Status();
  });
  FakeProbe probe;
  const Corpus corpus = read(env, probe);
  ASSERT_EQ(corpus.problems.size(), 1U);
  EXPECT_EQ(corpus.problems[0].kind, RejectClass::kEnvironment);
  EXPECT_TRUE(says(problems_of(corpus), "cannot be looked into: ")) << problems_of(corpus);
}

TEST(ContentProbe, ALookThatCannotBeHadEndsDiscovery) {
  MemoryEnv env;
  env.add_file("/data/a.wav", kSound);
  env.add_file("/data/b.xyz", kSound);
  FakeProbe probe;
  probe.failure = Status(StatusCode::kInternal, "no worker");
  const auto corpus =
      discover({.env = env, .data = {"/data"}, .config = {}, .probe = probe.function()});
  ASSERT_FALSE(corpus.ok());
  EXPECT_EQ(corpus.status().code(), StatusCode::kInternal);
}

// 3,000 of a kind: a sixth of them is looked into where those are alike, else all.
TEST(ContentProbe, OfManyFilesThatAreAlikeSomeAreLookedInto) {
  for (const bool has_odd_one : {false, true}) {
    MemoryEnv env;
    for (int i = 0; i < 3000; ++i) {
      const std::string number = std::to_string(10'000 + i);
      env.add_file("/data/" + number + ".snd1", kSound);
      env.add_file("/data/" + number + ".dump", kOther);
    }
    // Where a look falls, each kind differs in one file.
    if (has_odd_one) {
      env.add_file("/data/10000.snd1", kOther);
      env.add_file("/data/10000.dump", kSound);
    }
    FakeProbe probe;
    const Corpus corpus = read(env, probe);
    EXPECT_EQ(corpus.clips.size(), 3000U);
    EXPECT_EQ(corpus.not_audio.at("dump"), has_odd_one ? 2999U : 3000U);
    if (has_odd_one) {
      EXPECT_EQ(probe.suffixes.size(), 6000U);
    } else {
      EXPECT_LE(probe.suffixes.size(), 1100U);
      EXPECT_GE(probe.suffixes.size(), 900U);
    }
  }
}

TEST(ContentProbe, AFolderWithoutAudioSaysWhatItHolds) {
  MemoryEnv env;
  env.add_file("/data/a.pdf", "");
  env.add_file("/data/b.xyz", kOther);
  FakeProbe probe;
  const auto corpus =
      discover({.env = env, .data = {"/data"}, .config = {}, .probe = probe.function()});
  ASSERT_FALSE(corpus.ok());
  EXPECT_TRUE(says(corpus.status().message(), "(not audio: 1 .pdf, 1 .xyz)"))
      << corpus.status().message();
}

TEST(ContentProbe, ManySuffixesAreOneLine) {
  Counts counts;
  for (char c = 'a'; c <= 'k'; ++c) counts[std::string(3, c)] = 2;
  counts["zzz"] = 1000;
  EXPECT_EQ(not_audio_note(counts),
            "not audio: 1,000 .zzz, 2 .aaa, 2 .bbb, 2 .ccc, 2 .ddd, 2 .eee, 2 .fff, 2 .ggg, "
            "8 with others");
  EXPECT_EQ(not_audio_note({}), "");
}

}  // namespace
}  // namespace xtts::corpus
