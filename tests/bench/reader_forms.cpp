// reader_forms ROUNDS CACHE...: epochs of batches of 32 out of several caches of the same clips, in
// turn in every round, as stored and with mels as float32 in the batch, for storage_forms.py.
// Prints a line of JSON to each: samples a second of every round but the first, in which records
// are verified, and the bytes of a batch. One byte a page of each batch is touched.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "reader_workload.hpp"
#include "xtts/batch.hpp"

namespace {

using namespace xtts;
using namespace xtts::bench;

struct Form {
  std::string cache;
  const char* dtype;
  Reader reader;
  std::vector<double> per_s = {};
  std::size_t batch_bytes = 0;
};

Form open_form(const std::string& folder, bool is_float32) {
  ReaderOptions options{.batch_size = kBatch, .seed = 7, .thread_count = 1};
  options.columns = {{.name = "mel"}, {.name = "tokens"}};
  if (is_float32) options.columns[0].dtype = DType::kFloat32;
  return {folder, is_float32 ? "float32" : "as stored",
          must(Reader::open(must(Cache::open(folder)), options))};
}

void read_epoch(Form& form, std::uint64_t epoch) {
  std::uint64_t samples = 0;
  const Clock::time_point begin = Clock::now();
  form.reader.set_epoch(epoch);
  for (;;) {
    const auto batch = must(form.reader.next());
    if (!batch) break;
    form.batch_bytes = 0;
    for (const BatchColumn& column : batch->columns()) {
      touch_pages(column.bytes.data(), column.bytes.size());
      form.batch_bytes += column.bytes.size();
    }
    samples += batch->valid_count();
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (epoch > 0) form.per_s.push_back(static_cast<double>(samples) / seconds);
}

void print(const Form& form) {
  std::printf("{\"cache\": \"%s\", \"batch\": \"%s\", \"batch_bytes\": %zu, \"per_s\": [",
              form.cache.c_str(), form.dtype, form.batch_bytes);
  for (std::size_t i = 0; i < form.per_s.size(); ++i) {
    std::printf("%s%.1f", i == 0 ? "" : ", ", form.per_s[i]);
  }
  std::printf("]}\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: reader_forms ROUNDS CACHE...\n");
    return 2;
  }
  std::vector<Form> forms;
  for (int i = 2; i < argc; ++i) {
    forms.push_back(open_form(argv[i], false));
    forms.push_back(open_form(argv[i], true));
  }
  const auto rounds = static_cast<std::uint64_t>(std::atoi(argv[1]));
  for (std::uint64_t epoch = 0; epoch <= rounds; ++epoch) {
    for (Form& form : forms) read_epoch(form, epoch);
  }
  for (const Form& form : forms) print(form);
  return 0;
}
