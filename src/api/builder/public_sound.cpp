// SoundReader of include/xtts/add_column.hpp on request::StoredSound.
#include <utility>

#include "api/builder/check_options.hpp"
#include "api/builder/find_program.hpp"
#include "api/builder/guarded.hpp"
#include "base/check_text.hpp"
#include "base/try.hpp"
#include "request/stored_sound.hpp"
#include "xtts/add_column.hpp"

namespace xtts {

struct SoundReader::Impl {
  request::Caller caller;
  std::shared_ptr<reader::CacheView> view;
  std::optional<request::StoredSound> sound;
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
    impl->caller = builder::caller_with(program);
    XTTS_ASSIGN(impl->view, reader::CacheView::open(Env::real(), cache));
    XTTS_ASSIGN(auto sound,
                request::StoredSound::open(Env::real(), *impl->view, data, {}, impl->caller));
    impl->sound.emplace(std::move(sound));
    return SoundReader(std::move(impl));
  });
}

std::uint32_t SoundReader::sample_rate_hz() const noexcept {
  return impl_ == nullptr ? 0 : impl_->sound->sample_rate_hz();
}

Result<std::vector<float>> SoundReader::read(std::uint64_t position) {
  if (impl_ == nullptr) return builder::is_empty("SoundReader");
  return builder::guarded([&] { return impl_->sound->read(position); });
}

}  // namespace xtts
