#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/gzip_bytes.hpp"
#include "tests/unit/corpus/layouts/layout_example.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

const LayoutExample kLhotseExample(
    "lhotse", "",
    {{"recordings.jsonl", R"({"id": "r", "sources": [{"type": "file", "source": "a.wav"}]})"},
     {"supervisions.jsonl",
      R"({"id": "s", "recording_id": "r", "start": 0, "duration": 1, "text": "go"})"},
     {"a.wav", ""}},
    "recordings.jsonl and supervisions.jsonl are in DATA");

// A line as lhotse writes it, of 2 seconds.
std::string recording(const std::string& id, const std::string& path,
                      const std::string& type = "file") {
  return R"({"id": ")" + id + R"(", "sources": [{"type": ")" + type +
         R"(", "channels": [0], "source": ")" + path +
         R"("}], "sampling_rate": 22050, "num_samples": 44100, "duration": 2.0, )"
         R"("channel_ids": [0]})"
         "\n";
}

std::string supervision(const std::string& id, const std::string& of, double start_s,
                        double duration_s, const std::string& more = "") {
  return R"({"id": ")" + id + R"(", "recording_id": ")" + of + R"(", "start": )" +
         std::to_string(start_s) + R"(, "duration": )" + std::to_string(duration_s) +
         R"(, "channel": 0, "text": "text of )" + id + "\"" + more + "}\n";
}

void add_pair(MemoryEnv& env, const std::string& recordings, const std::string& supervisions) {
  env.add_file("/data/x_recordings.jsonl", recordings);
  env.add_file("/data/x_supervisions.jsonl", supervisions);
}

TEST(Lhotse, ReadsThePairThatLhotseWrites) {
  MemoryEnv env;
  env.add_file("/data/ljspeech_recordings_train.jsonl.gz",
               gzip_bytes(recording("r1", "wavs/a.wav") + recording("r2", "/data/wavs/b.wav")));
  env.add_file("/data/ljspeech_supervisions_train.jsonl.gz",
               gzip_bytes(supervision("s1", "r1", 0, 2,
                                      R"(, "language": "English", "speaker": "anna",)"
                                      R"( "gender": "F", "custom": {"snr": 7.5})") +
                          supervision("s2", "r2", 0.5, 1.25)));
  add_audio(env, {"wavs/a.wav", "wavs/b.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(corpus.layout, "lhotse");
  EXPECT_EQ(ids_of(corpus), (Ids{"s1", "s2"}));
  const Clip whole = clip_of(corpus, "s1");
  EXPECT_EQ(whole.source, "wavs/a.wav");
  EXPECT_EQ(whole.text_raw, "text of s1");
  EXPECT_EQ(whole.speaker, "anna");
  EXPECT_EQ(whole.language, "English");
  EXPECT_FALSE(whole.segment) << "the supervision is as long as the recording";
  EXPECT_EQ(whole.extra_json, R"({"channel":0,"custom":{"snr":7.5},"gender":"F"})");
  EXPECT_EQ(clip_of(corpus, "s2").source, "wavs/b.wav");
  EXPECT_EQ(clip_of(corpus, "s2").segment, (Segment{0.5, 1.75}));
  EXPECT_EQ(corpus.ignored_file_count, 0U);
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_TRUE(says(notes_of(corpus),
                   "ljspeech_recordings_train.jsonl.gz and "
                   "ljspeech_supervisions_train.jsonl.gz are in DATA"));
}

TEST(Lhotse, AMillisecondMakesNoSegment) {
  MemoryEnv env;
  add_pair(env, recording("r", "a.wav"),
           supervision("near", "r", 0, 1.9995) + supervision("short", "r", 0, 1.99) +
               supervision("late", "r", 0.0005, 1.9995));
  add_audio(env, {"a.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_FALSE(clip_of(corpus, "near").segment);
  EXPECT_EQ(clip_of(corpus, "short").segment, (Segment{0.0, 1.99}));
  EXPECT_TRUE(clip_of(corpus, "late").segment) << "it begins later";
}

TEST(Lhotse, CommandsAndAddressesAreNeverRunOrFetched) {
  MemoryEnv env;
  add_pair(env,
           recording("good", "a.wav") + recording("pipe", "touch /tmp/owned", "command") +
               recording("web", "https://example.org/a.wav", "url"),
           supervision("s1", "good", 0, 2) + supervision("s2", "pipe", 0, 2) +
               supervision("s3", "web", 0, 2));
  add_audio(env, {"a.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"s1"});
  EXPECT_EQ(problems_of(corpus),
            "x_recordings.jsonl:2 pipe: the recording is a command, which is never run or fetched; "
            "make it a file and name that\n"
            "x_recordings.jsonl:3 web: the recording is a url, which is never run or fetched; "
            "make it a file and name that\n"
            "x_supervisions.jsonl:2 s2: its recording cannot be used: line 2 of "
            "x_recordings.jsonl\n"
            "x_supervisions.jsonl:3 s3: its recording cannot be used: line 3 of "
            "x_recordings.jsonl\n");
}

TEST(Lhotse, RecordingsThatAreMoreThanAFileAreRefused) {
  MemoryEnv env;
  std::string many = recording("many", "a.wav");
  many.replace(many.find("}]"), 2, R"(}, {"type": "file", "source": "b.wav"}])");
  std::string changed = recording("changed", "a.wav");
  changed.replace(changed.find("\"sampling_rate\""), 0, R"("transforms": [{"name": "Speed"}], )");
  const std::string plain = recording("plain", "a.wav");
  add_pair(env,
           many + changed + plain + plain + R"({"id": "none"})" + "\n" + R"({"sources": 3})" + "\n",
           supervision("s", "plain", 0, 2));
  add_audio(env, {"a.wav", "b.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"s"});
  EXPECT_EQ(problems_of(corpus),
            "x_recordings.jsonl:1 many: the recording is spread over several sources\n"
            "x_recordings.jsonl:2 changed: the recording has transforms, which are not applied: "
            "save its audio with them applied\n"
            "x_recordings.jsonl:4 plain: the same recording is in line 3, which is used\n"
            "x_recordings.jsonl:5 none: the recording has no sources\n"
            "x_recordings.jsonl:6 : the recording has no id\n");
}

TEST(Lhotse, EachUnusableSupervisionIsNamed) {
  MemoryEnv env;
  add_pair(env, recording("r", "a.wav") + recording("idle", "a.wav") + recording("gone", "x.wav"),
           supervision("s", "r", 0, 2) +                                       // 1
               supervision("s", "r", 0, 1) +                                   // 2
               supervision("lost", "nowhere", 0, 1) +                          // 3
               supervision("back", "r", 1, -0.5) +                             // 4
               supervision("miss", "gone", 0, 1) +                             // 5
               R"({"id": "bare", "recording_id": "r"})" + "\n" +               // 6
               R"({"recording_id": "r", "start": 0, "duration": 1})" + "\n" +  // 7
               R"({"id": "odd", "recording_id": "r", "start": "x"})" + "\n{\n");
  add_audio(env, {"a.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), Ids{"s"});
  ASSERT_EQ(corpus.problems.size(), 8U) << problems_of(corpus);
  const std::vector<std::string> reasons = {"the same id is in line 1 of x_supervisions.jsonl",
                                            "there is no recording nowhere in x_recordings.jsonl",
                                            "is a segment that ends before it begins",
                                            "no audio named x.wav",
                                            "the supervision has no start or duration",
                                            "the supervision has no id",
                                            "has a field start that is no number",
                                            "is not JSON"};
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    EXPECT_EQ(corpus.problems[i].line, i + 2);
    EXPECT_TRUE(says(corpus.problems[i].reason.detail, reasons[i]))
        << corpus.problems[i].reason.detail;
  }
  EXPECT_TRUE(says(notes_of(corpus),
                   "1 recording of x_recordings.jsonl has no supervision: no clip is made of it"));
}

TEST(Lhotse, SeveralPairsGiveTheSplits) {
  MemoryEnv env;
  for (const std::string split : {"train", "dev", "test"}) {
    env.add_file("/data/x_recordings_" + split + ".jsonl", recording(split, split + ".wav"));
    env.add_file("/data/x_supervisions_" + split + ".jsonl", supervision(split, split, 0, 2));
    add_audio(env, {split + ".wav"});
  }
  env.add_file("/data/x_recordings_more.jsonl", recording("more", "train.wav"));
  const Corpus corpus = discover_data(env, {.train_split = 1.0, .validation_split = 0.0});
  EXPECT_EQ(clip_of(corpus, "train").split, Split::kTrain);
  EXPECT_EQ(clip_of(corpus, "dev").split, Split::kValidation);
  EXPECT_EQ(clip_of(corpus, "test").split, Split::kTest);
  EXPECT_TRUE(says(notes_of(corpus), "x_recordings_more.jsonl: not read"));
}

TEST(Lhotse, AManifestThatIsCutShortIsNamed) {
  MemoryEnv env;
  const std::string packed = gzip_bytes(recording("r", "a.wav"));
  env.add_file("/data/recordings.jsonl.gz", packed.substr(0, packed.size() - 9));
  env.add_file("/data/supervisions.jsonl", supervision("s", "r", 0, 2));
  add_audio(env, {"a.wav"});
  EXPECT_TRUE(says(refusal_of(env), "recordings.jsonl.gz is cut short"));
}

TEST(Lhotse, OneListOfThePairIsNone) {
  MemoryEnv env;
  env.add_file("/data/recordings.jsonl", recording("r", "a.wav"));
  add_audio(env, {"a.wav"});
  EXPECT_EQ(layout_of(env), "folder");
  EXPECT_TRUE(says(refusal_of(env, {.layout = "lhotse"}), "no pair of *recordings*"));
}

TEST(Lhotse, OneChannelOfSeveralIsNotMixedWithTheOthers) {
  MemoryEnv env;
  const auto with = [](std::string text, std::string_view from, std::string_view to) {
    return text.replace(text.find(from), from.size(), to);
  };
  const auto call =
      with(recording("call", "call.wav"), R"("channels": [0])", R"("channels": [0, 1])");
  const auto said_on = [&](const std::string& id, const std::string& of, std::string_view channel) {
    return with(supervision(id, of, 0, 2), R"("channel": 0)", channel);
  };
  const auto bare = with(recording("bare", "bare.wav"), R"("channels": [0], )", "");
  add_pair(
      env, call + bare,
      said_on("left", "call", R"("channel": 0)") + said_on("right", "call", R"("channel": 1)") +
          said_on("both", "call", R"("channel": [1, 0])") + said_on("unsaid", "call", R"("x": 0)") +
          said_on("first", "bare", R"("channel": 0)") +
          said_on("second", "bare", R"("channel": 1)"));
  add_audio(env, {"call.wav", "bare.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"both", "first", "unsaid"}));
  ASSERT_EQ(corpus.problems.size(), 3U) << problems_of(corpus);
  EXPECT_EQ(corpus.problems[0].id, "left");
  EXPECT_EQ(
      corpus.problems[0].reason.detail,
      "the supervision is of channel 0, and its recording has more, which would be mixed: make "
      "each channel a file and a recording, or name all channels if they have the same voice");
  EXPECT_EQ(corpus.problems[1].id, "right");
  EXPECT_EQ(corpus.problems[2].id, "second");
}

}  // namespace
}  // namespace xtts::corpus
