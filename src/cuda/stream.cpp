#include "cuda/stream.hpp"

#include "base/formatted.hpp"

namespace xtts::cuda {

Result<Event> Event::create(std::shared_ptr<const Context> context) {
  EventHandle handle = nullptr;
  XTTS_TRY(context->run("making an event on " + context->label(), [&](const DriverCalls& calls) {
    return calls.create_event(&handle, kEventBlockingWait | kEventWithoutTiming);
  }));
  return Event({std::move(context), handle});
}

Status Event::record(StreamHandle stream) {
  const Context& on = *event_.context();
  return on.run("recording an event on " + on.label(), [&](const DriverCalls& calls) {
    return calls.record_event(event_.handle(), stream);
  });
}

Status Event::wait() const {
  const Context& on = *event_.context();
  return on.run("waiting for a copy to " + on.label(),
                [&](const DriverCalls& calls) { return calls.synchronize_event(event_.handle()); });
}

bool Event::has_happened() const noexcept {
  CallResult result = kNotReady;
  event_.context()->run_quietly(
      [&](const DriverCalls& calls) { return result = calls.query_event(event_.handle()); });
  return result == kSuccess;
}

Status Event::let_wait(StreamHandle stream, const Context& of) const {
  return of.run(
      formatted("letting a stream of {} wait for an event", of.label()),
      [&](const DriverCalls& calls) { return calls.let_stream_wait(stream, event_.handle(), 0); });
}

Result<Stream> Stream::create(std::shared_ptr<const Context> context) {
  StreamHandle handle = nullptr;
  XTTS_TRY(context->run("making a stream on " + context->label(), [&](const DriverCalls& calls) {
    return calls.create_stream(&handle, kStreamNonBlocking, 0);
  }));
  return Stream({std::move(context), handle});
}

Status Stream::wait() const {
  const Context& on = *stream_.context();
  return on.run("waiting for a stream of " + on.label(), [&](const DriverCalls& calls) {
    return calls.synchronize_stream(stream_.handle());
  });
}

}  // namespace xtts::cuda
