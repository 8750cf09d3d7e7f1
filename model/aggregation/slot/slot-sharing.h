// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_SHARING_H
#define GRADSYNC_SLOT_SHARING_H

#include "ns3/event-id.h"

#include <cstdint>
#include <map>
#include <set>

namespace ns3::gradsync
{

class SlotSession;

/// How jobs of the slot protocol share the slots of a switch.
enum SlotSharingMode
{
    SHARING_STATIC, //!< each has as many as it wants, from the beginning on
    SHARING_DYNAMIC //!< those that exchange have equal shares
};

/// Shares the slots of switches among the sessions of the slot protocol (doc/aggregation.rst).
class SlotSharing
{
  public:
    struct Config
    {
        SlotSharingMode mode;
        uint32_t slots;     //!< of a session at every switch, at most
        uint32_t poolSlots; //!< of a switch
    };

    SlotSharing() = default;
    ~SlotSharing();
    SlotSharing(const SlotSharing&) = delete;
    SlotSharing& operator=(const SlotSharing&) = delete;

    void Configure(const Config& config)
    {
        m_config = config;
    }

    const Config& GetConfig() const
    {
        return m_config;
    }

    /// A session may want slots, until it is removed.
    void Add(SlotSession& session);
    void Remove(const SlotSession& session);

    /// A session has switches, and wants slots of them once it begins. \throws
    /// std::invalid_argument with a text for the user when there are too few
    void OnOpened(SlotSession& session);
    /// A session has other switches, and wants slots of them. \throws likewise
    void OnRebuilt(SlotSession& session);
    /// A session that had not begun or was not over does or is now.
    void OnChange();

    /// Nothing is shared out any more.
    void Cancel();

  private:
    std::map<uint32_t, uint32_t> Share();
    void Reallot();
    bool Place(const std::set<uint32_t>& groups, const std::map<uint32_t, uint32_t>& shares);
    void AddNeighbours(std::set<uint32_t>& groups,
                       const std::map<uint32_t, uint32_t>& shares) const;

    Config m_config{};
    std::map<uint32_t, SlotSession*> m_sessions; //!< by group
    EventId m_reallotment;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_SHARING_H
