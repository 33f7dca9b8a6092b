// reader_forms CACHE...: epochs of batches of 32 out of several caches of the same clips, as stored
// and with mels as float32 in the batch, for storage_forms.py. Reads an epoch of each in turn for
// every line of standard input, which is the epoch's number, and answers with a line of JSON: for
// each cache, twice, samples a second and the bytes of a batch. The first epoch verifies records.
// One byte a page of each batch is touched.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "reader_workload.hpp"
#include "xtts/batch.hpp"

namespace {

using namespace xtts;
using namespace xtts::bench;

struct Form {
  const char* dtype;
  Reader reader;
};

Form open_form(const std::string& folder, bool is_float32) {
  ReaderOptions options{.batch_size = kBatch, .seed = 7, .thread_count = 1};
  options.columns = {{.name = "mel"}, {.name = "tokens"}};
  if (is_float32) options.columns[0].dtype = DType::kFloat32;
  return {is_float32 ? "float32" : "as stored",
          must(Reader::open(must(Cache::open(folder)), options))};
}

void read_epoch(Form& form, std::uint64_t epoch) {
  std::uint64_t samples = 0;
  std::size_t batch_bytes = 0;
  const Clock::time_point begin = Clock::now();
  form.reader.set_epoch(epoch);
  for (;;) {
    const auto batch = must(form.reader.next());
    if (!batch) break;
    batch_bytes = 0;
    for (const BatchColumn& column : batch->columns()) {
      touch_pages(column.bytes.data(), column.bytes.size());
      batch_bytes += column.bytes.size();
    }
    samples += batch->valid_count();
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::printf("{\"batch\": \"%s\", \"batch_bytes\": %zu, \"per_s\": %.1f}", form.dtype, batch_bytes,
              static_cast<double>(samples) / seconds);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: reader_forms CACHE..., then epochs on standard input\n");
    return 2;
  }
  std::vector<Form> forms;
  for (int i = 1; i < argc; ++i) {
    forms.push_back(open_form(argv[i], false));
    forms.push_back(open_form(argv[i], true));
  }
  for (std::string line; std::getline(std::cin, line); std::fflush(stdout)) {
    std::printf("[");
    for (Form& form : forms) {
      if (&form != forms.data()) std::printf(", ");
      read_epoch(form, std::strtoull(line.c_str(), nullptr, 10));
    }
    std::printf("]\n");
  }
  return 0;
}
