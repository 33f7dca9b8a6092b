// Streams and events.
#include "support/cuda_driver/entry_points.hpp"

namespace xtts::testing::fake_cuda {
extern "C" {

CallResult cuStreamCreateWithPriority(StreamHandle* stream, unsigned flags, int /*priority*/) {
  return make_call("cuStreamCreateWithPriority", [&](FakeDriver& now, auto&) {
    if (flags > kStreamNonBlocking) now.refuse(kInvalidValue, "there are no such flags");
    const auto made = now.make_stream_object(now.current(), (flags & kStreamNonBlocking) == 0);
    *stream = as_handle<StreamHandle>(now.streams.add(made));
  });
}

// Work that the stream has been given goes on.
CallResult cuStreamDestroy_v2(StreamHandle stream) {
  return make_call("cuStreamDestroy", [&](FakeDriver& now, auto&) {
    if (reinterpret_cast<std::uintptr_t>(stream) <= 2) {
      now.refuse(kInvalidHandle, "a default stream cannot be destroyed");
    }
    const StreamPointer found = now.stream(stream);
    now.check_is_current(*found);
    found->is_alive = false;
  });
}

CallResult cuStreamSynchronize(StreamHandle stream) {
  return make_call("cuStreamSynchronize", [&](FakeDriver& now, auto& lock) {
    const StreamPointer found = now.stream(stream);
    now.check_is_current(*found);
    now.wait_as_host(lock, TaskPointer(found->last));
  });
}

// The event may be of another context than the stream; one of them must be current.
CallResult cuStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned flags) {
  return make_call("cuStreamWaitEvent", [&](FakeDriver& now, auto&) {
    if (flags != 0) now.refuse(kInvalidValue, "there are no such flags");
    const StreamPointer on = now.stream(stream);
    const EventPointer waited_for = now.event(event);
    if (waited_for->context != now.current()) now.check_is_current(*on);
    if (waited_for->record == nullptr) return;  // nothing to wait for
    now.enqueue(*on, {.name = now.call_name, .waited_for = waited_for->record});
  });
}

CallResult cuEventCreate(EventHandle* event, unsigned flags) {
  return make_call("cuEventCreate", [&](FakeDriver& now, auto&) {
    if (flags > (kEventBlockingWait | kEventWithoutTiming)) {
      now.refuse(kInvalidValue, "flags that are not imitated: " + std::to_string(flags));
    }
    auto made = std::make_shared<Event>();
    made->context = now.current();
    *event = as_handle<EventHandle>(now.events.add(made));
  });
}

// Streams that wait for the event go on waiting for its last record.
CallResult cuEventDestroy_v2(EventHandle event) {
  return make_call("cuEventDestroy", [&](FakeDriver& now, auto&) {
    const EventPointer found = now.event(event);
    now.check_is_current(*found);
    found->is_alive = false;
  });
}

CallResult cuEventRecord(EventHandle event, StreamHandle stream) {
  return make_call("cuEventRecord", [&](FakeDriver& now, auto&) {
    const EventPointer recorded = now.event(event);
    const StreamPointer on = now.stream(stream);
    now.check_is_current(*recorded);
    now.check_is_current(*on);
    recorded->record = now.enqueue(*on, {.name = now.call_name + " of " + recorded->name});
  });
}

CallResult cuEventQuery(EventHandle event) {
  return make_call("cuEventQuery", [&](FakeDriver& now, auto&) {
    const EventPointer found = now.event(event);
    now.check_is_current(*found);
    if (found->record == nullptr) return;
    if (!found->record->is_done) {
      // Whoever asks again and again gets the work done.
      if (now.scheduler.below(4) == 0) now.scheduler.want(found->record);
      throw Refusal{kNotReady};
    }
    now.learn(*found->record);
  });
}

CallResult cuEventSynchronize(EventHandle event) {
  return make_call("cuEventSynchronize", [&](FakeDriver& now, auto& lock) {
    const EventPointer found = now.event(event);
    now.check_is_current(*found);
    now.wait_as_host(lock, TaskPointer(found->record));
  });
}

}  // extern "C"
}  // namespace xtts::testing::fake_cuda
