#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kListExample("list", "", {{"list.txt", "a.wav|go\n"}, {"a.wav", ""}},
                                 "list.txt has lines file|text");

TEST(List, ReadsFileAndText) {
  MemoryEnv env;
  env.add_file("/data/filelist.txt", "wavs/a.wav|Hello, world\r\nwavs/b.flac|\r\n");
  add_audio(env, {"wavs/a.wav", "wavs/b.flac"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "list");
  EXPECT_EQ(ids_of(corpus), (Ids{"a", "b"}));
  EXPECT_EQ(clip_of(corpus, "a").text_raw, "Hello, world");
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_TRUE(says(notes_of(corpus), "filelist.txt has lines file|text (layout list)"));
  EXPECT_FALSE(says(notes_of(corpus), "lines are read as")) << "what else could they be";
}

TEST(List, AMissingFirstFileDoesNotHideTheList) {
  MemoryEnv env;
  env.add_file("/data/list.txt", "broken\ngone.wav|x\na.wav|y\n");
  add_audio(env, {"wavs/a.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "list");
  EXPECT_EQ(ids_of(corpus), Ids{"a"});
  EXPECT_EQ(corpus.problems.size(), 2U) << problems_of(corpus);
}

TEST(List, FindsTheSpeakerInEitherPlace) {
  MemoryEnv env;
  add_audio(env, {"a.wav", "b.wav", "c.wav"});
  env.add_file("/data/list.txt", "a.wav|78|It is one\nb.wav|78|It is two\nc.wav|9|Three\n");
  const Corpus first = discover_data(env);
  EXPECT_EQ(clip_of(first, "a").speaker, "78");
  EXPECT_EQ(clip_of(first, "a").text_raw, "It is one");
  EXPECT_TRUE(says(notes_of(first), "lines are read as file|speaker|text"));
  env.add_file("/data/list.txt", "a.wav|It is one|78\nb.wav|It is two|78\nc.wav|Three|9\n");
  const Corpus last = discover_data(env);
  EXPECT_EQ(clip_of(last, "c").speaker, "9");
  EXPECT_EQ(clip_of(last, "c").text_raw, "Three");
  EXPECT_TRUE(says(notes_of(last), "lines are read as file|text|speaker"));
}

TEST(List, SpeakersAreFewerThanTexts) {
  MemoryEnv env;
  add_audio(env, {"a.wav", "b.wav", "c.wav", "d.wav"});
  env.add_file("/data/list.txt", "a.wav|Yes|ann\nb.wav|No|ann\nc.wav|Maybe|bo\nd.wav|Go|bo\n");
  EXPECT_EQ(clip_of(discover_data(env), "d").speaker, "bo") << "texts of one word";
  env.add_file("/data/list.txt",
               "a.wav|Ann Lee|It is\nb.wav|Ann Lee|It was\nc.wav|Bo Fu|I am\nd.wav|Bo Fu|We do\n");
  EXPECT_EQ(clip_of(discover_data(env), "d").speaker, "Bo Fu") << "names of two words";
}

TEST(List, TwoWritingsOfATextAreNoSpeaker) {
  MemoryEnv env;
  add_audio(env, {"a.wav", "b.wav"});
  env.add_file("/data/list.txt", "a.wav|It is 1|it is one\nb.wav|It is 2|it is two\n");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(clip_of(corpus, "a").speaker, "");
  EXPECT_EQ(clip_of(corpus, "a").text_raw, "It is 1");
  EXPECT_EQ(clip_of(corpus, "a").text_normalized, "it is one");
}

TEST(List, ReadsTheFilelistsOfVits) {
  MemoryEnv env;
  add_audio(env, {"wavs/1.wav", "wavs/2.wav", "wavs/3.wav"});
  env.add_link("/data/DUMMY1", "wavs");
  const std::string name = "/data/filelists/ljs_audio_text_";
  env.add_file(name + "train_filelist.txt", "DUMMY1/1.wav|one\n");
  env.add_file(name + "val_filelist.txt", "DUMMY1/2.wav|two\n");
  env.add_file(name + "test_filelist.txt", "DUMMY1/3.wav|three\n");
  env.add_file(name + "train_filelist.txt.cleaned", "DUMMY1/1.wav|w\u02C8\u028Cn\n");
  env.add_file("/data/filelists/vctk_audio_sid_text_train_filelist.txt", "DUMMY2/p1.wav|3|x y\n");
  env.add_file("/data/filelists/ljs_audio_pitch_text_train_v3.txt", "wavs/1.wav|p/1.pt|one\n");
  const Corpus corpus = discover_data(env, {.train_split = 1.0, .validation_split = 0.0});
  EXPECT_EQ(corpus.layout, "list");
  ASSERT_EQ(corpus.clips.size(), 3U) << problems_of(corpus);
  EXPECT_EQ(clip_of(corpus, "DUMMY1/1").source, "wavs/1.wav");
  EXPECT_EQ(clip_of(corpus, "DUMMY1/1").text_raw, "one");
  EXPECT_EQ(clip_of(corpus, "DUMMY1/2").split, Split::kValidation);
  EXPECT_EQ(clip_of(corpus, "DUMMY1/3").split, Split::kTest);
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_TRUE(says(notes_of(corpus),
                   "ljs_audio_text_train_filelist.txt.cleaned (phonemes) is not"
                   " read"));
}

TEST(List, OneListIsAllOfTheCorpus) {
  MemoryEnv env;
  add_audio(env, {"a.wav"});
  env.add_file("/data/test.txt", "a.wav|x\n");
  EXPECT_EQ(clip_of(discover_data(env, {.train_split = 1.0, .validation_split = 0.0}), "a").split,
            Split::kTrain);
}

TEST(List, ACleanedListAloneIsRead) {
  MemoryEnv env;
  add_audio(env, {"a.wav"});
  env.add_file("/data/train.txt.cleaned", "a.wav|w\u02C8\u028Cn\n");
  EXPECT_EQ(clip_of(discover_data(env), "a").text_raw, "w\u02C8\u028Cn");
}

TEST(List, EachUnusableLineIsNamedAndTheRestStays) {
  MemoryEnv env;
  add_audio(env, {"a.wav"});
  env.add_file("/data/list.txt",
               "a.wav|good words|s\na.wav\na.wav|x|y|z\na.wav|x\n/etc/a.wav|x x|s\n"
               "gone.wav|x x|s\na.wav|caf\xE9|s\na.wav|same id|s\n|x x|s\n");
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"a"});
  EXPECT_EQ(problems_of(corpus),
            "list.txt:2 : the line has one field; expected file|text\n"
            "list.txt:3 : the line has 4 fields where the first line has 3\n"
            "list.txt:4 : the line has 2 fields where the first line has 3\n"
            "list.txt:5 /etc/a.wav: /etc/a.wav leaves DATA (/data); name audio inside it, or give "
            "the folder that holds it: --audio-root /etc\n"
            "list.txt:6 gone.wav: no audio named gone.wav in the data folder\n"
            "list.txt:7 : the line is not UTF-8 (byte 10); save it as UTF-8, or name its encoding, "
            "as in --encoding cp1256\n"
            "list.txt:8 a: the same id is in line 1 of list.txt, which is used\n"
            "list.txt:9 : the id is empty\n");
}

TEST(List, TakesNoOtherCorpusForItsOwn) {
  MemoryEnv ljspeech;
  add_ljspeech(ljspeech, "a.wav|one|one\n", {"a.wav"});
  EXPECT_EQ(layout_of(ljspeech), "ljspeech");
  MemoryEnv transcripts;
  add_audio(transcripts, {"a.wav", "b.wav"});
  transcripts.add_file("/data/a.txt", "b.wav is a name\n");
  transcripts.add_file("/data/b.txt", "gone.wav|no such file\n");
  transcripts.add_file("/data/c.txt", "a|b\n");
  EXPECT_EQ(layout_of(transcripts), "folder");
  EXPECT_TRUE(says(refusal_of(transcripts, {.layout = "list"}), "no file list in /data"));
}

TEST(List, SeveralListsThatAreNoSplitsMustBeNamed) {
  MemoryEnv env;
  add_audio(env, {"a.wav", "b.wav"});
  env.add_file("/data/new.txt", "a.wav|x\n");
  env.add_file("/data/old.txt", "b.wav|x\n");
  EXPECT_TRUE(says(refusal_of(env), "say which with metadata_train_file"));
  EXPECT_EQ(ids_of(discover_data(env, {.layout = "list", .metadata_train_file = "old.txt"})),
            Ids{"b"});
}

}  // namespace
}  // namespace xtts::corpus
