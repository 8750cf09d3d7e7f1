// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_BENCH_PROGRAM_H
#define GRADSYNC_BENCH_PROGRAM_H

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

namespace ns3::gradsync::bench
{

/// An option of a benchmark's command line. What stands in its variable is the default.
struct BenchOption
{
    using Variable = std::
        variant<bool*, uint16_t*, uint32_t*, uint64_t*, std::string*, std::vector<std::string>*>;

    std::string name; //!< "--scheme"
    Variable variable;
    std::string help{};
    // Of a number; 0: any is taken.
    uint32_t least{0};
    uint32_t most{0};
};

/// A program that measures something and prints it as one line of JSON.
struct BenchProgram
{
    std::string name; //!< before errors
    std::string description;
    std::vector<BenchOption> options;
    std::function<nlohmann::ordered_json()> run; //!< after the options have been read

    /// Reads the command line, runs, prints. \returns the exit code: 1 after an exception of `run`,
    /// CLI11's own if an option is none or out of its range
    int Main(int argc, char** argv) const;
};

} // namespace ns3::gradsync::bench

#endif // GRADSYNC_BENCH_PROGRAM_H
