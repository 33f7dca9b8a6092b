// The public test corpus: each small corpus with one fault, and the real ones, against what its
// manifest expects.
#include <gtest/gtest.h>

#include <cstdlib>

#include "corpus_checks.hpp"
#include "support/temp_folder.hpp"

namespace xtts::corpus {
namespace {

class RealCorpus : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("XTTS_CORPUS");
    if (folder == nullptr)
      GTEST_SKIP() << "set XTTS_CORPUS to the unpacked speech corpus to run this";
    root_ = folder;
  }
  [[nodiscard]] Result<Corpus> read(const std::string& folder,
                                    const formats::CorpusConfig& config = {}) const {
    return discover(Env::real(), root_ + "/" + folder, config);
  }

  std::string root_;
};

struct Expected {
  const char* folder;
  std::size_t clip_count;  // 0: the corpus is refused
  std::size_t problem_count;
  const char*
      said;  // a part of the refusal, of a problem or of a note; empty: nothing need be said
};

TEST_F(RealCorpus, CorporaWithOneFaultEachDoWhatTheManifestExpects) {
  const Expected expected[] = {
      {"00_good", 2, 0, ""},
      {"01_traversal_up", 1, 3, "climbs out of its folder"},
      {"05_bom", 2, 0, ""},
      {"06_crlf", 2, 0, ""},
      {"08_no_final_newline", 2, 0, ""},
      {"09_empty_file", 0, 0, "metadata.csv holds no line"},
      {"12_duplicate_id_same", 2, 1, "metadata.csv:2 LJ001-0002: the same id is in line 1"},
      {"14_missing_audio", 2, 1, "metadata.csv:2 LJ999-0001: no audio named LJ999-0001 in wavs/"},
      {"17_no_metadata", 2, 0, "no metadata list in DATA: every audio file below it is a clip"},
      {"18_one_field", 1, 1, "metadata.csv:2 : the line has one field"},
      {"19_two_fields", 2, 0, ""},
      {"22_quotes", 2, 0, ""},
      {"23_empty_text", 2, 0, "1 clip has no text"},
      {"28_invalid_utf8", 1, 1, "metadata.csv:2 : the line is not UTF-8"},
      {"30_utf16le", 2, 0, ""},
      {"34_header_line", 2, 0, "has a header line"},
      {"38_persian_text", 2, 0, ""},
      {"49_binary_metadata", 0, 0, "can be used; expected lines"},
      {"50_extra_audio_not_listed", 1, 0, "1 audio file is not used by the list"},
      {"51_all_clips_bad", 2, 0, ""},     // shows when they are decoded
      {"52_one_bad_one_good", 2, 0, ""},  // likewise
      {"56_flac_only", 2, 0, ""},
  };
  for (const Expected& row : expected) {
    const auto corpus = read("hostile/meta/" + std::string(row.folder));
    if (row.clip_count == 0) {
      EXPECT_EQ(corpus.status().code(), StatusCode::kInvalidArgument) << row.folder;
      EXPECT_NE(corpus.status().message().find(row.said), std::string::npos)
          << row.folder << ": " << corpus.status().message();
      continue;
    }
    ASSERT_TRUE(corpus.ok()) << row.folder << ": " << corpus.status().message();
    EXPECT_EQ(corpus->clips.size(), row.clip_count) << row.folder;
    EXPECT_EQ(corpus->problems.size(), row.problem_count)
        << row.folder << ": " << problems_of(*corpus);
    EXPECT_NE((problems_of(*corpus) + notes_of(*corpus)).find(row.said), std::string::npos)
        << row.folder << ": " << problems_of(*corpus) << notes_of(*corpus);
  }
}

TEST_F(RealCorpus, AnEmptyFolderIsRefused) {
  const testing::TempFolder empty;  // version control does not carry 53_empty_dir
  const auto corpus = discover(Env::real(), empty.path(), {});
  EXPECT_EQ(corpus.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(corpus.status().message().find("no audio in"), std::string::npos);
}

TEST_F(RealCorpus, TextsAreThoseOfTheList) {
  const auto persian = read("hostile/meta/38_persian_text");
  ASSERT_TRUE(persian.ok());
  EXPECT_EQ(clip_of(*persian, "LJ001-0008").text_normalized, "كتاب ي عربي");
  const auto crlf = read("hostile/meta/06_crlf");
  EXPECT_EQ(clip_of(*crlf, "LJ001-0008").text_normalized, "has never been surpassed.");
  const auto quotes = read("hostile/meta/22_quotes");
  EXPECT_EQ(clip_of(*quotes, "LJ001-0008").text_normalized, "say \"\"yes\"\"");
}

TEST_F(RealCorpus, OddNamesAreClipsAndKeepTheirNames) {
  const auto corpus = read("hostile/names");
  ASSERT_TRUE(corpus.ok()) << corpus.status().message();
  EXPECT_EQ(corpus->clips.size(), 18U);
  EXPECT_EQ(problems_of(*corpus), "");
  EXPECT_EQ(clip_of(*corpus, "wavs/same_stem").source, "wavs/same_stem.wav");
  EXPECT_EQ(clip_of(*corpus, "wavs/same_stem.flac").source, "wavs/same_stem.flac");
  for (const auto id : {"wavs/%s%n%d", "wavs/-leading-dash", "wavs/pipe|pipe", "wavs/سلام دنیا",
                        "wavs/a/same_base_name"}) {
    EXPECT_EQ(clip_of(*corpus, id).source, std::string(id) + ".wav");
  }
  EXPECT_NE(notes_of(*corpus).find(
                "2 pairs of ids differ only in letter case, accents or their encoding"),
            std::string::npos);
}

TEST_F(RealCorpus, RealLjspeechIsReadWhole) {
  const auto corpus = read("real_ljspeech");
  ASSERT_TRUE(corpus.ok()) << corpus.status().message();
  EXPECT_EQ(corpus->layout, "ljspeech");
  EXPECT_EQ(corpus->clips.size(), 9U);
  EXPECT_EQ(problems_of(*corpus), "");
  EXPECT_EQ(clip_of(*corpus, "LJ001-0002").source_bytes, 83814U);
}

TEST_F(RealCorpus, CoquiListsWithSpeakersAreRead) {
  const auto flac = read("real_mixed/ljspeech_coqui_flac");
  ASSERT_TRUE(flac.ok()) << flac.status().message();
  EXPECT_EQ(ids_of(*flac), (std::vector<std::string>{"LJ001-0002", "LJ001-0008"}));
  EXPECT_EQ(clip_of(*flac, "LJ001-0008").speaker, "ljspeech-3");
  EXPECT_EQ(clip_of(*flac, "LJ001-0008").text_normalized, "has never been surpassed.");
  const auto mp3 = read("real_mixed/ljspeech_coqui_mp3");
  ASSERT_TRUE(mp3.ok());
  EXPECT_EQ(mp3->clips.size(), 4U);
}

TEST_F(RealCorpus, AKaldiFolderIsRead) {
  const auto corpus = read("real_mixed/kaldi_cards");
  ASSERT_TRUE(corpus.ok()) << corpus.status().message();
  EXPECT_EQ(corpus->layout, "kaldi");
  EXPECT_EQ(ids_of(*corpus), (std::vector<std::string>{"001", "002", "003", "004", "005"}));
  EXPECT_EQ(clip_of(*corpus, "002").source, "wav/002.wav");
  EXPECT_EQ(clip_of(*corpus, "002").text_raw, "four queen of clubs");
  EXPECT_EQ(clip_of(*corpus, "003").speaker, "cards");
  EXPECT_EQ(problems_of(*corpus), "");
}

TEST_F(RealCorpus, AFolderTreeKeepsEqualFileNamesApart) {
  const auto corpus = read("real_mixed/speaker_dirs");
  ASSERT_TRUE(corpus.ok());
  EXPECT_EQ(ids_of(*corpus), (std::vector<std::string>{"wav/spk2/snt1/00001", "wav/spk2/snt2/00001",
                                                       "wav/spk2/snt3/00001"}));
}

TEST_F(RealCorpus, LooseFilesGetTheTextBesideThem) {
  const auto corpus = read("real_mixed/loose");
  ASSERT_TRUE(corpus.ok()) << corpus.status().message();
  EXPECT_TRUE(says(clip_of(*corpus, "jfk").text_raw, "ask not what your country"))
      << clip_of(*corpus, "jfk").text_raw;
  // Nobody can decode it, and so it is refused by name there.
  EXPECT_EQ(clip_of(*corpus, "goforward").source, "goforward.raw");
}

TEST_F(RealCorpus, LibriSpeechIsReadWithItsSplit) {
  const auto corpus = read("real_mixed/LibriSpeech");
  ASSERT_TRUE(corpus.ok()) << corpus.status().message();
  EXPECT_EQ(corpus->layout, "librispeech");
  EXPECT_EQ(ids_of(*corpus), (std::vector<std::string>{"1089-134691-0000", "1995-1837-0001"}));
  EXPECT_EQ(problems_of(*corpus), "");
  const Clip clip = clip_of(*corpus, "1089-134691-0000");
  EXPECT_EQ(clip.text_normalized, "HE COULD WAIT NO LONGER");
  EXPECT_EQ(clip.speaker, "1089");
  EXPECT_EQ(clip.split, Split::kTest);
  EXPECT_EQ(clip.source_bytes, 39105U);
  const auto chapter = read("real_mixed/LibriSpeech/test-clean/1089/134691");
  ASSERT_TRUE(chapter.ok());
  EXPECT_EQ(clip_of(*chapter, "1089-134691-0000").speaker, "1089");
}

TEST_F(RealCorpus, LibriTtsIsReadWithOneOfItsTexts) {
  const auto corpus = read("real_mixed/LibriTTS");
  ASSERT_TRUE(corpus.ok()) << corpus.status().message();
  EXPECT_EQ(corpus->layout, "libritts");
  EXPECT_EQ(problems_of(*corpus), "");
  const Clip clip = clip_of(*corpus, "6544_231862_000065_000001");
  EXPECT_EQ(clip.text_raw, "");
  EXPECT_EQ(clip.text_normalized,
            "denzil did look, and uttered a second cry more startling than the first.");
  EXPECT_EQ(clip.speaker, "6544");
  EXPECT_EQ(clip.split, Split::kTrain);
}

TEST_F(RealCorpus, CommonVoiceIsReadWithoutTheClipsThatAreNotThere) {
  for (const auto folder : {"real_mixed/cv-corpus", "real_mixed/cv-corpus/en"}) {
    const auto corpus = read(folder);
    ASSERT_TRUE(corpus.ok()) << corpus.status().message();
    EXPECT_EQ(corpus->layout, "commonvoice");
    EXPECT_EQ(ids_of(*corpus), (std::vector<std::string>{"common_voice_en_651325"}));
    EXPECT_EQ(corpus->problems.size(), 5U) << problems_of(*corpus);
    const Clip clip = corpus->clips[0];
    EXPECT_EQ(clip.text_raw, "");
    EXPECT_EQ(clip.speaker, std::string(128, '0'));
    EXPECT_EQ(clip.language, "en");
    EXPECT_EQ(clip.extra_json, "");
  }
}

}  // namespace
}  // namespace xtts::corpus
