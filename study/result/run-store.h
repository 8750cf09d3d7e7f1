// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RUN_STORE_H
#define GRADSYNC_RUN_STORE_H

#include "ns3/file-lock.h"
#include "ns3/run-result.h"
#include "ns3/stored-summary.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ns3::gradsync
{

/// What a RunStore has of a run.
struct StoredRun
{
    bool exists{false};
    std::string damage; //!< what has happened to it since it was written; empty: nothing

    bool IsWhole() const
    {
        return exists && damage.empty();
    }
};

/**
 * The runs of a results folder, each in a folder `.runs/NUMBER-HASH` of its own.
 *
 * A run is written under a temporary name that no other process has, sealed with checksums, and
 * renamed when it is on the disk, so that a killed program leaves whole runs or none, and programs
 * that do the same run at once leave one of them. The hash names the scenario of the run and the
 * program that made it: a run whose hash is still wanted need not be done again.
 */
class RunStore
{
  public:
    /// Where runs are, in a results folder.
    static constexpr const char* FOLDER = ".runs";
    /// A file of every store, from its beginning on.
    static constexpr const char* LOCK_FILE = ".lock";

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
    static constexpr const char* TRAINING_FILE = "training.csv";
    static constexpr const char* STREAM_FILE = "streams.csv";
    static constexpr const char* COLLECTIVE_FILE = "collectives.csv";
    static constexpr const char* CRITICAL_FILE = "critical_path.csv";
    static constexpr const char* UPDATE_FILE = "updates.csv";
    static constexpr const char* WORKER_FILE = "workers.csv";
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
    RunStore(const RunStore&) = delete;
    RunStore& operator=(const RunStore&) = delete;

    /// Reads all of a run and compares checksums.
    StoredRun Look(uint32_t run) const;

    /// Folder of a run.
    std::filesystem::path GetFolder(uint32_t run) const;

    /// Makes the folder in which a run may write files while it goes on, and Write the others.
    std::filesystem::path Begin(uint32_t run) const;

    /// Makes a folder of this process alone; what is left of it goes when the store is next used
    /// alone.
    std::filesystem::path MakeTemporary(const std::string& name) const;

    /**
     * Writes a run as a whole; tables without rows make no files. Where another program has done
     * the same run meanwhile, that one stays; a damaged one is replaced. \param temporary from
     * Begin \throws FileError when the disk is full or the like
     */
    void Write(uint32_t run, const std::filesystem::path& temporary, const RunResult& result) const;

    /// The first half of Write: the files of a run, which another program may do for it. \param
    /// temporary from Begin \throws FileError likewise
    static void WriteTables(const std::filesystem::path& temporary, const RunResult& result);

    /// The second one.
    void Publish(uint32_t run, const std::filesystem::path& temporary) const;

    StoredSummary ReadSummary(uint32_t run) const;

    /// Removes all runs, wanted or not.
    void Clear() const;

    /// Removes the runs that are not wanted.
    void Prune() const;

  private:
    void Adopt() const;
    std::string GetName(uint32_t run) const;
    bool IsWanted(const std::string& name) const;

    std::filesystem::path m_folder; //!< .runs
    std::vector<uint64_t> m_hashes;
    std::optional<FileLock> m_lock; //!< held as long as the store is
};

} // namespace ns3::gradsync

#endif // GRADSYNC_RUN_STORE_H
