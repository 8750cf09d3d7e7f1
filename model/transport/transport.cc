// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/transport.h"

namespace ns3::gradsync
{

NS_OBJECT_ENSURE_REGISTERED(Transport);

TypeId
Transport::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gradsync::Transport").SetParent<Object>().SetGroupName("GradSync");
    return tid;
}

} // namespace ns3::gradsync
