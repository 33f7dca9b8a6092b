#include "corpus/packed_pages.hpp"

#include <arrow/util/compression.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <utility>

#include "base/try.hpp"
#include "corpus/arrow/arrow_call.hpp"
#include "corpus/arrow/arrow_input.hpp"

namespace xtts::corpus {
namespace {

using Bytes = std::shared_ptr<const std::vector<std::byte>>;

Result<Bytes> unpack(const RandomAccessFile& file, const PackedPage& page) {
  if (page.packed.size_bytes > kPageBytesMax || page.unpacked_bytes > kPageBytesMax)
    return Status(StatusCode::kBadInput, "has a page of more than 256 MiB");
  std::vector<std::uint8_t> packed(static_cast<std::size_t>(page.packed.size_bytes));
  XTTS_TRY(read_exactly(file, page.packed.offset_bytes, packed.data(), packed.size()));
  auto codec = arrow::util::Codec::Create(static_cast<arrow::Compression::type>(page.codec));
  if (!codec.ok()) return to_status(codec.status());
  auto bytes =
      std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(page.unpacked_bytes));
  const auto got = (*codec)->Decompress(static_cast<std::int64_t>(packed.size()), packed.data(),
                                        static_cast<std::int64_t>(bytes->size()),
                                        reinterpret_cast<std::uint8_t*>(bytes->data()));
  if (!got.ok()) return to_status(got.status());
  if (static_cast<std::uint64_t>(*got) != page.unpacked_bytes) return damaged("a page is shorter");
  return Bytes(std::move(bytes));
}

// Shared by all threads; the page used last is at the end.
struct RecentPages {
  struct Entry {
    std::shared_ptr<const PackedPage> page;
    Bytes bytes;
  };

  std::mutex mutex;
  std::list<Entry> entries;
  std::uint64_t size_bytes = 0;

  Bytes find(const std::shared_ptr<const PackedPage>& page) {
    const auto found = std::ranges::find(entries, page, &Entry::page);
    if (found == entries.end()) return nullptr;
    entries.splice(entries.end(), entries, found);
    return entries.back().bytes;
  }
  void make_room(std::uint64_t for_bytes) {
    while (!entries.empty() && size_bytes + for_bytes > kPageBytesMax) {
      size_bytes -= entries.front().page->unpacked_bytes;
      entries.pop_front();
    }
  }
  void keep(const std::shared_ptr<const PackedPage>& page, Bytes bytes) {
    size_bytes += page->unpacked_bytes;
    entries.push_back({page, std::move(bytes)});
  }
};

RecentPages& recent_pages() {
  static RecentPages recent;
  return recent;
}

}  // namespace

Result<Bytes> unpacked(const RandomAccessFile& file,
                       const std::shared_ptr<const PackedPage>& page) {
  RecentPages& recent = recent_pages();
  const std::scoped_lock lock(recent.mutex);
  if (Bytes bytes = recent.find(page)) return bytes;
  recent.make_room(page->unpacked_bytes);
  XTTS_ASSIGN(Bytes bytes, call_arrow([&] { return unpack(file, *page); }));
  recent.keep(page, bytes);
  return bytes;
}

}  // namespace xtts::corpus
