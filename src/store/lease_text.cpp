#include "store/lease_text.hpp"

#include <nlohmann/json.hpp>

#include "formats/canonical_json.hpp"
#include "formats/json_fields.hpp"

namespace xtts::store {

std::string encode_lease(const LeaseText& lease) {
  return formats::dump_canonical({{"nonce", lease.nonce.to_hex()},
                                  {"epoch", lease.epoch},
                                  {"beat", lease.beat},
                                  {"circle", lease.circle},
                                  {"holder", lease.holder}}) +
         "\n";
}

std::optional<LeaseText> decode_lease(std::string_view text) {
  const auto document = formats::parse_json(text);
  if (!document || !document->is_object()) return {};
  Status failure;
  formats::JsonFields fields(*document, "", failure);
  LeaseText lease;
  lease.nonce = fields.digest("nonce");
  lease.epoch = fields.integer<std::uint64_t>("epoch");
  lease.beat = fields.integer<std::uint64_t>("beat");
  lease.circle = fields.text("circle");
  lease.holder = fields.text("holder");
  if (!failure.ok()) return {};
  return lease;
}

}  // namespace xtts::store
