// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_AGGREGATION_LOAD_H
#define GRADSYNC_AGGREGATION_LOAD_H

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

/**
 * What the aggregations of a group put on the links of a network, and how their packets pace
 * themselves where nothing else is under way: all that an estimate has to know of a protocol.
 */
struct AggregationLoad
{
    /// What a link direction carries of an aggregation.
    struct Use
    {
        uint32_t link;        //!< direction, as Transport numbers them
        double packetBytes;   //!< for each packet, whatever is in it
        double contentFactor; //!< bytes for each byte of the gradient
    };

    /// A time that grows with the bytes of the gradient in a packet.
    struct Lag
    {
        double seconds{0.0};
        double secondsPerByte{0.0};

        double Get(double contentBytes) const
        {
            return seconds + secondsPerByte * contentBytes;
        }
    };

    /// A switch that adds.
    struct Adder
    {
        uint32_t node;
        uint32_t inputs; //!< packets that come for each that goes on
        double room;     //!< share of what it has for aggregations; 0: it has enough for all
        double busySeconds{0.0}; //!< with each packet that goes on; 0: it adds while it forwards
    };

    /// Directions by which endpoints send a whole window at once, before what comes after it;
    /// empty: packets of several groups take turns.
    std::vector<uint32_t> firstLinks;
    /// Each packet is asked for, and waits for answers of all, behind whatever is under way.
    bool isRequested{false};
    std::vector<Adder> adders;      //!< the root first
    bool isDelayed{false};          //!< adding takes time, which is in none of the lags
    std::vector<Use> uses;          //!< one of each link direction
    uint32_t payloadBytes{0};       //!< of the gradient in a full packet
    uint32_t messagePackets{1};     //!< packets of a full message
    uint32_t messageHeaderBytes{0}; //!< in the place of data, at the beginning of each message
    uint32_t window{1};             //!< messages that an endpoint has under way
    uint32_t exponentPackets{0};    //!< at most, ahead of those of the gradient
    uint32_t unitPackets{1};        //!< an aggregation has a multiple of so many packets
    Lag roundTrip;                  //!< from the beginning of a packet to its result
    Lag tail; //!< from the end of the last packet on the link that takes longest to its result
};

} // namespace ns3::gradsync

#endif // GRADSYNC_AGGREGATION_LOAD_H
