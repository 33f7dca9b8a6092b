#include "records/shared_sources.hpp"

#include <new>
#include <utility>
#include <variant>

#include "base/option_names.hpp"
#include "base/try.hpp"

namespace xtts::records {

Status SharedSound::read(std::uint64_t first_frame, std::span<float> out) const {
  const auto bytes = std::as_writable_bytes(out);
  XTTS_ASSIGN(const std::size_t got, samples->read_at(first_frame * sizeof(float), bytes));
  if (got == bytes.size()) return {};
  return {StatusCode::kResource, "a scratch file is shorter than it was written"};
}

SharedSources::SharedSources(Env& env, std::string folder,
                             std::unordered_map<std::string, std::uint32_t> clip_counts,
                             std::uint64_t disk_bytes_max)
    : env_(env), folder_(std::move(folder)), disk_bytes_max_(disk_bytes_max) {
  for (auto& [path, count] : clip_counts) entries_[path].clips_left = count;
}

void SharedSources::expect(const std::string& path, std::uint32_t clip_count) {
  const std::lock_guard lock(mutex_);
  entries_[path].clips_left = clip_count;
}

SharedSources::Shared SharedSources::get(const std::string& path, const Decode& decode) {
  std::unique_lock lock(mutex_);
  Entry& entry = entries_[path];
  decoded_.wait(lock, [&] { return !entry.is_being_decoded; });
  if (entry.sound == nullptr && !entry.failure) {
    entry.is_being_decoded = true;
    lock.unlock();
    auto made = decode_or_fail(decode);
    lock.lock();
    entry.is_being_decoded = false;
    if (auto* const sound = std::get_if<0>(&made)) {
      keep(entry, std::move(*sound));
    } else {
      entry.failure = std::get<1>(std::move(made));
    }
    decoded_.notify_all();
  }
  if (entry.clips_left > 0) --entry.clips_left;
  if (entry.failure) return *entry.failure;
  auto sound = entry.sound;
  drop(entry);
  if (entry.clips_left > 0) keep(entry, sound);
  return sound;
}

// Keeps the sound as the one asked for last. When there is too much, the ones asked for longest ago
// go first.
void SharedSources::keep(Entry& entry, std::shared_ptr<const SharedSound> sound) {
  disk_bytes_ += sound->size_bytes;
  entry.sound = std::move(sound);
  entry.asked_at = ++request_count_;
  kept_.emplace(entry.asked_at, &entry);
  while (disk_bytes_ > disk_bytes_max_ && kept_.size() > 1) drop(*kept_.begin()->second);
}

void SharedSources::drop(Entry& entry) {
  disk_bytes_ -= entry.sound->size_bytes;
  kept_.erase(entry.asked_at);
  entry.sound.reset();
}

// Turns an exception into a failure: otherwise the other threads would wait for ever.
SharedSources::Shared SharedSources::decode_or_fail(const Decode& decode) {
  try {
    return make(decode);
  } catch (const std::bad_alloc&) {
    return SourceFailure{
        {StatusCode::kResource, "out of memory: run again with a lower " + option("memory")}};
  }
}

SharedSources::Shared SharedSources::make(const Decode& decode) {
  auto samples = open_scratch(env_, folder_);
  if (!samples) return SourceFailure{samples.status()};
  std::uint64_t size_bytes = 0;
  auto decoded = decode([&](std::span<const float> part) {
    size_bytes += part.size_bytes();
    return (*samples)->append(std::as_bytes(part)).with_context("keeping the decoded sound");
  });
  if (auto* const failure = std::get_if<1>(&decoded)) return std::move(*failure);
  return std::make_shared<const SharedSound>(
      SharedSound{std::get<0>(std::move(decoded)), std::move(*samples), size_bytes});
}

}  // namespace xtts::records
