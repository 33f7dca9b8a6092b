// A report to send to somebody who helps: versions, machine, configuration and findings in one
// text. It holds no audio, no texts of the corpus and no secrets. Pure.
#pragma once

#include <string>
#include <string_view>

#include "doctor/diagnose.hpp"

namespace xtts::doctor {

struct SupportFacts {
  std::string versions;     // what --version prints
  std::string command;      // as it was given
  std::string config_path;  // empty: none
  std::string config;       // what config_for_support() made of it
  std::string home;         // the user's home folder, which becomes "~"
};

[[nodiscard]] std::string support_text(const Diagnosis& diagnosis, const SupportFacts& facts);

// The trainer's own keys of a config.yaml with their values, a line each. Of other keys only the
// names are told: what the trainer does not know may be a secret. `origin` names the file.
[[nodiscard]] std::string config_for_support(std::string_view text, const std::string& origin);

// Replaces values whose keys say that they are secret, user names and passwords in addresses, and
// long random words.
[[nodiscard]] std::string without_secrets(std::string_view text);

}  // namespace xtts::doctor
