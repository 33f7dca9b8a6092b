#include "doctor/on_the_fly.hpp"

#include <utility>

#include "base/try.hpp"
#include "doctor/range.hpp"
#include "formats/feature_config.hpp"
#include "report/human.hpp"

namespace xtts::doctor {
namespace {

constexpr std::size_t kFilesMax = 64;
constexpr std::uint32_t kWorkersMax = 64;
// Rounds of one second differ by less.
constexpr double kClearSpeedup = 1.15;

Result<LibrosaRates> rates_of(const nlohmann::json& answer) {
  if (answer.contains("missing"))
    return Status(StatusCode::kUnsupported, answer["missing"].get<std::string>());
  LibrosaRates found;
  found.rates.way = answer.at("version").get<std::string>();
  found.rates.worker_count = answer.at("workers").get<std::uint32_t>();
  found.rates.one = answer.at("one").get<std::vector<double>>();
  found.rates.all = answer.at("all").get<std::vector<double>>();
  found.failed = answer.at("failed").get<std::map<std::string, std::size_t>>();
  if (const auto single = answer.find("single_threaded"); single != answer.end()) {
    found.single_threaded = single->at("all").get<std::vector<double>>();
    found.setting = single->at("setting").get<std::string>();
  }
  return found;
}

}  // namespace

Result<LibrosaRates> measure_librosa(const PythonChild& python, const CorpusProbe& corpus,
                                     std::uint32_t worker_count,
                                     const std::function<bool()>& cancelled) {
  const std::vector<std::string> files = corpus.whole_files(kFilesMax);
  if (files.empty())
    return Status(StatusCode::kUnsupported, "no clip of the sample is a whole file");
  const formats::FeatureConfig& features = *corpus.recipe().features;
  const nlohmann::json request = {{"files", files},
                                  {"sample_rate", features.sample_rate_hz},
                                  {"n_fft", features.stft.n_fft},
                                  {"hop", features.stft.hop_samples},
                                  {"win", features.stft.win_samples},
                                  {"n_mels", features.mel.n_mels},
                                  {"trims", features.trim.method != formats::TrimMethod::kNone},
                                  {"workers", std::clamp(worker_count, 1U, kWorkersMax)},
                                  {"seconds", 1.0},
                                  {"rounds", 3}};
  XTTS_ASSIGN(const nlohmann::json answer, python.run({.module = "on_the_fly",
                                                       .input = request,
                                                       .time_limit = std::chrono::seconds(40),
                                                       .cancelled = cancelled}));
  try {
    return rates_of(answer);
  } catch (const nlohmann::json::exception& error) {
    return Status(StatusCode::kUnsupported,
                  std::string("the measurement with librosa answered oddly: ") + error.what());
  }
}

std::optional<Finding> judge_own_threads(const LibrosaRates& librosa) {
  const auto now = range_of(librosa.rates.all, 0.0);
  const auto single = range_of(librosa.single_threaded, 0.0);
  if (!now || !single || single->low < kClearSpeedup * now->high) return std::nullopt;
  return Finding{.status = CheckStatus::kWarn,
                 .text = "NumPy's own threads get in the workers' way: with one thread each, " +
                         std::to_string(librosa.rates.worker_count) + " workers compute " +
                         report::format_fixed(single->low / now->high, 1) + " to " +
                         report::format_fixed(single->high / now->low, 1) +
                         " times as many clips on the fly.",
                 .remedy = "As long as you train without a cache, set " + librosa.setting +
                           " before training starts."};
}

}  // namespace xtts::doctor
