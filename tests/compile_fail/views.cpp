// With MISTAKES, each line that is marked so is an error, and no other.
#include <string>
#include <vector>

#include "xtts/batch.hpp"
#include "xtts/reader.hpp"
#include "xtts/runtime.hpp"

xtts::Cache open_cache();
xtts::Record read_record();
xtts::Batch take_batch();
xtts::RuntimeClips open_clips();
xtts::Status close_all();

void use() {
  const xtts::Cache cache = open_cache();
  const xtts::Record record = read_record();
  const xtts::Batch batch = take_batch();
  (void)cache.speakers();
  (void)record.bytes();
  (void)batch.columns();
#ifdef MISTAKES
  const auto bytes = read_record().bytes();                         // MISTAKE
  const auto numbers = read_record().as_floats();                   // MISTAKE
  const std::vector<std::string>& names = open_cache().speakers();  // MISTAKE
  const auto columns = take_batch().columns();                      // MISTAKE
  const xtts::BatchColumn* mel = take_batch().find("mel");          // MISTAKE
  const std::string& recipe = open_clips().recipe_name();           // MISTAKE
  const xtts::Cache copy = cache;                                   // MISTAKE: it owns mappings
  close_all();                                                      // MISTAKE: nobody looks
#endif
}
