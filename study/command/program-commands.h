// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PROGRAM_COMMANDS_H
#define GRADSYNC_PROGRAM_COMMANDS_H

#include "ns3/progress-meter.h"
#include "ns3/scenario-runner.h"
#include "ns3/scenario.h"

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// Exit codes of the program.
namespace exit_code
{
inline constexpr int OK = 0;
inline constexpr int INTERNAL_ERROR = 1;
inline constexpr int FAILED = 1; //!< neither the input nor the program is wrong: the disk is full
inline constexpr int BAD_INPUT = 2;
inline constexpr int UNFINISHED = 3; //!< an exchange stalled or its transport gave up
inline constexpr int INTERRUPTED = 130;
} // namespace exit_code

/// Which part of a sweep `run` does: other programs, started by a workflow, do the others.
enum class RunPart
{
    Whole,
    Prepare, //!< check all runs and print which are missing
    Points,  //!< some runs, into the store of the folder; beside other programs
    Rank,    //!< as one of several processes, its share of one run, into a folder of that
    Assemble //!< the files of a results folder from the runs that are in its store
};

/// What `run` is run with.
struct RunOptions
{
    RunPart part{RunPart::Whole};
    std::string points; //!< of RunPart::Points: numbers and ranges such as "0-24,30"
    std::filesystem::path file;
    std::filesystem::path folder; //!< for the results
    std::vector<ScenarioOverride> overrides;
    uint32_t parallel{1}; //!< processes at a time
    ProgressStyle progress{ProgressStyle::None};
    bool resume{true};
    Repeats repeats{Repeats::Skip};     //!< in one process
    Repeats partRepeats{Repeats::Skip}; //!< in several
    uint32_t ranks{1};                  //!< processes that simulate a run together
    uint32_t rankOf{0};                 //!< of RunPart::Rank: the run
};

/// What `plan` prints and writes.
struct PlanOptions
{
    std::filesystem::path file;
    std::vector<ScenarioOverride> overrides;
    uint32_t run{0};  //!< of the sweep
    std::string job;  //!< empty: the first
    bool json{false}; //!< in place of the table
    bool verify{false};
    std::filesystem::path drawing; //!< SVG; empty: none
    /// A GOAL schedule, or by ".et" at its end Chakra traces, of each {rank} one; empty: none.
    std::filesystem::path exported;
};

/// What `auto` is run with.
struct AutoOptions
{
    std::filesystem::path file;
    std::filesystem::path folder; //!< for the candidates of each run
    std::vector<ScenarioOverride> overrides;
    uint32_t parallel{1}; //!< processes at a time
};

/// What `codec` is run with.
struct CodecOptions
{
    std::string codec;             //!< JSON, as a job's `codec`
    uint32_t workers{1};           //!< each with residuals and momentum of its own
    std::vector<uint64_t> tensors; //!< elements of each, which make up a gradient
    bool feedback{false};          //!< error feedback around the codec
    double momentum{0.0};          //!< of each worker, before the codec; 0: none
    uint32_t seed{0};              //!< of codecs that draw random numbers
};

/// What `p4 play` is run with.
struct P4PlayOptions
{
    std::string program;              //!< what p4c-bm2-ss wrote
    std::vector<std::string> vectors; //!< in p4c's STF language, each for a new switch
    std::string configuration;        //!< a file that comes before each; empty: none
    std::string p4info;               //!< what a configuration of P4Runtime needs; empty: none
};

/*
 * The commands of the program. Each returns an exit code; bad input is a ScenarioError, thrown
 * before anything is written.
 */

/// Runs all points of a scenario that the folder does not hold yet, and writes the results.
int RunCommand(const RunOptions& options, std::ostream& out, std::ostream& err);

/// Checks every run, proves every plan to do what its collective says.
int ValidateCommand(const std::filesystem::path& file,
                    const std::vector<ScenarioOverride>& overrides,
                    std::ostream& out,
                    std::ostream& err);

/// Tells of every run what can be known before a packet is simulated.
int DescribeCommand(const std::filesystem::path& file,
                    const std::vector<ScenarioOverride>& overrides,
                    std::ostream& out,
                    std::ostream& err);

/// Prints the plan of one job, and draws and exports it. INTERNAL_ERROR when it does not do
/// what its collective says.
int PlanCommand(const PlanOptions& options, std::ostream& out);

/// Simulates what the scheme `auto` chooses from, and tells how good its choice is.
int AutoCommand(const AutoOptions& options, std::ostream& out, std::ostream& err);

/// Prints as JSON by which trees of switches the jobs of a scenario of one run could aggregate, and
/// what each puts on links and switches. The links are in the order of the directions.
int TreesCommand(const std::filesystem::path& file,
                 const std::vector<ScenarioOverride>& overrides,
                 std::ostream& out);

/// Prints the runs with all values in place, as JSON.
int ResolveCommand(const std::filesystem::path& file,
                   const std::vector<ScenarioOverride>& overrides,
                   std::ostream& out,
                   std::ostream& err);

/// Measures how far sums of integers in switches are from those of the gradients; a table as CSV.
int SumErrorsCommand(std::ostream& out);

/**
 * Reads gradients of the workers in turn from `in`, as float32 of this machine, and answers each on
 * `out` with the bytes of its message (uint64) and the gradient that its receivers decode. Until
 * the input ends.
 */
int CodecCommand(const CodecOptions& options, std::istream& in, std::ostream& out);

/// Plays vectors on a P4 program, and prints what is not as expected. FAILED when anything is.
int P4PlayCommand(const P4PlayOptions& options, std::ostream& out);

/// Tells what is in a compiled P4 program, and whether it runs.
int P4DescribeCommand(const std::string& program, std::ostream& out);

/// How `list` tells what scenarios can name.
enum class ListFormat
{
    Lines,
    Objects, //!< JSON, for other programs
    Schema   //!< scenarios/scenario.schema.json
};

/// Lists all that scenarios can name, with parameters.
int ListCommand(std::ostream& out, ListFormat format = ListFormat::Lines);

} // namespace ns3::gradsync

#endif // GRADSYNC_PROGRAM_COMMANDS_H
