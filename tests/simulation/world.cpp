#include "world.hpp"

#include <algorithm>
#include <random>

#include "scheduler.hpp"

namespace xtts::simulation {
namespace {

// A build as a user types it who trusts that the cache knows its settings.
bool is_bare(const std::vector<std::string>& words) {
  return words.front() == "build" && words.size() < 6;
}

Failure hang(const std::string& waits) {
  return {"ends", "the programs hang:\n" + waits};
}

}  // namespace

World::World(History history)
    : history_(std::move(history)),
      corpus_(disk_.files, history_.corpus, history_.clip_count),
      next_seed_(history_.seed * 1000) {
  disk_.files.add_folder("/tmp");
  if (history_.is_on_network) disk_.files.set_network();
}

std::optional<Failure> World::run() {
  for (const Event& event : history_.events) {
    if (auto failure = live(event)) return failure;
  }
  return settle();
}

World::Verdict World::live(const Event& event) {
  switch (event.kind) {
    case EventKind::kChange:
      tell("- " + corpus_.change(event.change, event.seed));
      return std::nullopt;
    case EventKind::kRun:
      return run_programs(event);
    case EventKind::kOpenReader:
      return open_reader(event);
    case EventKind::kReadAgain:
      return read_again(event);
    case EventKind::kCloseReader:
      if (!readers_.empty()) {
        tell("- reader " + std::to_string(readers_.begin()->first) + " closes");
        readers_.erase(readers_.begin());
      }
      return std::nullopt;
    case EventKind::kDamage:
      return damage(event);
  }
  return std::nullopt;
}

World::Verdict World::run_programs(const Event& event) {
  std::deque<Running> running;
  for (const ProgramRun& program : event.programs) {
    Running& one = running.emplace_back();
    one.words = program.words;
    const bool has_cache = disk_.files.exists(kCache + "/manifest.json");
    if (is_bare(one.words) && !has_cache && !last_build_.empty()) one.words = last_build_;
    one.process.name = describe(one.words);
    one.process.fate = program.fate;
    one.process.is_on_other_host = history_.is_on_network && running.size() % 2 == 0;
    if (one.words.front() == "build" && one.words[2] == kCache && !is_bare(one.words)) {
      last_build_ = one.words;
      asked_since_whole_.push_back(one.words);
    }
  }
  const Before before = look_before();
  if (auto failure = run_side_by_side(event, running)) return failure;
  if (auto failure = judge_all(before, running)) return failure;
  return event.programs.size() > 1 ? std::nullopt : run_again(running.front());
}

// A convert, merge or compact that was killed is run again, and ends well.
World::Verdict World::run_again(const Running& one) {
  const std::string& command = one.words.front();
  if (command != "convert" && command != "merge" && command != "compact") return std::nullopt;
  if (!one.process.is_dead || is_damaged_) return std::nullopt;
  const std::string& source = one.words[command == "merge" ? 2 : 1];
  if (!disk_.files.exists(source + "/manifest.json")) return std::nullopt;
  // A compact refuses to harm unfinished work.
  if (command == "compact" && disk_.files.exists(kCache + "/.build/journal")) return std::nullopt;
  Outcome outcome;
  if (auto failure = run_alone(one.words, outcome)) return failure;
  const std::string& target = one.words[command == "convert" ? 2 : 1];
  if (outcome.exit_code == 0 && !disk_.files.exists(target + "/.build/lock")) return std::nullopt;
  if (command == "merge" && outcome.exit_code == 3) return std::nullopt;  // no clip is left
  return Failure{"again", "it was killed, and run again it ends with " +
                              std::to_string(outcome.exit_code) + ": " + outcome.err};
}

World::Verdict World::run_alone(const std::vector<std::string>& words, Outcome& outcome) {
  const Event event{.kind = EventKind::kRun, .seed = next_seed_++, .programs = {{words, {}}}};
  std::deque<Running> running;
  Running& one = running.emplace_back();
  one.words = words;
  one.process.name = describe(words);
  const Before before = look_before();
  if (auto failure = run_side_by_side(event, running)) return failure;
  outcome = one.outcome;
  return judge_all(before, running);
}

World::Verdict World::run_side_by_side(const Event& event, std::deque<Running>& running) {
  for (const Running& one : running) {
    tell((&one == &running.front() ? "- " : "  beside it: ") +
         describe({one.words, one.process.fate}));
  }
  Scheduler scheduler(event.seed, event.switch_share, clock_);
  disk_.power_cut_at = event.power_cut_at;
  disk_.on_power_cut = [&] {
    disk_.is_dark = true;
    for (Running& one : running) one.process.die(scheduler);
  };
  for (Running& one : running) {
    scheduler.start(one.process, [this, &one] {
      ProcessEnv env(disk_, one.process);
      run_program(env, one.words, one.outcome);
    });
  }
  const bool all_ended = scheduler.run();
  clock_ = scheduler.now();
  totals_.steps += scheduler.step_count();
  totals_.decisions += scheduler.decision_count();
  totals_.programs += running.size();
  disk_.room_bytes.reset();
  if (!all_ended) return hang(scheduler.describe_waits());
  for (const Running& one : running) tell_outcome(one);
  if (disk_.is_dark) cut_power(event, running);
  disk_.power_cut_at.reset();
  return std::nullopt;
}

void World::cut_power(const Event& event, std::deque<Running>&) {
  std::mt19937_64 random(event.seed + 1);
  const auto by_chance = [&] { return random() % 2 == 0; };
  disk_.files.forget_unsynced(event.power_keeps_some ? std::function<bool()>(by_chance) : nullptr);
  disk_.is_dark = false;
  readers_.clear();
  tell("  the power failed at step " + std::to_string(*event.power_cut_at) +
       (event.power_keeps_some ? "; some of what was not synced is there" : ""));
}

void World::tell_outcome(const Running& one) {
  if (one.process.is_dead) {
    tell("      ended before: " + one.process.last_call);
    return;
  }
  const bool has_failed = one.outcome.exit_code != 0;  // verify prints its findings as a result
  const std::string text = (has_failed ? one.outcome.out : std::string()) + one.outcome.err;
  std::string line = "      exit code " + std::to_string(one.outcome.exit_code);
  if (!text.empty()) line += ": " + text.substr(0, text.find_last_not_of('\n') + 1);
  tell(line);
}

World::Verdict World::open_reader(const Event& event) {
  const std::uint32_t number = next_reader_++;
  Reader& reader = readers_[number];
  reader.process.name = "reader " + std::to_string(number);
  reader.env = std::make_unique<ProcessEnv>(disk_, reader.process);
  Scheduler scheduler(event.seed, 0, clock_);
  Status status;
  scheduler.start(reader.process, [&] {
    auto view = reader::CacheView::open(*reader.env, kCache);
    status = view.status();
    if (!view) return;
    reader.view = std::move(*view);
    auto snapshot = read_snapshot(*reader.view);
    status = snapshot.status();
    if (snapshot) reader.snapshot = std::move(*snapshot);
  });
  const bool has_ended = scheduler.run();
  totals_.steps += scheduler.step_count();
  if (!has_ended) return hang(scheduler.describe_waits());
  tell("- " + reader.process.name + " opens" + (status.ok() ? "" : ": " + status.message()));
  if (status.ok()) return std::nullopt;
  readers_.erase(number);
  if (status.code() == StatusCode::kNotFound || is_damaged_) return std::nullopt;
  return Failure{"reader", status.message()};
}

World::Verdict World::read_again(const Event& event) {
  if (readers_.empty() || is_damaged_) return std::nullopt;
  Reader& reader =
      std::next(readers_.begin(), static_cast<std::ptrdiff_t>(event.seed % readers_.size()))
          ->second;
  Scheduler scheduler(event.seed, 0, clock_);
  Result<Snapshot> again = Status();
  scheduler.start(reader.process, [&] { again = read_snapshot(*reader.view); });
  if (!scheduler.run()) return hang(scheduler.describe_waits());
  totals_.steps += scheduler.step_count();
  tell("- " + reader.process.name + " reads all again");
  if (!again) return Failure{"reader", again.status().message()};
  const std::string changed = difference(reader.snapshot, *again);
  if (!changed.empty()) return Failure{"reader", "it holds other records now:\n" + changed};
  return std::nullopt;
}

World::Verdict World::damage(const Event& event) {
  const auto files = files_below(disk_.files, kCache);
  if (!disk_.files.exists(kCache + "/manifest.json")) return std::nullopt;
  std::mt19937_64 random(event.seed);
  auto chosen = std::next(files.begin(), static_cast<std::ptrdiff_t>(random() % files.size()));
  auto bytes = chosen->second;
  if (bytes.empty() || chosen->first.find("/.build/") != std::string::npos) return std::nullopt;
  const std::size_t at = random() % bytes.size();
  bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
  disk_.files.change_in_place(chosen->first, bytes, testing::MemoryEnv::Times::kKeep);
  is_damaged_ = true;
  readers_.clear();
  tell("- a bit flips in " + chosen->first + ", byte " + std::to_string(at));
  Outcome outcome;
  std::vector<std::string> words{"verify", kCache};
  // A copy that is damaged is a note. It names the repair.
  if (chosen->first.ends_with("/copy-of-index.bin")) words.emplace_back("--repair");
  return run_alone(words, outcome);
}

// The end: nobody disturbs, and what the user asked for last must come about.
World::Verdict World::settle() {
  readers_.clear();
  tell("- at the end, undisturbed");
  Outcome outcome;
  if (is_damaged_)
    if (auto failure = run_alone({"verify", kCache}, outcome)) return failure;
  if (last_build_.empty()) return std::nullopt;
  std::erase(last_build_, "--overwrite");
  std::erase(last_build_, "--retry-rejects");
  if (history_.seed % 2 == 0 && disk_.files.exists(kCache + "/manifest.json"))
    if (auto failure = run_alone({"compact", kCache}, outcome)) return failure;
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (auto failure = run_alone(last_build_, outcome)) return failure;
    // It may ask first what becomes of other unfinished work. Its answer was pasted.
    const bool asks = outcome.err.find("--discard-unfinished") != std::string::npos;
    if (attempt == 0 && outcome.exit_code == 2 && asks) continue;
    for (const char* const refusal : {"DATA holds none of the", "added columns behind them"})
      if (outcome.err.find(refusal) != std::string::npos) return std::nullopt;
    const int afresh =
        outcome.exit_code == 0 ? 0 : exit_code_afresh(files_below(disk_.files, kData), last_build_);
    // It asks for what cannot be; unfinished work is kept until a build ends well.
    if (afresh != 0 && (afresh == outcome.exit_code || asks)) return std::nullopt;
    if (outcome.exit_code != 0)
      return Failure{"again", "the build does not come to its end: " + outcome.err};
  }
  if (!outcome.decoded.empty())
    return Failure{"again",
                   "a build after a finished one decodes " + outcome.decoded.front().substr(2)};
  if (auto failure = run_alone({"compact", kCache}, outcome)) return failure;
  if (outcome.exit_code != 0) return Failure{"again", "compact fails: " + outcome.err};
  return std::nullopt;
}

}  // namespace xtts::simulation
