// reader_ours FOLDER: our reader and the machine's limits, for readers_vs_peers.py, which runs the
// peers beside it. Answers a line of JSON to each line of standard input, so that one process keeps
// its cache open while others are measured:
//   dump MELS TOKENS   the padded records as raw files, for the peers to store (made if need be)
//   check              one epoch is all clips once, and each row is its clip's record
//   global N | global2 N | none N   epoch N: one filler, two, and in place
//   copy1 | copy2 | pointers        the limits: memcpy by one thread and by two, pointers alone
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "reader_workload.hpp"
#include "xtts/batch.hpp"

namespace {

using namespace xtts;
using namespace xtts::bench;

using ByName = std::map<std::string, Reader>;

ByName open_readers(const Cache& cache) {
  ByName readers;
  const auto add = [&](const char* name, Shuffle shuffle, std::uint32_t threads) {
    readers.emplace(
        name, must(Reader::open(
                  cache,
                  {.batch_size = kBatch, .shuffle = shuffle, .seed = 7, .thread_count = threads})));
  };
  add("global", Shuffle::kGlobal, 1);
  add("global2", Shuffle::kGlobal, 2);
  add("none", Shuffle::kNone, 1);
  return readers;
}

void answer(double seconds, const std::vector<double>& batch_ms) {
  std::printf("{\"samples\": %u, \"seconds\": %.9f, \"batch_ms\": [", kClips, seconds);
  for (std::size_t i = 0; i < batch_ms.size(); ++i) {
    std::printf("%s%.6f", i == 0 ? "" : ", ", batch_ms[i]);
  }
  std::printf("]}\n");
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// batch_ms: from each batch to the next, but from the first, which begins an epoch.
void measure(Reader& reader, std::uint64_t epoch) {
  std::vector<double> batch_ms;
  const Clock::time_point begin = Clock::now();
  reader.set_epoch(epoch);
  Clock::time_point last;
  for (bool is_first = true;; is_first = false) {
    const auto batch = must(reader.next());
    if (!batch) break;
    if (!is_first) batch_ms.push_back(seconds_since(last) * 1e3);
    last = Clock::now();
    for (const BatchColumn& column : batch->columns()) {
      touch_pages(column.bytes.data(), column.bytes.size());
    }
  }
  answer(seconds_since(begin), batch_ms);
}

// Writes the data that the peers are to store: record after record, padded, in canonical order.
void dump(Reader& reader, const std::string& mels, const std::string& tokens) {
  std::FILE* files[] = {std::fopen(mels.c_str(), "wb"), std::fopen(tokens.c_str(), "wb")};
  reader.set_epoch(0);
  for (;;) {
    const auto batch = must(reader.next());
    if (!batch) break;
    const char* names[] = {"mel", "tokens"};
    for (int i = 0; i < 2; ++i) {
      const auto bytes = batch->find(names[i])->bytes;
      if (files[i] == nullptr ||
          std::fwrite(bytes.data(), 1, bytes.size(), files[i]) != bytes.size()) {
        std::perror(names[i]);
        std::exit(1);
      }
    }
  }
  for (std::FILE* file : files) std::fclose(file);
  std::printf("{}\n");
}

void check(Reader& reader, const Limits& limits) {
  std::set<std::uint64_t> seen;
  reader.set_epoch(0);
  for (;;) {
    const auto batch = must(reader.next());
    if (!batch) break;
    const std::byte* row = batch->find("mel")->bytes.data();
    for (const std::uint64_t position : batch->positions()) {
      if (!seen.insert(position).second ||
          std::memcmp(row, limits.in_order[position], kRecordBytes) != 0) {
        std::fprintf(stderr, "clip %llu is not what was stored\n",
                     static_cast<unsigned long long>(position));
        std::exit(1);
      }
      row += kRecordBytes;
    }
  }
  if (seen.size() != kClips) std::exit(1);
  std::printf("{}\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: reader_ours FOLDER, then commands on standard input\n");
    return 2;
  }
  const std::string folder = argv[1];
  if (!std::filesystem::exists(folder + "/manifest.json")) make_cache(folder);
  const Limits limits(folder);
  const auto cache = must(Cache::open(folder));
  ByName readers = open_readers(cache);
  for (std::string line; std::getline(std::cin, line); std::fflush(stdout)) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "dump") {
      std::string mels, tokens;
      words >> mels >> tokens;
      dump(readers.at("none"), mels, tokens);
    } else if (command == "check") {
      check(readers.at("global"), limits);
    } else if (command == "copy1" || command == "copy2") {
      answer(kClips / limits.copied_per_s(command == "copy1" ? 1 : 2), {});
    } else if (command == "pointers") {
      answer(kClips / limits.pointed_per_s(), {});
    } else if (const auto reader = readers.find(command); reader != readers.end()) {
      std::uint64_t epoch = 0;
      words >> epoch;
      measure(reader->second, epoch);
    } else {
      std::fprintf(stderr, "no such command: %s\n", line.c_str());
      return 2;
    }
  }
  return 0;
}
