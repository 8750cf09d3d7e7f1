// SPDX-License-Identifier: GPL-2.0-only
// Jobs that train the layers of a table as DAPPLE has them.
#include "scenario/scenario-runs.h"

#include "ns3/dapple-model.h"
#include "ns3/model-reader.h"
#include "ns3/model-training.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;

struct MeasuredLayer
{
    uint64_t forwardMicros;
    uint64_t backwardMicros;
    uint64_t activationBytes;
    uint64_t parameterBytes;
};

/// A file in the folder of tests, as long as the test takes.
class DappleRuns : public testing::Test
{
  protected:
    ~DappleRuns() override
    {
        std::filesystem::remove(m_file);
    }

    /// A chain of layers.
    void Write(const std::vector<MeasuredLayer>& layers, const std::string& name)
    {
        m_file = std::filesystem::path(testing::TempDir()) / fmt::format("{}-{}", getpid(), name);
        std::ofstream file(m_file);
        for (size_t i = 0; i < layers.size(); ++i)
        {
            file << fmt::format("node{} -- layer{} -- forward_compute_time={}.{:03}, "
                                "backward_compute_time={}.{:03}, activation_size={}.000, "
                                "parameter_size={}\n",
                                i,
                                i,
                                layers[i].forwardMicros / 1000,
                                layers[i].forwardMicros % 1000,
                                layers[i].backwardMicros / 1000,
                                layers[i].backwardMicros % 1000,
                                layers[i].activationBytes,
                                layers[i].parameterBytes);
        }
        for (size_t i = 1; i < layers.size(); ++i)
        {
            file << fmt::format("\tnode{} -- node{}\n", i - 1, i);
        }
    }

    std::string MakeJob(const std::string& more) const
    {
        return fmt::format(R"({{"training": {{"model": {{"file": "{}"}}, "device":
                               "{}/devices/h100-sxm.json"{}}}}})",
                           m_file.string(),
                           GRADSYNC_SOURCE_DIR,
                           more);
    }

    RunSummary Train(const std::string& more) const
    {
        return Simulate({{"job", MakeJob(more)}}).summary;
    }

  private:
    std::filesystem::path m_file;
};

// Stages of different times, no messages: sum F + (m - 1) max F + sum B + (m - 1) max B. Of half a
// batch they take half as long.
TEST_F(DappleRuns, PipelinesOfRandomTablesTakeTheClosedForm)
{
    std::mt19937_64 random(11);
    const auto draw = [&random](uint64_t from, uint64_t to) {
        return from + random() % (to - from);
    };
    for (int round = 0; round < 20; ++round)
    {
        const auto stages = draw(1, 5);
        const auto microbatches = draw(1, 9);
        std::vector<MeasuredLayer> layers(draw(stages, 12));
        for (auto& layer : layers)
        {
            layer = {2 * draw(0, 30'000), 2 * draw(0, 60'000), 0, draw(0, 1'000'000)};
        }
        Write(layers, "random-pbs-2.txt");
        std::vector<uint64_t> forward(stages, 0);
        std::vector<uint64_t> backward(stages, 0);
        for (uint64_t stage = 0; stage < stages; ++stage)
        {
            for (auto i = stage * layers.size() / stages; i < (stage + 1) * layers.size() / stages;
                 ++i)
            {
                forward[stage] += layers[i].forwardMicros;
                backward[stage] += layers[i].backwardMicros;
            }
        }
        uint64_t micros = 0;
        for (const auto& times : {forward, backward})
        {
            micros += std::accumulate(times.begin(), times.end(), uint64_t{0}) +
                      (microbatches - 1) * *std::ranges::max_element(times);
        }
        for (const uint64_t samples : {1, 2})
        {
            const auto run = Train(fmt::format(
                R"(, "pipeline": {}, "microbatches": {}, "data": 1, "schedule": "gpipe",
                    "microbatchSize": {})",
                stages,
                microbatches,
                samples));
            EXPECT_EQ(run.meanIctPs, micros * 1'000'000 / 2 * samples);
        }
    }
}

// Two stages, the first of two layers, the second of one. What the second layer makes crosses the
// cut and its gradient comes back: 1 MB at 1 Gb/s in 8 ms each.
TEST_F(DappleRuns, ActivationsCrossTheCut)
{
    Write({{1000, 2000, 5'000'000, 0}, {3000, 4000, 1'000'000, 0}, {500, 700, 8, 0}},
          "x-pbs-1.txt");
    const auto run = Train(R"(, "pipeline": 2, "data": 1, "firstLayers": [0, 2])");
    EXPECT_EQ(run.meanIctPs, (1000 + 3000 + 500 + 700 + 4000 + 2000 + 2 * 8000) * 1'000'000ULL);
}

// Four ranks exchange whole fp32 numbers at the end, 3 of 10 B: with those of 400,004 B they are
// 400,016 B, of which 1.5 times as many take 8 ns each in a ring.
TEST_F(DappleRuns, GradientsAreWholeNumbersOfFourBytes)
{
    Write({{1000, 2000, 0, 10}, {1000, 2000, 0, 400'004}}, "x-pbs-1.txt");
    const auto run = Train(R"(, "overlap": false, "bucket": "1MB")");
    EXPECT_EQ(run.meanIctPs, 6'000'000'000 + 400'016ULL * 8000 * 3 / 2);
}

TEST_F(DappleRuns, FilesThatAreNoTablesAreOneMessage)
{
    const auto fail = [this](const std::string& more) {
        UsePicoseconds();
        return ErrorOf([&] {
            ResolveRun(ParseScenario(STAR, "x.json", {{"job", MakeJob(more)}}), 0);
        });
    };
    Write({{1, 1, 0, 0}}, "vgg16.txt");
    EXPECT_THAT(fail(""), HasSubstr("vgg16.txt: the name tells no batch"));
    Write({}, "x-pbs-1.txt");
    EXPECT_THAT(fail(""), HasSubstr("x-pbs-1.txt:0: found no layer"));
}

// 3 GB of activations are kept, and 2 + 4 + 12 bytes of each of 10^9 parameters.
TEST(DappleModel, MemoryIsThatOfTheTable)
{
    const auto content =
        MakeDappleModel("x-pbs-2.txt",
                        "a -- a -- forward_compute_time=1, backward_compute_time=2, "
                        "activation_size=3000000000, parameter_size=4000000000\n");
    ModelTraining training;
    training.model = ReadModel(JsonValue(content, "x-pbs-2.txt", ""));
    training.microbatchSize = 2;
    training.achievedShare = 1.0;
    const auto memory = EstimateMemory(training, 0);
    EXPECT_EQ(memory.activations, 3'000'000'000);
    EXPECT_EQ(memory.parameters + memory.gradients + memory.optimizer, 18'000'000'000);
}

} // namespace
} // namespace ns3::gradsync
