// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_PATH_SELECTOR_H
#define GRADSYNC_PATH_SELECTOR_H

#include "ns3/fabric-packet.h"
#include "ns3/load-balancing.h"
#include "ns3/state-words.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ns3::gradsync
{

class FabricPort;

/// One switch's choice among equal-cost next hops where it depends on more than the connection.
class PathSelector
{
  public:
    virtual ~PathSelector() = default;

    /**
     * The port for a data packet.
     * \param nextHops port numbers, two at least
     * \param ports egress ports by number
     */
    virtual FabricPort* Select(const FabricPacket& packet,
                               std::span<const uint16_t> nextHops,
                               std::span<FabricPort* const> ports,
                               TimeStepCount now) = 0;

    /// How likely it is that a data packet would be given a port that is idle, from 0 to 1. Selects
    /// nothing. Arguments as of Select.
    virtual double GetIdleShare(const FabricPacket& packet,
                                std::span<const uint16_t> nextHops,
                                std::span<FabricPort* const> ports,
                                TimeStepCount now) const;

    /// What decides how it goes on; by default nobody knows.
    virtual void AddState(StateWords& words) const
    {
        words.Refuse("paths are chosen in an unknown way");
    }
};

/// Numbers that look random, the same in every run: a counter, mixed (SplitMix64, Steele et al.,
/// OOPSLA'14).
class MixedCounter
{
  public:
    explicit MixedCounter(uint64_t seed)
        : m_state(seed)
    {
    }

    /// In [0, count).
    uint32_t Draw(size_t count)
    {
        auto mixed = m_state += 0x9e3779b97f4a7c15U;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
        return static_cast<uint32_t>(((mixed >> 32) * count) >> 32);
    }

    /// Never twice the same, so that equal ones have drawn as often.
    uint64_t GetState() const
    {
        return m_state;
    }

  private:
    uint64_t m_state;
};

/// Each packet by itself, at random (Dixit et al., "On the impact of packet spraying in data center
/// networks", INFOCOM'13).
class SprayingSelector final : public PathSelector
{
  public:
    explicit SprayingSelector(uint64_t seed)
        : m_random(seed)
    {
    }

    FabricPort* Select(const FabricPacket& packet,
                       std::span<const uint16_t> nextHops,
                       std::span<FabricPort* const> ports,
                       TimeStepCount now) override;

    void AddState(StateWords& words) const override
    {
        words.Add(m_random.GetState());
    }

  private:
    MixedCounter m_random;
};

/// Each packet where it would leave first, of equals one at random (with the load of this switch's
/// own ports, as DRILL, SIGCOMM'17, section 3.2, with all next hops as samples).
class AdaptiveSelector final : public PathSelector
{
  public:
    explicit AdaptiveSelector(uint64_t seed)
        : m_random(seed)
    {
    }

    FabricPort* Select(const FabricPacket& packet,
                       std::span<const uint16_t> nextHops,
                       std::span<FabricPort* const> ports,
                       TimeStepCount now) override;

    double GetIdleShare(const FabricPacket& packet,
                        std::span<const uint16_t> nextHops,
                        std::span<FabricPort* const> ports,
                        TimeStepCount now) const override;

    void AddState(StateWords& words) const override
    {
        words.Add(m_random.GetState());
    }

  private:
    MixedCounter m_random;
};

/// Packets of a connection that follow each other closely stay together; after a gap the path is
/// drawn anew (LetFlow, NSDI'17, section 3). Connections share the entries of a table of fixed
/// size.
class FlowletSelector final : public PathSelector
{
  public:
    /// \param gap time without a packet that ends a flowlet
    FlowletSelector(uint64_t seed, TimeStepCount gap)
        : m_random(seed),
          m_gap(gap)
    {
    }

    FabricPort* Select(const FabricPacket& packet,
                       std::span<const uint16_t> nextHops,
                       std::span<FabricPort* const> ports,
                       TimeStepCount now) override;

    double GetIdleShare(const FabricPacket& packet,
                        std::span<const uint16_t> nextHops,
                        std::span<FabricPort* const> ports,
                        TimeStepCount now) const override;

    void AddState(StateWords& words) const override;

  private:
    struct Entry
    {
        TimeStepCount last{0};
        FabricPort* port{nullptr};
    };

    /// The port of a flowlet that goes on; null: a new one begins.
    FabricPort* FindPort(const FabricPacket& packet,
                         std::span<const uint16_t> nextHops,
                         std::span<FabricPort* const> ports,
                         TimeStepCount now) const;

    MixedCounter m_random;
    TimeStepCount m_gap;
    std::array<Entry, 4096> m_table;
};

/// The selector of a switch; null where the choice depends on the connection only.
/// \param flowletGap of flowlets, in time steps
std::unique_ptr<PathSelector> MakePathSelector(LoadBalancing loadBalancing,
                                               uint64_t seed,
                                               TimeStepCount flowletGap);

} // namespace ns3::gradsync

#endif // GRADSYNC_PATH_SELECTOR_H
