// Shows C++ values as structs of xtts.h. Each struct owns what it shows by its private_data, until
// its release() is called.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "xtts/batch.hpp"
#include "xtts/reader.hpp"
#include "xtts/xtts.h"

namespace xtts::capi {

// A batch's private_data points to a HeldBatch.
struct HeldBatch {
  xtts::Batch batch;
  std::vector<std::string> names;  // with a final 0, which string_views lack
  std::vector<xtts_batch_column> columns;
};

// Returns null for no batch, or for one that was released.
[[nodiscard]] const HeldBatch* held_by(const xtts_batch* batch);

void show_batch(std::unique_ptr<HeldBatch> held, xtts_batch& out);
void show_clip(xtts::ClipInfo found, xtts_clip& out);
// Returns the record's failure, if it has one; `out` stays as it is then.
[[nodiscard]] Status show_record(xtts::Result<xtts::Record> record, xtts_record& out);
void show_statistics(xtts::ColumnStatistics found, xtts_statistics& out);
void show_texts(xtts::ReaderStats stats, xtts_reader_texts& out);

}  // namespace xtts::capi
