// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/import-error.h"
#include "ns3/plan-document.h"
#include "ns3/plan-json.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr uint64_t MAX_DOCUMENT_RANKS = 1ULL << 20;
constexpr uint64_t MAX_DOCUMENT_CHUNKS = 1ULL << 24;
/// Of a number alone, which costs the reader no text.
constexpr uint64_t MAX_EVEN_CHUNKS = 1ULL << 20;
constexpr size_t MAX_DOCUMENT_OPERATIONS = 1ULL << 24;
constexpr size_t MAX_DOCUMENT_EDGES = 1ULL << 26;
constexpr uint64_t MAX_DOCUMENT_BYTES = 1ULL << 44;
constexpr uint64_t MAX_DOCUMENT_PICOSECONDS = 1ULL << 60;
constexpr uint64_t MAX_INDEX_32 = std::numeric_limits<uint32_t>::max();

constexpr std::array DOCUMENT_KINDS{OperationKind::TransferReduce,
                                    OperationKind::TransferCopy,
                                    OperationKind::Join,
                                    OperationKind::Encode,
                                    OperationKind::Decode,
                                    OperationKind::Compute,
                                    OperationKind::Signal,
                                    OperationKind::Train,
                                    OperationKind::Gate,
                                    OperationKind::Aggregate};

const std::vector<std::string>&
GetDocumentKindNames()
{
    static const std::vector<std::string> names = [] {
        std::vector<std::string> list;
        std::transform(DOCUMENT_KINDS.begin(),
                       DOCUMENT_KINDS.end(),
                       std::back_inserter(list),
                       ToString);
        return list;
    }();
    return names;
}

/// The keys that an operation of that kind may have; `round` says nothing that the edges do not.
const std::vector<std::string>&
GetOperationKeys(const Operation& operation)
{
    static const std::vector<std::string> others{"id", "round", "kind", "from", "after"};
    static const auto with = [](std::vector<std::string> more) {
        more.insert(more.begin(), others.begin(), others.end());
        return more;
    };
    static const auto moves =
        with({"to", "firstChunk", "chunkCount", "bytes", "stream", "fromBuffer", "toBuffer"});
    static const auto signals = with({"to", "bytes", "stream"});
    static const auto computes = with({"picoseconds", "processor"});
    static const auto gates = with({"quorum", "picoseconds", "answers"});
    if (operation.IsMove())
    {
        return moves;
    }
    if (operation.IsCompute())
    {
        return computes;
    }
    return operation.kind == OperationKind::Signal ? signals
           : operation.kind == OperationKind::Gate ? gates
                                                   : others;
}

uint64_t
GetUnsignedOr(const PlanJson& json, std::string_view key, uint64_t standard, uint64_t maximum)
{
    const auto found = json.Find(key);
    return found ? found->AsUnsigned(0, maximum) : standard;
}

uint32_t
RequireRank(const PlanJson& json, std::string_view key)
{
    return static_cast<uint32_t>(json.Require(key, "a rank").AsUnsigned(0, MAX_DOCUMENT_RANKS - 1));
}

/// Reads the operations, one by one, into a document.
class OperationReaderOfPlan
{
  public:
    explicit OperationReaderOfPlan(PlanDocument& document)
        : m_document(document)
    {
    }

    void Read(const PlanJson& json)
    {
        const auto id = static_cast<OperationId>(m_document.operations.size());
        if (id >= MAX_DOCUMENT_OPERATIONS)
        {
            json.FailWith(fmt::format("more than {} operations", MAX_DOCUMENT_OPERATIONS));
        }
        PlanDocument::Entry entry;
        entry.operation.kind = DOCUMENT_KINDS[json.Require("kind", "\"reduce\" or another")
                                                  .AsChoice(GetDocumentKindNames())];
        if (entry.operation.IsAggregate())
        {
            json.FailWith("lets the network aggregate, which no file can say: name the scheme "
                          "that does");
        }
        json.CheckKeys(GetOperationKeys(entry.operation));
        if (const auto own = json.Find("id"); own && own->AsUnsigned(0, MAX_INDEX_32) != id)
        {
            own->Fail(fmt::format("{}, its place in the list", id));
        }
        entry.operation.src = RequireRank(json, "from");
        entry.operation.dst = entry.operation.src;
        ReadOwn(json, entry);
        ReadAfter(json, entry);
        m_document.operations.push_back(entry);
    }

  private:
    /// What operations of one kind alone have.
    void ReadOwn(const PlanJson& json, PlanDocument::Entry& entry)
    {
        auto& operation = entry.operation;
        if (operation.IsMove())
        {
            ReadMove(json, entry);
        }
        if (operation.IsCompute())
        {
            entry.picoseconds =
                json.Require("picoseconds", "1000").AsUnsigned(0, MAX_DOCUMENT_PICOSECONDS);
            operation.firstChunk =
                static_cast<uint32_t>(GetUnsignedOr(json, "processor", 0, MAX_INDEX_32));
        }
        if (operation.kind == OperationKind::Signal)
        {
            operation.dst = RequireRank(json, "to");
            operation.stream =
                static_cast<uint32_t>(GetUnsignedOr(json, "stream", 0, MAX_INDEX_32));
            operation.firstChunk =
                static_cast<uint32_t>(json.Require("bytes", "64").AsUnsigned(1, MAX_INDEX_32));
        }
        if (operation.kind == OperationKind::Gate)
        {
            ReadGate(json);
        }
    }

    static void ReadMove(const PlanJson& json, PlanDocument::Entry& entry)
    {
        auto& operation = entry.operation;
        operation.dst = RequireRank(json, "to");
        operation.firstChunk = static_cast<uint32_t>(
            json.Require("firstChunk", "0").AsUnsigned(0, MAX_DOCUMENT_CHUNKS - 1));
        operation.chunkCount =
            static_cast<uint32_t>(GetUnsignedOr(json, "chunkCount", 1, MAX_DOCUMENT_CHUNKS));
        operation.stream = static_cast<uint32_t>(GetUnsignedOr(json, "stream", 0, MAX_INDEX_32));
        operation.buffers.src = static_cast<uint8_t>(GetUnsignedOr(json, "fromBuffer", 0, 255));
        operation.buffers.dst = static_cast<uint8_t>(GetUnsignedOr(json, "toBuffer", 0, 255));
        if (const auto bytes = json.Find("bytes"))
        {
            entry.bytes = bytes->AsUnsigned(0, MAX_DOCUMENT_BYTES);
        }
    }

    void ReadGate(const PlanJson& json)
    {
        if (m_document.gate)
        {
            json.FailWith("found a second gate, expected at most one");
        }
        PlanGate gate;
        gate.operation = static_cast<OperationId>(m_document.operations.size());
        gate.quorum =
            static_cast<uint32_t>(json.Require("quorum", "3").AsUnsigned(1, MAX_DOCUMENT_RANKS));
        gate.timeoutPicoseconds =
            json.Require("picoseconds", "1000").AsUnsigned(1, MAX_DOCUMENT_PICOSECONDS);
        json.Require("answers", R"([{"operation": 0, "worker": 0}])")
            .ForEachItem(MAX_DOCUMENT_RANKS, [&gate](const PlanJson& answer) {
                answer.CheckKeys({"operation", "worker"});
                gate.answers.push_back(
                    {static_cast<uint32_t>(answer.Require("operation", "an operation")
                                               .AsUnsigned(0, MAX_DOCUMENT_OPERATIONS)),
                     RequireRank(answer, "worker")});
            });
        m_document.gate = std::move(gate);
    }

    void ReadAfter(const PlanJson& json, PlanDocument::Entry& entry)
    {
        auto& after = m_document.after;
        entry.afterBegin = after.size();
        if (const auto list = json.Find("after"))
        {
            list->ForEachItem(MAX_DOCUMENT_EDGES - after.size(), [&after](const PlanJson& item) {
                after.push_back(
                    static_cast<OperationId>(item.AsUnsigned(0, MAX_DOCUMENT_OPERATIONS - 1)));
            });
        }
        entry.afterCount = after.size() - entry.afterBegin;
    }

    PlanDocument& m_document;
};

/// "all", a worker, or one of these for each chunk.
std::vector<uint32_t>
ReadWorkers(const PlanJson& json)
{
    const auto read = [](const PlanJson& value) {
        if (value.Get().is_string() && value.Get() == "all")
        {
            return Collective::ALL;
        }
        if (!value.Get().is_number())
        {
            value.Fail("\"all\" or a worker");
        }
        return static_cast<uint32_t>(value.AsUnsigned(0, MAX_DOCUMENT_RANKS - 1));
    };
    if (!json.Get().is_array())
    {
        return {read(json)};
    }
    std::vector<uint32_t> workers;
    json.ForEachItem(MAX_DOCUMENT_CHUNKS,
                     [&](const PlanJson& item) { workers.push_back(read(item)); });
    return workers;
}

/// How the buffer is cut.
void
ReadChunks(const PlanJson& root, PlanDocument& document)
{
    const auto bytes = root.Find("chunkBytes");
    const auto weights = root.Find("chunkWeights");
    const auto count = root.Find("chunks");
    if (int{bytes.has_value()} + int{weights.has_value()} + int{count.has_value()} != 1)
    {
        root.FailWith("expected one of \"chunks\": 4, \"chunkWeights\": [1, 2] and "
                      "\"chunkBytes\": [400, 800]");
    }
    if (count)
    {
        document.evenChunks = static_cast<uint32_t>(count->AsUnsigned(1, MAX_EVEN_CHUNKS));
    }
    if (weights)
    {
        double sum = 0.0;
        weights->ForEachItem(MAX_DOCUMENT_CHUNKS, [&](const PlanJson& item) {
            constexpr double MAX_WEIGHT = 1e12;
            document.chunkWeights.push_back(item.AsNumber(0.0, MAX_WEIGHT));
            sum += document.chunkWeights.back();
        });
        if (!(sum > 0.0))
        {
            weights->Fail("at least one weight above 0");
        }
    }
    if (bytes)
    {
        uint64_t sum = 0;
        bytes->ForEachItem(MAX_DOCUMENT_CHUNKS, [&](const PlanJson& item) {
            document.chunkBytes.push_back(item.AsUnsigned(0, MAX_DOCUMENT_BYTES - sum));
            sum += document.chunkBytes.back();
        });
        if (const auto total = root.Find("bytes"))
        {
            if (total->AsUnsigned(0, MAX_DOCUMENT_BYTES) != sum)
            {
                total->Fail(fmt::format("{}, what chunkBytes are together", sum));
            }
        }
    }
}

/// What a plan may be that no file can say.
void
RefuseForeign(const PlanJson& root)
{
    if (const auto groups = root.Find("aggregationGroups"))
    {
        groups->FailWith("lets the network aggregate, which no file can say: name the scheme "
                         "that does");
    }
    if (const auto protocol = root.Find("protocol"))
    {
        protocol->FailWith("what a protocol adds to messages belongs to a job: print the plan "
                           "with --set job.protocol=none, and give the protocol to the job that "
                           "imports it");
    }
}

void
ReadRoot(const PlanJson& root, PlanDocument& document)
{
    const auto format = root.Find("format");
    if (!format || format->Get() != PlanDocument::FORMAT)
    {
        const auto expected = fmt::format("\"{}\": what ./ns3 plan --json prints and gradsync.Plan "
                                          "saves",
                                          PlanDocument::FORMAT);
        format ? format->Fail(expected)
               : root.FailWith(fmt::format("\"format\" is missing, expected {}", expected));
    }
    RefuseForeign(root);
    root.CheckKeys({"format",
                    "ranks",
                    "workers",
                    "collective",
                    "sum",
                    "sources",
                    "targets",
                    "bytes",
                    "chunks",
                    "chunkWeights",
                    "chunkBytes",
                    "compressed",
                    "selectsSums",
                    "operations",
                    "violations"});
    document.ranks =
        static_cast<uint32_t>(root.Require("ranks", "4").AsUnsigned(1, MAX_DOCUMENT_RANKS));
    const auto workers = root.Find("workers");
    document.workers =
        workers ? static_cast<uint32_t>(workers->AsUnsigned(1, document.ranks)) : document.ranks;
    if (const auto name = root.Find("collective"))
    {
        document.collective = name->AsText();
    }
    if (const auto sum = root.Find("sum"))
    {
        document.sum = sum->AsChoice({"exact", "idempotent"}) == 0 ? Collective::Sum::Exact
                                                                   : Collective::Sum::Idempotent;
    }
    const auto sources = root.Find("sources");
    document.sources = sources ? ReadWorkers(*sources) : document.sources;
    const auto targets = root.Find("targets");
    document.targets = targets ? ReadWorkers(*targets) : document.targets;
    const auto compressed = root.Find("compressed");
    document.isCompressed = compressed && compressed->AsBool();
    const auto selects = root.Find("selectsSums");
    document.selectsSums = selects && selects->AsBool();
    ReadChunks(root, document);
    const auto operations = root.Require("operations", "a list");
    // Its objects were handed on as they came.
    if (!operations.Get().is_array())
    {
        operations.Fail("a list");
    }
    if (!operations.Get().empty())
    {
        operations.At(0, operations.Get()[0]).Fail("an object");
    }
}

} // namespace

PlanDocument
ReadPlanDocument(const std::string& file, std::string_view text)
{
    PlanDocument document;
    document.file = file;
    OperationReaderOfPlan reader(document);
    const PlanJsonText nothing;
    const PlanJson above(file, nothing);
    const PlanJson list = above.In("operations", nothing);
    const auto root =
        ParsePlanJson(file, text, "operations", [&](size_t index, const PlanJsonText& value) {
            reader.Read(list.At(index, value));
        });
    ReadRoot(PlanJson(file, root), document);
    return document;
}

} // namespace ns3::gradsync
