// Four corpora by one corpora.yaml, each as it comes from its makers: their folders, lists, quirks
// and official splits, with tiny sounds in the formats that they have. From the yaml to what a
// reader of the cache is told. The tests of layouts have the other ones.
#include <gtest/gtest.h>

#include <algorithm>

#include "build_support.hpp"
#include "recipe/corpora_file.hpp"
#include "report/reasons.hpp"
#include "support/temp_folder.hpp"
#include "support/wav_file.hpp"

namespace xtts::testing {
namespace {

// 0.4 s each.
std::string fixture(const std::string& name) {
  const std::string path = std::string(XTTS_SOURCE_DIR) + "/tests/unit/decode/data/" + name;
  auto bytes = read_text_file(Env::real(), path, 1 << 20);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return bytes.ok() ? *bytes : std::string();
}

// p280 has no mic2, p315 no text.
void add_vctk(const TempFolder& folder) {
  const std::string root = "VCTK-Corpus-0.92/";
  for (const auto* name : {"p225/p225_001_mic1", "p225/p225_001_mic2", "p280/p280_001_mic1",
                           "p315/p315_001_mic1", "s5/s5_001_mic2"}) {
    const bool is_second = std::string_view(name).ends_with("2");
    folder.write(root + "wav48_silence_trimmed/" + name + ".flac",
                 fixture(is_second ? "sweep_44100_2.flac" : "sweep_48000_1.flac"));
  }
  folder.write(root + "wav48_silence_trimmed/log.txt", "p225_001 0.1 0.2\n");
  folder.write(root + "txt/p225/p225_001.txt", "Please call Stella.\n");
  folder.write(root + "txt/p280/p280_001.txt", "Ask her.");
  folder.write(root + "txt/s5/s5_001.txt", "Six spoons.");
  folder.write(root + "speaker-info.txt",
               "ID  AGE  GENDER  ACCENTS  REGION COMMENTS \n"
               "p225  23  F    English    Southern  England\n"
               "p280  25  F    Unknown    France   (mic2 files unavailable)\n");
}

void add_common_voice(const TempFolder& folder) {
  const std::string header =
      "client_id\tpath\tsentence_id\tsentence\tup_votes\tdown_votes\tage\tgender\tlocale\n";
  const auto row = [](const std::string& client, const std::string& name,
                      const std::string& sentence, const std::string& locale) {
    return client + "\t" + name + ".mp3\tabc\t" + sentence + "\t2\t0\t\t\t" + locale + "\n";
  };
  const std::string fa = "cv-corpus-17.0/fa/";
  const std::string ours = row("c0ffee", "common_voice_fa_1", "سلام دنیا", "fa");
  folder.write(fa + "train.tsv", header + ours);
  folder.write(fa + "dev.tsv", header + row("beef", "common_voice_fa_2", "بله", "fa"));
  folder.write(fa + "test.tsv", header + row("dead", "common_voice_fa_3", "نه", "fa"));
  folder.write(fa + "validated.tsv", header + ours);
  folder.write(fa + "other.tsv", header + row("x", "common_voice_fa_4", "دیگر", "fa"));
  folder.write(fa + "clip_durations.tsv", "clip\tduration[ms]\ncommon_voice_fa_1.mp3\t400\n");
  folder.write(fa + "clips/common_voice_fa_1.mp3", fixture("sweep_44100_2.mp3"));
  folder.write(fa + "clips/common_voice_fa_2.mp3", fixture("sweep_48000_1.mp3"));
  folder.write(fa + "clips/common_voice_fa_3.mp3", fixture("sweep_22050_1.mp3"));
  folder.write(fa + "clips/common_voice_fa_4.mp3", fixture("sweep_22050_1.mp3"));
  folder.write("cv-corpus-17.0/de/train.tsv",
               header + row("c0ffee", "common_voice_de_1", R"(\"Grüß Gott\", sagt er)", "de"));
  folder.write("cv-corpus-17.0/de/clips/common_voice_de_1.mp3", fixture("sweep_22050_1.mp3"));
}

void add_nemo(const TempFolder& folder) {
  const std::string root = "nemo/";
  folder.write(root + "wavs/show.wav", noise_wav(2, {.seconds = 1.5}));
  folder.write(root + "wavs/short.wav", sound(12));
  folder.write(
      root + "train_manifest.jsonl",
      R"({"audio_filepath": "wavs/show.wav", "offset": 0.25, "duration": 0.5, "text": "hola", )"
      R"("speaker": "ana", "lang": "es", "snr": 21.5})"
      "\n"
      R"({"audio_filepath": "wavs/show.wav", "offset": 0.75, "duration": 0.5, "text": "adios", )"
      R"("normalized_text": "adiós", "speaker": 7, "lang": "es"})"
      "\n");
  folder.write(root + "dev_manifest.jsonl",
               R"({"audio_filepath": "wavs/short.wav", "duration": 0.4, "text": "corto"})"
               "\n");
}

void add_plain(const TempFolder& folder) {
  folder.write("studio/day 1/s1_سلام.wav", sound(15));
  folder.write("studio/day 1/s1_سلام.txt", "خط یک\nخط دو\n");
  folder.write("studio/day 2/s2_b.wav", sound(18));
  folder.write("studio/day 2/s2_b.txt", "\xEF\xBB\xBFtext of b\r\n");
}

std::string add_all(const TempFolder& folder) {
  add_vctk(folder);
  add_common_voice(folder);
  add_nemo(folder);
  add_plain(folder);
  return folder.write("corpora.yaml",
                      "- {name: vctk, path: VCTK-Corpus-0.92}\n"
                      "- {name: cv, path: cv-corpus-17.0}\n"
                      "- {name: nemo, path: nemo, language: es}\n"
                      "- {name: studio, path: studio, layout: folder, language: fa,"
                      " speaker_pattern: '(s[0-9])_', split: test}\n");
}

struct Record {
  std::string raw, normalized, speaker, language;
  int split = 0;
  std::string extra;

  friend bool operator==(const Record&, const Record&) = default;
  friend void PrintTo(const Record& record, std::ostream* out) {
    for (const auto* text :
         {&record.raw, &record.normalized, &record.speaker, &record.language, &record.extra}) {
      *out << *text << " | ";
    }
    *out << record.split;
  }
};

using Records = std::map<std::string, Record>;  // by full id

Records records_of(reader::CacheView& cache) {
  Records records;
  for (std::uint64_t i = 0; i < cache.size(); ++i) {
    const auto facts = cache.details(i);
    EXPECT_TRUE(facts.ok()) << facts.status().message();
    if (!facts.ok()) continue;
    const std::string id = facts->dataset.value_or("") + "/" + facts->id.value_or("");
    const auto position = cache.find(id);
    EXPECT_TRUE(position.ok() && *position == i) << id;
    EXPECT_TRUE(cache.read_record("mel", i).ok()) << id;
    records[id] = {facts->text_raw.value_or(""), facts->text_normalized.value_or(""),
                   facts->speaker.value_or(""),  facts->language.value_or(""),
                   facts->split.value_or(99),    facts->extra_json.value_or("")};
  }
  EXPECT_EQ(records.size(), cache.size()) << "ids are unique";
  return records;
}

constexpr int kTrain = 0;
constexpr int kValidation = 1;
constexpr int kTest = 2;

Records expected_records() {
  const std::string of_p225 = R"({"accent":"English","age":23,"gender":"F"})";
  const std::string of_p280 = R"({"accent":"Unknown","age":25,"gender":"F"})";
  const std::string votes = R"({"down_votes":"0","sentence_id":"abc","up_votes":"2"})";
  const auto same = [](const std::string& text, const std::string& speaker,
                       const std::string& language, int split, const std::string& extra = "") {
    return Record{text, text, speaker, language, split, extra};
  };
  return {
      {"vctk/p225_001", same("Please call Stella.", "vctk/p225", "en", kTrain, of_p225)},
      {"vctk/p280_001", same("Ask her.", "vctk/p280", "en", kTrain, of_p280)},
      {"vctk/p315_001", same("", "vctk/p315", "en", kTrain)},
      {"vctk/s5_001", same("Six spoons.", "vctk/s5", "en", kTrain)},
      {"cv/common_voice_fa_1", same("سلام دنیا", "cv/c0ffee", "fa", kTrain, votes)},
      {"cv/common_voice_fa_2", same("بله", "cv/beef", "fa", kValidation, votes)},
      {"cv/common_voice_fa_3", same("نه", "cv/dead", "fa", kTest, votes)},
      {"cv/common_voice_de_1", same("\"Grüß Gott\", sagt er", "cv/c0ffee", "de", kTrain, votes)},
      {"nemo/show_00000250-00000750", same("hola", "nemo/ana", "es", kTrain, R"({"snr":21.5})")},
      {"nemo/show_00000750-00001250", {"adios", "adiós", "nemo/7", "es", kTrain, ""}},
      {"nemo/short", same("corto", "", "es", kValidation, R"({"duration":0.4})")},
      {"studio/day 1/s1_سلام", {"خط یک\nخط دو", "خط یک خط دو", "studio/s1", "fa", kTest, ""}},
      {"studio/day 2/s2_b", same("text of b", "studio/s2", "fa", kTest)},
  };
}

pipeline::BuildRequest request_of(const TempFolder& folder, const std::string& yaml) {
  auto request = request_for(recipe_of_small_shards());
  request.data.path = yaml;
  request.options.cache = folder.path() + "/cache";
  auto corpora = recipe::load_corpora(Env::real(), yaml);
  EXPECT_TRUE(corpora.ok()) << corpora.status().message();
  if (corpora.ok()) request.corpora = std::move(*corpora);
  return request;
}

TEST(FourCorpora, AreOneCacheThatSaysOfEachClipWhatItsCorpusDoes) {
  const TempFolder folder;
  const auto request = request_of(folder, add_all(folder));
  TestObserver observer;
  const auto report = pipeline::build(Env::real(), request, observer);
  ASSERT_TRUE(report.ok()) << report.status().message();
  const auto& notes = observer.preview()->notes;
  for (const std::string_view note :
       {"vctk: 1 recording of mic2 is not used: mic1 has the same utterance",
        "vctk: 1 utterance has no recording of mic1: that of mic2 is used",
        "1 clip has no text (vctk/p315_001)"}) {
    EXPECT_TRUE(std::find(notes.begin(), notes.end(), note) != notes.end()) << note;
  }
  for (const auto& reject : report->rejects)
    ADD_FAILURE() << reject.path << ": " << report::words_of(reject);
  const auto cache = open_cache(Env::real(), request.options.cache);
  ASSERT_NE(cache, nullptr);
  const Records records = records_of(*cache);
  const Records expected = expected_records();
  for (const auto& [id, record] : expected) {
    const auto place = records.find(id);
    if (place == records.end()) {
      ADD_FAILURE() << id << " is missing";
    } else {
      EXPECT_EQ(place->second, record) << id;
    }
  }
  EXPECT_EQ(records.size(), expected.size());
  EXPECT_EQ(damage_in(Env::real(), request.options.cache), "");

  const auto again = must_build(Env::real(), request);
  EXPECT_TRUE(again.unchanged);
  EXPECT_EQ(again.computed_count, 0U);
  EXPECT_EQ(again.generation, report->generation);
}

}  // namespace
}  // namespace xtts::testing
