// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SLOT_SESSION_H
#define GRADSYNC_SLOT_SESSION_H

#include "ns3/slot-worker.h"
#include "ns3/tree-session.h"

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace ns3::gradsync
{

class SlotDriver;

/// A group in the slot protocol: over any number of levels of switches, of which each that
/// aggregates gives it as many slots.
class SlotSession final : public TreeSession
{
  public:
    SlotSession(SlotDriver& driver, const AggregationGroup& group, uint32_t id);
    ~SlotSession() override;

    void Open() override;
    void Contribute(const AggregationMessage& message) override;
    std::optional<AggregationLoad> DescribeLoad() const override;
    bool Rebuild() override;
    void RemoveRoles() override;
    void Stop() override;

    /// Some worker has contributed.
    bool HasBegun() const
    {
        return m_hasBegun;
    }

    /// Its switches have slots for it.
    bool IsPlaced() const
    {
        return m_isPlaced;
    }

    /// Of each of its switches, or that it had.
    uint32_t GetSlots() const
    {
        return m_settings.slots;
    }

    /// Switches that aggregate for it.
    const std::set<NodeId>& GetSwitches() const
    {
        return m_adding;
    }

    /// Whether all its switches have so many slots in a row.
    bool HasRoom(uint32_t slots) const;
    /// Takes them. The workers do not know it yet. \throws std::invalid_argument with a text for
    /// the user when a switch has no room
    void Place(uint32_t slots);
    /// The slots know of nothing yet: all workers go on with what any of them lacks.
    void RestartWorkers();

  private:
    Memory GetMemory(const SwitchTree::Hop& hop) const override;
    void CheckHop(const SwitchTree::Hop& hop) const override;
    double GetRoom() const override;
    void AddRole(AggregationNode& node, const AggregationRole& role) override;
    void AddWorkers();

    SlotDriver& m_driver;
    SlotWorker::Settings m_settings{};
    std::vector<SlotWorker*> m_workers; //!< all
    bool m_hasBegun{false};
    bool m_isPlaced{false};
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SLOT_SESSION_H
