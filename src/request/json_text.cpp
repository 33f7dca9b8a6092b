#include "request/json_text.hpp"

namespace xtts::request {

std::string dump_json(const nlohmann::json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace xtts::request
