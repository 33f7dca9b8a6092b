// Reader, as include/xtts/batch.hpp has it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "python/batch_handle.hpp"
#include "python/bindings.hpp"
#include "python/errors.hpp"
#include "python/fork.hpp"
#include "python/gil.hpp"
#include "python/reader_options.hpp"

namespace xtts::python {
namespace {

namespace nb = nanobind;

Status invalid(std::string message) {
  return {StatusCode::kInvalidArgument, std::move(message)};
}

// One call at a time; without the GIL two threads could meet in the reader, which is not made for
// it.
class ReaderHandle {
 public:
  explicit ReaderHandle(Reader reader) : reader_(std::make_unique<Reader>(std::move(reader))) {}
  ReaderHandle(const ReaderHandle&) = delete;
  ReaderHandle& operator=(const ReaderHandle&) = delete;
  ~ReaderHandle() {
    if (!reader_) return;
    const GilRelease released;
    reader_.reset();
  }

  void close() {
    if (!reader_) return;
    forget_parents_threads();
    const Turn turn(*this);
    auto closing = std::move(reader_);  // with the GIL, under which the others look
    const GilRelease released;
    closing.reset();
  }
  [[nodiscard]] bool is_closed() const noexcept { return !reader_; }
  [[nodiscard]] bool is_busy() const noexcept { return !is_parents() && is_busy_.load(); }

  // Calls with the reader, without the GIL.
  template <typename Call>
  [[nodiscard]] auto with(Call call) {
    if (!reader_) throw StatusError(invalid("the reader is closed: open another, cache.reader()"));
    if (is_parents()) {
      throw StatusError(
          {StatusCode::kUnsupported,
           "this reader was opened before the process forked, and its threads are the parent's: "
           "open a reader in the child"});
    }
    const Turn turn(*this);
    const GilRelease released;
    return call(*reader_);
  }

 private:
  // This process is a fork of the one that opened the reader.
  [[nodiscard]] bool is_parents() const noexcept { return made_at_ != fork_count(); }
  // Who was using the reader when the process forked is not here, and never will have done with it.
  void forget_parents_threads() noexcept {
    if (is_parents()) is_busy_.store(false);
  }

  struct Turn {
    explicit Turn(ReaderHandle& handle) : handle_(handle) {
      if (handle_.is_busy_.exchange(true)) {
        throw StatusError(
            {StatusCode::kBusy,
             "another thread is using this reader: one at a time, or a reader for each"});
      }
    }
    ~Turn() { handle_.is_busy_.store(false); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ReaderHandle& handle_;
  };

  std::unique_ptr<Reader> reader_;
  std::uint32_t made_at_ = fork_count();
  std::atomic<bool> is_busy_ = false;
};

// Slots are asked for as prefetch here.
Status named_as_here(const Status& status) {
  if (status.code() != StatusCode::kBusy) return status;
  return {status.code(), status.message() + " (prefetch=)"};
}

std::optional<BatchHandle> next(ReaderHandle& self) {
  auto batch = self.with([](Reader& reader) { return reader.next(); });
  if (!batch.ok()) {
    const bool is_full = batch.status().code() == StatusCode::kBusy;
    throw StatusError(named_as_here(batch.status()), is_full ? "slots held" : "");
  }
  if (!*batch) return std::nullopt;
  return BatchHandle{std::make_shared<const Batch>(std::move(**batch))};
}

nb::dict state(ReaderHandle& self) {
  const ReaderState state = self.with([](const Reader& reader) { return reader.state(); });
  nb::dict dict;
  dict["order_version"] = state.order_version;
  dict["seed"] = state.seed;
  dict["epoch"] = state.epoch;
  dict["samples_consumed"] = state.samples_consumed;
  dict["bucket_samples_consumed"] = state.bucket_samples_consumed;
  dict["cache"] = state.cache;
  dict["selection"] = state.selection;
  return dict;
}

void load_state(ReaderHandle& self, const nb::dict& dict) {
  const ReaderState state{.order_version = nb::cast<std::uint32_t>(dict["order_version"]),
                          .seed = nb::cast<std::uint64_t>(dict["seed"]),
                          .epoch = nb::cast<std::uint64_t>(dict["epoch"]),
                          .samples_consumed = nb::cast<std::uint64_t>(dict["samples_consumed"]),
                          .bucket_samples_consumed =
                              nb::cast<std::vector<std::uint64_t>>(dict["bucket_samples_consumed"]),
                          .cache = nb::cast<std::string>(dict["cache"]),
                          .selection = nb::cast<std::string>(dict["selection"])};
  must(self.with([&](Reader& reader) { return reader.load_state(state); }));
}

nb::dict stats(ReaderHandle& self) {
  const ReaderStats stats = self.with([](const Reader& reader) { return reader.stats(); });
  nb::dict dict;
  dict["batch_count"] = stats.batch_count;
  dict["sample_count"] = stats.sample_count;
  dict["bytes"] = stats.bytes;
  dict["batches_in_place"] = stats.batches_in_place;
  dict["cache_hits"] = stats.cache_hits;
  dict["ms_mean"] = stats.ms_mean;
  dict["ms_std"] = stats.ms_std;
  dict["ms_p50"] = stats.ms_p50;
  dict["ms_p95"] = stats.ms_p95;
  dict["ms_p99"] = stats.ms_p99;
  dict["consumer_wait_s"] = stats.consumer_wait_s;
  dict["filler_wait_s"] = stats.filler_wait_s;
  dict["check_failures"] = stats.check_failures;
  nb::list failures;
  for (const std::string& failure : stats.first_failures) failures.append(to_text(failure));
  dict["first_failures"] = nb::tuple(failures);
  dict["left_out_count"] = stats.left_out_count;
  dict["epoch_left_out_count"] = stats.epoch_left_out_count;
  dict["epoch_sample_count"] = stats.epoch_sample_count;
  dict["notice"] = to_text(stats.notice);
  dict["storage"] = to_text(stats.storage);
  dict["reading"] = to_text(stats.reading);
  return dict;
}

}  // namespace

void bind_reader(nb::module_& module) {
  nb::class_<SourceHandle>(module, "ClipSource", "Clips that are computed while they are read.");
  nb::class_<ReaderHandle>(module, "Reader", "Batches of one cache; one thread at a time.")
      .def(
          "__init__",
          [](ReaderHandle* self, const CacheHandle& cache, const nb::dict& options) {
            const ReaderOptions wanted = to_reader_options(options);
            Reader reader = must(without_gil([&] { return Reader::open(*cache.cache, wanted); }));
            new (self) ReaderHandle(std::move(reader));
          },
          nb::arg("cache"), nb::arg("options"),
          nb::sig("def __init__(self, cache: Cache, options: dict[str, typing.Any]) -> None"))
      .def(
          "__init__",
          [](ReaderHandle* self, const SourceHandle& clips, const nb::dict& options) {
            const ReaderOptions wanted = to_reader_options(options);
            Reader reader = must(without_gil([&] { return Reader::open(clips.source, wanted); }));
            new (self) ReaderHandle(std::move(reader));
          },
          nb::arg("clips"), nb::arg("options"),
          nb::sig("def __init__(self, clips: ClipSource, options: dict[str, typing.Any]) -> None"))
      .def("next", next, "The next batch; None at the epoch's end.")
      .def(
          "set_epoch",
          [](ReaderHandle& self, std::uint64_t epoch) {
            must(self.with([&](Reader& reader) {
              reader.set_epoch(epoch);
              return Status();
            }));
          },
          nb::arg("epoch"))
      .def("epoch",
           [](ReaderHandle& self) {
             return self.with([](const Reader& reader) { return reader.epoch(); });
           })
      .def("sample_count",
           [](ReaderHandle& self) {
             return self.with([](const Reader& reader) { return reader.sample_count(); });
           })
      .def("samples_per_epoch",
           [](ReaderHandle& self) {
             return self.with([](const Reader& reader) { return reader.samples_per_epoch(); });
           })
      .def("batches_per_epoch",
           [](ReaderHandle& self) {
             return self.with([](const Reader& reader) { return reader.batches_per_epoch(); });
           })
      .def("state", state, nb::sig("def state(self) -> dict[str, typing.Any]"))
      .def("load_state", load_state, nb::arg("state"),
           nb::sig("def load_state(self, state: dict[str, typing.Any]) -> None"))
      .def("stats", stats, nb::sig("def stats(self) -> dict[str, typing.Any]"))
      .def(
          "left_out",
          [](ReaderHandle& self) {
            return self.with([](const Reader& reader) { return reader.left_out(); });
          },
          "Positions of the clips that were left out so far.")
      .def("close", &ReaderHandle::close, "Ends its threads. Batches and arrays stay.")
      .def_prop_ro("is_closed", &ReaderHandle::is_closed)
      .def_prop_ro("is_busy", &ReaderHandle::is_busy);
}

}  // namespace xtts::python
