#include "store/builder_lease.hpp"

#include <array>
#include <new>
#include <nlohmann/json.hpp>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "formats/json_fields.hpp"
#include "store/cache_folder.hpp"
#include "store/durable.hpp"

namespace xtts::store {
namespace {

constexpr std::uint64_t kLeaseBytesMax = 4096;
// The number of times that we may come too late for a lease that was free when we looked.
constexpr int kRoundsMax = 10;
// A look that took this many times longer than planned was a stall (of the network or of us). No
// holder could beat during it.
constexpr int kStallFactor = 3;
// On a network file system a rename over a file may appear in two steps, or with the old file's
// size. So we look again.
constexpr int kLooksForOurs = 3;
constexpr std::chrono::milliseconds kLookAgain{200};

// The raw text, because we only compare it: an equal text is no sign of life. nullopt: no lease. A
// power cut may have left an empty one.
Result<std::optional<std::string>> read_lease(Env& env, const std::string& cache) {
  auto text = read_text_file(env, lease_path(cache), kLeaseBytesMax);
  if (text) return std::optional(std::move(*text));
  if (text.status().code() == StatusCode::kNotFound) return std::optional<std::string>();
  return text.status();
}

// Does not sync: a sign of life need not survive a power cut, and must not wait behind a shard.
Status write_unsynced(Env& env, const std::string& path, const std::string& text) {
  XTTS_ASSIGN(const auto file, create_file(env, path));
  XTTS_TRY(file->append(as_bytes(text)));
  return file->close();
}

std::string temporary_path(const std::string& cache, const Digest& nonce) {
  return formatted("{}-{}.tmp", lease_path(cache), nonce.to_hex());
}

std::string holder_of(const std::string& text) {
  const auto lease = decode_lease(text);
  std::string holder = lease ? lease->holder : "an unknown process";
  std::erase_if(holder, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  return holder;
}

bool is_ours(const std::optional<std::string>& text, const Digest& nonce) {
  const auto lease = text ? decode_lease(*text) : std::nullopt;
  return lease && lease->nonce == nonce;
}

class LeaseAcquirer {
 public:
  LeaseAcquirer(Env& env, const std::string& cache, const LeaseText& ours,
                const LeaseCallbacks& callbacks, const LeaseTiming& timing)
      : env_(env), cache_(cache), ours_(ours), callbacks_(callbacks), timing_(timing) {}

  // Takes the lease; returns its text with the epoch filled in.
  Result<LeaseText> take() {
    for (int round = 0; round < kRoundsMax; ++round) {
      XTTS_ASSIGN(const auto found, read_lease(env_, cache_));
      const auto left = found ? decode_lease(*found) : std::nullopt;
      const bool is_of_our_dead = left && !ours_.circle.empty() && left->circle == ours_.circle;
      if (found && !is_of_our_dead) XTTS_TRY(wait_for_life(*found));
      ours_.epoch = left ? left->epoch + 1 : 1;
      XTTS_ASSIGN(const bool held, found ? replace(*found, is_of_our_dead) : create());
      if (held) return ours_;
    }
    return Status(StatusCode::kBusy,
                  formatted("other builders keep taking and leaving {}: run again", cache_));
  }

 private:
  // Ok: the holder gives no sign of life. kBusy: it lives.
  Status wait_for_life(const std::string& found) {
    if (callbacks_.notice) {
      callbacks_.notice(formatted("{} may be building {}: waiting {} s for a sign of life",
                                  holder_of(found), cache_,
                                  timing_.patience / std::chrono::seconds(1)));
    }
    auto silent_since = env_.now();
    for (auto last = silent_since; last - silent_since < timing_.patience;) {
      if (callbacks_.cancelled && callbacks_.cancelled())
        return {StatusCode::kCancelled, "stopped while it waited for another builder"};
      env_.sleep_for(timing_.look_every);
      XTTS_ASSIGN(const auto text, read_lease(env_, cache_));
      if (!text) return {};  // the holder has given the lease back
      if (*text != found)
        return {StatusCode::kBusy,
                formatted("another builder holds {}: {}", cache_, holder_of(*text))};
      const auto now = env_.now();
      if (now - last > kStallFactor * timing_.look_every) silent_since = now;
      last = now;
    }
    return {};
  }

  // Creates a lease where there is none. Of several builders only one can make the link.
  Result<bool> create() {
    XTTS_TRY(write_ours());
    const Status linked = env_.link(temporary(), lease_path(cache_));
    if (linked.code() == StatusCode::kUnsupported) return rename_and_look_again();
    XTTS_TRY(remove_if_there(env_, temporary()));
    // If the server's answer was lost, the link exists although the call failed.
    XTTS_ASSIGN(const auto text, read_lease(env_, cache_));
    if (!text) return linked.ok() ? Result<bool>(false) : Result<bool>(linked);
    return is_ours(text, ours_.nonce);
  }

  Result<bool> replace(const std::string& found, bool is_of_our_dead) {
    XTTS_TRY(write_ours());
    XTTS_ASSIGN(const auto text, read_lease(env_, cache_));
    if (text != found) {
      XTTS_TRY(remove_if_there(env_, temporary()));
      return false;
    }
    // Our lock keeps out every builder that it reaches. Any other would have waited for a sign of
    // life, and so would not come just now.
    if (is_of_our_dead) {
      XTTS_TRY(env_.rename(temporary(), lease_path(cache_)));
      return true;
    }
    return rename_and_look_again();
  }

  // Of several builders that rename at the same time, the last one is the holder.
  Result<bool> rename_and_look_again() {
    XTTS_TRY(env_.rename(temporary(), lease_path(cache_)));
    env_.sleep_for(2 * timing_.look_every);
    XTTS_ASSIGN(const auto text, read_lease(env_, cache_));
    return is_ours(text, ours_.nonce);
  }

  Status write_ours() {
    return write_synced_file(env_, temporary(), as_bytes(encode_lease(ours_)));
  }

  [[nodiscard]] std::string temporary() const { return temporary_path(cache_, ours_.nonce); }

  Env& env_;
  const std::string& cache_;
  LeaseText ours_;
  const LeaseCallbacks& callbacks_;
  const LeaseTiming& timing_;
};

}  // namespace

std::string encode_lease(const LeaseText& lease) {
  return formats::dump_canonical({{"nonce", lease.nonce.to_hex()},
                                  {"epoch", lease.epoch},
                                  {"beat", lease.beat},
                                  {"circle", lease.circle},
                                  {"holder", lease.holder}}) +
         "\n";
}

std::optional<LeaseText> decode_lease(std::string_view text) {
  const auto document = formats::parse_json(text);
  if (!document || !document->is_object()) return {};
  Status failure;
  formats::JsonFields fields(*document, "", failure);
  LeaseText lease;
  lease.nonce = fields.digest("nonce");
  lease.epoch = fields.integer<std::uint64_t>("epoch");
  lease.beat = fields.integer<std::uint64_t>("beat");
  lease.circle = fields.text("circle");
  lease.holder = fields.text("holder");
  if (!failure.ok()) return {};
  return lease;
}

std::string lease_path(const std::string& cache) {
  return join_path(build_folder(cache), "lease");
}

Result<std::unique_ptr<BuilderLease>> BuilderLease::take(Env& env, const std::string& cache,
                                                         const std::string& circle,
                                                         const std::string& holder,
                                                         const LeaseCallbacks& callbacks,
                                                         const LeaseTiming& timing) {
  const LeaseText ours{.nonce = random_digest(), .circle = circle, .holder = holder};
  XTTS_ASSIGN(auto text, LeaseAcquirer(env, cache, ours, callbacks, timing).take());
  return std::make_unique<BuilderLease>(env, cache, std::move(text), timing);
}

BuilderLease::BuilderLease(Env& env, std::string cache, LeaseText text, const LeaseTiming& timing)
    : env_(env),
      cache_(std::move(cache)),
      timing_(timing),
      nonce_(text.nonce),
      text_(std::move(text)),
      beating_([this](const std::stop_token& stop) { beat_until_stopped(stop); }) {}

BuilderLease::~BuilderLease() {
  try {
    (void)give_back();
  } catch (...) {  // no memory: the next builder waits out `patience`
  }
}

Status BuilderLease::check() const {
  std::optional<std::string> text;
  for (int look = 0; look < kLooksForOurs; ++look) {
    if (look > 0) env_.sleep_for(kLookAgain);
    XTTS_ASSIGN(text, read_lease(env_, cache_));
    if (is_ours(text, nonce_)) return {};
    if (text && decode_lease(*text)) break;  // it is another's
  }
  const std::string who = text ? holder_of(*text) : "another builder";
  return {StatusCode::kBusy,
          formatted(
              "{} has taken over {}, because this builder gave no sign of life (suspended, or cut "
              "off from its file system); it stops here and leaves what it has sealed to the other",
              who, cache_)};
}

Status BuilderLease::write_beat() {
  ++text_.beat;
  const std::string temporary = temporary_path(cache_, nonce_);
  XTTS_TRY(write_unsynced(env_, temporary, encode_lease(text_)));
  // Right before the rename, because a late beat must not replace another's lease.
  XTTS_TRY(check());
  return env_.rename(temporary, lease_path(cache_));
}

void BuilderLease::beat_until_stopped(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, stop, timing_.beat_every, [&] { return stop.stop_requested(); })) {
    // A failed beat is skipped; check() finds out whether another builder has noticed.
    try {
      (void)write_beat();
    } catch (...) {
    }
  }
}

Status BuilderLease::give_back() {
  if (beating_.joinable()) {
    beating_.request_stop();
    beating_.join();
  }
  if (is_given_back_) return {};
  is_given_back_ = true;
  XTTS_TRY(remove_if_there(env_, temporary_path(cache_, nonce_)));  // left by a failed beat
  XTTS_TRY(check());
  return remove_if_there(env_, lease_path(cache_));
}

}  // namespace xtts::store
