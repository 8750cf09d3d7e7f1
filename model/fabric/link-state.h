// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_LINK_STATE_H
#define GRADSYNC_LINK_STATE_H

#include "ns3/nstime.h"
#include "ns3/time-range.h"

#include <algorithm>
#include <cstdint>

namespace ns3::gradsync
{

/**
 * Packet loss in bursts: a two-state Markov chain that steps once a packet (Gilbert, "Capacity of a
 * burst-noise channel", Bell Syst. Tech. J. 39, 1960; Elliott, ibid. 42, 1963). With goodToBad 0
 * the losses are independent with probability lossGood.
 */
struct LossModel
{
    double lossGood{0.0};  //!< probability that a packet is lost in the good state
    double lossBad{0.0};   //!< the same in the bad state
    double goodToBad{0.0}; //!< probability of entering the bad state before a packet
    double badToGood{1.0}; //!< probability of leaving it

    bool operator==(const LossModel&) const = default;

    bool IsLossy() const
    {
        return lossGood > 0.0 || (goodToBad > 0.0 && lossBad > 0.0);
    }
};

/// What a fault makes of a link, in both directions alike.
struct LinkState
{
    bool up{true};         //!< false: whatever is on the wire or sent into it is lost
    double rateShare{1.0}; //!< (0, 1] of the link's own rate, of which MIN_LINK_BIT_RATE stay
    Time extraDelay;       //!< on top of the link's own propagation delay, at most MAX_LINK_DELAY
    LossModel loss;        //!< besides the fabric's LossRate
    uint64_t floodBitRate{
        0}; //!< bits per second, on the wire, of background traffic in each direction

    bool operator==(const LinkState&) const = default;

    /// Bits per second that are left of a link's own rate.
    double GetBitRate(uint64_t ownBitRate) const
    {
        const auto least = static_cast<double>(std::min(ownBitRate, MIN_LINK_BIT_RATE));
        return std::max(static_cast<double>(ownBitRate) * rateShare, least);
    }

    /// The flood that fits: it never takes more than 99 % of what is left.
    double GetFloodBitRate(uint64_t ownBitRate) const
    {
        return std::min(static_cast<double>(floodBitRate), 0.99 * GetBitRate(ownBitRate));
    }
};

/// What a fault makes of an endpoint.
struct EndpointState
{
    bool sends{true};    //!< false: hands no message data to the network
    bool receives{true}; //!< false: whatever arrives is lost

    bool operator==(const EndpointState&) const = default;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_LINK_STATE_H
