// SPDX-License-Identifier: GPL-2.0-only
#include "bench/bench-program.h"

#include <CLI/CLI.hpp>
#include <exception>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace ns3::gradsync::bench
{

namespace
{

void
AddTo(CLI::App& app, const BenchOption& option)
{
    std::visit(
        [&](auto* variable) {
            using Value = std::remove_pointer_t<decltype(variable)>;
            if constexpr (std::is_same_v<Value, bool>)
            {
                app.add_flag(option.name, *variable, option.help);
            }
            else
            {
                auto* added = app.add_option(option.name, *variable, option.help);
                if constexpr (!std::is_same_v<Value, std::vector<std::string>>)
                {
                    added->capture_default_str();
                }
                if (std::is_integral_v<Value> && option.most > 0)
                {
                    added->check(CLI::Range(option.least, option.most));
                }
            }
        },
        option.variable);
}

} // namespace

int
BenchProgram::Main(int argc, char** argv) const
{
    CLI::App app{description};
    for (const auto& option : options)
    {
        AddTo(app, option);
    }
    CLI11_PARSE(app, argc, argv);
    try
    {
        fmt::print("{}\n", run().dump());
        return 0;
    }
    catch (const std::exception& error)
    {
        fmt::print(stderr, "{}: {}\n", name, error.what());
        return 1;
    }
}

} // namespace ns3::gradsync::bench
