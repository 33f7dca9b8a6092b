// BuilderLease: who builds, where the system's locks may not reach all who could (network file
// systems). .build/lease names the holder and is rewritten with a new beat every few seconds.
// Whoever wants it watches that file by his own monotonic clock: a beat means that somebody is
// there (kBusy), none for `patience` that nobody is, and the lease is taken over. No clock is
// compared with another machine's, no process number is trusted, nothing is decided by a time in a
// file.
//
// A builder that was suspended for so long finds another's lease where its own was: check(), before
// everything that others will see, and stops (kBusy). Between that look and the rename after it
// lies a moment that no file system can close.
//
// The builder's lock is taken before, so that among those whom locks reach there is one: a lease
// that one of them has left is free at once. check() may be called from any thread; the rest from
// one.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "base/env.hpp"
#include "base/hash.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

// The text of .build/lease: who builds, and proof of life.
struct LeaseText {
  Digest nonce;             // of one builder's hold, by chance: no other ever has it
  std::uint64_t epoch = 1;  // one more at each take-over
  std::uint64_t beat = 0;   // one more every few seconds
  std::string circle;       // LockReach::circle of the builder's locks
  std::string holder;       // "host node7, process 4242", for messages
};

[[nodiscard]] std::string encode_lease(const LeaseText& lease);
// Nothing where the bytes are not a lease's.
[[nodiscard]] std::optional<LeaseText> decode_lease(std::string_view text);

struct LeaseTerms {
  std::chrono::nanoseconds beat_every = std::chrono::seconds(5);
  std::chrono::nanoseconds look_every = std::chrono::seconds(1);
  std::chrono::nanoseconds patience = std::chrono::seconds(30);
};

// While we take hold of a cache that other machines may see.
struct HoldNotices {
  std::function<void(const std::string& notice)> tell = {};
  std::function<bool()> cancelled = {};  // asked while we wait for a sign of life; then kCancelled
};

[[nodiscard]] std::string lease_path(const std::string& cache);

class BuilderLease {
 public:
  // `circle`: whom the lock that we hold reaches, empty where we hold none. `holder`: who we are,
  // for messages. kNotFound: .build/ is not there, or was removed by whoever has just finished.
  [[nodiscard]] static Result<std::unique_ptr<BuilderLease>> take(
      Env& env, const std::string& cache, const std::string& circle, const std::string& holder,
      const HoldNotices& notices = {}, const LeaseTerms& terms = {});

  BuilderLease(Env& env, std::string cache, LeaseText text, const LeaseTerms& terms);
  ~BuilderLease();  // gives it back, where it is still ours

  // kBusy, naming the holder, where it is another's by now.
  [[nodiscard]] Status check() const;
  // Of this hold and no other.
  [[nodiscard]] const Digest& nonce() const noexcept { return nonce_; }
  // One beat, as its own thread does it.
  [[nodiscard]] Status beat();
  // No more beats, and the file goes.
  [[nodiscard]] Status give_back();

 private:
  void beat_until_stopped(const std::stop_token& stop);

  Env& env_;
  const std::string cache_;
  const LeaseTerms terms_;
  const Digest nonce_;
  LeaseText text_;  // of the thread that beats, and of give_back() after it
  bool is_given_back_ = false;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread beating_;
};

}  // namespace xtts::store
