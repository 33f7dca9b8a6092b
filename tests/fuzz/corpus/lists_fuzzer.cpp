// Any bytes as the lists of a corpus: clips with unique ids and existing sources, problems that say
// where and why; the same for any order of the folders' entries; never a hang or a crash.
//
// The first byte chooses a layout's lists; the rest is their contents, cut at zero bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "corpus/corpus.hpp"
#include "formats/corpus_config.hpp"
#include "support/memory_env.hpp"

namespace {

using xtts::corpus::Corpus;

struct Lists {
  std::vector<std::string_view> names;
  std::vector<std::string_view> sounds;
};

const std::vector<Lists>& layouts() {
  static const std::vector<Lists> all = {
      {{"metadata.csv"}, {"wavs/a.wav", "wavs/b c.wav"}},
      {{"metadata.csv", "metadata_eval.csv"}, {"wavs/a.wav", "wavs/b.flac"}},
      {{"en/train.tsv", "en/dev.tsv", "en/validated.tsv"}, {"en/clips/a.mp3", "en/clips/b.mp3"}},
      {{"wav.scp", "segments", "text", "utt2spk", "utt2lang"}, {"a.wav", "sub/b.wav"}},
      {{"manifest.json"}, {"a.wav", "sub/b.wav"}},
      {{"metadata.jsonl"}, {"a.wav", "data/b.wav"}},
      {{"recordings.jsonl", "supervisions.jsonl"}, {"a.wav", "b.wav"}},
      {{"train.txt", "val.txt"}, {"a.wav", "wavs/b.wav"}},
      {{"table.csv"}, {"a.wav", "b.wav"}},
      {{"transcripts.txt", "segments.txt", "metainfo.txt"}, {"train/audio/1/2/1_2_000001.flac"}},
      {{"train/transcript/aishell.txt", "content.txt"}, {"train/wav/S1/S10001.wav"}},
      {{"speaker-info.txt", "txt/p225/p225_001.txt"}, {"wav48/p225/p225_001.wav"}},
      {{"1/2/1-2.trans.txt", "SPEAKERS.TXT"}, {"1/2/1-2-0000.flac"}},
  };
  return all;
}

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const Corpus& corpus) {
  for (std::size_t i = 0; i < corpus.clips.size(); ++i) {
    const auto& clip = corpus.clips[i];
    require(!clip.id.empty() && !clip.source.empty());
    if (i == 0) continue;
    const auto& before = corpus.clips[i - 1];
    require(std::tie(before.dataset, before.split, before.id) <
            std::tie(clip.dataset, clip.split, clip.id));
  }
  for (const auto& problem : corpus.problems) {
    require(!problem.reason.detail.empty());
    require(!xtts::corpus::place_in_words(problem).empty());
  }
}

void check_same(const Corpus& a, const Corpus& b) {
  require(a.layout == b.layout && a.clips.size() == b.clips.size() &&
          a.problems.size() == b.problems.size());
  for (std::size_t i = 0; i < a.clips.size(); ++i) {
    require(a.clips[i].id == b.clips[i].id && a.clips[i].source == b.clips[i].source &&
            a.clips[i].text_raw == b.clips[i].text_raw && a.clips[i].speaker == b.clips[i].speaker);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Lists& lists = layouts()[data[0] % layouts().size()];
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  xtts::testing::MemoryEnv env;
  for (const auto sound : lists.sounds) env.add_file("/data/" + std::string(sound), "RIFF");
  for (const auto name : lists.names) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    env.add_file("/data/" + std::string(name), rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const auto corpus = xtts::corpus::discover({.env = env, .data = {"/data"}, .config = {}});
  env.shuffle_listings(7);
  const auto shuffled = xtts::corpus::discover({.env = env, .data = {"/data"}, .config = {}});
  require(corpus.ok() == shuffled.ok());
  if (!corpus.ok()) {
    require(!corpus.status().message().empty());
    return 0;
  }
  check(*corpus);
  check_same(*corpus, *shuffled);
  return 0;
}
