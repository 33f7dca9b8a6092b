// RuntimeSource gives readers pipeline::LiveClips as a ClipSource (xtts/clip_source.hpp).
// Synchronised inside. In a forked child, compute(), manifest() and check_rejects() fail with
// kUnsupported, and rejected() is empty.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/fork_count.hpp"
#include "pipeline/live_clips.hpp"
#include "xtts/clip_source.hpp"

namespace xtts::builder {

// The clips of the process that opened them. In a forked child, the decoding processes and the
// files still belong to the parent, so the child frees nothing.
class OpenClips {
 public:
  explicit OpenClips(std::unique_ptr<pipeline::LiveClips> clips) : clips_(std::move(clips)) {}
  ~OpenClips() {
    if (is_forked()) (void)clips_.release();
  }
  OpenClips(const OpenClips&) = delete;
  OpenClips& operator=(const OpenClips&) = delete;

  [[nodiscard]] pipeline::LiveClips& operator*() const noexcept { return *clips_; }
  [[nodiscard]] pipeline::LiveClips* operator->() const noexcept { return clips_.get(); }
  [[nodiscard]] bool is_forked() const noexcept { return fork_count() != forks_when_opened_; }
  [[nodiscard]] Status check_process() const;

 private:
  std::unique_ptr<pipeline::LiveClips> clips_;
  std::uint32_t forks_when_opened_ = fork_count();
};

class RuntimeSource final : public ClipSource {
 public:
  explicit RuntimeSource(std::shared_ptr<const OpenClips> clips) : clips_(std::move(clips)) {}

  [[nodiscard]] const std::string& path() const override;
  [[nodiscard]] std::string digest() const override;
  [[nodiscard]] Result<std::string> manifest() const override;
  [[nodiscard]] std::uint32_t thread_count() const override;
  [[nodiscard]] std::uint64_t size() const override;
  [[nodiscard]] SourceClip clip(std::uint64_t position) const override;
  [[nodiscard]] std::optional<std::uint64_t> find(std::string_view id) const override;
  [[nodiscard]] std::string facts(std::uint64_t position) const override;
  [[nodiscard]] Status compute(std::uint64_t position, SourceRecord& record,
                               std::string* facts) const override;
  [[nodiscard]] std::vector<std::uint64_t> rejected() const override;
  [[nodiscard]] Status check_rejects() const override;

 private:
  std::shared_ptr<const OpenClips> clips_;
};

}  // namespace xtts::builder
