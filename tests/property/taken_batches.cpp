#include "taken_batches.hpp"

#include <gtest/gtest.h>

#include "support/device_under_test.hpp"

namespace xtts::testing {
namespace {

Taken show(const loader::BatchSlot& slot) {
  if (const Status uploaded = slot.finished.uploaded->wait(); !uploaded.ok()) {
    return {.code = uploaded.code(), .message = uploaded.message()};
  }
  Taken taken;
  taken.positions = slot.clips.positions;
  const std::byte* const host = slot.memory->host().data();
  const std::uint32_t batch_size = slot.clips.layout->batch_size;
  const auto add = [&](const std::byte* data, std::size_t size_bytes) {
    taken.bytes.insert(taken.bytes.end(), data, data + size_bytes);
  };
  for (std::size_t i = 0; i < slot.clips.layout->columns.size(); ++i) {
    const loader::ColumnLayout& column = slot.clips.layout->columns[i];
    const std::size_t array_bytes = column.record_bytes * batch_size;
    const auto array = read_from(slot.memory->device(), {slot.column_data(i), array_bytes});
    add(array.data(), array.size());
    add(host + column.lengths_offset_bytes, batch_size * sizeof(std::int32_t));
  }
  add(host + slot.clips.layout->speakers_offset_bytes, batch_size * sizeof(std::int32_t));
  return taken;
}

}  // namespace

std::vector<Taken> take_some(loader::Loader& loader) {
  std::vector<Taken> all;
  const auto take_up_to = [&](std::size_t count_max) {
    for (std::size_t i = 0; i < count_max; ++i) {
      const auto lease = loader.next();
      if (!lease.ok()) {
        all.push_back({.code = lease.status().code(), .message = lease.status().message()});
      } else if (*lease) {
        all.push_back(show(***lease));
      } else {
        return;
      }
    }
  };
  take_up_to(1000);
  loader.set_epoch(3);
  take_up_to(2);
  loader.set_epoch(1);
  take_up_to(1000);
  return all;
}

}  // namespace xtts::testing
