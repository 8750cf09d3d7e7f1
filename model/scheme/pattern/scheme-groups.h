// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCHEME_GROUPS_H
#define GRADSYNC_SCHEME_GROUPS_H

#include "ns3/scheme.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3::gradsync
{

using Ranks = std::vector<uint32_t>;

/// What forms the groups when a scenario names neither `groupLevel` nor `groupSize`.
enum class DefaultGroups
{
    InnermostLevel, //!< the innermost level with a group of more than one rank; all ranks without
    Servers,        //!< the level "server"; each rank alone without
    ServersOrAll    //!< likewise; all ranks without
};

/// The groups of one level, each with its ranks in ascending order.
std::vector<Ranks> CollectGroups(const GroupLevel& level);

/// Contiguous groups of a given size; the last one may be smaller.
std::vector<Ranks> CutGroups(uint32_t workers, uint32_t groupSize);

/**
 * The groups that the parameters `groupLevel` and `groupSize` ask for.
 * \throws SchemeError when both are given, or when the level does not exist
 */
std::vector<Ranks> FindGroups(const SchemeRequest& request, DefaultGroups byDefault);

/// Specs of `groupLevel` and `groupSize`.
std::vector<ParameterSpec> MakeGroupSpecs(DefaultGroups byDefault);

/**
 * As many groups as the integer parameter `parameter` says: those of the innermost level with just
 * so many, else contiguous blocks of ranks whose sizes differ by at most one.
 * \throws SchemeError when there are fewer workers than groups
 */
std::vector<Ranks> SplitWorkers(const SchemeRequest& request, const std::string& parameter);

/// Members of the largest group.
uint32_t GetLargestSize(const std::vector<Ranks>& groups);

} // namespace ns3::gradsync

#endif // GRADSYNC_SCHEME_GROUPS_H
