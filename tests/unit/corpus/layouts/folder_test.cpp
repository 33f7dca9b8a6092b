#include <gtest/gtest.h>

#include <map>

#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::EnvCall;
using testing::EnvOperation;
using testing::MemoryEnv;

const LayoutExample kFolderExample("folder", "x", {{"a.wav", ""}, {"a.txt", "go"}},
                                   "no metadata list in DATA: every audio file below it is a clip");

Corpus read(MemoryEnv& env) {
  auto corpus = discover(env, "/data", {});
  EXPECT_TRUE(corpus.ok()) << corpus.status().message();
  return corpus.ok() ? std::move(*corpus) : Corpus();
}

TEST(Folder, TheIdIsThePathWithoutExtension) {
  MemoryEnv env;
  env.add_file("/data/spk2/snt1/00001.wav", "");
  env.add_file("/data/spk2/snt2/00001.wav", "");
  env.add_file("/data/top.MP3", "");
  const Corpus corpus = read(env);
  EXPECT_EQ(corpus.layout, "folder");
  EXPECT_EQ(ids_of(corpus), (Ids{"spk2/snt1/00001", "spk2/snt2/00001", "top"}));
  EXPECT_EQ(clip_of(corpus, "top").source, "top.MP3");
  EXPECT_FALSE(corpus.has_text);
}

TEST(Folder, TextOfTheSameStemIsTheTranscript) {
  MemoryEnv env;
  env.add_file("/data/a.wav", "");
  env.add_file("/data/a.txt", "\xEF\xBB\xBF  Ask not\r\nwhat.\n");
  env.add_file("/data/b.wav", "");
  env.add_file("/data/notes.txt", "not a transcript");
  const Corpus corpus = read(env);
  EXPECT_EQ(clip_of(corpus, "a").text_raw, "Ask not\r\nwhat.");
  EXPECT_EQ(clip_of(corpus, "a").text_normalized, "Ask not what.");
  EXPECT_TRUE(corpus.has_text);
  EXPECT_TRUE(says(notes_of(corpus), "1 clip has no text"));
  EXPECT_TRUE(says(notes_of(corpus), "1 .txt file has no audio"));
  EXPECT_EQ(corpus.ignored_file_count, 1U);
}

TEST(Folder, ABadTranscriptTakesItsClipWithIt) {
  MemoryEnv env;
  for (const auto name : {"good", "latin", "long", "denied", "utf16"}) {
    env.add_file("/data/" + std::string(name) + ".wav", "");
  }
  env.add_file("/data/latin.txt", "caf\xE9");
  env.add_file("/data/long.txt", std::string(1U << 20U, 'a'));
  env.add_file("/data/denied.txt", "x");
  env.add_file("/data/utf16.txt", "\xFF\xFEx");
  env.set_hook([](EnvOperation& operation) {
    const bool fails =
        operation.call == EnvCall::kOpenForRead && operation.path == "/data/denied.txt";
    return fails ? Status(StatusCode::kResource, "Permission denied") : Status();
  });
  const Corpus corpus = read(env);
  EXPECT_EQ(ids_of(corpus), Ids{"good"});
  ASSERT_EQ(corpus.problems.size(), 4U);
  EXPECT_EQ(corpus.problems[0].path, "denied.txt");
  EXPECT_EQ(corpus.problems[0].kind, RejectClass::kEnvironment);
  EXPECT_EQ(corpus.problems[1].kind, RejectClass::kInput);
}

TEST(Folder, OfOneNameInSeveralFormatsAllAreClips) {
  MemoryEnv env;
  for (const auto name : {"x.mp3", "x.flac", "x.wav", "sub/x.ogg"})
    env.add_file("/data/" + std::string(name), "");
  env.add_file("/data/x.txt", "What is said.");
  const Corpus corpus = read(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"sub/x", "x", "x.flac", "x.mp3"}));
  EXPECT_EQ(clip_of(corpus, "x").source, "x.wav");
  EXPECT_EQ(clip_of(corpus, "x.mp3").source, "x.mp3");
  EXPECT_EQ(clip_of(corpus, "x.mp3").text_raw, "What is said.");
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_TRUE(says(notes_of(corpus), "2 files have the name of one in another format"));
}

TEST(Folder, AnIdIsNeverGivenTwice) {
  MemoryEnv env;
  for (const auto name : {"x.wav", "x.flac", "x.flac.wav"})
    env.add_file("/data/" + std::string(name), "");
  const Corpus corpus = read(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"x", "x.flac"}));
  EXPECT_EQ(clip_of(corpus, "x.flac").source, "x.flac.wav");
  EXPECT_EQ(problems_of(corpus),
            "x.flac x.flac: has the same name as x.wav, and another file has the id that its "
            "extension would make: rename it\n");
}

TEST(Folder, NamesThatLookAlikeAreDifferentClips) {
  MemoryEnv env;
  for (const auto name : {"Case", "case", "caf\u00E9", "cafe\u0301"}) {
    env.add_file("/data/" + std::string(name) + ".wav", "");
  }
  const Corpus corpus = read(env);
  EXPECT_EQ(corpus.clips.size(), 4U);
  EXPECT_TRUE(says(notes_of(corpus), "2 pairs of ids differ only in letter case"));
}

TEST(Folder, NamesThatCannotBeIdsAreRejectedReadably) {
  MemoryEnv env;
  env.add_file("/data/good.wav", "");
  env.add_file("/data/new\nline.wav", "");
  env.add_file("/data/caf\xE9.wav", "");
  const Corpus corpus = read(env);
  EXPECT_EQ(ids_of(corpus), Ids{"good"});
  EXPECT_EQ(problems_of(corpus),
            "caf%E9.wav caf%E9: the id is not UTF-8; rename the file\n"
            "new%0Aline.wav new%0Aline: the id holds a control character; rename the file\n");
}

TEST(Folder, HiddenFilesAreIgnoredAndCounted) {
  MemoryEnv env;
  for (const auto name : {"a.wav", "._a.wav", ".DS_Store", "LICENSE"})
    env.add_file("/data/" + std::string(name), "");
  const Corpus corpus = read(env);
  EXPECT_EQ(ids_of(corpus), Ids{"a"});
  EXPECT_EQ(corpus.ignored_file_count, 2U);
  EXPECT_TRUE(says(notes_of(corpus), "1 hidden file or folder ignored"));
  EXPECT_TRUE(says(problems_of(corpus), "._a.wav ._a: is a file that macOS leaves beside another"));
}

TEST(Folder, NoAudioSaysWhatWasLookedFor) {
  MemoryEnv env;
  env.add_file("/data/readme.md", "");
  const Status status = discover(env, "/data", {}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(says(status.message(),
                   "no audio in /data: looked into 1 folder (not audio: 1 .md); "
                   "give the folder that holds the recordings"));
}

TEST(Folder, AListBesideDataIsPointedOut) {
  MemoryEnv env;
  env.add_file("/corpus/metadata.csv", "a|x|x\n");
  env.add_file("/corpus/wavs/a.wav", "");
  const Corpus corpus = *discover(env, "/corpus/wavs", {});
  EXPECT_TRUE(says(notes_of(corpus),
                   "metadata.csv lies beside DATA; to use the text, give /corpus as DATA"));
}

TEST(Folder, ListsInSubfoldersArePointedOut) {
  MemoryEnv env;
  env.add_file("/data/LJSpeech-1.1/metadata.csv", "a|x|x\n");
  env.add_file("/data/LJSpeech-1.1/wavs/a.wav", "");
  env.add_file("/data/other/metadata_flac.csv", "a|x|x\n");
  EXPECT_TRUE(says(notes_of(discover_data(env, {.layout = "folder"})),
                   "2 lists in folders below not read (LJSpeech-1.1/metadata.csv); "
                   "to use the text, give LJSpeech-1.1 as DATA"));
}

// A build would stop at such a list: without it, the texts and splits of DATA are lost.
TEST(UnreadLists, AreThoseThatNameTheAudio) {
  MemoryEnv env;
  add_audio(env, {"a.wav", "b.wav", "c.wav"});
  EXPECT_TRUE(discover_data(env).unread_lists.empty());
  env.add_file("/data/pitch.csv", "frame,hz\n0,100\n1,110\n2,90\n");
  env.add_file("/data/a.csv", "time,word\n0.1,b\n");  // of the one clip a.wav
  EXPECT_TRUE(discover_data(env).unread_lists.empty());
  env.add_file("/data/cv-train.csv", "wave_name,wave_size,words\nwavs/a.wav,1,one\nb.wav,1,two\n");
  const Corpus corpus = discover_data(env);
  ASSERT_EQ(corpus.unread_lists.size(), 1U);
  EXPECT_EQ(corpus.unread_lists[0], "cv-train.csv begins with 'wave_name,wave_size,words'");
}

TEST(UnreadLists, MayBeOfAnotherEncodingOrPackedOrBelow) {
  for (const auto& [name, bytes] : std::map<std::string, std::string>{
           {"things.jsonl.gz", ""},
           {"sub/list.tsv", "a\tone\nb\ttwo\n"},
           {"all.json", "[{\"sound\": \"a.wav\"},\n{\"sound\": \"b.wav\"}]\n"},
           {"utf16.tsv", std::string("a\0.\0w\0a\0v\0\t\0x\0\n\0", 16)}}) {
    MemoryEnv env;
    add_audio(env, {"a.wav", "b.wav"});
    env.add_file("/data/" + name, bytes);
    const Corpus corpus = discover_data(env);
    ASSERT_EQ(corpus.layout, "folder") << name;
    ASSERT_EQ(corpus.unread_lists.size(), 1U) << name;
    EXPECT_TRUE(corpus.unread_lists[0].starts_with(name)) << corpus.unread_lists[0];
  }
}

TEST(UnreadLists, AreNoMatterWhereTheLayoutIsNamed) {
  MemoryEnv env;
  add_audio(env, {"a.wav"});
  env.add_file("/data/list.csv", "wav_filename,transcript\na.wav,one\n");
  formats::CorpusConfig config;
  config.layout = "folder";
  const auto corpus = discover(env, "/data", config);
  ASSERT_TRUE(corpus.ok());
  EXPECT_TRUE(corpus->unread_lists.empty());
}

TEST(UnreadText, IsAColumnOfSentencesThatNoNameTells) {
  MemoryEnv env;
  add_audio(env, {"a.wav", "b.wav"});
  env.add_file("/data/list.csv",
               "file,spoken,genre\na.wav,the first one,a b\nb.wav,the second one,a b\n");
  const Corpus corpus = discover_data(env);
  ASSERT_EQ(corpus.layout, "table");
  ASSERT_EQ(corpus.unread_lists.size(), 1U);
  EXPECT_EQ(corpus.unread_lists[0], "column spoken");
}

TEST(Folder, ListsThatNoLayoutKnowsAreToldOf) {
  MemoryEnv env;
  add_audio(env, {"a.wav"});
  env.add_file("/data/a.csv", "frame,pitch\n0,100\n");
  EXPECT_FALSE(says(notes_of(discover_data(env)), "like a list"));
  env.add_file("/data/things.jsonl.gz", "");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "folder");
  EXPECT_TRUE(
      says(notes_of(corpus),
           "1 file like a list is not read (things.jsonl.gz): no layout knows what it names"));
}

}  // namespace
}  // namespace xtts::corpus
