#include "recipe/vocabulary_file.hpp"

#include "base/try.hpp"
#include "formats/vocabulary.hpp"
#include "recipe/yaml_tree.hpp"

namespace xtts::recipe {

Result<std::string> canonical_vocabulary(std::string_view spelled) {
  XTTS_ASSIGN(const auto characters, formats::split_vocabulary(spelled));
  std::string line;
  for (const std::string_view character : characters) line += character;
  return line;
}

Result<std::string> read_vocabulary_file(Env& env, const std::string& folder,
                                         const std::string& path) {
  const std::string full = path.starts_with('/') ? path : join_path(folder, path);
  XTTS_ASSIGN(std::string text, read_text_file(env, full, kYamlBytesMax));
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  for (std::size_t cr = text.find("\r\n"); cr != std::string::npos; cr = text.find("\r\n", cr))
    text.erase(cr, 1);
  auto characters = canonical_vocabulary(text);
  if (!characters.ok()) return characters.status().with_context(full);
  return characters;
}

}  // namespace xtts::recipe
