// Check: the answer to one question about a machine, a corpus or a trainer. A plain value.
//
// A check passes or fails by what was measured or read. Where nothing could be measured, its
// status is kCannotTell, and `summary` says what is missing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/chart.hpp"

namespace xtts::doctor {

enum class CheckStatus : std::uint8_t { kPass, kWarn, kFail, kCannotTell };

// "pass", "warn", "fail", "cannot_tell": part of the JSON, so they never change.
[[nodiscard]] std::string_view name_of(CheckStatus status) noexcept;
[[nodiscard]] std::optional<CheckStatus> status_named(std::string_view name) noexcept;

// One fact on which a check rests.
struct Evidence {
  std::string what;                   // "sequential read"
  std::string value;                  // "182 MB/s", for people
  std::string source;                 // how it is known: "64 MiB of ./data, past the page cache"
  std::optional<double> number = {};  // the value for programs, in `unit`
  std::string unit = {};              // "bytes/s"
};

// A change of the trainer's configuration. A `before` that is empty: the file has no such key. An
// `after` that is empty: the key's lines become comments.
struct ConfigChange {
  std::string key;  // "data.preprocessing_mode"
  std::string before;
  std::string after;
  std::string reason;
};

// How many times as fast training becomes: 1 is no gain. `basis` says how the range is known.
struct Gain {
  double low = 1.0;
  double high = 1.0;
  std::string basis = {};

  [[nodiscard]] double middle() const noexcept { return (low + high) / 2.0; }
};

// One thing that a check found. `text` is a sentence.
struct Finding {
  CheckStatus status = CheckStatus::kPass;
  std::string text = {};
  std::string remedy = {};  // what to do, a sentence; empty: nothing is to do
  std::vector<ConfigChange> changes = {};
  std::optional<Gain> gain = {};
  std::string place = {};  // "train.py:120", where it has one
};

struct Check {
  std::string name = {};   // "storage": part of the JSON, so it never changes
  std::string title = {};  // "Storage"
  CheckStatus status = CheckStatus::kCannotTell;
  std::string summary = {};  // the answer in one sentence
  std::vector<Evidence> evidence = {};
  std::vector<Finding> findings = {};
  std::vector<Chart> charts = {};
};

// The worst status of `findings`: fail, warn, cannot tell, pass. kPass if there is none.
[[nodiscard]] CheckStatus worst_of(const std::vector<Finding>& findings) noexcept;

// What all checks together say, most useful first.
struct Advice {
  std::vector<Finding> issues;           // what fails, then what warns
  std::vector<Finding> recommendations;  // what has a remedy: known gains first, larger first
  std::vector<ConfigChange> changes;     // one for each key: that of the first recommendation
};
[[nodiscard]] Advice advise(const std::vector<Check>& checks);

}  // namespace xtts::doctor
