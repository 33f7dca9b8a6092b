// The commands. Each add_ function stands in a file of its own, NAME_command.cpp.
#pragma once

#include "cli/app.hpp"

namespace CLI {
class App;
}

namespace xtts::cli {

void add_bench_command(CLI::App& app, Context& context);
void add_build_command(CLI::App& app, Context& context);
void add_compact_command(CLI::App& app, Context& context);
void add_completion_command(CLI::App& app, Context& context);
void add_config_command(CLI::App& app, Context& context);
void add_convert_command(CLI::App& app, Context& context);
void add_merge_command(CLI::App& app, Context& context);
void add_diff_command(CLI::App& app, Context& context);
void add_doctor_command(CLI::App& app, Context& context);
void add_formats_command(CLI::App& app, Context& context);
void add_info_command(CLI::App& app, Context& context);
void add_ls_command(CLI::App& app, Context& context);
void add_monitor_command(CLI::App& app, Context& context);
void add_plan_command(CLI::App& app, Context& context);
void add_probe_command(CLI::App& app, Context& context);
void add_profile_command(CLI::App& app, Context& context);
void add_recipes_command(CLI::App& app, Context& context);
void add_set_command(CLI::App& app, Context& context);
void add_show_command(CLI::App& app, Context& context);
void add_trace_command(CLI::App& app, Context& context);
void add_train_command(CLI::App& app, Context& context);
void add_tune_command(CLI::App& app, Context& context);
void add_verify_command(CLI::App& app, Context& context);

}  // namespace xtts::cli
