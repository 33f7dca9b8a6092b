// Stream and Event: the order of work on a GPU. Each owns its handle; move-only.
//
// A Stream takes work from one thread at a time. An Event may be waited for by any number. Neither
// waits for the whole device. Failures: as Context's.
#pragma once

#include <memory>
#include <utility>

#include "cuda/context.hpp"

namespace xtts::cuda {

class Event {
 public:
  // A host thread that waits for it sleeps.
  [[nodiscard]] static Result<Event> create(std::shared_ptr<const Context> context);
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;

  [[nodiscard]] EventHandle handle() const noexcept { return handle_; }
  // Marks the place behind all work that `stream` has been given.
  [[nodiscard]] Status record(StreamHandle stream);
  // Waits until the marked place is reached.
  [[nodiscard]] Status wait() const;
  [[nodiscard]] bool has_happened() const noexcept;
  // Makes `stream` wait for the marked place, and returns at once. `of` is the stream's context:
  // the default streams have the same handles in each.
  [[nodiscard]] Status let_wait(StreamHandle stream, const Context& of) const;

 private:
  Event(std::shared_ptr<const Context> context, EventHandle handle) noexcept
      : context_(std::move(context)), handle_(handle) {}

  std::shared_ptr<const Context> context_;
  EventHandle handle_ = nullptr;
};

class Stream {
 public:
  // It has no order with other streams, also not with the legacy default stream.
  [[nodiscard]] static Result<Stream> create(std::shared_ptr<const Context> context);
  ~Stream();
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;

  [[nodiscard]] StreamHandle handle() const noexcept { return handle_; }
  // Waits for all of the stream's work.
  [[nodiscard]] Status wait() const;

 private:
  Stream(std::shared_ptr<const Context> context, StreamHandle handle) noexcept
      : context_(std::move(context)), handle_(handle) {}

  std::shared_ptr<const Context> context_;
  StreamHandle handle_ = nullptr;
};

}  // namespace xtts::cuda
