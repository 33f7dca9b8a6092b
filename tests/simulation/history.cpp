#include "history.hpp"

#include <array>
#include <random>

#include "base/shell_words.hpp"

namespace xtts::simulation {
namespace {

constexpr std::uint64_t kStepsMax = 700;  // of a program that meets with a misfortune

// Chooses what a history holds.
class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) { history_.seed = seed; }

  History make() {
    history_.corpus = chance(0.7) ? CorpusKind::kFiles : CorpusKind::kParts;
    history_.clip_count = static_cast<std::uint32_t>(4 + below(16));
    history_.is_on_network = chance(0.2);
    choose_settings();
    const std::uint64_t event_count = 3 + below(10);
    add_run(build());
    while (history_.events.size() < event_count) add_event();
    return std::move(history_);
  }

 private:
  std::uint64_t below(std::uint64_t count) { return random_() % count; }
  bool chance(double share) { return static_cast<double>(random_() >> 11U) * 0x1.0p-53 < share; }
  template <typename... Words>
  std::string one_of(Words... words) {
    const std::array<std::string, sizeof...(Words)> all{words...};
    return all[below(all.size())];
  }

  // Chooses the settings that the user gives with every build of this cache.
  void choose_settings() {
    if (chance(0.3)) {
      settings_.insert(settings_.end(), {"--recipe", one_of("hifigan", "tacotron2", "whisper-80")});
    }
    // A record may be 16 MiB, so a shard takes eight clips.
    settings_.insert(settings_.end(), {"--layout", "packed"});
    set("features.max_frames=52428");
    if (chance(0.5)) set("corpus.train_split=1"), set("corpus.validation_split=0");
    if (chance(0.2)) settings_.insert(settings_.end(), {"--store", "hdf5"});
    if (chance(0.2)) settings_.insert(settings_.end(), {"--dtype", "float16"});
    if (chance(0.2)) set("features.columns.energy=true");
    if (chance(0.15)) set("features.columns.wave=int16");
    if (chance(0.1)) settings_.push_back("--no-text");
  }
  void set(const std::string& setting) {
    settings_.push_back("--set");
    settings_.push_back(setting);
  }

  std::vector<std::string> build() {
    std::vector<std::string> words = {"build", kData, kCache};
    words.insert(words.end(), settings_.begin(), settings_.end());
    words.insert(words.end(),
                 {"--isa", "scalar", "--log-level", "warning", "-j", std::to_string(1 + below(3)),
                  "--max-rejects", "100%", "--max-dropped", "100%", "--max-gone", "100%"});
    return words;
  }

  // A rule or a text setting, which an update must follow.
  std::string rule() {
    return one_of("corpus.max_source_seconds=0.09", "corpus.max_source_seconds=0.25",
                  "corpus.max_source_seconds=7200", "corpus.max_clip_seconds=0.05",
                  "corpus.max_clip_seconds=none", "corpus.too_short=drop", "corpus.too_short=keep",
                  "corpus.too_short_seconds=0.07", "corpus.duplicates=drop", "corpus.silent=drop",
                  "corpus.language=de", "corpus.language=fa", "corpus.no_text=drop",
                  "corpus.no_text=warn", "corpus.speaker_pattern=(clip|tape)", "text.tokens=none",
                  "text.tokens=bytes", "text.use_normalized=false", "text.store=true",
                  "text.max_tokens=16", "text.too_long=truncate");
  }

  std::vector<std::string> update() {
    if (chance(0.35)) {
      if (chance(0.2)) {
        settings_.push_back("--no-text");
      } else {
        set(rule());
      }
    }
    std::vector<std::string> words = build();
    if (chance(0.1)) words.push_back("--retry-rejects");
    if (chance(0.05)) words.push_back("--overwrite");
    return words;
  }

  std::vector<std::string> any_program() {
    const std::uint64_t which = below(24);
    if (which < 9) return update();
    if (which < 11) return {"verify", kCache, "--level", one_of("quick", "full", "deep")};
    if (which < 13) return {"verify", kCache, "--repair", "--isa", "scalar"};
    if (which < 16) return {"compact", kCache, "-j", "2"};
    if (which < 18) return {"add_column", "pitch", one_of("1", "1", "2")};
    if (which < 20) return {"read"};
    if (which < 22) return {"convert", kCache, new_folder(), "--store", "hdf5"};
    if (which < 23) return partition();
    return {"build", kData, kCache, "--isa", "scalar"};  // as a user who trusts the cache
  }
  std::string new_folder() { return "/new-" + std::to_string(history_.events.size()); }

  // Two parts and their merge are three commands, in three runs.
  std::vector<std::string> partition() {
    std::vector<std::string> merge = {"merge", new_folder()};
    for (const std::string number : {"1", "2"}) {
      std::vector<std::string> words = build();
      words[2] = "/part-" + number + "-" + std::to_string(history_.events.size());
      merge.push_back(words[2]);
      words.insert(words.end(), {"--partition", number + "/2"});
      history_.events.push_back(
          {.kind = EventKind::kRun, .seed = random_(), .programs = {{std::move(words), {}}}});
    }
    merge.insert(merge.end(), {"--max-rejects", "100%"});
    return merge;
  }

  Fate fate() {
    Fate fate;
    if (!chance(0.4)) return fate;
    fate.kind = static_cast<Misfortune>(1 + below(4));
    // Early steps as often as late ones: many programs are short.
    fate.at_step = 1 + below(chance(0.3) ? 60 : kStepsMax);
    if (fate.kind == Misfortune::kSuspend) fate.amount = 1 + below(90);
    if (fate.kind == Misfortune::kFullDisk) fate.amount = below(60'000);
    fate.torn_share = static_cast<double>(below(11)) / 10.0;
    return fate;
  }

  void add_run(std::vector<std::string> words) {
    Event event{.kind = EventKind::kRun, .seed = random_()};
    event.programs.push_back({std::move(words), fate()});
    while (event.programs.size() < 3 && chance(0.25))
      event.programs.push_back({any_program(), fate()});
    constexpr std::array kShares = {0.01, 0.05, 0.2, 0.5};
    event.switch_share = kShares[below(kShares.size())];
    if (chance(0.12)) event.power_cut_at = 1 + below(kStepsMax);
    event.power_keeps_some = chance(0.5);
    history_.events.push_back(std::move(event));
  }

  void add_event() {
    const std::uint64_t which = below(20);
    if (which < 8) {
      const auto change = static_cast<ChangeKind>(below(kChangeCount));
      history_.events.push_back({.kind = EventKind::kChange, .seed = random_(), .change = change});
    } else if (which < 15) {
      add_run(any_program());
    } else if (which < 16) {
      history_.events.push_back({.kind = EventKind::kOpenReader, .seed = random_()});
    } else if (which < 17) {
      history_.events.push_back({.kind = EventKind::kReadAgain, .seed = random_()});
    } else if (which < 18) {
      history_.events.push_back({.kind = EventKind::kCloseReader, .seed = random_()});
    } else if (which < 19) {
      history_.events.push_back({.kind = EventKind::kDamage, .seed = random_()});
    } else {
      add_run(update());
    }
  }

  std::mt19937_64 random_;
  History history_;
  std::vector<std::string> settings_;
};

}  // namespace

History make_history(std::uint64_t seed) {
  return Maker(seed).make();
}

std::string describe(const std::vector<std::string>& words) {
  std::string text = words.front() == "add_column" ? "python:" : "xtts-precompute";
  for (const std::string& word : words)
    text += " " + (word.starts_with('-') ? word : shell_quoted(word));
  return text;
}

std::string describe(const ProgramRun& program) {
  std::string text = describe(program.words);
  const Fate& fate = program.fate;
  const std::string at = std::to_string(fate.at_step);
  switch (fate.kind) {
    case Misfortune::kNone:
      return text;
    case Misfortune::kKill:
      return text + "\n      killed at its step " + at;
    case Misfortune::kSuspend:
      return text + "\n      suspended at its step " + at + " for " + std::to_string(fate.amount) +
             " s";
    case Misfortune::kFailure:
      return text + "\n      an I/O error at its step " + at;
    case Misfortune::kFullDisk:
      return text + "\n      from its step " + at + " on the disk has room for " +
             std::to_string(fate.amount) + " bytes";
  }
  return text;
}

}  // namespace xtts::simulation
