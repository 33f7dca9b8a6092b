// How fast the trainer's own way makes features: librosa in the user's Python.
#pragma once

#include "doctor/check.hpp"
#include "doctor/corpus_probe.hpp"
#include "doctor/python_child.hpp"

namespace xtts::doctor {

struct LibrosaRates {
  ComputeRates rates;
  std::map<std::string, std::size_t> failed;  // clips that it cannot read, by suffix
  // Each worker with one thread: clips a second, and the setting that does it. Empty: NumPy has no
  // threads of its own here.
  std::vector<double> single_threaded;
  std::string setting;
};

// Failures: those of PythonChild::run(); kUnsupported: librosa is not there, or reads no clip.
[[nodiscard]] Result<LibrosaRates> measure_librosa(const PythonChild& python,
                                                   const CorpusProbe& corpus,
                                                   std::uint32_t worker_count,
                                                   const std::function<bool()>& cancelled);

// What NumPy's own threads cost the workers; unset: nothing that is clear. Pure.
[[nodiscard]] std::optional<Finding> judge_own_threads(const LibrosaRates& librosa);

}  // namespace xtts::doctor
