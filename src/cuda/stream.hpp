// Stream and Event: the order of work on a GPU. Each owns its handle; move-only.
//
// A Stream takes work from one thread at a time. An Event may be waited for by any number. Neither
// waits for the whole device. Failures: as Context's.
#pragma once

#include <memory>
#include <utility>

#include "cuda/owned.hpp"

namespace xtts::cuda {

class Event {
 public:
  // A host thread that waits for it sleeps.
  [[nodiscard]] static Result<Event> create(std::shared_ptr<const Context> context);
  // Marks the place behind all work that `stream` has been given.
  [[nodiscard]] Status record(StreamHandle stream);
  // Waits until the marked place is reached.
  [[nodiscard]] Status wait() const;
  [[nodiscard]] bool has_happened() const noexcept;
  // Makes `stream` wait for the marked place, and returns at once. `of` is the stream's context:
  // the default streams have the same handles in each.
  [[nodiscard]] Status let_wait(StreamHandle stream, const Context& of) const;

 private:
  using Handle = Owned<EventHandle, &DriverCalls::destroy_event>;
  explicit Event(Handle event) noexcept : event_(std::move(event)) {}

  Handle event_;
};

class Stream {
 public:
  // It has no order with other streams, also not with the legacy default stream.
  [[nodiscard]] static Result<Stream> create(std::shared_ptr<const Context> context);

  [[nodiscard]] StreamHandle handle() const noexcept { return stream_.handle(); }
  // Waits for all of the stream's work.
  [[nodiscard]] Status wait() const;

 private:
  using Handle = Owned<StreamHandle, &DriverCalls::destroy_stream>;
  explicit Stream(Handle stream) noexcept : stream_(std::move(stream)) {}

  Handle stream_;
};

}  // namespace xtts::cuda
