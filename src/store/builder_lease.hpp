// BuilderLease excludes other builders where the system's locks may not reach all of them (network
// file systems). .build/lease names the holder, which rewrites it with a new beat every few
// seconds. A builder that wants the lease watches the file by its own monotonic clock. A beat means
// that the holder lives (kBusy). No beat for `patience` means that it does not, and the lease is
// taken over. No clock is compared with another machine's, no process number is trusted, and no
// time in a file decides anything.
//
// A builder that was suspended for longer than `patience` may find another's lease in its place.
// So it calls check() before every step that others will see, and stops (kBusy). A moment remains
// between check() and the rename after it; no file system can close it.
//
// The builder's lock is taken first, so among the builders that the lock reaches there is only
// one. A lease that one of them has left is therefore free at once. check() may be called from any
// thread; the rest from one.
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

// The text of .build/lease: the holder, and its sign of life.
struct LeaseText {
  Digest nonce;             // of one builder's hold: random, so no other has it
  std::uint64_t epoch = 1;  // grows by one at each take-over
  std::uint64_t beat = 0;   // grows by one every few seconds
  std::string circle;       // LockScope::domain of the builder's locks
  std::string holder;       // "host node7, process 4242", for messages
};

[[nodiscard]] std::string encode_lease(const LeaseText& lease);
// nullopt: the bytes are no lease.
[[nodiscard]] std::optional<LeaseText> decode_lease(std::string_view text);

struct LeaseTiming {
  std::chrono::nanoseconds beat_every = std::chrono::seconds(5);
  std::chrono::nanoseconds look_every = std::chrono::seconds(1);
  std::chrono::nanoseconds patience = std::chrono::seconds(30);
};

// Callbacks while we take hold of a cache that other machines may see.
struct LeaseCallbacks {
  std::function<void(const std::string& text)> notice = {};
  std::function<bool()> cancelled = {};  // true while we wait for life: kCancelled
};

[[nodiscard]] std::string lease_path(const std::string& cache);

class BuilderLease {
 public:
  // `circle`: the LockScope::domain of our lock; empty if we hold none. `holder`: our name, for
  // messages. kNotFound: .build/ does not exist, or a builder that has just finished removed it.
  [[nodiscard]] static Result<std::unique_ptr<BuilderLease>> take(
      Env& env, const std::string& cache, const std::string& circle, const std::string& holder,
      const LeaseCallbacks& callbacks = {}, const LeaseTiming& timing = {});

  BuilderLease(Env& env, std::string cache, LeaseText text, const LeaseTiming& timing);
  ~BuilderLease();  // gives the lease back, if it is still ours

  // kBusy: another builder has the lease now; the message names it.
  [[nodiscard]] Status check() const;
  // Unique to this hold.
  [[nodiscard]] const Digest& nonce() const noexcept { return nonce_; }
  // Writes one beat; the lease's own thread calls this.
  [[nodiscard]] Status write_beat();
  // Stops the beats and removes the file.
  [[nodiscard]] Status give_back();

 private:
  void beat_until_stopped(const std::stop_token& stop);

  Env& env_;
  const std::string cache_;
  const LeaseTiming timing_;
  const Digest nonce_;
  LeaseText text_;  // used by the beating thread, then by give_back()
  bool is_given_back_ = false;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread beating_;
};

}  // namespace xtts::store
