#include "cuda/stream.hpp"

namespace xtts::cuda {

Result<Event> Event::create(std::shared_ptr<const Context> context) {
  EventHandle handle = nullptr;
  XTTS_TRY(context->run("making an event on " + context->label(), [&](const DriverCalls& calls) {
    return calls.create_event(&handle, kEventBlockingWait | kEventWithoutTiming);
  }));
  return Event(std::move(context), handle);
}

Event::~Event() {
  if (handle_ == nullptr) return;
  context_->run_quietly([&](const DriverCalls& calls) { return calls.destroy_event(handle_); });
}

Event::Event(Event&& other) noexcept
    : context_(std::move(other.context_)), handle_(std::exchange(other.handle_, nullptr)) {}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(handle_, other.handle_);
  return *this;
}

Status Event::record(StreamHandle stream) {
  return context_->run("recording an event on " + context_->label(), [&](const DriverCalls& calls) {
    return calls.record_event(handle_, stream);
  });
}

Status Event::wait() const {
  return context_->run("waiting for a copy to " + context_->label(),
                       [&](const DriverCalls& calls) { return calls.synchronize_event(handle_); });
}

bool Event::has_happened() const noexcept {
  CallResult result = kNotReady;
  context_->run_quietly(
      [&](const DriverCalls& calls) { return result = calls.query_event(handle_); });
  return result == kSuccess;
}

Status Event::let_wait(StreamHandle stream, const Context& of) const {
  return of.run(
      "letting a stream of " + of.label() + " wait for an event",
      [&](const DriverCalls& calls) { return calls.let_stream_wait(stream, handle_, 0); });
}

Result<Stream> Stream::create(std::shared_ptr<const Context> context) {
  StreamHandle handle = nullptr;
  XTTS_TRY(context->run("making a stream on " + context->label(), [&](const DriverCalls& calls) {
    return calls.create_stream(&handle, kStreamNonBlocking, 0);
  }));
  return Stream(std::move(context), handle);
}

Stream::~Stream() {
  if (handle_ == nullptr) return;
  context_->run_quietly([&](const DriverCalls& calls) { return calls.destroy_stream(handle_); });
}

Stream::Stream(Stream&& other) noexcept
    : context_(std::move(other.context_)), handle_(std::exchange(other.handle_, nullptr)) {}

Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(handle_, other.handle_);
  return *this;
}

Status Stream::wait() const {
  return context_->run("waiting for a stream of " + context_->label(),
                       [&](const DriverCalls& calls) { return calls.synchronize_stream(handle_); });
}

}  // namespace xtts::cuda
