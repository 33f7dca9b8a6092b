// StageTimes: where the time of a build went, summed over the computing threads. Writing happens
// beside them, on a thread of its own. No stage contains the waiting for memory or for a turn.
#pragma once

namespace xtts::records {

struct StageTimes {
  double read_s = 0.0;    // files and their content digests
  double decode_s = 0.0;  // container, codec, mixing down, facts; without resampling
  double resample_s = 0.0;
  double condition_s = 0.0;  // trim, loudness
  double features_s = 0.0;   // STFT to stored rows
  double write_s = 0.0;      // images, digests, disk

  void add(const StageTimes& other) {
    read_s += other.read_s;
    decode_s += other.decode_s;
    resample_s += other.resample_s;
    condition_s += other.condition_s;
    features_s += other.features_s;
    write_s += other.write_s;
  }
  [[nodiscard]] double computing_s() const {
    return read_s + decode_s + resample_s + condition_s + features_s;
  }
};

}  // namespace xtts::records
