// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_RESULT_COLUMNS_H
#define GRADSYNC_RESULT_COLUMNS_H

#include "ns3/json-document.h"
#include "ns3/scenario.h"

#include <array>
#include <cstdint>
#include <span>

namespace ns3::gradsync
{

/// What the cells of a column are, whatever is in them; empty ones too.
enum class ColumnType : uint8_t
{
    Integer,
    Number,
    Flag, //!< true or false
    Text
};

/// Between which runs of one scenario and seed the cells of a column are the same.
enum class Compared : uint8_t
{
    Always,
    SameProgram, //!< not those of programs that do the work in another way
    Never        //!< what a run cost on its machine
};

/// A column of a table of results. To add one to a table, add its row and its cell.
struct ResultColumn
{
    const char* name;
    const char* label; //!< on axes
    const char* unit;  //!< "s" and "B" are scaled to the values at hand; empty: a count or a ratio
    ColumnType type;
    Compared compared{Compared::Always};
};

/// The number of its run, before all other columns of every table.
inline constexpr ResultColumn RUN_COLUMN{"run",
                                         "Run",
                                         "",
                                         ColumnType::Integer,
                                         Compared::SameProgram};

inline constexpr std::array<ResultColumn, 11> ITERATION_COLUMNS{{
    {"job", "Job", "", ColumnType::Text},
    {"iteration", "Iteration", "", ColumnType::Integer},
    {"start_s", "Start", "s", ColumnType::Number},
    {"ict_s", "Iteration completion time", "s", ColumnType::Number},
    {"compute_s", "Computing", "s", ColumnType::Number},
    {"compress_s", "Compressing", "s", ColumnType::Number},
    {"network_s", "Network", "s", ColumnType::Number},
    {"decompress_s", "Decompressing", "s", ColumnType::Number},
    {"overlap_s", "Overlap", "s", ColumnType::Number},
    {"replies", "Replies of a round", "", ColumnType::Integer},
    {"late", "Late replies of a round", "", ColumnType::Integer},
}};

inline constexpr std::array<ResultColumn, 14> LINK_COLUMNS{{
    {"from", "From", "", ColumnType::Text},
    {"to", "To", "", ColumnType::Text},
    {"kind", "Kind", "", ColumnType::Text},
    {"rate_bps", "Rate", "b/s", ColumnType::Integer},
    {"payload_bytes", "Payload on the link", "B", ColumnType::Integer},
    {"wire_bytes", "Bytes on the link", "B", ColumnType::Integer},
    {"packets", "Packets", "", ColumnType::Integer},
    {"utilisation", "Utilisation", "", ColumnType::Number},
    {"dropped", "Dropped packets", "", ColumnType::Integer},
    {"ecn", "ECN-marked packets", "", ColumnType::Integer},
    {"pfc_pause_s", "Time paused by PFC", "s", ColumnType::Number},
    {"max_queue_bytes", "Longest queue", "B", ColumnType::Integer},
    {"pfc_pauses", "Pauses by PFC", "", ColumnType::Integer},
    {"blocked_bytes", "Bytes that waited for PFC", "B", ColumnType::Integer},
}};

inline constexpr std::array<ResultColumn, 6> FAULT_COLUMNS{{
    {"time_s", "Time", "s", ColumnType::Number},
    {"fault", "Fault", "", ColumnType::Integer},
    {"kind", "Kind", "", ColumnType::Text},
    {"target", "Target", "", ColumnType::Text},
    {"event", "Event", "", ColumnType::Text},
    {"recovery_s", "Recovery", "s", ColumnType::Number},
}};

inline constexpr std::array<ResultColumn, 3> BLOCKED_COLUMNS{{
    {"time_s", "Time", "s", ColumnType::Number},
    {"job", "Job", "", ColumnType::Text},
    {"blocked_workers", "Blocked workers", "", ColumnType::Integer},
}};

inline constexpr std::array<ResultColumn, 7> FLOW_COLUMNS{{
    {"traffic", "Entry of traffic", "", ColumnType::Integer},
    {"src", "Source", "", ColumnType::Text},
    {"dst", "Destination", "", ColumnType::Text},
    {"bytes", "Bytes", "B", ColumnType::Integer},
    {"start_s", "Start", "s", ColumnType::Number},
    {"end_s", "End", "s", ColumnType::Number},
    {"status", "Status", "", ColumnType::Text},
}};

inline constexpr std::array<ResultColumn, 6> SAMPLE_COLUMNS{{
    {"time_s", "Time", "s", ColumnType::Number},
    {"from", "From", "", ColumnType::Text},
    {"to", "To", "", ColumnType::Text},
    {"wire_bytes", "Bytes on the link", "B", ColumnType::Integer},
    {"queue_bytes", "Queue", "B", ColumnType::Integer},
    {"pfc_pause_s", "Time paused by PFC", "s", ColumnType::Number},
}};

inline constexpr std::array<ResultColumn, 8> UNFINISHED_COLUMNS{{
    {"job", "Job", "", ColumnType::Text},
    {"iteration", "Iteration", "", ColumnType::Integer},
    {"operation", "Operation", "", ColumnType::Integer},
    {"what", "What", "", ColumnType::Text},
    {"src", "Source", "", ColumnType::Text},
    {"dst", "Destination", "", ColumnType::Text},
    {"bytes", "Bytes", "B", ColumnType::Integer},
    {"state", "State", "", ColumnType::Text},
}};

inline constexpr std::array<ResultColumn, 8> MESSAGE_COLUMNS{{
    {"job", "Job", "", ColumnType::Text},
    {"iteration", "Iteration", "", ColumnType::Integer},
    {"operation", "Operation", "", ColumnType::Integer},
    {"src", "Source", "", ColumnType::Text},
    {"dst", "Destination", "", ColumnType::Text},
    {"bytes", "Bytes", "B", ColumnType::Integer},
    {"start_s", "Start", "s", ColumnType::Number},
    {"end_s", "End", "s", ColumnType::Number},
}};

inline constexpr std::array<ResultColumn, 14> TRAINING_COLUMNS{{
    {"job", "Job", "", ColumnType::Text},
    {"iteration", "Iteration", "", ColumnType::Integer},
    {"rank", "Rank", "", ColumnType::Integer},
    {"host", "Host", "", ColumnType::Text},
    {"start_s", "Start", "s", ColumnType::Number},
    {"iteration_s", "Iteration time", "s", ColumnType::Number},
    {"computation_s", "Computation", "s", ColumnType::Number},
    {"hidden_s", "Hidden communication", "s", ColumnType::Number},
    {"exposed_s", "Exposed communication", "s", ColumnType::Number},
    {"waiting_s", "Waiting in collectives", "s", ColumnType::Number},
    {"bubble_s", "Bubble", "s", ColumnType::Number},
    {"lost_s", "Lost with a rank", "s", ColumnType::Number},
    {"in_flight", "Microbatches in flight", "", ColumnType::Integer},
    {"memory_bytes", "Device memory", "B", ColumnType::Integer},
}};

inline constexpr std::array<ResultColumn, 7> STREAM_COLUMNS{{
    {"job", "Job", "", ColumnType::Text},
    {"iteration", "Iteration", "", ColumnType::Integer},
    {"rank", "Rank", "", ColumnType::Integer},
    {"stream", "Stream", "", ColumnType::Text},
    {"communication_s", "Communication", "s", ColumnType::Number},
    {"hidden_s", "Hidden communication", "s", ColumnType::Number},
    {"exposed_s", "Exposed communication", "s", ColumnType::Number},
}};

inline constexpr std::array<ResultColumn, 14> COLLECTIVE_COLUMNS{{
    {"job", "Job", "", ColumnType::Text},
    {"stream", "Stream", "", ColumnType::Text},
    {"label", "Label", "", ColumnType::Text},
    {"kind", "Kind", "", ColumnType::Text},
    {"group_size", "Ranks", "", ColumnType::Integer},
    {"bytes", "Size", "B", ColumnType::Integer},
    {"count", "Communications", "", ColumnType::Integer},
    {"mean_s", "Time from the last rank's coming", "s", ColumnType::Number},
    {"min_s", "Shortest time", "s", ColumnType::Number},
    {"max_s", "Longest time", "s", ColumnType::Number},
    {"first_mean_s", "Time from the first rank's coming", "s", ColumnType::Number},
    {"exposed_mean_s", "Exposed time of a rank", "s", ColumnType::Number},
    {"algbw_bytes_per_s", "Algorithm bandwidth", "B/s", ColumnType::Number},
    {"busbw_bytes_per_s", "Bus bandwidth", "B/s", ColumnType::Number},
}};

/// Of steps that end at the same time another program may follow another one.
inline constexpr std::array<ResultColumn, 13> CRITICAL_COLUMNS{{
    {"job", "Job", "", ColumnType::Text},
    {"iteration", "Iteration", "", ColumnType::Integer},
    {"step", "Step", "", ColumnType::Integer, Compared::SameProgram},
    {"rank", "Rank", "", ColumnType::Integer, Compared::SameProgram},
    {"host", "Host", "", ColumnType::Text, Compared::SameProgram},
    {"stream", "Stream", "", ColumnType::Text, Compared::SameProgram},
    {"label", "Label", "", ColumnType::Text, Compared::SameProgram},
    {"kind", "Kind", "", ColumnType::Text, Compared::SameProgram},
    {"start_s", "Start", "s", ColumnType::Number, Compared::SameProgram},
    {"end_s", "End", "s", ColumnType::Number, Compared::SameProgram},
    {"bytes", "Size", "B", ColumnType::Integer, Compared::SameProgram},
    {"link_from", "Link from", "", ColumnType::Text, Compared::SameProgram},
    {"link_to", "Link to", "", ColumnType::Text, Compared::SameProgram},
}};

inline constexpr std::array<ResultColumn, 9> UPDATE_COLUMNS{{
    {"job", "Job", "", ColumnType::Text},
    {"update", "Update", "", ColumnType::Integer, Compared::SameProgram},
    {"stage", "Stage", "", ColumnType::Integer},
    {"worker", "Worker", "", ColumnType::Integer, Compared::SameProgram},
    {"host", "Host", "", ColumnType::Text, Compared::SameProgram},
    {"step", "Step", "", ColumnType::Integer, Compared::SameProgram},
    {"time_s", "Time", "s", ColumnType::Number},
    {"staleness", "Staleness of an update", "updates", ColumnType::Integer, Compared::SameProgram},
    {"ahead", "Steps ahead of the slowest worker", "", ColumnType::Integer, Compared::SameProgram},
}};

inline constexpr std::array<ResultColumn, 13> WORKER_COLUMNS{{
    {"job", "Job", "", ColumnType::Text},
    {"worker", "Worker", "", ColumnType::Integer},
    {"host", "Host", "", ColumnType::Text},
    {"steps", "Steps", "", ColumnType::Integer},
    {"updates", "Updates", "", ColumnType::Integer},
    {"fetches", "Fetches", "", ColumnType::Integer},
    {"staleness_mean", "Mean staleness", "updates", ColumnType::Number},
    {"staleness_max", "Largest staleness", "updates", ColumnType::Integer},
    {"ahead_max", "Most steps ahead of the slowest worker", "", ColumnType::Integer},
    {"steps_per_s", "Steps a second", "", ColumnType::Number},
    {"compute_s", "Computing", "s", ColumnType::Number},
    {"wait_s", "Waiting for parameters", "s", ColumnType::Number},
    {"held_s", "Held for the bound", "s", ColumnType::Number},
}};

/// A table that is put together from those of the runs.
struct TableFile
{
    const char* name;
    std::span<const ResultColumn> columns; //!< but for RUN_COLUMN
};

/// The tables with rows of all runs: iterations.csv, links.csv, ...
std::span<const TableFile> GetTableFiles();

/// Whether runs.csv has the seed among the swept columns.
bool HasSeedAxis(const Scenario& scenario);

/// The columns of all tables of a scenario's results by file, for readers of them.
Json DescribeColumns(const Scenario& scenario);

} // namespace ns3::gradsync

#endif // GRADSYNC_RESULT_COLUMNS_H
