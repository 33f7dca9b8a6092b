// PlanHasher: digests of a plan's clips. One thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/env.hpp"
#include "base/hash.hpp"
#include "corpus/clips/clip.hpp"

namespace xtts::pipeline {

class PlanHasher {
 public:
  void add(std::string_view text) {
    add_number(std::uint64_t{text.size()});  // the length too: "ab","c" is not "a","bc"
    hasher_.update(as_bytes(text));
  }

  template <typename Number>
  void add_number(const Number& value) {
    hasher_.update(std::as_bytes(std::span(&value, 1)));
  }

  // Adds what identifies the sound.
  void add_source(const corpus::Clip& clip) {
    add(clip.dataset);
    add(clip.id);
    add(clip.source);
    add_number(clip.source_bytes);
    add_number(static_cast<std::uint8_t>(clip.split));
    if (!clip.segment) return;
    add_number(clip.segment->start_s);
    add_number(clip.segment->end_s.value_or(-1.0));
  }

  // Adds sound and text: the digest is the same on a machine with a copy.
  void add_content(const corpus::Clip& clip) {
    add_source(clip);
    add(clip.text_raw);
    add(clip.text_normalized);
    add(clip.speaker);
    add(clip.language);
    add(clip.extra_json);
  }

  // Adds a clip to the digest of all clips of all parts. `is_refused`: for its text.
  void add_planned(const corpus::Clip& clip, bool is_refused) {
    add_content(clip);
    add_number(is_refused);
  }

  // Adds what tells whether the file is the very same as before.
  void add_identity(const corpus::Clip& clip) {
    add_number(clip.source_mtime_ns);
    add_number(clip.source_ctime_ns);
    add_number(clip.source_inode);
  }

  [[nodiscard]] Digest finish() const { return hasher_.finish(); }

 private:
  Hasher128 hasher_;
};

}  // namespace xtts::pipeline
