// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aicb-workload.h"
#include "ns3/nearest-name.h"
#include "ns3/trace-lines.h"

#include <algorithm>
#include <array>
#include <fmt/ranges.h>
#include <iterator>
#include <string>
#include <utility>

namespace ns3::gradsync
{

namespace
{

constexpr uint64_t MAX_AICB_NANOSECONDS = MAX_TRACE_PICOSECONDS / 1000;
constexpr uint64_t MAX_AICB_RANKS = 1 << 20;
constexpr uint64_t MAX_AICB_CHUNKS = 4096; // as `chunks` of scenarios
constexpr uint64_t MAX_LAYERS = 1 << 20;
constexpr size_t LAYER_WORDS = 12;

/// The parallelism that a header names and that is run (SimAI, Workload.cc, decode_parallelsim).
constexpr std::array<std::string_view, 2> POLICIES{"HYBRID_TRANSFORMER_FWD_IN_BCKWD",
                                                   "HYBRID_TRANSFORMER"};

constexpr std::array<std::pair<std::string_view, TraceCollective>, 4> COLLECTIVES{
    {{"ALLREDUCE", TraceCollective::AllReduce},
     {"ALLGATHER", TraceCollective::AllGather},
     {"REDUCESCATTER", TraceCollective::ReduceScatter},
     {"ALLTOALL", TraceCollective::AllToAll}}};

/// Reads the lines of a workload file.
class AicbReader
{
  public:
    AicbReader(const std::string& file, std::string_view text)
        : m_lines(file, text, " \t", false)
    {
    }

    AicbWorkload Read()
    {
        if (!m_lines.Next())
        {
            m_lines.Fail("is empty, expected a workload of AICB");
        }
        ReadHeader();
        if (!m_lines.Next() || m_lines.GetWords().size() != 1)
        {
            m_lines.Fail("expected the number of layers");
        }
        const auto count =
            m_lines.GetNumber(m_lines.GetWords().front(), "the number of layers", MAX_LAYERS);
        while (m_lines.Next())
        {
            if (m_workload.layers.size() == count)
            {
                m_lines.Fail(fmt::format("a layer more than the {} that line 2 says", count));
            }
            m_workload.layers.push_back(ReadLayer());
        }
        if (m_workload.layers.size() < count || count == 0)
        {
            m_lines.Fail(fmt::format("found {} layers, line 2 says {}, expected as many, at least "
                                     "one",
                                     m_workload.layers.size(),
                                     count));
        }
        return std::move(m_workload);
    }

  private:
    void ReadHeader()
    {
        const auto& words = m_lines.GetWords();
        if (std::ranges::any_of(words, [](std::string_view word) {
                return word.starts_with("forward_compute_time=");
            }))
        {
            m_lines.Fail("is a table of layers as DAPPLE has them, which is a model: expected in "
                         "\"training\": {\"model\": ...} (doc/models.rst)");
        }
        if (std::ranges::find(POLICIES, words.front()) == POLICIES.end())
        {
            m_lines.Fail(fmt::format("is no workload that can be run: expected {} at its beginning",
                                     fmt::join(POLICIES, " or ")));
        }
        for (size_t i = 1; i < words.size();)
        {
            auto key = std::string(words[i]);
            if (key.ends_with(':'))
            {
                key.pop_back();
            }
            if (i + 1 == words.size())
            {
                m_lines.Fail(fmt::format("{} has no value", key));
            }
            SetHeader(key, words[i + 1]);
            i += 2;
        }
    }

    void SetHeader(const std::string& key, std::string_view word)
    {
        const std::vector<std::pair<std::string, uint32_t*>> counts{
            {"model_parallel_NPU_group", &m_workload.tensor},
            {"ep", &m_workload.expert},
            {"pp", &m_workload.stages},
            {"vpp", &m_workload.chunks},
            {"ga", &m_workload.microbatches},
            {"all_gpus", &m_workload.ranks}};
        const auto number = m_lines.GetNumber(word, key, MAX_TRACE_BYTES);
        if (key == "pp_comm")
        {
            m_workload.stageBytes = number;
            return;
        }
        if (key == "checkpoints" || key == "checkpoint_initiates")
        {
            if (number != 0)
            {
                m_lines.Fail(fmt::format("{}: found {}, expected 0: layers that are computed again "
                                         "are not simulated",
                                         key,
                                         number));
            }
            return;
        }
        const auto found =
            std::ranges::find(counts, key, &std::pair<std::string, uint32_t*>::first);
        if (found == counts.end())
        {
            FailOnKey(key, counts);
        }
        const auto maximum = key == "vpp" ? MAX_AICB_CHUNKS : MAX_AICB_RANKS;
        *found->second = static_cast<uint32_t>(m_lines.GetNumber(word, key, maximum));
        if (*found->second == 0)
        {
            m_lines.Fail(fmt::format("{}: found 0, expected at least 1", key));
        }
    }

    [[noreturn]] void FailOnKey(const std::string& key,
                                const std::vector<std::pair<std::string, uint32_t*>>& counts) const
    {
        std::vector<std::string> names{"pp_comm", "checkpoints", "checkpoint_initiates"};
        std::ranges::transform(counts, std::back_inserter(names), [](const auto& count) {
            return count.first;
        });
        m_lines.Fail(fmt::format("found {}, expected one of {}{}",
                                 QuoteName(key),
                                 JoinNames(names),
                                 SuggestName(key, names)));
    }

    AicbLayer ReadLayer() const
    {
        const auto& words = m_lines.GetWords();
        if (words.size() != LAYER_WORDS)
        {
            m_lines.Fail(fmt::format("found {} words, expected {}: name, dependency, then time, "
                                     "collective and bytes forward, of the input's gradient and of "
                                     "the weights', and the time of the update",
                                     words.size(),
                                     LAYER_WORDS));
        }
        AicbLayer layer;
        layer.name = words[0];
        layer.forward = ReadPhase(2, "tp");
        layer.input = ReadPhase(5, "tp");
        layer.weight = ReadPhase(8, "dp");
        layer.updateNanoseconds = m_lines.GetNumber(words[11], "nanoseconds", MAX_AICB_NANOSECONDS);
        return layer;
    }

    /// \param group where the collective names none
    AicbPhase ReadPhase(size_t first, const char* group) const
    {
        const auto& words = m_lines.GetWords();
        AicbPhase phase;
        phase.nanoseconds = m_lines.GetNumber(words[first], "nanoseconds", MAX_AICB_NANOSECONDS);
        phase.bytes = m_lines.GetNumber(words[first + 2], "bytes", MAX_TRACE_BYTES);
        phase.group = group;
        auto name = words[first + 1];
        if (name == "NONE")
        {
            return phase;
        }
        for (const auto& [suffix, of] : {std::pair("_DP_EP", "dp_ep"), std::pair("_EP", "ep")})
        {
            if (name.ends_with(suffix))
            {
                name.remove_suffix(std::string_view(suffix).size());
                phase.group = of;
                break;
            }
        }
        phase.collective = FindCollective(name);
        return phase;
    }

    /// A broadcast, which SimAI leaves out, is run as one.
    TraceCollective FindCollective(std::string_view name) const
    {
        if (name == "BROADCAST")
        {
            return TraceCollective::Broadcast;
        }
        for (const auto& [known, collective] : COLLECTIVES)
        {
            if (known == name)
            {
                return collective;
            }
        }
        m_lines.Fail(fmt::format("found {}, expected NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, "
                                 "ALLTOALL or BROADCAST, with _EP or _DP_EP behind it or nothing",
                                 QuoteName(name)));
    }

    TraceLines m_lines;
    AicbWorkload m_workload;
};

} // namespace

AicbWorkload
ReadAicbWorkload(const std::string& file, std::string_view text)
{
    return AicbReader(file, text).Read();
}

} // namespace ns3::gradsync
