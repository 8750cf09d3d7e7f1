// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SHARP_SESSION_H
#define GRADSYNC_SHARP_SESSION_H

#include "ns3/sharp-manager.h"
#include "ns3/sharp-worker.h"
#include "ns3/tree-session.h"

#include <cstdint>
#include <vector>

namespace ns3::gradsync
{

class SharpDriver;

/// A group in SHARP: a tree that the manager gives it.
class SharpSession final : public TreeSession
{
  public:
    SharpSession(SharpDriver& driver, const AggregationGroup& group, uint32_t id);

    void Open() override;
    void Contribute(const AggregationMessage& message) override;
    bool Rebuild() override;
    void ReleaseMemory() override;

  private:
    Memory GetMemory() const override;
    void AddRole(AggregationNode& node, const AggregationRole& role) override;
    void TakeTree();
    std::vector<SharpManager::Hop> ListHops() const;
    uint32_t CountEntries() const;

    SharpDriver& m_driver;
    SharpTree m_kind;
    SharpWorker::Settings m_settings{};
    std::vector<SharpWorker*> m_workers; //!< all
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SHARP_SESSION_H
