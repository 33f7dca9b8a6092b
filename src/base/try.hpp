// Early return on failure, for code that works with Status and Result.
#pragma once

#include "xtts/status.hpp"

// XTTS_TRY(expr): returns from the enclosing function when the Status `expr` has failed.
#define XTTS_TRY(expr)                                                              \
  do {                                                                              \
    if (::xtts::Status xtts_status = (expr); !xtts_status.ok()) return xtts_status; \
  } while (false)

#define XTTS_CONCAT_INNER(a, b) a##b
#define XTTS_CONCAT(a, b) XTTS_CONCAT_INNER(a, b)

// XTTS_ASSIGN(auto x, expr): `x` becomes the value of the Result `expr`, or its failure is
// returned.
#define XTTS_ASSIGN(target, expr) \
  XTTS_ASSIGN_INNER(target, expr, XTTS_CONCAT(xtts_result_, __LINE__))
#define XTTS_ASSIGN_INNER(target, expr, result) \
  auto result = (expr);                         \
  if (!result.ok()) return result.status();     \
  target = std::move(result).value()
