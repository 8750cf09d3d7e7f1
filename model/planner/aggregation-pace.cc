// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aggregation-pace.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ns3::gradsync
{

namespace
{

/// A full packet on a link.
double
GetPacketBytes(const AggregationLoad& load, const AggregationLoad::Use& use)
{
    return use.packetBytes + use.contentFactor * load.payloadBytes;
}

uint64_t
DivideUp(uint64_t dividend, uint64_t divisor)
{
    return (dividend + divisor - 1) / divisor;
}

} // namespace

AggregationPace::AggregationPace(AggregationLoad load, std::span<const double> capacities)
    : m_load(std::move(load))
{
    for (const auto link : m_load.firstLinks)
    {
        m_firstPerByte = std::max(m_firstPerByte, 1.0 / capacities[link]);
    }
    double longest = 0.0;
    auto shortest = std::numeric_limits<double>::infinity();
    for (const auto& use : m_load.uses)
    {
        const auto secondsPerByte = 1.0 / capacities[use.link];
        const auto seconds = GetPacketBytes(m_load, use) * secondsPerByte;
        if (seconds > longest)
        {
            longest = seconds;
            m_busiest = {use, secondsPerByte};
        }
        if (seconds < shortest && GetPacketBytes(m_load, use) >= m_load.payloadBytes)
        {
            shortest = seconds;
            m_lightest = {use, secondsPerByte};
        }
    }
    for (const auto& use : m_load.uses)
    {
        m_uses.push_back(
            {use.link, GetPacketBytes(m_load, use) / GetPacketBytes(m_load, m_busiest.use)});
    }
}

/// Of a gradient; even an empty one costs a packet.
uint64_t
AggregationPace::CountPackets(uint64_t bytes) const
{
    const uint64_t header = m_load.messageHeaderBytes;
    const auto full = uint64_t{m_load.messagePackets} * m_load.payloadBytes - header;
    const auto messages = bytes / full;
    const auto rest = bytes - messages * full;
    auto packets = messages * m_load.messagePackets;
    if (rest > 0 || messages == 0)
    {
        packets += std::max<uint64_t>(DivideUp(rest + header, m_load.payloadBytes), 1);
    }
    packets = DivideUp(packets, m_load.unitPackets) * m_load.unitPackets;
    return packets + std::min<uint64_t>(m_load.exponentPackets, packets);
}

double
AggregationPace::GetBytes(uint64_t bytes) const
{
    return static_cast<double>(CountPackets(bytes)) * m_busiest.use.packetBytes +
           m_busiest.use.contentFactor * static_cast<double>(bytes);
}

double
AggregationPace::GetFirstWindow(uint64_t bytes) const
{
    const auto packets = static_cast<double>(
        std::min(CountPackets(bytes), uint64_t{m_load.window} * m_load.messagePackets));
    return packets * GetPacketBytes(m_load, m_lightest.use) * m_firstPerByte;
}

double
AggregationPace::GetWindowBytes() const
{
    return static_cast<double>(uint64_t{m_load.window} * m_load.messagePackets) *
           GetPacketBytes(m_load, m_busiest.use);
}

/// What a packet of it has that is not shorter than others.
double
AggregationPace::GetLastContent(uint64_t bytes) const
{
    return static_cast<double>(std::min<uint64_t>(bytes, m_load.payloadBytes));
}

double
AggregationPace::GetUnloadedSeconds(const Series& series) const
{
    const auto content = GetLastContent(series.lastBytes);
    const auto serial = GetSeconds(m_busiest, series);
    // Messages of their mean length: pieces may be shorter than a full one.
    const auto message = serial / static_cast<double>(series.messages);
    const auto packet = serial / static_cast<double>(series.packets);
    const auto trip = message - packet + m_load.roundTrip.Get(content);
    if (m_load.window * message >= trip)
    {
        // One link after the other; or the first packet makes its way, and the others follow it.
        const auto first = m_lightest.use.packetBytes + m_lightest.use.contentFactor * content;
        return std::max(serial + m_load.tail.Get(content),
                        m_load.roundTrip.Get(content) + GetSeconds(m_lightest, series) -
                            first * m_lightest.secondsPerByte);
    }
    // A window each round trip.
    const auto rounds = (series.messages - 1) / m_load.window;
    const auto others = (series.messages - 1) % m_load.window;
    return static_cast<double>(rounds) * trip + static_cast<double>(others) * message + trip;
}

double
AggregationPace::GetSeconds(const LinkUse& link, const Series& series)
{
    return (static_cast<double>(series.packets) * link.use.packetBytes +
            link.use.contentFactor * static_cast<double>(series.bytes)) *
           link.secondsPerByte;
}

} // namespace ns3::gradsync
