// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/goal-annotation.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <limits>

namespace ns3::gradsync::goal_annotation
{

namespace
{

constexpr uint64_t MAX_NOTED_CHUNKS = 1ULL << 24;
constexpr uint64_t MAX_NOTED_BYTES = 1ULL << 44;
constexpr uint64_t MAX_PICOSECONDS = 1ULL << 60;
constexpr std::string_view EXACT = "exact";
constexpr std::string_view IDEMPOTENT = "idempotent";

constexpr std::array OPERATION_KINDS{OperationKind::TransferReduce,
                                     OperationKind::TransferCopy,
                                     OperationKind::Join,
                                     OperationKind::Encode,
                                     OperationKind::Decode,
                                     OperationKind::Compute,
                                     OperationKind::Signal,
                                     OperationKind::Train,
                                     OperationKind::Gate};

OperationKind
FindOperationKind(std::string_view name)
{
    const auto* const found = std::find_if(OPERATION_KINDS.begin(),
                                           OPERATION_KINDS.end(),
                                           [name](auto kind) { return ToString(kind) == name; });
    if (found == OPERATION_KINDS.end())
    {
        std::vector<std::string> names;
        std::transform(OPERATION_KINDS.begin(),
                       OPERATION_KINDS.end(),
                       std::back_inserter(names),
                       ToString);
        throw Error(fmt::format("found \"{}\" (allowed: {})", name, fmt::join(names, ", ")));
    }
    return *found;
}

/// Equal numbers in a row as COUNT*NUMBER.
template <typename Number>
std::string
WriteRuns(const std::vector<Number>& numbers)
{
    std::string text;
    for (size_t begin = 0; begin < numbers.size();)
    {
        size_t end = begin;
        while (end < numbers.size() && numbers[end] == numbers[begin])
        {
            ++end;
        }
        text += fmt::format(" {}*{}", end - begin, numbers[begin]);
        begin = end;
    }
    return text;
}

/// Takes words off the front of a line.
class Words
{
  public:
    explicit Words(std::string_view line)
        : m_rest(line)
    {
    }

    bool IsEmpty()
    {
        const auto begin = m_rest.find_first_not_of(" \t\r");
        m_rest.remove_prefix(begin == std::string_view::npos ? m_rest.size() : begin);
        return m_rest.empty();
    }

    std::string_view Take(std::string_view what)
    {
        if (IsEmpty())
        {
            throw Error(fmt::format("{} is missing", what));
        }
        const auto end = std::min(m_rest.find_first_of(" \t\r"), m_rest.size());
        const auto word = m_rest.substr(0, end);
        m_rest.remove_prefix(end);
        return word;
    }

    uint64_t TakeNumber(std::string_view what, uint64_t maximum)
    {
        return ToNumber(Take(what), what, maximum);
    }

    void ExpectEnd()
    {
        if (!IsEmpty())
        {
            throw Error(fmt::format("found \"{}\" behind its end", m_rest));
        }
    }

    static uint64_t ToNumber(std::string_view word, std::string_view what, uint64_t maximum)
    {
        uint64_t value = 0;
        const auto* end = word.data() + word.size();
        const auto [stop, problem] = std::from_chars(word.data(), end, value);
        if (problem != std::errc() || stop != end || value > maximum)
        {
            throw Error(fmt::format("{}: found \"{}\", expected a whole number up to {}",
                                    what,
                                    word,
                                    maximum));
        }
        return value;
    }

  private:
    std::string_view m_rest;
};

template <typename Number>
void
ReadRuns(Words& words, std::string_view what, uint64_t maximum, std::vector<Number>& numbers)
{
    numbers.clear();
    while (!words.IsEmpty())
    {
        const auto word = words.Take(what);
        const auto star = word.find('*');
        if (star == std::string_view::npos)
        {
            throw Error(fmt::format("{}: found \"{}\", expected COUNT*NUMBER", what, word));
        }
        const auto count = Words::ToNumber(word.substr(0, star), what, MAX_NOTED_CHUNKS);
        if (count + numbers.size() > MAX_NOTED_CHUNKS)
        {
            throw Error(fmt::format("{}: more than {}", what, MAX_NOTED_CHUNKS));
        }
        const auto number = Words::ToNumber(word.substr(star + 1), what, maximum);
        numbers.insert(numbers.end(), count, static_cast<Number>(number));
    }
}

std::vector<uint32_t>
ListWorkers(const Plan& plan, uint32_t (Collective::*get)(uint32_t) const)
{
    std::vector<uint32_t> workers;
    for (uint32_t chunk = 0; chunk < plan.GetLayout().GetChunkCount(); ++chunk)
    {
        workers.push_back((plan.GetCollective().*get)(chunk));
    }
    return workers;
}

std::string
WriteGate(const PlanGate& gate)
{
    auto text = fmt::format("{} gate {} {}", PREFIX, gate.quorum, gate.timeoutPicoseconds);
    for (const auto& answer : gate.answers)
    {
        text += fmt::format(" {} {}", answer.operation, answer.worker);
    }
    return text + '\n';
}

PlanGate
ReadGate(Words& words)
{
    constexpr uint64_t MAX_INDEX = std::numeric_limits<uint32_t>::max();
    PlanGate gate;
    gate.quorum = static_cast<uint32_t>(words.TakeNumber("the quorum", MAX_INDEX));
    gate.timeoutPicoseconds = words.TakeNumber("the timeout in picoseconds", MAX_PICOSECONDS);
    while (!words.IsEmpty())
    {
        const auto operation = words.TakeNumber("the operation of an answer", MAX_INDEX);
        const auto worker = words.TakeNumber("the worker of an answer", MAX_INDEX);
        gate.answers.push_back({static_cast<uint32_t>(operation), static_cast<uint32_t>(worker)});
    }
    return gate;
}

} // namespace

std::string
WritePlan(const Plan& plan)
{
    const auto& collective = plan.GetCollective();
    const auto& layout = plan.GetLayout();
    std::vector<uint64_t> bytes;
    for (uint32_t chunk = 0; chunk < layout.GetChunkCount(); ++chunk)
    {
        bytes.push_back(layout.GetBytes(chunk, 1));
    }
    const auto text =
        fmt::format("{0} plan {1} {2} {3}\n{0} chunks{4}\n{0} sources{5}\n{0} targets{6}\n",
                    PREFIX,
                    plan.GetWorkerCount(),
                    collective.GetSum() == Collective::Sum::Exact ? EXACT : IDEMPOTENT,
                    collective.GetName(),
                    WriteRuns(bytes),
                    WriteRuns(ListWorkers(plan, &Collective::GetSource)),
                    WriteRuns(ListWorkers(plan, &Collective::GetTarget)));
    return plan.GetGate() ? text + WriteGate(*plan.GetGate()) : text;
}

std::string
WriteOperation(const Plan& plan, OperationId id)
{
    const auto& operation = plan.GetOperations()[id];
    auto text = fmt::format("{} operation {} {}", PREFIX, id, ToString(operation.kind));
    if (operation.IsMove())
    {
        text += fmt::format(" {} {} {} {} {}",
                            operation.firstChunk,
                            operation.chunkCount,
                            operation.stream,
                            operation.buffers.src,
                            operation.buffers.dst);
    }
    if (operation.IsCompute())
    {
        text += fmt::format(" {} {}", plan.GetComputePicoseconds(id), operation.firstChunk);
    }
    if (operation.kind == OperationKind::Signal)
    {
        text += fmt::format(" {}", operation.stream);
    }
    return text + '\n';
}

std::string
WriteSignal()
{
    return fmt::format("{} signal\n", PREFIX);
}

bool
IsOfPlan(std::string_view line)
{
    const auto first = Words(line).Take("what it is about");
    return first != "operation" && first != "signal";
}

void
ReadPlanLine(std::string_view line, PlanNote& note)
{
    constexpr uint64_t MAX_RANK = std::numeric_limits<uint32_t>::max();
    Words words(line);
    const auto what = words.Take("what it is about");
    if (what == "plan")
    {
        note.workers = static_cast<uint32_t>(words.TakeNumber("workers", MAX_RANK));
        const auto sum = words.Take("exact or idempotent");
        if (sum != EXACT && sum != IDEMPOTENT)
        {
            throw Error(fmt::format("found \"{}\" (allowed: {}, {})", sum, EXACT, IDEMPOTENT));
        }
        note.sum = sum == EXACT ? Collective::Sum::Exact : Collective::Sum::Idempotent;
        note.collective = words.Take("the name of the collective");
        while (!words.IsEmpty())
        {
            note.collective += fmt::format(" {}", words.Take("the name of the collective"));
        }
    }
    else if (what == "chunks")
    {
        ReadRuns(words, "bytes of chunks", MAX_NOTED_BYTES, note.chunkBytes);
        uint64_t sum = 0;
        for (const auto bytes : note.chunkBytes)
        {
            sum += bytes;
            if (sum > MAX_NOTED_BYTES)
            {
                throw Error(fmt::format("chunks of more than {} bytes in all", MAX_NOTED_BYTES));
            }
        }
    }
    else if (what == "sources")
    {
        ReadRuns(words, "sources", MAX_RANK, note.sources);
    }
    else if (what == "targets")
    {
        ReadRuns(words, "targets", MAX_RANK, note.targets);
    }
    else if (what == "gate")
    {
        note.gate = ReadGate(words);
    }
    else
    {
        throw Error(fmt::format(
            "found \"{}\" (allowed: plan, chunks, sources, targets, gate, operation, signal)",
            what));
    }
}

StepNote
ReadStepLine(std::string_view line)
{
    constexpr uint64_t MAX_INDEX = std::numeric_limits<uint32_t>::max();
    constexpr uint64_t MAX_BUFFER = std::numeric_limits<uint8_t>::max();
    Words words(line);
    StepNote note;
    note.isSignal = words.Take("what it is about") == "signal";
    if (note.isSignal)
    {
        words.ExpectEnd();
        return note;
    }
    const auto number = [&words](std::string_view what, uint64_t maximum) {
        return static_cast<uint32_t>(words.TakeNumber(what, maximum));
    };
    note.id = number("the number of the operation", MAX_INDEX - 1);
    auto& operation = note.operation;
    operation.kind = FindOperationKind(words.Take("the kind of the operation"));
    if (operation.IsMove())
    {
        operation.firstChunk = number("the first chunk", MAX_INDEX);
        operation.chunkCount = number("the number of chunks", MAX_INDEX);
        operation.stream = number("the stream", MAX_INDEX);
        operation.buffers.src = static_cast<uint8_t>(number("the buffer read", MAX_BUFFER));
        operation.buffers.dst = static_cast<uint8_t>(number("the buffer written", MAX_BUFFER));
    }
    if (operation.IsCompute())
    {
        note.picoseconds = words.TakeNumber("picoseconds", MAX_PICOSECONDS);
        operation.firstChunk = number("the processor", MAX_INDEX);
    }
    if (operation.kind == OperationKind::Signal)
    {
        operation.stream = number("the stream", MAX_INDEX);
    }
    words.ExpectEnd();
    return note;
}

} // namespace ns3::gradsync::goal_annotation
