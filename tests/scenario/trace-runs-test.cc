// SPDX-License-Identifier: GPL-2.0-only
// Jobs that run the traces of others, from scenario to result.
#include "scenario/scenario-runs.h"
#include "support/chakra-text.h"
#include "support/pytorch-text.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>
#include <zlib.h>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;
using tests::WireNode;

/// Files of a test in a folder of its own.
class TraceRuns : public testing::Test
{
  protected:
    TraceRuns()
        : m_folder(std::filesystem::path(testing::TempDir()) /
                   fmt::format("gradsync-traces-{}", getpid()))
    {
        std::filesystem::create_directories(m_folder);
    }

    ~TraceRuns() override
    {
        std::filesystem::remove_all(m_folder);
    }

    std::string Write(const std::string& name, const std::string& text) const
    {
        std::ofstream(m_folder / name, std::ios::binary) << text;
        return (m_folder / name).string();
    }

    /// One file of each of four ranks.
    std::string WriteRing(uint64_t bytes, uint64_t micros) const
    {
        for (uint32_t rank = 0; rank < 4; ++rank)
        {
            Write(fmt::format("ring.{}.et", rank),
                  tests::WriteChakra(tests::MakeRingNodes(4, rank, bytes, micros)));
        }
        return (m_folder / "ring.{rank}.et").string();
    }

    /// A run of a trace; `more` are other keys of it.
    static RunSummary Run(const std::string& file,
                          const std::string& more = "",
                          const std::vector<ScenarioOverride>& overrides = {})
    {
        auto all = overrides;
        all.push_back(MakeJob(file, more));
        return Simulate(all).summary;
    }

    static ScenarioOverride MakeJob(const std::string& file, const std::string& more)
    {
        return {"job", fmt::format(R"({{"trace": {{"file": "{}"{}}}}})", file, more)};
    }

    static std::string ErrorOfTrace(const std::string& file, const std::string& more = "")
    {
        UsePicoseconds();
        return ErrorOf([&] {
            CheckRun(ResolveRun(ParseScenario(STAR, "x.json", {MakeJob(file, more)}), 0), true);
        });
    }

  private:
    std::filesystem::path m_folder;
};

TEST_F(TraceRuns, ARingOfMessagesTakesWhatTheSchemeTakes)
{
    // Four ranks that pass quarters of 512 KiB on, one node after the other: the ring all-reduce.
    constexpr uint64_t QUARTER = 131'072;
    const auto file = WriteRing(QUARTER, 7);
    for (const auto* transport : {"fluid", "roce"})
    {
        const ScenarioOverride on{"transport", transport};
        const ScenarioOverride delay{"topology.hostLink.delay", "1us"};
        const auto ring =
            Simulate({on, delay, {"job", fmt::format(R"({{"gradient": "{}B"}})", 4 * QUARTER)}});
        const auto bare = Run(file, R"(, "computeScale": 0)", {on, delay});
        EXPECT_TRUE(bare.finished);
        EXPECT_EQ(bare.meanIctPs, ring.summary.meanIctPs) << transport;
        EXPECT_EQ(bare.wireBytes, ring.summary.wireBytes) << transport;
        // To add a quarter takes 7 us, as at 131,072 x 8 bit / 7 us = 149,796,571,429 bit/s.
        const auto adding = Simulate({on,
                                      delay,
                                      {"job",
                                       fmt::format(R"({{"gradient": "{}B",
                                                        "reduceRate": "149796571429bps"}})",
                                                   4 * QUARTER)}});
        EXPECT_EQ(Run(file, "", {on, delay}).meanIctPs, adding.summary.meanIctPs) << transport;
    }
}

TEST_F(TraceRuns, CollectivesTakeWhatTheirSchemesTake)
{
    struct Case
    {
        uint64_t type; //!< CollectiveCommType of et_def.proto
        const char* scheme;
        uint64_t share; //!< of the whole buffer, what comm_size says
    };

    for (const auto& of : {Case{0, "ring", 1},
                           Case{1, "reduce", 1},
                           Case{2, "all-gather", 4},
                           Case{5, "broadcast", 1},
                           Case{6, "all-to-all", 1},
                           Case{7, "reduce-scatter", 1}})
    {
        const auto file =
            Write("all.et",
                  tests::WriteChakra({{1,
                                       WireNode::COLLECTIVE,
                                       5,
                                       {},
                                       {{"comm_type", of.type}, {"comm_size", 1 << 20}}}}));
        const auto expected =
            Simulate({{"scheme", of.scheme},
                      {"job", fmt::format(R"({{"gradient": "{}B"}})", of.share << 20)}});
        EXPECT_EQ(Run(file).meanIctPs, expected.summary.meanIctPs) << of.scheme;
    }
}

TEST_F(TraceRuns, GroupsComeFromASideFile)
{
    // Two pairs all-reduce K = 1 MB each at once: 2 (n - 1)/n K = K bytes at 1 Gb/s take 8 ms.
    const auto file = Write("pairs.et",
                            tests::WriteChakra({{1,
                                                 WireNode::COLLECTIVE,
                                                 0,
                                                 {},
                                                 {{"comm_type", 0}, {"comm_size", 1'000'000}},
                                                 "sum",
                                                 "tp"}}));
    const auto one = Write("one.json", R"({"tp": [0, 1, 2, 3]})");
    // Four ranks: 1.5 K.
    EXPECT_EQ(Run(file, fmt::format(R"(, "groups": "{}")", one)).meanIctPs, 12'000'000'000U);
    EXPECT_EQ(
        Run(file,
            fmt::format(R"(, "groups": "{}", "ranks": 2)", Write("two.json", R"({"tp": [1, 0]})")))
            .meanIctPs,
        8'000'000'000U);
    EXPECT_THAT(ErrorOfTrace(file),
                HasSubstr("4 collectives of a rank that no group of that name"));
    EXPECT_THAT(ErrorOfTrace(file, fmt::format(R"(, "groups": "{}", "ranks": 2)", one)),
                HasSubstr("one.json: tp.2: found 2"));
}

TEST_F(TraceRuns, IndependentMessagesDoNotWaitForEachOther)
{
    // Rank 0 computes 10 ms before it sends A, and at once sends B, 1 MB in 8 ms; rank 1 adds 3 ms
    // behind B and receives A when it comes: 10 + 8 = 18 ms, and not 8 ms after a B that waited.
    const auto message = [](uint64_t id,
                            uint32_t type,
                            const char* peer,
                            uint64_t to,
                            uint64_t tag) {
        return WireNode{id, type, 0, {}, {{"comm_size", 1'000'000}, {peer, to}, {"comm_tag", tag}}};
    };
    auto late = message(2, WireNode::SEND, "comm_dst", 1, 1);
    late.dependencies = {1};
    Write(
        "free.0.et",
        tests::WriteChakra(
            {{1, WireNode::COMPUTE, 10'000}, late, message(3, WireNode::SEND, "comm_dst", 1, 2)}));
    const auto file = Write("free.1.et",
                            tests::WriteChakra({message(1, WireNode::RECEIVE, "comm_src", 0, 1),
                                                message(2, WireNode::RECEIVE, "comm_src", 0, 2),
                                                {3, WireNode::COMPUTE, 3000, {2}}}));
    auto pattern = file;
    pattern.replace(pattern.rfind(".1."), 3, ".{rank}.");
    EXPECT_EQ(Run(pattern, R"(, "ranks": 2)").meanIctPs, 18'000'000'000U);
}

TEST_F(TraceRuns, WhatCannotBeSimulatedIsRefusedOrLeftOut)
{
    const auto file = Write("load.et",
                            tests::WriteChakra({{1, WireNode::LOAD, 2000, {77}, {}, "load"},
                                                {2, WireNode::COMPUTE, 1000, {1}}}));
    EXPECT_THAT(ErrorOfTrace(file),
                HasSubstr("job.trace: cannot be simulated as it is: 4 loads from memory (the "
                          "first: node 1 \"load\""));
    EXPECT_THAT(ErrorOfTrace(file), HasSubstr("4 dependencies on nodes that are not there"));
    // A load takes the time that the trace has: 2 + 1 ms.
    EXPECT_EQ(Run(file, R"(, "onUnsupported": "skip")").meanIctPs, 3'000'000'000U);
}

TEST_F(TraceRuns, RanksThatWaitForEachOtherAreNamed)
{
    // Each first receives what the other sends behind its own receipt.
    for (const auto& [rank, peer] : {std::pair(0U, 1U), std::pair(1U, 0U)})
    {
        Write(fmt::format("wait.{}.et", rank),
              tests::WriteChakra(
                  {{1, WireNode::RECEIVE, 0, {}, {{"comm_size", 9}, {"comm_src", peer}}, "get"},
                   {2, WireNode::SEND, 0, {1}, {{"comm_size", 9}, {"comm_dst", peer}}, "put"}}));
    }
    auto pattern = Write("wait.0.et.", "");
    pattern.replace(pattern.rfind(".0.et."), 6, ".{rank}.et");
    EXPECT_THAT(ErrorOfTrace(pattern, R"(, "ranks": 2)"), HasSubstr("a deadlock: rank"));
}

/// A workload of AICB of equal microbatches of `layers` layers: forward 1 us, backward 0.5 + 1.5.
std::string
MakePipeline(uint32_t stages, uint32_t chunks, uint32_t microbatches, uint32_t layers)
{
    auto text =
        fmt::format("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 ep: 1 pp: {} "
                    "vpp: {} ga: {} all_gpus: {} checkpoints: 0 checkpoint_initiates: 0 "
                    "pp_comm 1\n{}\n",
                    stages,
                    chunks,
                    microbatches,
                    stages,
                    microbatches * (layers + 1));
    for (uint32_t microbatch = 0; microbatch < microbatches; ++microbatch)
    {
        text += "embedding_layer -1 0 NONE 0 0 NONE 0 0 NONE 0 0\n";
        for (uint32_t layer = 0; layer < layers; ++layer)
        {
            text += "mlp_layer -1 1000000 NONE 0 500000 NONE 0 1500000 NONE 0 0\n";
        }
    }
    return text;
}

TEST_F(TraceRuns, PipelinesOfAicbTakeTheirClosedForms)
{
    // 1F1B: (m + p - 1)(F + B); interleaved: m (F + B) + (p - 1)(F + B)/v. Messages of one byte
    // take 8 ns, at most two of them for each of the 2 (m + p) v passes on the longest path.
    for (const uint32_t chunks : {1U, 2U})
    {
        for (const uint32_t microbatches : {4U, 8U})
        {
            constexpr double LAYERS = 2;
            constexpr double BOTH = LAYERS * 3'000'000'000.0; // ps
            const auto file = Write("p.txt", MakePipeline(4, chunks, microbatches, 2));
            const auto expected = microbatches * BOTH + 3 * BOTH / chunks;
            const auto found = static_cast<double>(Run(file).meanIctPs);
            EXPECT_GE(found, expected);
            EXPECT_LE(found, expected + 2 * 8000.0 * 2 * (microbatches + 4) * chunks);
        }
    }
}

TEST_F(TraceRuns, LayersOfAicbRunAsTheyAreWritten)
{
    // Two layers on 4 tensor-parallel ranks: forward 1 ms and an all-reduce of 1 MB, 1.5 x 8 ms;
    // back 1 ms, the same, then 2 ms for the weights.
    const std::string header =
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 checkpoints: 0 "
        "checkpoint_initiates: 0\n";
    const std::string layer =
        "x -1 1000000 ALLREDUCE 1000000 1000000 ALLREDUCE 1000000 2000000 NONE 0 0\n";
    const auto blocking = Write("b.txt", header + "2\n" + layer + layer);
    EXPECT_EQ(Run(blocking).meanIctPs, 2 * (1 + 12 + 1 + 12 + 2) * 1'000'000'000ULL);
    // Data-parallel ranks: the sum of the last layer, 12 ms, hides behind the 9 ms of the first
    // one's way back but for 3 ms, then comes the other sum, and its update of 1 ms.
    const std::string overlapping =
        "HYBRID_TRANSFORMER model_parallel_NPU_group: 1\n2\n"
        "first -1 0 NONE 0 4000000 NONE 0 5000000 ALLREDUCE 1000000 1000000\n"
        "last -1 0 NONE 0 0 NONE 0 1000000 ALLREDUCE 1000000 1000000\n";
    const auto file = Write("o.txt", overlapping);
    EXPECT_EQ(Run(file).meanIctPs, (1 + 12 + 12 + 1) * 1'000'000'000ULL);
}

TEST_F(TraceRuns, BadKeysAreOneMessage)
{
    const auto file = Write("one.et", tests::WriteChakra({{1, WireNode::COMPUTE, 5}}));
    EXPECT_THAT(ErrorOfTrace("missing.et"), HasSubstr("job.trace.file: missing.et: the file"));
    EXPECT_THAT(ErrorOfTrace("trace.bin"), HasSubstr("the name tells no format"));
    EXPECT_THAT(ErrorOfTrace(file, R"(, "ranks": 5)"),
                HasSubstr("the trace is of 5 ranks, but there are 4 endpoints"));
    EXPECT_THAT(ErrorOfTrace(file, R"(, "onUnsupported": "skipp")"), HasSubstr("\"skip\""));
    EXPECT_THAT(ErrorOfTrace(file, R"(, "digest": "0")"), HasSubstr("job.trace.digest"));
    const auto empty = Write("none.et", tests::WriteChakra({}));
    EXPECT_THAT(ErrorOfTrace(empty), HasSubstr("the trace has nothing to run"));
    const auto text = Write("w.txt", "HYBRID_TRANSFORMER x: 1\n");
    EXPECT_THAT(ErrorOfTrace(text, R"(, "groups": "g.json")"),
                HasSubstr("\"groups\" goes with traces of Chakra and PyTorch only"));
}

/// 1 TFLOP/s, and memory that bounds nothing.
constexpr const char* DEVICE =
    R"(, "achievedShare": 1, "device": {"name": "d", "source": "by definition",
    "memory": "1GB", "memoryBandwidth": 1e15,
    "peaks": [{"datatype": "fp32", "flops": 1e12, "source": "by definition"}]})";

/// Products of 10^6 x n numbers take 2 n us; an all-reduce of 1 MB among two ranks 8 ms.
std::string
WriteStep(uint64_t second, bool waits)
{
    tests::PyTorchText text;
    text.AddGroup("0", "[]", 2);
    text.AddProduct(1000, 1000, 5000); // 10 ms
    text.AddCollective("allreduce", 250'000, 7);
    if (waits)
    {
        text.AddCollective("wait", 0, 7);
    }
    text.AddProduct(1000, 1000, second);
    return text.Write();
}

TEST_F(TraceRuns, ProductsOfPyTorchHideCollectivesUnlessTheyWait)
{
    const auto take = [this](uint64_t second, bool waits) {
        return Run(Write("et.json", WriteStep(second, waits)), DEVICE).meanIctPs / 1'000'000;
    };
    EXPECT_EQ(take(10'000, false), 30'000); // 10 + max(20, 8)
    EXPECT_EQ(take(2'000, false), 18'000);  // 10 + max(4, 8)
    EXPECT_EQ(take(2'000, true), 22'000);   // 10 + 8 + 4
    // Communications alone, and a file of each rank.
    const auto file = Write("et.json", WriteStep(2'000, false));
    EXPECT_EQ(Run(file, R"(, "computeScale": 0)").meanIctPs, 8'000'000'000);
    Write("et.0.json", WriteStep(2'000, false));
    auto each = Write("et.1.json", WriteStep(10'000, false));
    each.replace(each.find("1.json"), 1, "{rank}");
    EXPECT_EQ(Run(each, std::string(R"(, "ranks": 2)") + DEVICE).meanIctPs, 30'000'000'000);
}

TEST_F(TraceRuns, PyTorchTracesNeedTimes)
{
    const auto file = Write("et.json", WriteStep(2'000, false));
    EXPECT_THAT(ErrorOfTrace(file),
                HasSubstr("none of its 4 nodes has a time: expected \"device\""));
    EXPECT_THAT(ErrorOfTrace(file, R"(, "ranks": 4, "computeScale": 0)"),
                HasSubstr("process group \"0\" is of 2 ranks, but 4 run the trace"));
    EXPECT_THAT(ErrorOfTrace(file, std::string(DEVICE) + R"(, "datatype": "fp8")"),
                HasSubstr("fp8"));
    const auto chakra = Write("x.et", "");
    EXPECT_THAT(ErrorOfTrace(chakra, DEVICE), HasSubstr("goes with PyTorch execution traces only"));
}

TEST_F(TraceRuns, TracesMayBePacked)
{
    const auto text = WriteStep(2'000, false);
    const auto name = Write("et.json.gz", "");
    const auto pack = [&name](const std::string& part, const char* mode) {
        const auto file = gzopen(name.c_str(), mode);
        gzwrite(file, part.data(), static_cast<unsigned>(part.size()));
        gzclose(file);
    };
    pack(text, "wb");
    EXPECT_EQ(Run(name, DEVICE).meanIctPs, 18'000'000'000);
    // Of two members, as gzip leaves what is appended.
    pack(text.substr(0, 100), "wb");
    pack(text.substr(100), "ab");
    EXPECT_EQ(Run(name, DEVICE).meanIctPs, 18'000'000'000);
    std::filesystem::resize_file(name, std::filesystem::file_size(name) / 2);
    EXPECT_THAT(ErrorOfTrace(name, DEVICE), HasSubstr("is a gzip that ends too early"));
    Write("et.json.gz", "\x1f\x8b and no more");
    EXPECT_THAT(ErrorOfTrace(name, DEVICE), HasSubstr("is no gzip that can be unpacked"));
}

} // namespace
} // namespace ns3::gradsync
