// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SHARP_SESSION_H
#define GRADSYNC_SHARP_SESSION_H

#include "ns3/sharp-manager.h"
#include "ns3/tree-worker-session.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ns3::gradsync
{

class SharpDriver;

/// A group in SHARP: a tree that the manager gives it.
class SharpSession final : public TreeWorkerSession
{
  public:
    SharpSession(SharpDriver& driver, const AggregationGroup& group, uint32_t id);

    void Open() override;
    void Contribute(const AggregationMessage& message) override;
    std::optional<AggregationLoad> DescribeLoad() const override;
    void ReleaseMemory() override;

  private:
    Memory GetMemory(const SwitchTree::Hop& hop) const override;
    void TakeTree() override;
    std::vector<SharpManager::Hop> ListHops() const;

    SharpDriver& m_driver;
    SharpTree m_kind;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SHARP_SESSION_H
