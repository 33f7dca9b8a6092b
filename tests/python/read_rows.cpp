// read_rows CACHE OUT: reads a cache in every way that C++ and C have. Writes a file OUT/WAY-COLUMN
// for each: all clips' padded records, one after the other, by position.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "xtts/batch.hpp"
#include "xtts/reader.hpp"
#include "xtts/xtts.h"

namespace {

using Bytes = std::span<const std::byte>;

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

template <typename T>
T must(xtts::Result<T> result) {
  if (!result.ok()) fail(result.status().message());
  return std::move(*result);
}

void must(xtts_code code, const xtts_error& error) {
  if (code != XTTS_OK) fail(error.message);
}

template <typename Number>
void fill(std::span<std::byte> out, double padding) {
  const auto number = static_cast<Number>(padding);
  for (std::size_t at = 0; at < out.size(); at += sizeof number) {
    std::memcpy(&out[at], &number, sizeof number);
  }
}

struct Column {
  xtts::ColumnInfo info;
  std::size_t record_bytes;
  std::string folder;
  std::uint64_t clip_count;

  // `row` writes the padded record of a clip.
  void write(const std::string& way,
             const std::function<void(std::uint64_t position, std::span<std::byte>)>& row) const {
    std::vector<std::byte> all(clip_count * record_bytes);
    for (std::uint64_t i = 0; i < clip_count; ++i) {
      row(i, std::span(all).subspan(i * record_bytes, record_bytes));
    }
    std::ofstream file(folder + "/" + way + "-" + info.name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(all.data()), static_cast<std::streamsize>(all.size()));
    if (!file) fail("cannot write to " + folder);
  }

  void pad(Bytes rows, double padding, std::span<std::byte> out) const {
    std::ranges::copy(rows, out.begin());
    out = out.subspan(rows.size());
    switch (info.dtype) {
      case xtts::DType::kFloat32:
        return fill<float>(out, padding);
      case xtts::DType::kInt32:
        return fill<std::int32_t>(out, padding);
      case xtts::DType::kInt16:
        return fill<std::int16_t>(out, padding);
      default:
        fail(info.name + " has a type that this program cannot pad");
    }
  }
};

void read_as_cpp(const xtts::Cache& cache, const Column& column) {
  column.write("cpp_read", [&](std::uint64_t position, std::span<std::byte> out) {
    const xtts::Record record = must(cache.read(column.info.name, position));
    column.pad(record.bytes(), record.padding(), out);
  });
  column.write("cpp_view", [&](std::uint64_t position, std::span<std::byte> out) {
    const xtts::Record record = must(cache.view(column.info.name, position));
    column.pad(record.bytes(), record.padding(), out);
  });
  xtts::Reader reader = must(xtts::Reader::open(cache, {.batch_size = 4,
                                                        .seed = 3,
                                                        .last_batch = xtts::LastBatch::kPad,
                                                        .columns = {{.name = column.info.name}}}));
  std::vector<std::vector<std::byte>> rows(column.clip_count);
  for (auto batch = must(reader.next()); batch; batch = must(reader.next())) {
    const Bytes all = batch->columns()[0].bytes;
    for (std::size_t row = 0; row < batch->valid_count(); ++row) {
      const Bytes one = all.subspan(row * column.record_bytes, column.record_bytes);
      rows[batch->positions()[row]].assign(one.begin(), one.end());
    }
  }
  column.write("cpp_batch", [&](std::uint64_t position, std::span<std::byte> out) {
    std::ranges::copy(rows[position], out.begin());
  });
}

using ReadInC = decltype(xtts_cache_read);

void read_as_c(const xtts_cache* cache, const Column& column) {
  xtts_error error;
  const auto write_records = [&](const std::string& way, ReadInC* read) {
    column.write(way, [&](std::uint64_t position, std::span<std::byte> out) {
      xtts_record record;
      must(read(cache, column.info.name.c_str(), position, &record, &error), error);
      column.pad({static_cast<const std::byte*>(record.data), record.data_bytes}, record.padding,
                 out);
      record.release(&record);
    });
  };
  write_records("c_read", xtts_cache_read);
  write_records("c_view", xtts_cache_view);
  xtts_reader_options options;
  xtts_reader_options_init(&options, sizeof options);
  options.batch_size = 3;
  options.shuffle = XTTS_SHUFFLE_NONE;
  options.last_batch = XTTS_LAST_PAD;
  xtts_reader* reader = nullptr;
  must(xtts_reader_open(cache, &options, &reader, &error), error);
  std::vector<std::byte> all;
  for (;;) {
    xtts_batch batch;
    must(xtts_reader_next(reader, &batch, &error), error);
    if (batch.release == nullptr) break;
    const auto* data =
        static_cast<const std::byte*>(xtts_batch_find(&batch, column.info.name.c_str())->data);
    all.insert(all.end(), data, data + batch.valid_count * column.record_bytes);
    batch.release(&batch);
  }
  xtts_reader_close(reader);
  column.write("c_batch", [&](std::uint64_t position, std::span<std::byte> out) {
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(position * column.record_bytes),
                column.record_bytes, out.begin());
  });
}

}  // namespace

int main(int, char** arguments) {
  const std::string path = arguments[1];
  const xtts::Cache cache = must(xtts::Cache::open(path));
  xtts_error error;
  xtts_cache* in_c = nullptr;
  must(xtts_cache_open(path.c_str(), &in_c, &error), error);
  for (const xtts::ColumnInfo& info : cache.columns()) {
    const std::size_t record_bytes =
        std::accumulate(info.shape.begin(), info.shape.end(), size_bytes(info.dtype),
                        std::multiplies<std::size_t>());
    const Column column{info, record_bytes, arguments[2], cache.size()};
    read_as_cpp(cache, column);
    read_as_c(in_c, column);
  }
  xtts_cache_close(in_c);
}
