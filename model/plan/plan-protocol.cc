// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-protocol.h"

#include <stdexcept>
#include <utility>

namespace ns3::gradsync
{

Plan
ApplyProtocol(Plan plan, const MessageProtocol& protocol, std::vector<uint32_t> serverOf)
{
    if (plan.HasAggregations())
    {
        throw std::invalid_argument("a protocol is of messages between ranks, but here switches "
                                    "aggregate packets of their own: expected the protocol none");
    }
    if (plan.GetGate())
    {
        throw std::invalid_argument("a protocol is of collectives that all ranks wait for, but "
                                    "this round leaves out who is late: expected the protocol "
                                    "none");
    }
    if (serverOf.size() != plan.GetRankCount())
    {
        throw std::logic_error("plan: a protocol needs the server of each rank");
    }
    plan.m_protocol = protocol;
    plan.m_serverOf = std::move(serverOf);
    if (protocol.efficiency == 1.0)
    {
        return plan;
    }
    const auto operations = plan.GetOperations();
    std::vector<uint64_t> bytes(operations.size(), 0);
    for (OperationId id = 0; id < bytes.size(); ++id)
    {
        const auto operation = operations[id];
        const bool isMessage = operation.IsMove() || operation.kind == OperationKind::Signal;
        const auto payload = isMessage ? plan.GetBytes(id) : 0;
        bytes[id] = operation.IsTransfer() ? GetProtocolBytes(protocol, payload) : payload;
    }
    plan.m_messageBytes = std::move(bytes);
    return plan;
}

} // namespace ns3::gradsync
