// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/tree-driver.h"

#include "ns3/tree-header.h"
#include "ns3/tree-worker-session.h"

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(TreeDriver);

TypeId
TreeDriver::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::TreeDriver").SetParent<NativeDriver>().SetGroupName("GradSync");
    return tid;
}

void
TreeDriver::Receive(FabricPacket* packet, uint32_t endpoint, TimeStepCount /* now */)
{
    const auto content = TakeContent(packet);
    if (const auto* session = FindSession<TreeWorkerSession>(content.As<TreeHeader>().job))
    {
        session->Receive(content, endpoint); // else of a job that is over
    }
}

} // namespace ns3::gradsync
