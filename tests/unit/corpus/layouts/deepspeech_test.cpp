#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kDeepSpeechExample(
    "deepspeech", "x",
    {{"train.csv", "wav_filename,wav_filesize,transcript\na.wav,1,go\n"}, {"a.wav", ""}},
    "x/train.csv has a field wav_filename");

constexpr std::string_view kDeepSpeechHeader = "wav_filename,wav_filesize,transcript\n";

// As import_cv2 of DeepSpeech and Coqui-STT leaves a folder: lists beside the audio of clips/.
void add_cv_import(MemoryEnv& env) {
  for (const std::string name : {"train", "dev", "test", "validated", "train-all", "other"}) {
    const std::string audio = name == "train-all" || name == "validated" ? "train" : name;
    env.add_file(
        "/data/de/clips/" + name + ".csv",
        std::string(kDeepSpeechHeader) + "common_voice_de_" + audio + ".wav,78284,ein satz\n");
    add_audio(env, {"de/clips/common_voice_de_" + name + ".wav"});
  }
}

TEST(DeepSpeech, TheOfficialListsAreTheCorpusAndItsSplits) {
  MemoryEnv env;
  add_cv_import(env);
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "deepspeech");
  EXPECT_EQ(ids_of(corpus),
            (Ids{"common_voice_de_dev", "common_voice_de_test", "common_voice_de_train"}));
  EXPECT_EQ(clip_of(corpus, "common_voice_de_dev").split, Split::kValidation);
  EXPECT_EQ(clip_of(corpus, "common_voice_de_test").split, Split::kTest);
  const Clip train = clip_of(corpus, "common_voice_de_train");
  EXPECT_EQ(train.split, Split::kTrain);
  EXPECT_EQ(train.source, "de/clips/common_voice_de_train.wav");
  EXPECT_EQ(train.text_raw, "ein satz");
  EXPECT_EQ(train.extra_json, R"({"wav_filesize":"78284"})");
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_TRUE(says(notes_of(corpus), "de/clips/validated.csv are not read")) << notes_of(corpus);
}

TEST(DeepSpeech, NamesOfListsAreSplitsAsImportersWriteThem) {
  MemoryEnv env;
  for (const std::string name : {"train-clean-100", "dev-clean", "test-clean"}) {
    env.add_file("/data/librivox-" + name + ".csv", std::string(kDeepSpeechHeader) +
                                                        "LibriSpeech/" + name + "/a-" + name +
                                                        ".wav,1,\"x, y\"\n");
    add_audio(env, {"LibriSpeech/" + name + "/a-" + name + ".wav"});
  }
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "deepspeech");
  EXPECT_EQ(clip_of(corpus, "LibriSpeech/dev-clean/a-dev-clean").split, Split::kValidation);
  EXPECT_EQ(clip_of(corpus, "LibriSpeech/test-clean/a-test-clean").text_raw, "x, y");
}

TEST(DeepSpeech, OneListIsAllOfTheCorpus) {
  MemoryEnv env;
  env.add_file("/data/ldc93s1.csv", std::string(kDeepSpeechHeader) + "LDC93S1.wav,93638,she had\n");
  add_audio(env, {"LDC93S1.wav"});
  const Corpus corpus = discover_data(env, {.train_split = 1.0, .validation_split = 0.0});
  EXPECT_EQ(corpus.layout, "deepspeech");
  EXPECT_EQ(clip_of(corpus, "LDC93S1").split, Split::kTrain);
}

TEST(DeepSpeech, AbsolutePathsWantAnAudioRoot) {
  MemoryEnv env;
  env.add_file("/data/train.csv", std::string(kDeepSpeechHeader) + "/mnt/wavs/a.wav,1,x\n");
  env.add_file("/mnt/wavs/a.wav", "RIFF");
  EXPECT_TRUE(says(refusal_of(env), "--audio-root /mnt/wavs"));
}

TEST(DeepSpeech, IsRefusedByNameWhereThereIsNoSuchList) {
  MemoryEnv env;
  add_audio(env, {"a.wav"});
  EXPECT_TRUE(says(refusal_of(env, {.layout = "deepspeech"}), "wav_filename"));
}

}  // namespace
}  // namespace xtts::corpus
