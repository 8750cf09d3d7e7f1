// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_ROLE_H
#define GRADSYNC_AGGREGATION_ROLE_H

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

/// The part of a node of the fabric in a job of the slot protocol.
struct AggregationRole
{
    /// In place of an endpoint: a switch below.
    static constexpr uint32_t NO_ENDPOINT = UINT32_MAX;

    /// Who sends contributions and gets results.
    struct Child
    {
        uint16_t worker; //!< number by which it calls itself
        uint16_t port;
        uint32_t endpoint; //!< or NO_ENDPOINT
    };

    bool aggregates;
    uint16_t worker;                   //!< number by which it calls itself at the switch above
    std::optional<uint16_t> up;        //!< none at the root
    std::map<uint16_t, uint16_t> down; //!< of one that hands on: [switch below] -> port
    std::vector<Child> children;       //!< of one that aggregates
    uint32_t slots;                    //!< of one that aggregates: how many it gives the job
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_ROLE_H
