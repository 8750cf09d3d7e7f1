// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_TREE_DRIVER_H
#define GRADSYNC_TREE_DRIVER_H

#include "ns3/native-driver.h"

namespace ns3::gradsync
{

/// A protocol of trees of switches (TreeNode) and workers under them (TreeWorker); its sessions are
/// of the kind TreeWorkerSession.
class TreeDriver : public NativeDriver
{
  public:
    static TypeId GetTypeId();

    void Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount now) override;

  protected:
    using NativeDriver::NativeDriver;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_TREE_DRIVER_H
