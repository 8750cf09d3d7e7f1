// SPDX-License-Identifier: GPL-2.0-only
// Models and devices from files, and jobs that train them.
#include "scenario/scenario-runs.h"

#include "ns3/gradient-buckets.h"
#include "ns3/model-reader.h"
#include "ns3/model-training.h"
#include "ns3/named-files.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::HasSubstr;

const std::filesystem::path MODEL_SOURCE = GRADSYNC_SOURCE_DIR;

Json
LoadData(const std::filesystem::path& file)
{
    NamedFiles files;
    auto content = files.ReadJson(MODEL_SOURCE / file);
    content.erase("$schema");
    return content;
}

ModelSpec
LoadModel(const std::string& name)
{
    const auto content = LoadData("models/" + name + ".json");
    return ReadModel(JsonValue(content, name, ""));
}

DeviceProfile
LoadDevice(const std::string& name)
{
    const auto content = LoadData("devices/" + name + ".json");
    return ReadDevice(JsonValue(content, name, ""));
}

// Parameters as torchvision and the published weights have them; GPT-3: 96 (12 h^2 + 13 h) +
// (50257 + 2048) h + 2 h for h = 12288.
TEST(ModelFiles, HaveTheirPublishedParameters)
{
    for (const auto& [name, parameters] :
         {std::pair<std::string, uint64_t>{"resnet-18", 11'689'512},
          {"resnet-34", 21'797'672},
          {"resnet-50", 25'557'032},
          {"resnet-101", 44'549'160},
          {"vgg-16", 138'357'544},
          {"vgg-19", 143'667'240},
          {"llama-2-7b", 6'738'415'616},
          {"llama-2-13b", 13'015'864'320},
          {"llama-2-70b", 68'976'648'192},
          {"gpt-3-175b", 174'604'259'328},
          {"mixtral-8x7b", 46'702'792'704}})
    {
        EXPECT_EQ(CountParameters(LoadModel(name)), parameters) << name;
    }
}

// Multiply-adds of an image of 224 x 224, in billions, as torchvision's table of models has them.
TEST(ModelFiles, ConvolutionsHaveTheirPublishedOperations)
{
    for (const auto& [name, billions] : {std::pair<std::string, double>{"resnet-18", 1.81},
                                         {"resnet-34", 3.66},
                                         {"resnet-50", 4.09},
                                         {"resnet-101", 7.80},
                                         {"vgg-16", 15.47},
                                         {"vgg-19", 19.63}})
    {
        EXPECT_NEAR(CountForwardFlops(LoadModel(name)) / 2e9, billions, 0.006) << name;
    }
}

ModelTraining
TrainImages(const std::string& model, const std::string& device, const std::string& datatype)
{
    ModelTraining training;
    training.model = LoadModel(model);
    training.device = LoadDevice(device);
    training.precision = MakePrecision(datatype);
    return training;
}

// Reference 2, section 2: PyTorch's buckets of ResNet-50.
TEST(ModelFiles, ResNetHasPyTorchsBuckets)
{
    std::vector<uint64_t> bytes;
    for (const auto& block : MakeTrainingSpec(TrainImages("resnet-50", "v100-sxm2", "fp32")).blocks)
    {
        bytes.insert(bytes.begin(), block.gradientBytes);
    }
    std::vector<uint64_t> floats;
    for (const auto& bucket : MakeGradientBuckets(bytes))
    {
        floats.push_back(bucket.bytes / 4);
    }
    EXPECT_THAT(floats,
                testing::ElementsAre(2'049'000, 7'875'584, 6'563'840, 6'637'568, 2'431'040));
}

// The shares of the peak are from these throughputs: images a second of one device.
TEST(DeviceFiles, GiveBackWhatWasMeasured)
{
    for (const auto& [device, datatype, images] :
         {std::tuple<std::string, std::string, double>{"a100-sxm-80gb", "fp16", 2470},
          {"a100-sxm-80gb", "tf32", 938},
          {"v100-sxm2", "fp16", 1156},
          {"v100-sxm2", "fp32", 356}})
    {
        auto training = TrainImages("resnet-50", device, datatype);
        training.microbatchSize = 256;
        const auto blocks = MakeTrainingSpec(training).blocks;
        const auto picoseconds =
            std::accumulate(blocks.begin(), blocks.end(), 0.0, [](double sum, const auto& block) {
                return sum + block.forwardPicoseconds + block.backwardPicoseconds;
            });
        EXPECT_NEAR(256 / (picoseconds * 1e-12) / images, 1.0, 0.01) << device << ' ' << datatype;
    }
}

TEST(DeviceFiles, SayWhereEachNumberIsFrom)
{
    size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator(MODEL_SOURCE / "devices"))
    {
        if (file.path().filename() == "device.schema.json")
        {
            continue;
        }
        ++count;
        const auto device = LoadDevice(file.path().stem().string());
        EXPECT_GT(device.memoryBytes, 0);
        EXPECT_FALSE(device.source.empty());
        for (const auto& peak : device.peaks)
        {
            EXPECT_FALSE(peak.source.empty());
            EXPECT_GT(peak.flops, 1e12);
        }
        for (const auto& achieved : device.achieved)
        {
            EXPECT_NO_THROW(GetPeakFlops(device, achieved.datatype));
            EXPECT_FALSE(achieved.source.empty());
        }
    }
    EXPECT_EQ(count, 5);
}

/// h = 16, 2 layers, 4 heads, 8 tokens, 30 words, and a device of 1 TFLOP/s, all of it reached.
constexpr const char* SMALL = R"(
  "model": {"kind": "transformer", "name": "small", "layers": 2, "hidden": 16, "heads": 4,
            "feedForward": 64, "vocabulary": 30, "sequence": 8, "biases": true, "norm": "layer"},
  "device": {"name": "a device", "source": "none", "memory": "1MB", "memoryBandwidth": 1e12,
             "peaks": [{"datatype": "bf16", "flops": 1e12, "source": "none"}]},
  "achievedShare": 1)";

std::string
MakeModelJob(const std::string& more)
{
    return fmt::format("{{\"training\": {{{}{}}}}}", SMALL, more);
}

/// The error of checking a run with this job.
std::string
ErrorOfJob(const std::string& job, std::vector<ScenarioOverride> more = {})
{
    UsePicoseconds();
    more.insert(more.begin(), {"job", job});
    return ErrorOf([&] {
        // As if it stood among the scenarios, from where files are named.
        const auto scenario = ParseScenario(STAR, MODEL_SOURCE / "scenarios/x.json", more);
        CheckRun(ResolveRun(scenario, 0), true);
    });
}

// Of two samples: 72 b s l h^2 (1 + s/(6h) + V/(12 l h)) FLOPs, a picosecond each, and then a ring
// of 4 bytes of each parameter among 4 ranks: 2 x 3/4 at 8 ns a byte.
TEST(ModelTraining, TakesItsComputationAndItsExchange)
{
    constexpr int64_t FORWARD = 24 * 2 * 8 * 2 * 256 + 4 * 2 * 64 * 2 * 16 + 2 * 2 * 8 * 16 * 30;
    constexpr int64_t PARAMETERS = 2 * (12 * 256 + 13 * 16) + 2 * 30 * 16 + 2 * 16;
    const auto result =
        Simulate({{"job", MakeModelJob(R"(, "microbatchSize": 2, "overlap": false)")}});
    EXPECT_TRUE(result.summary.finished);
    EXPECT_EQ(result.summary.meanIctPs, 3 * FORWARD + 4 * PARAMETERS * 3 / 2 * 8000);
    // ZeRO-1: gradients scattered in 4 bytes, parameters gathered in 2: 3/4 of each.
    const auto sharded =
        Simulate({{"job", MakeModelJob(R"(, "microbatchSize": 2, "overlap": false, "zero": 1)")}});
    EXPECT_EQ(sharded.summary.meanIctPs,
              3 * FORWARD + (4 * PARAMETERS + 2 * PARAMETERS) * 3 / 4 * 8000);
}

TEST(ModelTraining, KnowsItsFiguresBeforeItRuns)
{
    UsePicoseconds();
    const auto run =
        ResolveRun(ParseScenario(STAR,
                                 MODEL_SOURCE / "scenarios/x.json",
                                 {{"job", MakeModelJob(R"(, "pipeline": 2, "microbatches": 4)")}}),
                   0);
    ASSERT_EQ(run.trainings.size(), 1);
    const auto& figures = run.trainings[0].figures;
    EXPECT_EQ(figures.samples, 2 * 4);
    EXPECT_EQ(figures.tokens, 2 * 4 * 8);
    EXPECT_DOUBLE_EQ(figures.peakFlopsPerSecond, 4e12);
    constexpr double FORWARD = 24.0 * 8 * 2 * 256 + 4.0 * 64 * 2 * 16 + 2.0 * 8 * 16 * 30;
    EXPECT_DOUBLE_EQ(figures.modelFlops, 8 * 3 * FORWARD);
    // Two ranks of each stage; the first holds the embedding, the second the output.
    ASSERT_EQ(figures.memoryBytes.size(), 4);
    EXPECT_EQ(figures.memoryBytes[0], figures.memoryBytes[1]);
    EXPECT_EQ(figures.memoryBytes[2], figures.memoryBytes[3]);
    constexpr uint64_t LAYER = 12 * 256 + 13 * 16;
    constexpr uint64_t KEPT = 32 * 8 * 16 + 2 * 4 * 64; // 34 sbh without masks, 2 a s^2
    constexpr uint64_t WORDS = uint64_t{30} * 16;
    constexpr uint64_t NORM = uint64_t{2} * 16;
    constexpr uint64_t OUTPUT = 4 * 8 * 16 + 4 * 8 * 30; // last norm and logits in fp32
    constexpr uint64_t STATES = 18;                      // bytes of a parameter
    EXPECT_EQ(figures.memoryBytes[0], STATES * (LAYER + WORDS) + 2 * KEPT);
    EXPECT_EQ(figures.memoryBytes[2], STATES * (LAYER + WORDS + NORM) + KEPT + OUTPUT);
}

TEST(ModelTraining, TensorContextAndExpertRanksShareTheirModel)
{
    for (const auto* parallel : {R"("tensor": 2, "context": 2)",
                                 R"("tensor": 4, "sequenceParallel": true)",
                                 R"("tensor": 2, "pipeline": 2, "microbatches": 3)",
                                 R"("context": 4, "order": "cp-tp-ep-dp-pp")"})
    {
        const auto result = Simulate({{"job", MakeModelJob(fmt::format(", {}", parallel))}});
        EXPECT_TRUE(result.summary.finished) << parallel;
        EXPECT_GT(result.summary.wireBytes, 0) << parallel;
    }
    // Four experts on four ranks exchange tokens, and no gradients of experts.
    const std::vector<ScenarioOverride> more{{"job", MakeModelJob(R"(, "expert": 4)")},
                                             {"job.training.model.experts", "4"},
                                             {"job.training.model.expertsPerToken", "1"}};
    const auto result = Simulate(more);
    EXPECT_TRUE(result.summary.finished);
    // All-to-alls of 2 layers, 4 each: 3/4 of 8 x 16 x 2 bytes of each rank. Gradients by ring,
    // 2 x 3/4 of 4 bytes of each parameter but for experts', of each of four ranks: in each layer
    // 4 h^2 of attention and 12 h of its biases and norms, then words and the last norm, h = 16.
    constexpr uint64_t DENSE = uint64_t{2} * (4 * 256 + 3 * 4 * 16 + 30 * 16 + 16);
    constexpr uint64_t TOKENS = uint64_t{8} * 3 * 64;
    EXPECT_EQ(result.summary.goodputBytes, 4 * (TOKENS + 6 * DENSE));
}

TEST(ModelTraining, FilesAreReadAndOverridden)
{
    const std::string job = R"({"training": {"model": "../models/llama-2-7b.json",
                                "device": "../devices/h100-sxm.json", "recompute": "full"}})";
    EXPECT_THAT(ErrorOfJob(job),
                HasSubstr("job.training: each rank of stage 0 would hold 124.57 GB (parameters "
                          "13.48, gradients 26.95, optimizer 80.86, activations 1.67 with 1 in "
                          "flight, working space 1.61), but NVIDIA H100 SXM has 80.00 GB"));
    EXPECT_EQ(ErrorOfJob(job, {{"job.training.zero", "3"}}), "no error");
    EXPECT_EQ(ErrorOfJob(job, {{"job.training.ignoreMemory", "true"}}), "no error");
    EXPECT_EQ(ErrorOfJob(job, {{"job.training.device.memory", "125GB"}}), "no error");
    EXPECT_EQ(ErrorOfJob(job, {{"job.training.model.layers", "12"}}), "no error");
    EXPECT_THAT(ErrorOfJob(job, {{"job.training.model.layer", "12"}}),
                HasSubstr("did you mean \"job.training.model.layers\"?"));
    EXPECT_THAT(ErrorOfJob(job, {{"job.training.model", "../models/llama-3.json"}}),
                HasSubstr("models/llama-3.json"));
}

TEST(ModelTraining, WhatCannotBeIsNamed)
{
    EXPECT_THAT(ErrorOfJob(MakeModelJob(R"(, "blocks": [])")),
                HasSubstr("job.training.model: \"blocks\" and \"model\" are both given"));
    EXPECT_THAT(ErrorOfJob(MakeModelJob(R"(, "activation": "1MB")")),
                HasSubstr("job.training.activation: \"activation\" goes with \"blocks\" only"));
    EXPECT_THAT(ErrorOfJob(R"({"training": {"blocks": [{}], "recompute": "full"}})"),
                HasSubstr("job.training.recompute: \"recompute\" goes with \"model\" only"));
    EXPECT_THAT(ErrorOfJob(R"({"training": {"model": {"kind": "transformers"}}})"),
                HasSubstr("did you mean \"transformer\"?"));
    EXPECT_THAT(ErrorOfJob(MakeModelJob(""), {{"job.training.device.memory", "10kB"}}),
                HasSubstr("job.training: each rank of stage 0 would hold"));
    EXPECT_THAT(ErrorOfJob(MakeModelJob(R"(, "order": "tp-cp-dp-pp")")),
                HasSubstr("job.training.order"));
    EXPECT_THAT(ErrorOfJob(MakeModelJob(R"(, "order": "tp-cp-ep-dp-tp")")),
                HasSubstr("tp, cp, ep, dp and pp in any order"));
    EXPECT_THAT(ErrorOfJob(MakeModelJob(R"(, "expertScheme": "ring")")),
                HasSubstr("job.training.expertScheme: the scheme ring makes another collective, "
                          "expected one of all-to-all"));
    EXPECT_THAT(ErrorOfJob(MakeModelJob(R"(, "context": 3)")),
                HasSubstr("4 endpoints are no multiple of 1 tensor-parallel ranks x 3 "
                          "context-parallel x 1 stages"));
    EXPECT_THAT(ErrorOfJob(MakeModelJob(R"(, "context": 4, "sequenceParallel": true)"),
                           {{"job.training.model.sequence", "6"}}),
                HasSubstr("the 6 tokens of small do not divide by 4 context ranks"));
    EXPECT_THAT(ErrorOfJob(MakeModelJob(R"(, "datatype": "fp8")")),
                HasSubstr("the device a device has no peak of fp8, only of bf16"));
    EXPECT_THAT(ErrorOfJob(MakeModelJob(""), {{"job.training.model.heads", "3"}}),
                HasSubstr("job.training.model.heads: 3 do not divide \"hidden\", 16"));
}

} // namespace
} // namespace ns3::gradsync
