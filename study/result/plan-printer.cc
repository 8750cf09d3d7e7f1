// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/plan-printer.h"

#include "ns3/plan-document.h"
#include "ns3/result-table.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>

namespace ns3::gradsync
{

namespace
{

/// Of each chunk a worker or "all"; one value stands for many that are equal.
template <typename Get>
Json
WorkersToJson(const ChunkLayout& layout, const Get& get)
{
    auto list = Json::array();
    bool differ = false;
    for (uint32_t chunk = 0; chunk < layout.GetChunkCount(); ++chunk)
    {
        const auto worker = get(chunk);
        list.push_back(worker == Collective::ALL ? Json("all") : Json(worker));
        differ |= list.back() != list.front();
    }
    return differ || list.empty() ? list : list.front();
}

} // namespace

PlanPrinter::PlanPrinter(const Plan& plan)
    : m_plan(plan),
      m_graph(plan),
      m_rounds(plan.GetOperations().size(), 0)
{
    for (const auto id : m_graph.GetOrder())
    {
        const auto members = plan.GetMembers(id);
        m_rounds[id] =
            *std::max_element(m_rounds.begin() + members.first, m_rounds.begin() + members.last);
        const uint32_t end = m_rounds[id] + (plan.GetOperations()[id].IsTransfer() ? 1 : 0);
        for (const auto later : plan.GetSuccessors(id))
        {
            m_rounds[later] = std::max(m_rounds[later], end);
        }
    }
}

void
PlanPrinter::PrintTable(size_t maxRows, std::ostream& stream) const
{
    TextTable table({"id", "round", "what", "from", "to", "chunks", "bytes", "stream", "after"});
    const auto show = [this](uint32_t rank, uint32_t buffer) {
        return m_plan.GetBufferCount() == 1 ? std::to_string(rank)
                                            : fmt::format("{}.{}", rank, buffer);
    };
    const auto operations = m_plan.GetOperations();
    const auto rows = std::min(maxRows, operations.size());
    for (OperationId id = 0; id < rows; ++id)
    {
        const auto& operation = operations[id];
        const auto last = operation.firstChunk + operation.chunkCount;
        table.AddRow(
            {std::to_string(id),
             std::to_string(m_rounds[id]),
             ToString(operation.kind),
             show(operation.src, operation.buffers.src),
             operation.IsMove() || operation.IsTransfer()
                 ? show(operation.dst, operation.buffers.dst)
                 : "-",
             operation.IsMove() ? fmt::format("[{}, {})", operation.firstChunk, last) : "-",
             std::to_string(m_plan.GetBytes(id)),
             std::to_string(operation.stream),
             fmt::format("{}", fmt::join(m_graph.GetPredecessors(id), " "))});
    }
    table.Print(stream);
    if (rows < operations.size())
    {
        stream << fmt::format("... and {} more operations; --json prints them all\n",
                              operations.size() - rows);
    }
}

Json
PlanPrinter::OperationToJson(OperationId id) const
{
    const auto operation = m_plan.GetOperations()[id];
    Json entry;
    entry["id"] = id;
    entry["round"] = m_rounds[id];
    entry["kind"] = ToString(operation.kind);
    entry["from"] = operation.src;
    if (operation.kind == OperationKind::Signal)
    {
        entry["to"] = operation.dst;
        entry["bytes"] = m_plan.GetBytes(id);
        entry["stream"] = operation.stream;
    }
    if (operation.IsMove())
    {
        entry["to"] = operation.dst;
        entry["firstChunk"] = operation.firstChunk;
        entry["chunkCount"] = operation.chunkCount;
        entry["bytes"] = m_plan.GetBytes(id);
        entry["stream"] = operation.stream;
        entry["fromBuffer"] = operation.buffers.src;
        entry["toBuffer"] = operation.buffers.dst;
    }
    if (operation.IsCompute())
    {
        entry["picoseconds"] = m_plan.GetComputePicoseconds(id);
        entry["processor"] = operation.firstChunk;
    }
    if (operation.kind == OperationKind::Gate)
    {
        entry["quorum"] = m_plan.GetGate()->quorum;
        entry["picoseconds"] = m_plan.GetGate()->timeoutPicoseconds;
        entry["answers"] = Json::array();
        for (const auto& answer : m_plan.GetGate()->answers)
        {
            entry["answers"].push_back(
                {{"operation", answer.operation}, {"worker", answer.worker}});
        }
    }
    const auto before = m_graph.GetPredecessors(id);
    entry["after"] = std::vector<OperationId>(before.begin(), before.end());
    return entry;
}

Json
PlanPrinter::ToJson() const
{
    const auto& collective = m_plan.GetCollective();
    const auto& layout = m_plan.GetLayout();
    Json json;
    json["format"] = PlanDocument::FORMAT;
    json["ranks"] = m_plan.GetRankCount();
    json["workers"] = m_plan.GetWorkerCount();
    json["collective"] = collective.GetName();
    json["sum"] = collective.GetSum() == Collective::Sum::Exact ? "exact" : "idempotent";
    json["sources"] =
        WorkersToJson(layout, [&collective](auto chunk) { return collective.GetSource(chunk); });
    json["targets"] =
        WorkersToJson(layout, [&collective](auto chunk) { return collective.GetTarget(chunk); });
    json["bytes"] = layout.GetTotalBytes();
    json["chunkBytes"] = Json::array();
    for (uint32_t chunk = 0; chunk < layout.GetChunkCount(); ++chunk)
    {
        json["chunkBytes"].push_back(layout.GetBytes(chunk, 1));
    }
    json["compressed"] = m_plan.IsCompressed();
    json["selectsSums"] = m_plan.SelectsSums();
    if (const auto& protocol = m_plan.GetProtocol(); protocol != MessageProtocol())
    {
        json["protocol"] = DescribeProtocol(protocol);
    }
    const auto groups = m_plan.GetAggregationGroups();
    if (!groups.empty())
    {
        json["aggregationGroups"] =
            std::vector<std::vector<uint32_t>>(groups.begin(), groups.end());
        json["sharesExponents"] = m_plan.SharesExponents();
        json["aggregationFlows"] = Json::array();
        for (uint32_t group = 0; group < groups.size(); ++group)
        {
            const auto& [flow, root] = m_plan.GetAggregationFlow(group);
            Json entry{{"flow", GetFlowName(flow)}};
            if (flow != AggregationFlow::AllReduce)
            {
                entry["root"] = root;
            }
            json["aggregationFlows"].push_back(std::move(entry));
        }
    }
    json["operations"] = Json::array();
    for (OperationId id = 0; id < m_plan.GetOperations().size(); ++id)
    {
        json["operations"].push_back(OperationToJson(id));
    }
    return json;
}

} // namespace ns3::gradsync
