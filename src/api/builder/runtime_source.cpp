#include "api/builder/runtime_source.hpp"

#include <algorithm>

#include "base/counted.hpp"
#include "base/current_exception.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/facts.hpp"
#include "formats/manifest.hpp"
#include "formats/rules.hpp"
#include "report/reasons.hpp"

namespace xtts::builder {
namespace {

std::string words_of(const formats::Reject& reject) {
  return formatted("clip '{}' is rejected ({}, {}): {}", reject.id, to_string(reject.stage()),
                   to_string(reject.kind), report::words_of(reject));
}

Status compute_clip(pipeline::LiveClips& clips, std::uint64_t position, SourceRecord& record,
                    std::string* facts) {
  XTTS_ASSIGN(pipeline::LiveRecord made, clips.record(position, std::move(record.columns)));
  record.reject = made.reject ? words_of(*made.reject) : std::string();
  record.columns = std::move(made.records);
  record.frame_count = made.frame_count;
  record.token_count = made.token_count;
  record.flags = made.flags;
  if (facts == nullptr) return {};
  facts->clear();
  append_facts(made.facts, *facts);
  return {};
}

}  // namespace

Status OpenClips::check_process() const {
  if (!is_forked()) return {};
  return {StatusCode::kUnsupported,
          "the clips were opened before this process was forked: open them in the child"};
}

const std::string& RuntimeSource::path() const {
  return (*clips_)->data();
}

std::string RuntimeSource::digest() const {
  return (*clips_)->plan().digest.to_hex();
}

Result<std::string> RuntimeSource::manifest() const {
  XTTS_TRY(clips_->check_process());
  return encode_manifest_copy((*clips_)->manifest());
}

std::uint32_t RuntimeSource::thread_count() const {
  return (*clips_)->thread_count();
}

std::uint64_t RuntimeSource::size() const {
  return (*clips_)->size();
}

SourceClip RuntimeSource::clip(std::uint64_t position) const {
  const pipeline::LiveClips& clips = **clips_;
  const corpus::Clip& clip = clips.clip(position);
  const std::int32_t dataset = clips.datasets().number_of(clip.dataset);
  return {.speaker = clips.speakers().number_of(clip.speaker),
          .language = clips.languages().number_of(clip.language),
          .dataset = static_cast<std::uint32_t>(std::max(dataset, 0)),
          .split = static_cast<std::uint8_t>(clip.split)};
}

std::optional<std::uint64_t> RuntimeSource::find(std::string_view id) const {
  return (*clips_)->find(id);
}

std::string RuntimeSource::facts(std::uint64_t position) const {
  std::string bytes;
  append_facts((*clips_)->facts(position), bytes);
  return bytes;
}

Status RuntimeSource::compute(std::uint64_t position, SourceRecord& record,
                              std::string* facts) const {
  XTTS_TRY(clips_->check_process());
  try {
    return compute_clip(**clips_, position, record, facts);
  } catch (...) {
    return status_of_current_exception();
  }
}

// In a forked child, a thread that does not exist there may hold the lock of the clips.
std::vector<std::uint64_t> RuntimeSource::rejected() const {
  if (clips_->is_forked()) return {};
  return (*clips_)->rejected();
}

Status RuntimeSource::check_rejects() const {
  XTTS_TRY(clips_->check_process());
  const std::uint64_t found = (*clips_)->fault_count();
  const std::uint64_t allowed = (*clips_)->faults_allowed();
  if (found <= allowed) return {};
  std::string text = formatted("{} could not be used, more than the {} allowed (max_rejects)",
                               counted(found, "clip", "clips"), allowed);
  if (const auto first = (*clips_)->first_fault()) text += "; one of them: " + words_of(*first);
  return {StatusCode::kTooManyRejects, text};
}

}  // namespace xtts::builder
