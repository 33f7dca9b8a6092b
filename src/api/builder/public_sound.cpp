// SoundReader of include/xtts/add_column.hpp on request::StoredSound.
#include <utility>

#include "api/builder/check_options.hpp"
#include "api/builder/find_program.hpp"
#include "api/builder/guarded.hpp"
#include "base/check_text.hpp"
#include "base/fork_count.hpp"
#include "base/try.hpp"
#include "request/stored_sound.hpp"
#include "xtts/add_column.hpp"

namespace xtts {

struct SoundReader::Impl {
  // In a forked child, threads and decoders belong to the parent.
  ~Impl() {
    if (is_forked()) (void)sound.release();
  }
  [[nodiscard]] bool is_forked() const noexcept { return fork_count() != forks_when_opened; }
  [[nodiscard]] Status check_process() const {
    if (!is_forked()) return {};
    return {StatusCode::kUnsupported,
            "the sound was opened before this process was forked: open it in the child"};
  }

  std::shared_ptr<reader::CacheView> view;
  std::unique_ptr<request::StoredSound> sound;
  std::uint32_t forks_when_opened = fork_count();
};

SoundReader::SoundReader(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
SoundReader::SoundReader(SoundReader&&) noexcept = default;
SoundReader& SoundReader::operator=(SoundReader&&) noexcept = default;
SoundReader::~SoundReader() = default;

Result<SoundReader> SoundReader::open(const std::string& cache, const std::string& data,
                                      const std::string& program) {
  return builder::guarded([&]() -> Result<SoundReader> {
    XTTS_TRY(check_path("cache", cache));
    XTTS_TRY(check_path_text("data", data));
    XTTS_TRY(check_path_text("program", program));
    auto impl = std::make_unique<Impl>();
    XTTS_ASSIGN(impl->view, reader::CacheView::open(Env::real(), cache));
    XTTS_ASSIGN(impl->sound, request::StoredSound::open(Env::real(), *impl->view, {.path = data},
                                                        builder::caller_with(program)));
    return SoundReader(std::move(impl));
  });
}

std::uint32_t SoundReader::sample_rate_hz() const noexcept {
  return impl_ == nullptr ? 0 : impl_->sound->sample_rate_hz();
}

Result<std::vector<float>> SoundReader::read(std::uint64_t position) {
  if (impl_ == nullptr) return builder::is_empty("SoundReader");
  return builder::guarded([&]() -> Result<std::vector<float>> {
    XTTS_TRY(impl_->check_process());
    return impl_->sound->read(position);
  });
}

Result<std::string> SoundReader::source_of(std::uint64_t position) {
  if (impl_ == nullptr) return builder::is_empty("SoundReader");
  return builder::guarded([&] { return impl_->sound->source_of(position); });
}

Status SoundReader::expect(const std::vector<std::uint64_t>& positions,
                           std::uint64_t clips_together, std::uint32_t process_count) {
  if (impl_ == nullptr) return builder::is_empty("SoundReader");
  return builder::guarded([&]() -> Status {
    XTTS_TRY(impl_->check_process());
    return impl_->sound->expect({positions, clips_together, process_count});
  });
}

}  // namespace xtts
