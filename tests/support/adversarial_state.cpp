#include "support/adversarial_state.hpp"

#include <cstring>
#include <utility>

#include "base/convert_floats.hpp"
#include "base/hash.hpp"

namespace xtts::testing {
namespace {

constexpr std::size_t kPiecesMax = 7;

void fill_range(std::span<std::byte> out, const device::Pattern& pattern) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t byte = i % pattern.element_bytes;
    out[i] = static_cast<std::byte>(pattern.bits >> (8 * byte));
  }
}

[[nodiscard]] std::size_t stored_bytes(const Piece& piece) {
  return piece.size_bytes / size_bytes(piece.change->to) * size_bytes(piece.change->from);
}

}  // namespace

std::span<const std::byte> AdversarialDevice::State::bytes_of(const Slot& slot,
                                                              const Piece& piece) {
  if (!piece.borrowed.empty()) return piece.borrowed;
  const std::size_t size = piece.change ? stored_bytes(piece) : piece.size_bytes;
  return slot.staging.subspan(piece.offset_bytes, size);
}

bool AdversarialDevice::State::is_due(const Slot& slot) const {
  return !slot.pending.empty() && (slot.is_wanted || is_ending || Clock::now() >= slot.lazy_until);
}

bool AdversarialDevice::State::is_due(const Stream& stream) const {
  if (stream.tasks.empty()) return false;
  const Task& first = stream.tasks.front();
  if (first.is_wait && first.slot != nullptr)
    return first.slot->upload != first.upload || first.slot->pending.empty();
  return is_ending || Clock::now() >= first.not_before;
}

std::vector<Piece> AdversarialDevice::State::cut(const Slot& slot) {
  std::vector<Piece> pieces = slot.filled;
  for (Piece& piece : pieces) {
    if (!piece.pattern) piece.hash = check64(bytes_of(slot, piece));
  }
  std::ranges::sort(pieces, {}, &Piece::offset_bytes);
  std::vector<Piece> copied;
  std::size_t begin = 0;
  const std::size_t piece_bytes = slot.staging.size() / (1 + below(kPiecesMax)) + 1;
  const auto copy_until = [&](std::size_t end) {
    while (begin < end) {
      const std::size_t size = std::min(end - begin, 1 + below(2 * piece_bytes));
      copied.push_back({.offset_bytes = begin,
                        .size_bytes = size,
                        .hash = check64(slot.staging.subspan(begin, size))});
      begin += size;
    }
  };
  for (const Piece& piece : pieces) {
    copy_until(piece.offset_bytes);
    begin = std::max(begin, piece.offset_bytes + piece.size_bytes);
  }
  copy_until(slot.staging.size());
  pieces.insert(pieces.end(), copied.begin(), copied.end());
  return pieces;
}

void AdversarialDevice::State::change_range(const Slot& slot, const Piece& piece,
                                            std::span<std::byte> out) {
  const auto in = bytes_of(slot, piece);
  if (check64(in) != piece.hash) fault(slot, "was written to before its upload was done");
  const auto& [from, to, norm] = *piece.change;
  if (norm != nullptr) {
    norm->apply(in, from, out, to);
  } else {
    convert_floats(in, from, out, to);
  }
}

void AdversarialDevice::State::copy_one(Slot& slot) {
  const auto chosen =
      slot.pending.begin() + static_cast<std::ptrdiff_t>(below(slot.pending.size()));
  const Piece piece = *chosen;
  slot.pending.erase(chosen);
  const auto out = slot.memory->own().subspan(piece.offset_bytes, piece.size_bytes);
  if (piece.pattern) {
    fill_range(out, *piece.pattern);
  } else if (piece.change) {
    change_range(slot, piece, out);
  } else {
    const auto in = bytes_of(slot, piece);
    if (check64(in) != piece.hash) fault(slot, "was written to before its upload was done");
    std::ranges::copy(in, out.begin());
  }
  if (slot.pending.empty()) std::memset(slot.staging.data(), kCopied, slot.staging.size());
}

void AdversarialDevice::State::run_one(std::unique_lock<std::mutex>& lock, std::uintptr_t handle) {
  Task task = std::move(streams[handle].tasks.front());
  streams[handle].tasks.pop_front();
  Stream& stream = streams[handle];
  if (task.slot == nullptr) {
    faults.emplace_back("a slot was destroyed under a stream that reads it");
  } else if (task.is_wait) {
    stream.waited[task.slot] = task.upload;
  } else {
    if (task.slot->upload != task.upload || task.slot->phase != Phase::kUploaded) {
      fault(*task.slot, "was filled again under a stream that reads it");
    } else if (stream.waited[task.slot] != task.upload) {
      fault(*task.slot, "is read by a stream that was not let wait for its event");
    }
    auto bytes = bytes_at(*task.slot, task.address, task.size_bytes);
    lock.unlock();
    task.work(std::move(bytes));
    lock.lock();
  }
  ++streams[handle].done_count;
}

bool AdversarialDevice::State::step(std::unique_lock<std::mutex>& lock) {
  std::vector<Slot*> due_slots;
  std::vector<std::uintptr_t> due_streams;
  for (const auto& slot : slots) {
    if (is_due(*slot)) due_slots.push_back(slot.get());
  }
  for (const auto& [handle, stream] : streams) {
    if (is_due(stream)) due_streams.push_back(handle);
  }
  if (due_slots.empty() && due_streams.empty()) return false;
  const std::size_t chosen = below(due_slots.size() + due_streams.size());
  if (chosen < due_slots.size()) {
    copy_one(*due_slots[chosen]);
  } else {
    run_one(lock, due_streams[chosen - due_slots.size()]);
  }
  changed.notify_all();
  return true;
}

void AdversarialDevice::State::run() {
  std::unique_lock lock(mutex);
  while (!is_ending) {
    if (!step(lock)) {
      changed.wait_for(lock, std::chrono::microseconds(200));
    } else if (below(8) == 0) {
      const std::chrono::microseconds pause(below(100));
      lock.unlock();
      std::this_thread::sleep_for(pause);
      lock.lock();
    }
  }
  while (step(lock)) {
  }
}

}  // namespace xtts::testing
