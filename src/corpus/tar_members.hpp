// TarMembers: the members of a tar, one after the other, by their headers alone: what lies between
// is skipped, so that a shard of a gigabyte costs a read a member. One thread at a time.
//
// Read: v7, ustar, GNU (long names, base-256 sizes) and pax (path, size) headers, each with its
// checksum. Nothing is ever unpacked, so no name and no link can leave anything; names that climb
// or are absolute are refused all the same, since they become ids. Memory: one header and one long
// name, whatever the archive says.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/env.hpp"
#include "corpus/source_place.hpp"

namespace xtts::corpus {

struct TarMember {
  std::string name;  // relative, without "./"; bytes as found
  ByteRange data;
  // Set: it is no regular file that can be read in place (a link, a device, a sparse file), or its
  // name will not do. Continues a sentence.
  std::optional<std::string> fault;
  bool is_folder = false;  // of no interest
};

class TarMembers {
 public:
  // `file` must outlive it.
  explicit TarMembers(const RandomAccessFile& file) : file_(file) {}

  // The next member; nullopt at the end. kBadInput, continuing a sentence that begins with the
  // archive: damaged or cut short from here on; what was given before is sound. Else what reading
  // said.
  [[nodiscard]] Result<std::optional<TarMember>> next();
  // After the last: blocks of zeros said that it is the last. Without them, the archive may have
  // been cut short between two members.
  [[nodiscard]] bool has_end_mark() const noexcept { return has_end_mark_; }

 private:
  struct Extended {  // of the headers before a member
    std::optional<std::string> name;
    std::optional<std::uint64_t> size_bytes;
    bool is_sparse = false;
  };
  [[nodiscard]] Result<std::string> read_extension(std::uint64_t size_bytes);
  [[nodiscard]] Status take_pax(std::string_view records, Extended& extended);

  const RandomAccessFile& file_;
  std::uint64_t offset_bytes_ = 0;
  bool has_end_mark_ = false;
};

}  // namespace xtts::corpus
