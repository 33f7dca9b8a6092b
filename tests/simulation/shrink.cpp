#include "shrink.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

namespace xtts::simulation {
namespace {

constexpr int kPatienceMs = 60'000;
constexpr std::uint64_t kAttemptsMax = 250;

void send(int pipe, const std::string& text) {
  const std::uint64_t size = text.size();
  (void)!::write(pipe, &size, sizeof size);
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t written = ::write(pipe, text.data() + at, text.size() - at);
    if (written <= 0) return;
    at += static_cast<std::size_t>(written);
  }
}

// All that the child has written until it ended. False: it took too long.
bool receive(int pipe, std::string& text) {
  char buffer[65536];
  for (;;) {
    pollfd wanted{.fd = pipe, .events = POLLIN, .revents = 0};
    if (::poll(&wanted, 1, kPatienceMs) <= 0) return false;
    const ssize_t count = ::read(pipe, buffer, sizeof buffer);
    if (count <= 0) return true;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

std::string take(std::string_view& text) {
  std::uint64_t size = 0;
  if (text.size() < sizeof size) return {};
  std::memcpy(&size, text.data(), sizeof size);
  text.remove_prefix(sizeof size);
  std::string part(text.substr(0, size));
  text.remove_prefix(part.size());
  return part;
}

[[noreturn]] void live(const History& history, int pipe) {
  World world(history);
  const auto failure = world.run();
  const Totals& totals = world.totals();
  send(pipe, failure ? failure->invariant : "");
  send(pipe, failure ? failure->text : "");
  send(pipe, world.story());
  send(pipe, std::string(reinterpret_cast<const char*>(&totals), sizeof totals));
  ::_exit(0);  // threads that hang are left as they are
}

// Tries to make a history shorter, step by step.
class Shrinker {
 public:
  Shrinker(History history, const Failure& failure)
      : invariant_(failure.invariant),
        best_{.history = std::move(history), .verdict = {failure, {}, {}}} {}

  Shrunk shrink() {
    best_.verdict = run_apart(best_.history);
    for (bool is_shorter = true; is_shorter && best_.attempts < kAttemptsMax;) {
      is_shorter = false;
      for (const auto drop : {&Shrinker::drop_events, &Shrinker::drop_programs,
                              &Shrinker::drop_misfortunes, &Shrinker::drop_clips})
        is_shorter = (this->*drop)() || is_shorter;
    }
    return std::move(best_);
  }

 private:
  bool attempt(History shorter) {
    if (best_.attempts >= kAttemptsMax) return false;
    ++best_.attempts;
    Verdict verdict = run_apart(shorter);
    if (!verdict.failure || verdict.failure->invariant != invariant_) return false;
    best_.history = std::move(shorter);
    best_.verdict = std::move(verdict);
    return true;
  }

  bool drop_events() {
    bool any = false;
    for (std::size_t i = best_.history.events.size(); i-- > 0;) {
      History shorter = best_.history;
      shorter.events.erase(shorter.events.begin() + static_cast<std::ptrdiff_t>(i));
      any = attempt(std::move(shorter)) || any;
    }
    return any;
  }

  bool drop_programs() {
    bool any = false;
    for (std::size_t i = 0; i < best_.history.events.size(); ++i) {
      for (std::size_t k = best_.history.events[i].programs.size(); k-- > 0;) {
        if (best_.history.events[i].programs.size() < 2) break;
        History shorter = best_.history;
        auto& programs = shorter.events[i].programs;
        programs.erase(programs.begin() + static_cast<std::ptrdiff_t>(k));
        any = attempt(std::move(shorter)) || any;
      }
    }
    return any;
  }

  bool drop_misfortunes() {
    bool any = false;
    for (std::size_t i = 0; i < best_.history.events.size(); ++i) {
      if (best_.history.events[i].power_cut_at) {
        History shorter = best_.history;
        shorter.events[i].power_cut_at.reset();
        any = attempt(std::move(shorter)) || any;
      }
      for (std::size_t k = 0; k < best_.history.events[i].programs.size(); ++k) {
        if (best_.history.events[i].programs[k].fate.kind == Misfortune::kNone) continue;
        History shorter = best_.history;
        shorter.events[i].programs[k].fate = {};
        any = attempt(std::move(shorter)) || any;
      }
    }
    if (best_.history.is_on_network) {
      History shorter = best_.history;
      shorter.is_on_network = false;
      any = attempt(std::move(shorter)) || any;
    }
    return any;
  }

  bool drop_clips() {
    if (best_.history.clip_count < 4) return false;
    History shorter = best_.history;
    shorter.clip_count = shorter.clip_count * 2 / 3;
    return attempt(std::move(shorter));
  }

  const std::string invariant_;
  Shrunk best_;
};

}  // namespace

Verdict run_apart(const History& history) {
  int ends[2];
  if (::pipe(ends) != 0) return {Failure{"ends", "no pipe"}, {}, {}};
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    live(history, ends[1]);
  }
  ::close(ends[1]);
  std::string text;
  const bool came_to_its_end = receive(ends[0], text);
  ::close(ends[0]);
  if (!came_to_its_end) ::kill(child, SIGABRT);
  int status = 0;
  ::waitpid(child, &status, 0);
  Verdict verdict;
  if (!came_to_its_end || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    verdict.failure =
        Failure{"ends", !came_to_its_end ? "no end after a minute"
                                         : "a crash, status " + std::to_string(status)};
    return verdict;
  }
  std::string_view rest = text;
  const std::string invariant = take(rest);
  const std::string why = take(rest);
  if (!invariant.empty()) verdict.failure = Failure{invariant, why};
  verdict.story = take(rest);
  const std::string totals = take(rest);
  if (totals.size() == sizeof verdict.totals)
    std::memcpy(&verdict.totals, totals.data(), sizeof verdict.totals);
  return verdict;
}

Shrunk shrink(History history, const Failure& failure) {
  return Shrinker(std::move(history), failure).shrink();
}

}  // namespace xtts::simulation
