// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_FAULT_SPEC_H
#define GRADSYNC_FAULT_SPEC_H

#include "ns3/link-state.h"
#include "ns3/nstime.h"
#include "ns3/slowdown.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

enum class FaultKind : uint8_t
{
    HostPauseSend, //!< a host sends no message data; it receives and acknowledges
    HostPause,     //!< a host neither sends nor receives
    HostCrash,     //!< a host is gone with all it has, and is back without it
    Straggler,     //!< a host computes more slowly
    LinkDown,
    LinkDegraded,  //!< in rate, delay or loss
    Flood,         //!< background traffic on a link
    SwitchDown,    //!< all links of a switch are down
    AggregatorDown //!< a switch forwards, but does not aggregate
};

/// What the targets of a kind are numbers of.
enum class FaultTarget : uint8_t
{
    Endpoint, //!< endpoint index
    Link,
    Node
};

std::string_view ToString(FaultKind kind);
FaultTarget GetTarget(FaultKind kind);

/**
 * One entry of a fault list: something happens to some of a pool of targets, once or again and
 * again. Occurrence i begins at start + i * every and lasts for `duration`. Or, with `meanUp`, each
 * target of the pool fails by itself: exponential times without and with the fault, from `start`
 * on.
 */
struct FaultSpec
{
    FaultKind kind;
    std::vector<uint32_t> pool; //!< indices as GetTarget says; distinct
    uint32_t random{0}; //!< so many of the pool are drawn anew for each occurrence; 0: all of it
    Time start;
    Time duration;      //!< 0: to the end of the run
    Time every;         //!< 0: once
    uint64_t count{0};  //!< occurrences; 0: no end, or one if `every` is 0
    Time meanUp;        //!< see below; 0: the times above hold
    Time meanRepair;    //!< 0: what fails stays so
    LinkState degraded; //!< of LinkDegraded: rateShare, extraDelay and loss; of Flood: floodRate
    Slowdown slowdown;  //!< of Straggler
    /// From a link's end or return to the routes that respect it; from a crash to when jobs learn
    /// of it
    Time detectionDelay;
};

/// Beginnings on a target that the faults of one run may have: with more it is taken to have no
/// end.
inline constexpr uint64_t MAX_FAULT_BEGINNINGS = 10'000'000;

/// How often a fault begins on a target before `end`; of failures by chance, on average.
double CountBeginnings(const FaultSpec& fault, const Time& end);

} // namespace ns3::gradsync

#endif // GRADSYNC_FAULT_SPEC_H
