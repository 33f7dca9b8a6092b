// Memory of devices, page-locked memory of the host, and copies.
#include <vector>

#include "support/cuda_driver/copies.hpp"
#include "support/cuda_driver/entry_points.hpp"

namespace xtts::testing::fake_cuda {
namespace {

// The stream of a copy, and the device's side of it. Both must be of the current context.
struct CopyPlace {
  StreamPointer stream;
  DeviceRange range;
};

CopyPlace place_of_copy(FakeDriver& now, StreamHandle handle, DeviceAddress address,
                        std::size_t size_bytes) {
  CopyPlace place{.stream = now.stream(handle), .range = now.device_range(address, size_bytes)};
  now.check_is_current(*place.stream);
  now.check_is_current(*place.range.allocation);
  return place;
}

// The driver finds out where the bytes lie.
void enqueue_copy_from_anywhere(FakeDriver& now, const CopyPlace& to, DeviceAddress from) {
  if (now.is_device_address(from)) {
    const DeviceRange source = now.device_range(from, to.range.end - to.range.begin);
    now.check_is_current(*source.allocation);
    enqueue_copy_to_peer(now, *to.stream, to.range, source);
  } else {
    enqueue_copy_to_device(now, *to.stream, to.range, reinterpret_cast<const std::byte*>(from));
  }
}

// The copies of one call have no order among them, so they are queued in a random one, and must not
// overlap.
void enqueue_list(FakeDriver& now, const DeviceAddress* to, const DeviceAddress* from,
                  const std::size_t* sizes_bytes, std::size_t count,
                  const CopyAttributes* attributes, const std::size_t* first_of_attributes,
                  std::size_t attributes_count, StreamHandle stream) {
  if (reinterpret_cast<std::uintptr_t>(stream) <= 2) {
    now.refuse(kInvalidValue, "a list of copies cannot go to a default stream");
  }
  const bool is_known = count > 0 && attributes_count == 1 && *first_of_attributes == 0 &&
                        attributes->source_order == kSourceInStreamOrder && attributes->flags == 0;
  if (!is_known) now.refuse(kInvalidValue, "attributes that this driver does not know");
  std::vector<CopyPlace> places;
  for (std::size_t i = 0; i < count; ++i) {
    places.push_back(place_of_copy(now, stream, to[i], sizes_bytes[i]));
  }
  for (const std::size_t i : now.shuffled(count)) {
    for (std::size_t other = 0; other < i; ++other) {
      const DeviceRange& mine = places[i].range;
      const DeviceRange& theirs = places[other].range;
      if (mine.begin < theirs.end && theirs.begin < mine.end) {
        now.fault("cuMemcpyBatchAsync: two copies of one call write to the same memory");
      }
    }
    enqueue_copy_from_anywhere(now, places[i], from[i]);
  }
}

}  // namespace

extern "C" {

CallResult cuMemAlloc_v2(DeviceAddress* address, std::size_t size_bytes) {
  return make_call("cuMemAlloc", [&](FakeDriver& now, auto&) {
    *address = now.allocate(now.current(), size_bytes)->address();
  });
}

CallResult cuMemFree_v2(DeviceAddress address) {
  return make_call("cuMemFree", [&](FakeDriver& now, auto& lock) {
    const AllocationPointer allocation = now.device_range(address, 0).allocation;
    if (allocation->address() != address) {
      now.refuse(kInvalidValue, "the address lies inside of " + allocation->name);
    }
    now.check_is_current(*allocation);
    now.free(lock, allocation);
  });
}

CallResult cuMemHostRegister_v2(void* memory, std::size_t size_bytes, unsigned flags) {
  return make_call("cuMemHostRegister", [&](FakeDriver& now, auto&) {
    const ContextPointer context = now.current();
    const auto* const bytes = static_cast<const std::byte*>(memory);
    if (size_bytes == 0 || !is_mapped(bytes, size_bytes)) {
      now.refuse(kInvalidValue, "the memory of the host is not mapped");
    }
    now.host.lock(context, bytes, size_bytes, (flags & kHostMemoryPortable) != 0);
  });
}

CallResult cuMemHostUnregister(void* memory) {
  return make_call("cuMemHostUnregister", [&](FakeDriver& now, auto&) {
    (void)now.current();
    now.host.unlock(static_cast<const std::byte*>(memory));
  });
}

CallResult cuMemcpyHtoDAsync_v2(DeviceAddress to, const void* from, std::size_t size_bytes,
                                StreamHandle stream) {
  return make_call("cuMemcpyHtoDAsync", [&](FakeDriver& now, auto&) {
    const CopyPlace place = place_of_copy(now, stream, to, size_bytes);
    enqueue_copy_to_device(now, *place.stream, place.range, static_cast<const std::byte*>(from));
  });
}

CallResult cuMemcpyAsync(DeviceAddress to, DeviceAddress from, std::size_t size_bytes,
                         StreamHandle stream) {
  return make_call("cuMemcpyAsync", [&](FakeDriver& now, auto&) {
    enqueue_copy_from_anywhere(now, place_of_copy(now, stream, to, size_bytes), from);
  });
}

CallResult cuMemcpyBatchAsync_v2(DeviceAddress* to, DeviceAddress* from, std::size_t* sizes_bytes,
                                 std::size_t count, CopyAttributes* attributes,
                                 std::size_t* first_of_attributes, std::size_t attributes_count,
                                 StreamHandle stream) {
  return make_call("cuMemcpyBatchAsync_v2", [&](FakeDriver& now, auto&) {
    enqueue_list(now, to, from, sizes_bytes, count, attributes, first_of_attributes,
                 attributes_count, stream);
  });
}

CallResult cuMemcpyBatchAsync(DeviceAddress* to, DeviceAddress* from, std::size_t* sizes_bytes,
                              std::size_t count, CopyAttributes* attributes,
                              std::size_t* first_of_attributes, std::size_t attributes_count,
                              std::size_t* failed, StreamHandle stream) {
  return make_call("cuMemcpyBatchAsync", [&](FakeDriver& now, auto&) {
    *failed = 0;
    enqueue_list(now, to, from, sizes_bytes, count, attributes, first_of_attributes,
                 attributes_count, stream);
  });
}
CallResult cuMemcpyDtoHAsync_v2(void* to, DeviceAddress from, std::size_t size_bytes,
                                StreamHandle stream) {
  return make_call("cuMemcpyDtoHAsync", [&](FakeDriver& now, auto&) {
    const CopyPlace place = place_of_copy(now, stream, from, size_bytes);
    enqueue_copy_to_host(now, *place.stream, static_cast<std::byte*>(to), place.range);
  });
}

CallResult cuMemcpyPeerAsync(DeviceAddress to, ContextHandle to_context, DeviceAddress from,
                             ContextHandle from_context, std::size_t size_bytes,
                             StreamHandle stream) {
  return make_call("cuMemcpyPeerAsync", [&](FakeDriver& now, auto&) {
    const StreamPointer on = now.stream(stream);
    now.check_is_current(*on);
    const DeviceRange to_range = now.device_range(to, size_bytes);
    const DeviceRange from_range = now.device_range(from, size_bytes);
    if (to_range.allocation->context != now.context(to_context) ||
        from_range.allocation->context != now.context(from_context)) {
      now.refuse(kInvalidContext, "an address is not of the context that is given for it");
    }
    enqueue_copy_to_peer(now, *on, to_range, from_range);
  });
}

}  // extern "C"
}  // namespace xtts::testing::fake_cuda
