// include/xtts/runtime.hpp on pipeline::LiveClips.
#include <utility>

#include "api/builder/callback_guard.hpp"
#include "api/builder/check_options.hpp"
#include "api/builder/find_program.hpp"
#include "api/builder/guarded.hpp"
#include "api/builder/public_reject.hpp"
#include "api/builder/runtime_source.hpp"
#include "base/formatted.hpp"
#include "base/memory_reserve.hpp"
#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "formats/feature_config.hpp"
#include "formats/fill_number.hpp"
#include "pipeline/live_clips.hpp"
#include "recipe/trainer_config.hpp"
#include "request/build_options.hpp"
#include "request/temporary_folder.hpp"
#include "xtts/runtime.hpp"

namespace xtts {

struct RuntimeClips::Impl {
  explicit Impl(std::unique_ptr<pipeline::LiveClips> opened)
      : open(std::make_shared<builder::OpenClips>(std::move(opened))), clips(**open) {}

  [[nodiscard]] Status check_position(std::uint64_t position) const {
    if (position < clips.size()) return {};
    return {StatusCode::kNotFound,
            formatted("there is no clip {}: DATA has {}", position, clips.size())};
  }

  std::shared_ptr<builder::OpenClips> open;  // shared with sources and their readers
  pipeline::LiveClips& clips;
};

namespace {

const std::string kNoText;
const std::vector<std::string> kNoNames;

Status check_options_of_runtime(const BuildOptions& options) {
  const auto refuse = [](const std::string& option) {
    return Status(StatusCode::kInvalidArgument,
                  option +
                      " is for caches: clips that are computed when they are asked for go into "
                      "none. Leave it out, or build a cache");
  };
  if (!options.cache.empty()) return refuse("cache");
  if (!options.partition.empty()) return refuse("partition");
  if (!options.part.empty()) return refuse("part");
  if (options.retry_rejects) return refuse("retry_rejects");
  if (options.overwrite) return refuse("overwrite");
  if (options.allow_mixed) return refuse("allow_mixed");
  if (options.dry_run) return refuse("dry_run");
  return {};
}

RuntimeRecord public_record(pipeline::LiveRecord record, const formats::FeatureConfig& features,
                            const std::vector<formats::ColumnEntry>& columns) {
  RuntimeRecord shown;
  if (record.reject) {
    shown.reject = public_reject(*record.reject);
    return shown;
  }
  // In this order, so that the bits are those of a stored clip.
  const double frame_s = static_cast<double>(features.stft.hop_samples) / features.sample_rate_hz;
  shown.duration_s = record.frame_count * frame_s;
  for (std::size_t i = 0; i < record.records.size(); ++i) {
    RecordRows& made = record.records[i];
    shown.columns.push_back({.length = made.length,
                             .padding = formats::fill_number(columns[i].spec.dtype, made.fill_bits),
                             .rows = std::move(made.rows)});
  }
  return shown;
}

}  // namespace

RuntimeClips::RuntimeClips(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
RuntimeClips::~RuntimeClips() = default;
RuntimeClips::RuntimeClips(RuntimeClips&& other) noexcept = default;

Result<RuntimeClips> RuntimeClips::open(const BuildOptions& options,
                                        const RuntimeCallbacks& callbacks,
                                        std::size_t options_bytes) {
  return builder::guarded([&]() -> Result<RuntimeClips> {
    const MemoryReserve reserve;
    XTTS_TRY(builder::check_size("BuildOptions", options_bytes, sizeof options));
    XTTS_TRY(builder::check_texts(options, builder::Paths::kData));
    builder::CallbackGuard guard;
    XTTS_TRY(check_options_of_runtime(options));
    const auto on_trainer_config = [&](const recipe::TrainerConfig& config) {
      if (!callbacks.notice) return;
      for (const std::string& line : request::not_reproduced(config))
        guard.run("notice", [&] { callbacks.notice(line); });
    };
    Env& env = Env::real();
    XTTS_ASSIGN(auto request,
                request::request_of(env, options, builder::caller_with(options.program),
                                    on_trainer_config));
    XTTS_ASSIGN(auto clips,
                pipeline::LiveClips::open(env, std::move(request), request::temporary_folder(env)));
    if (guard.has_thrown()) return guard.failure();
    return RuntimeClips(std::make_unique<Impl>(std::move(clips)));
  });
}

const std::string& RuntimeClips::recipe_name() const& noexcept {
  if (impl_ == nullptr) return kNoText;
  return impl_->clips.recipe().name;
}

std::string RuntimeClips::features_fingerprint() const {
  if (impl_ == nullptr) return {};
  return formats::fingerprint(*impl_->clips.recipe().features).to_hex();
}

std::string RuntimeClips::text_fingerprint() const {
  if (impl_ == nullptr) return {};
  return formats::fingerprint(impl_->clips.recipe().text).to_hex();
}

std::string RuntimeClips::digest() const {
  if (impl_ == nullptr) return {};
  return impl_->clips.plan().digest.to_hex();
}

const std::string& RuntimeClips::layout_of_data() const& noexcept {
  if (impl_ == nullptr) return kNoText;
  return impl_->clips.plan().corpus.layout;
}

std::vector<RuntimeColumn> RuntimeClips::columns() const {
  if (impl_ == nullptr) return {};
  std::vector<RuntimeColumn> shown;
  const std::uint32_t frames = impl_->clips.recipe().features->max_frames;
  for (const formats::ColumnEntry& column : impl_->clips.columns()) {
    const bool is_of_sound = axis_of(column) == formats::Axis::kFrames;
    shown.push_back({.name = column.spec.name,
                     .dtype = column.spec.dtype,
                     .shape = column.spec.shape,
                     .rows_per_frame = is_of_sound ? column.spec.shape.front() / frames : 0,
                     .padding = formats::fill_number(column.spec.dtype, column.fill_bits)});
  }
  return shown;
}

const std::vector<std::string>& RuntimeClips::speakers() const& noexcept {
  if (impl_ == nullptr) return kNoNames;
  return impl_->clips.speakers().names();
}

const std::vector<std::string>& RuntimeClips::languages() const& noexcept {
  if (impl_ == nullptr) return kNoNames;
  return impl_->clips.languages().names();
}

std::vector<RejectedClip> RuntimeClips::planned_rejects() const {
  if (impl_ == nullptr) return {};
  std::vector<RejectedClip> shown;
  for (const formats::Reject& reject : impl_->clips.plan().rejects)
    shown.push_back(public_reject(reject));
  return shown;
}

std::uint64_t RuntimeClips::size() const noexcept {
  if (impl_ == nullptr) return 0;
  return impl_->clips.size();
}

Result<RuntimeClip> RuntimeClips::clip(std::uint64_t position) const {
  return builder::guarded([&]() -> Result<RuntimeClip> {
    if (impl_ == nullptr) return builder::is_empty("RuntimeClips");
    XTTS_TRY(impl_->check_position(position));
    const corpus::Clip& clip = impl_->clips.clip(position);
    return RuntimeClip{.id = corpus::full_id(clip),
                       .dataset = clip.dataset,
                       .split = std::string(to_string(clip.split)),
                       .speaker = clip.speaker,
                       .language = clip.language,
                       .text = clip.text_raw,
                       .text_normalized = clip.text_normalized,
                       .source = clip.source,
                       .speaker_number = impl_->clips.speakers().number_of(clip.speaker),
                       .language_number = impl_->clips.languages().number_of(clip.language)};
  });
}

std::optional<std::uint64_t> RuntimeClips::find(std::string_view id) const {
  if (impl_ == nullptr) return std::nullopt;
  return impl_->clips.find(id);
}

Result<RuntimeRecord> RuntimeClips::record(std::uint64_t position) const {
  return builder::guarded([&]() -> Result<RuntimeRecord> {
    if (impl_ == nullptr) return builder::is_empty("RuntimeClips");
    XTTS_TRY(impl_->check_position(position));
    XTTS_TRY(impl_->open->check_process());
    XTTS_ASSIGN(auto record, impl_->clips.record(position));
    return public_record(std::move(record), *impl_->clips.recipe().features,
                         impl_->clips.columns());
  });
}

std::optional<RejectedClip> RuntimeClips::reject(std::uint64_t position) const {
  if (impl_ == nullptr || position >= impl_->clips.size()) return std::nullopt;
  const auto known = impl_->clips.known_reject(position);
  return known ? std::optional(public_reject(*known)) : std::nullopt;
}

std::shared_ptr<const ClipSource> RuntimeClips::source() const {
  if (impl_ == nullptr) return nullptr;
  return std::make_shared<builder::RuntimeSource>(impl_->open);
}

std::uint64_t RuntimeClips::fault_count() const {
  if (impl_ == nullptr) return 0;
  return impl_->clips.fault_count();
}

std::uint64_t RuntimeClips::faults_allowed() const {
  if (impl_ == nullptr) return 0;
  return impl_->clips.faults_allowed();
}

}  // namespace xtts
