// Binds ColumnWriter and SoundReader of include/xtts/add_column.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/builder_bindings.hpp"
#include "python/errors.hpp"
#include "python/gil.hpp"
#include "xtts/add_column.hpp"

namespace xtts::python {
namespace {

namespace nb = nanobind;

ColumnAxis axis_of(const std::string& name) {
  if (name == "frames") return ColumnAxis::kFrames;
  if (name == "tokens") return ColumnAxis::kTokens;
  return name == "own" ? ColumnAxis::kOwn : ColumnAxis::kFixed;
}

// Python closes the writer explicitly. Otherwise an exception that somebody keeps would keep the
// builder's lock.
struct WriterHandle {
  std::optional<ColumnWriter> writer;

  ColumnWriter& open() {
    if (!writer) throw nb::value_error("the writer is closed");
    return *writer;
  }
};

WriterHandle open_writer(const nb::bytes& cache, const std::string& name,
                         const std::string& version, const std::string& axis,
                         const std::string& dtype, std::vector<std::uint32_t> row_shape,
                         std::uint32_t rows_per_frame, bool allow_nonfinite) {
  const NewColumnOptions options = {
      .cache = {cache.c_str(), cache.size()},
      .name = name,
      .version = version,
      .axis = axis_of(axis),
      .dtype = parse_dtype(dtype).value_or(DType::kFloat32),  // Python has checked the name
      .row_shape = std::move(row_shape),
      .rows_per_frame = rows_per_frame,
      .allow_nonfinite = allow_nonfinite};
  const GilRelease released;
  return {must(ColumnWriter::open(options))};
}

void put(WriterHandle& handle, const nb::bytes& rows) {
  ColumnWriter& writer = handle.open();
  const std::span bytes(reinterpret_cast<const std::byte*>(rows.c_str()), rows.size());
  const GilRelease released;
  must(writer.put(bytes));
}

nb::tuple finish(WriterHandle& handle) {
  ColumnWriter& writer = handle.open();
  const ColumnReport report = [&] {
    const GilRelease released;
    return must(writer.finish());
  }();
  return nb::make_tuple(report.unchanged, report.generation, report.added_count,
                        report.record_count, report.size_bytes);
}

// Python closes the sound explicitly, too: an exception that somebody keeps would keep its
// decoders.
struct SoundHandle {
  std::optional<SoundReader> sound;

  SoundReader& open() {
    if (!sound) throw nb::value_error("the sound is closed");
    return *sound;
  }
};

nb::bytes read_sound(SoundHandle& handle, std::uint64_t position) {
  SoundReader& sound = handle.open();
  const std::vector<float> samples = [&] {
    const GilRelease released;
    return must(sound.read(position));
  }();
  return nb::bytes(samples.data(), samples.size() * sizeof(float));
}

void expect_sound(SoundHandle& handle, const std::vector<std::uint64_t>& positions,
                  std::uint64_t clips_together, std::uint32_t process_count) {
  SoundReader& sound = handle.open();
  const GilRelease released;
  must(sound.expect(positions, clips_together, process_count));
}

}  // namespace

void bind_column(nb::module_& module) {
  using nb::literals::operator""_a;
  nb::class_<WriterHandle>(module, "ColumnWriter")
      .def_prop_ro("clip_count", [](WriterHandle& handle) { return handle.open().clip_count(); })
      .def_prop_ro("done_count", [](WriterHandle& handle) { return handle.open().done_count(); })
      .def(
          "next",
          [](WriterHandle& handle, std::uint64_t ahead) {
            const auto clip = must(handle.open().next(ahead));
            return std::pair(clip.position, clip.row_count);
          },
          "ahead"_a, nb::sig("def next(self, ahead: int) -> tuple[int, int]"))
      .def("put", put, "rows"_a)
      .def("close",
           [](WriterHandle& handle) {
             const GilRelease released;
             handle.writer.reset();
           })
      .def("finish", finish, nb::sig("def finish(self) -> tuple[bool, int, int, int, int]"));
  module.def("open_writer", open_writer, nb::kw_only(), "cache"_a, "name"_a, "version"_a, "axis"_a,
             "dtype"_a, "row_shape"_a, "rows_per_frame"_a, "allow_nonfinite"_a);
  nb::class_<SoundHandle>(module, "SoundReader")
      .def_prop_ro("sample_rate_hz",
                   [](SoundHandle& handle) { return handle.open().sample_rate_hz(); })
      .def("expect", expect_sound, "positions"_a, "clips_together"_a, "process_count"_a)
      .def(
          "source_of",
          [](SoundHandle& handle, std::uint64_t position) {
            const std::string source = must(handle.open().source_of(position));
            return nb::bytes(source.data(), source.size());
          },
          "position"_a)
      .def("read", read_sound, "position"_a)
      .def("close", [](SoundHandle& handle) {
        const GilRelease released;
        handle.sound.reset();
      });
  module.def(
      "open_sound",
      [](const nb::bytes& cache, const nb::bytes& data, const nb::bytes& program) {
        return SoundHandle{
            must(SoundReader::open({cache.c_str(), cache.size()}, {data.c_str(), data.size()},
                                   {program.c_str(), program.size()}))};
      },
      nb::kw_only(), "cache"_a, "data"_a, "program"_a);
}

}  // namespace xtts::python
