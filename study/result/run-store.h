// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RUN_STORE_H
#define GRADSYNC_RUN_STORE_H

#include "ns3/run-result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/**
 * The runs of a results folder, each in a folder `.runs/NUMBER-HASH` of its own.
 *
 * A run is written under a temporary name and renamed when it is whole, so that a killed program
 * leaves whole runs or none. The hash names the scenario of the run and the program that made it: a
 * run whose hash is still wanted need not be done again.
 */
class RunStore
{
  public:
    /// Names of the files in a run's folder.
    static constexpr const char* SUMMARY_FILE = "summary.json";
    static constexpr const char* ITERATION_FILE = "iterations.csv";
    static constexpr const char* LINK_FILE = "links.csv";
    static constexpr const char* MESSAGE_FILE = "messages.csv";
    static constexpr const char* FAULT_FILE = "faults.csv";
    static constexpr const char* SAMPLE_FILE = "samples.csv";
    static constexpr const char* FLOW_FILE = "flows.csv";
    static constexpr const char* UNFINISHED_FILE = "unfinished.csv";
    static constexpr const char* CAPTURE_FOLDER = "pcap";
    static constexpr const char* BLOCKED_FILE = "blocked.csv";
    static constexpr const char* TRACE_FILE = "trace.json"; //!< only of runs that want it

    /// Who else may use the folder at the same time.
    enum class Access
    {
        Alone,
        WithOthers //!< other programs, which do other runs
    };

    /**
     * Makes the folder, locks it against other programs and, alone, clears what killed ones left.
     * \param hashes [run] -> hash
     * \throws ScenarioError when the folder cannot be used or another program writes to it
     */
    RunStore(const std::filesystem::path& folder,
             std::vector<uint64_t> hashes,
             Access access = Access::Alone);
    ~RunStore();
    RunStore(const RunStore&) = delete;
    RunStore& operator=(const RunStore&) = delete;

    bool Has(uint32_t run) const;

    /// Folder of a run; exists only if Has.
    std::filesystem::path GetFolder(uint32_t run) const;

    /// Makes the folder in which a run may write files while it goes on, and Write the others.
    std::filesystem::path Begin(uint32_t run) const;

    /// Writes a run as a whole, after Begin. \throws std::runtime_error when the disk is full or
    /// the like
    void Write(uint32_t run, const RunResult& result) const;

    RunSummary ReadSummary(uint32_t run) const;

    /// Removes all runs, wanted or not.
    void Clear() const;

    /// Removes the runs that are not wanted.
    void Prune() const;

  private:
    void Lock(Access access);
    void Adopt() const;
    std::string GetName(uint32_t run) const;
    bool IsWanted(const std::string& name) const;

    std::filesystem::path m_folder; //!< .runs
    std::vector<uint64_t> m_hashes;
    int m_lock{-1};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RUN_STORE_H
