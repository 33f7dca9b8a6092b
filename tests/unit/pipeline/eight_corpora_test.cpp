// Eight corpora by one corpora.yaml, each as it comes from its makers: their folders, lists, quirks
// and official splits, with tiny sounds in the formats that they have. From the yaml to what a
// reader of the cache is told.
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

void add_ljspeech(const TempFolder& folder) {
  const std::string root = "LJSpeech-1.1/";
  folder.write(root + "README", "The LJ Speech Dataset");
  folder.write(root + "metadata.csv",
               "LJ001-0001|Printing, of 1455|Printing, of fourteen fifty-five\n"
               "LJ001-0002|\"in\" the (Gothic) type|\"in\" the (Gothic) type\n");
  folder.write(root + "wavs/LJ001-0001.wav", sound(0));
  folder.write(root + "wavs/LJ001-0002.wav", sound(3));
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

void add_libritts(const TempFolder& folder) {
  const auto add = [&](const std::string& chapter, const std::string& id, std::uint32_t number,
                       std::string_view original, std::string_view normalized) {
    const std::string stem = "LibriTTS/" + chapter + "/" + id;
    folder.write(stem + ".wav", sound(number));
    folder.write(stem + ".original.txt", original);
    folder.write(stem + ".normalized.txt", normalized);
  };
  add("train-clean-100/19/198", "19_198_000000_000000", 4, "Of Mr. Moss", "Of Mister Moss");
  add("dev-clean/84/121123", "84_121123_000007_000001", 6, "Maximilian.", "Maximilian.");
  add("test-other/367/130732", "367_130732_000002_000000", 7, "Lobsters!", "Lobsters!");
  folder.write("LibriTTS/train-clean-100/19/198/19_198.trans.tsv",
               "19_198_000000_000000\tOf\tOf\n");
  folder.write("LibriTTS/train-clean-100/19/198/19_198.book.tsv", "19_198_000000_000000\tOf\t1\n");
  folder.write("LibriTTS/SPEAKERS.txt", ";ID|SEX|SUBSET\n19|F|train-clean-100\n");
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

void add_mls(const TempFolder& folder) {
  const std::string root = "mls_german_opus/";
  folder.write(root + "metainfo.txt", " SPEAKER | GENDER | PARTITION\n 1724 | M | train\n");
  const auto add = [&](const std::string& split, const std::string& book, const std::string& text,
                       const std::string& sweep) {
    const std::string id = "1724_" + book + "_000000";
    folder.write(root + split + "/transcripts.txt", id + "\t" + text + "\n");
    folder.write(root + split + "/segments.txt", id + "\thttp://example.org/a.mp3\t1.5\t1.9\n");
    folder.write(root + split + "/audio/1724/" + book + "/" + id + ".opus", fixture(sweep));
  };
  add("train", "8384", "über den wolken", "sweep_48000_1.opus");
  add("dev", "8385", "im süden", "sweep_48000_2.opus");
  add("test", "8386", "straße", "sweep_48000_1.opus");
  folder.write(root + "train/limited_supervision/9hr/handles.txt", "1724_8384_000000\n");
}

// Paths of Kaldi are absolute, or relative to where its recipe is run.
void add_kaldi(const TempFolder& folder) {
  const std::string root = "kaldi/";
  folder.write(root + "corpus/talk.wav", noise_wav(1, {.seconds = 2.0, .rate_hz = 16000}));
  folder.write(root + "corpus/answer.wav", sound(9));
  const std::string train = root + "data/train/";
  folder.write(train + "wav.scp", "talk " + folder.path() + "/kaldi/corpus/talk.wav\n");
  folder.write(train + "segments", "anna-1 talk 0.10 0.60\nanna-2 talk 1.20 -1\n");
  folder.write(train + "text", "anna-1 erster Satz\nanna-2 zweiter Satz\n");
  folder.write(train + "utt2spk", "anna-1 anna\nanna-2 anna\n");
  folder.write(train + "utt2lang", "anna-1 de\nanna-2 de\n");
  folder.write(train + "spk2utt", "anna anna-1 anna-2\n");
  const std::string dev = root + "data/dev/";
  folder.write(dev + "wav.scp", "bert-1 corpus/answer.wav\n");
  folder.write(dev + "text", "bert-1 une réponse\n");
  folder.write(dev + "utt2spk", "bert-1 bert\n");
  folder.write(dev + "utt2lang", "bert-1 fr\n");
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
  add_ljspeech(folder);
  add_vctk(folder);
  add_libritts(folder);
  add_common_voice(folder);
  add_mls(folder);
  add_kaldi(folder);
  add_nemo(folder);
  add_plain(folder);
  return folder.write("corpora.yaml",
                      "- {name: lj, path: LJSpeech-1.1, language: en, speaker: linda}\n"
                      "- {name: vctk, path: VCTK-Corpus-0.92}\n"
                      "- {name: tts, path: LibriTTS}\n"
                      "- {name: cv, path: cv-corpus-17.0}\n"
                      "- {name: mls, path: mls_german_opus}\n"
                      "- {name: kaldi, path: kaldi}\n"
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
      {"lj/LJ001-0001",
       {"Printing, of 1455", "Printing, of fourteen fifty-five", "linda", "en", kTrain, ""}},
      {"lj/LJ001-0002", same("\"in\" the (Gothic) type", "linda", "en", kTrain)},
      {"vctk/p225_001", same("Please call Stella.", "vctk/p225", "en", kTrain, of_p225)},
      {"vctk/p280_001", same("Ask her.", "vctk/p280", "en", kTrain, of_p280)},
      {"vctk/p315_001", same("", "vctk/p315", "en", kTrain)},
      {"vctk/s5_001", same("Six spoons.", "vctk/s5", "en", kTrain)},
      {"tts/19_198_000000_000000", {"Of Mr. Moss", "Of Mister Moss", "tts/19", "en", kTrain, ""}},
      {"tts/84_121123_000007_000001", same("Maximilian.", "tts/84", "en", kValidation)},
      {"tts/367_130732_000002_000000", same("Lobsters!", "tts/367", "en", kTest)},
      {"cv/common_voice_fa_1", same("سلام دنیا", "cv/c0ffee", "fa", kTrain, votes)},
      {"cv/common_voice_fa_2", same("بله", "cv/beef", "fa", kValidation, votes)},
      {"cv/common_voice_fa_3", same("نه", "cv/dead", "fa", kTest, votes)},
      {"cv/common_voice_de_1", same("\"Grüß Gott\", sagt er", "cv/c0ffee", "de", kTrain, votes)},
      {"mls/1724_8384_000000", same("über den wolken", "mls/1724", "de", kTrain)},
      {"mls/1724_8385_000000", same("im süden", "mls/1724", "de", kValidation)},
      {"mls/1724_8386_000000", same("straße", "mls/1724", "de", kTest)},
      {"kaldi/anna-1", same("erster Satz", "kaldi/anna", "de", kTrain)},
      {"kaldi/anna-2", same("zweiter Satz", "kaldi/anna", "de", kTrain)},
      {"kaldi/bert-1", same("une réponse", "kaldi/bert", "fr", kValidation)},
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

TEST(EightCorpora, AreOneCacheThatSaysOfEachClipWhatItsCorpusDoes) {
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
