#include "doctor/on_the_fly.hpp"

#include <utility>

#include "base/try.hpp"
#include "formats/feature_config.hpp"

namespace xtts::doctor {
namespace {

constexpr std::size_t kFilesMax = 64;
constexpr std::uint32_t kWorkersMax = 64;

Result<LibrosaRates> rates_of(const nlohmann::json& answer) {
  if (answer.contains("missing"))
    return Status(StatusCode::kUnsupported, answer["missing"].get<std::string>());
  LibrosaRates found;
  found.rates.way = answer.at("version").get<std::string>();
  found.rates.worker_count = answer.at("workers").get<std::uint32_t>();
  found.rates.one = answer.at("one").get<std::vector<double>>();
  found.rates.all = answer.at("all").get<std::vector<double>>();
  found.failed = answer.at("failed").get<std::map<std::string, std::size_t>>();
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

}  // namespace xtts::doctor
