// SPDX-License-Identifier: GPL-2.0-only
// Jobs whose gradient is a list of tensors, each with a codec of its own.
#include "scenario/scenario-runs.h"

#include "ns3/job-planner.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

const std::string TENSOR_SOURCE = GRADSYNC_SOURCE_DIR;

/// Message bytes that each rank sends in the plan of the first job.
std::vector<uint64_t>
CountSent(const ResolvedRun& run)
{
    const auto plan = PlanJob(run.jobs.at(0), *run.topology).plan;
    std::vector<uint64_t> sent(plan->GetRankCount(), 0);
    for (OperationId id = 0; id < plan->GetOperations().size(); ++id)
    {
        const auto operation = plan->GetOperations()[id];
        sent[operation.src] += operation.IsTransfer() ? plan->GetBytes(id) : 0;
    }
    return sent;
}

std::string
ErrorOfTensors(const std::string& job, const std::string& scheme = R"("ring")")
{
    UsePicoseconds();
    const auto scenario = ParseScenario(STAR, "x.json", {{"job", job}, {"scheme", scheme}});
    return ErrorOf([&] { CheckRun(ResolveRun(scenario, 0), true); });
}

TEST(Tensors, GeoMxSendsWhatItsTableSays)
{
    // GeoMX, table 2: 8.15 MB up and 9.90 MB down of a party, 4.95 and 6.70 MB with FP16. Of 93.95
    // MB 6.40 MB are in tensors of less than 200,000 elements, which stay dense; BiSparse takes 1 %
    // of the 87.55e6 / 4 others, 218,875 entries of 8 B, 1.751 MB. The two parties' come down.
    //   6.40 + 1.751 = 8.151    6.40 + 2 * 1.751 = 9.902
    //   3.20 + 1.751 = 4.951    3.20 + 2 * 1.751 = 6.702
    // In the LAN all 93.95 MB go to the party and back to four workers each, half of it in FP16.
    struct Row
    {
        const char* file;
        uint64_t up;
        uint64_t down;
        uint64_t lan;
    };

    for (const auto& row : {Row{"bisparse", 8'151'000, 9'902'000, 93'950'000},
                            Row{"both", 4'951'000, 6'702'000, 46'975'000}})
    {
        UsePicoseconds();
        const auto file = TENSOR_SOURCE + "/scenarios/papers/geomx-table-2/" + row.file + ".json";
        const auto sent = CountSent(ResolveRun(ReadScenario(file, {}), 0));
        ASSERT_EQ(sent.size(), 11U);
        for (uint32_t worker = 0; worker < 8; ++worker)
        {
            EXPECT_EQ(sent[worker], row.lan) << row.file;
        }
        for (uint32_t party = 8; party < 10; ++party)
        {
            EXPECT_EQ(sent[party], row.up + 4 * row.lan) << row.file;
        }
        EXPECT_EQ(sent[10], 2 * row.down) << row.file;
    }
}

TEST(Tensors, OneTensorIsTheGradient)
{
    for (const auto* scheme : {"ring", "ps", "rat", "halving-doubling"})
    {
        for (const auto* codec : {R"("fp32")", R"("fp16")", R"("dgc")"})
        {
            const auto run = [&](const std::string& size) {
                const auto job =
                    fmt::format(R"({{{}, "iterations": 2, "codec": {}}})", size, codec);
                return Simulate({{"job", job}, {"scheme", scheme}}).summary;
            };
            const auto whole = run(R"("gradient": "1MB")");
            const auto tensor = run(R"("tensors": [{"elements": 250000}])");
            ASSERT_TRUE(tensor.finished) << tensor.failure;
            EXPECT_EQ(tensor.meanIctPs, whole.meanIctPs) << scheme << codec;
            EXPECT_EQ(tensor.goodputBytes, whole.goodputBytes) << scheme << codec;
        }
    }
}

TEST(Tensors, AllOfThemGoAtOnceAndShareTheLinks)
{
    // However 1 MB is cut, a ring of four sends 2 * 3/4 MB out of each host. Two halves fill each
    // other's gaps at best, and at worst take what one whole takes: 12 ms at 1 Gb/s.
    const auto run = [](const std::string& tensors) {
        const auto result = Simulate({{"job", fmt::format(R"({{"tensors": {}}})", tensors)}});
        EXPECT_EQ(result.summary.goodputBytes, 4 * 1'500'000U);
        return result.summary.meanIctPs;
    };
    EXPECT_EQ(run(R"([{"size": "1MB"}])"), 12'000'000'000);
    EXPECT_EQ(run(R"([{"size": "500kB", "count": 2}])"), 12'000'000'000);
    EXPECT_EQ(run(R"([{"size": "500kB"}, {"size": "500kB"}])"), 12'000'000'000);
    EXPECT_EQ(run(R"([{"size": "4kB", "count": 150}, {"size": "400kB"}])"), 12'000'000'000);
}

TEST(Tensors, SwitchesAggregateTensorAfterTensor)
{
    const auto run = [](const std::string& job) {
        const auto result = Simulate({{"transport", "roce"}, {"scheme", "switchml"}, {"job", job}});
        EXPECT_TRUE(result.summary.finished) << result.summary.failure;
        return result.summary.goodputBytes;
    };
    EXPECT_EQ(run(R"({"tensors": [{"size": "640kB"}, {"size": "256kB"}], "codec": "int8"})"),
              run(R"({"gradient": "896kB", "codec": "int8"})"));
    EXPECT_THAT(ErrorOfTensors(R"({"tensors": [{"size": "64kB", "codec": "int8"},
                                             {"size": "64kB", "codec": "fixed-point"}]})",
                               R"("switchml")"),
                HasSubstr("tensors: switches want all of them as the same kind of integers"));
}

TEST(Tensors, EachHasItsCodecAndTheJobsWithoutOne)
{
    UsePicoseconds();
    const auto run = [](const std::string& job) {
        return ResolveRun(ParseScenario(STAR, "x.json", {{"job", job}, {"scheme", "ps"}}), 0);
    };
    // PS on four hosts: each pushes 3/4 and gives 3 others its quarter, 6/4 of all.
    EXPECT_THAT(CountSent(run(R"({"codec": "fp16", "tensors": [
                                    {"elements": 1000}, {"elements": 2000, "codec": "fp32"}]})")),
                testing::Each(3000U + 12000U));
    // A level's codec and what is out of it.
    const auto elsewhere = run(R"({"tensors": [{"elements": 1000, "codec":
        {"kind": "fp16", "between": "servers", "elsewhere": "int8"}}]})");
    // No messages between servers: chunks of 250 elements and a scale, six out of each.
    EXPECT_THAT(CountSent(elsewhere), testing::Each(6 * 254U));
}

TEST(Tensors, WarmUpOfATensorChangesThePlanToo)
{
    // At 25 % and then 6.3 % of 10^6 elements from the third iteration on.
    UsePicoseconds();
    const auto run =
        ResolveRun(ParseScenario(STAR, "x.json", {{"job", R"({"iterations": 3, "tensors": [
            {"elements": 1000000, "codec": {"kind": "dgc", "warmUp": 2}}, {"size": "1kB"}]})"}}),
                   0);
    const auto planned = PlanJob(run.jobs.at(0), *run.topology);
    ASSERT_EQ(planned.laterPlans.size(), 1U);
    EXPECT_EQ(planned.laterPlans.begin()->first, 2U);
}

TEST(Tensors, SurvivorsOfACrashFinishWhatIsLeft)
{
    const auto result =
        Simulate({{"job", R"({"tensors": [{"size": "600kB"}, {"size": "400kB", "codec": "fp16"}],
                     "reaction": "replan"})"},
                  {"faults", R"([{"kind": "host-crash", "hosts": ["host2"], "start": "3ms"}])"}});
    EXPECT_TRUE(result.summary.finished) << result.summary.failure;
}

TEST(Tensors, WhatTheyCannotDoIsRefusedByName)
{
    EXPECT_THAT(ErrorOfTensors(R"({"tensors": []})"), HasSubstr("job.tensors"));
    EXPECT_THAT(ErrorOfTensors(R"({"gradient": "1MB", "tensors": [{"size": "1MB"}]})"),
                HasSubstr("job.gradient: \"gradient\" and \"tensors\" are both given"));
    EXPECT_THAT(ErrorOfTensors(R"({"tensors": [{"size": "4B", "elements": 1}]})"),
                HasSubstr("job.tensors.0.elements"));
    EXPECT_THAT(ErrorOfTensors(R"({"tensors": [{"name": "a"}]})"), HasSubstr("size"));
    EXPECT_THAT(ErrorOfTensors(R"({"tensors": [{"size": "0B"}]})"),
                HasSubstr("job.tensors.0.size"));
    EXPECT_THAT(ErrorOfTensors(R"({"tensors": [{"size": "1B", "count": 10001}]})"),
                HasSubstr("job.tensors.0.count"));
    EXPECT_THAT(ErrorOfTensors(
                    R"({"tensors": [{"size": "1B", "count": 9999}, {"size": "1B", "count": 2}]})"),
                HasSubstr("a list of 1 to 10000 tensors"));
    EXPECT_THAT(ErrorOfTensors(R"({"tensors": [{"size": "16TB"}, {"size": "16TB"}]})"),
                HasSubstr("job.tensors.1: with it the gradient has more than"));
    EXPECT_THAT(ErrorOfTensors(R"({"tensors": [{"size": "1MB", "codecs": "fp16"}]})"),
                HasSubstr("did you mean \"codec\""));
    const auto ofCodec = [](const std::string& codec) {
        return ErrorOfTensors(R"({"tensors": [{"size": "1MB", "codec": )" + codec + "}]}");
    };
    EXPECT_THAT(
        ofCodec(R"({"kind": "fp16", "elsewhere": "dgc"})"),
        HasSubstr("job.tensors.0.codec.elsewhere: dgc encodes each gradient once: it cannot be"));
    EXPECT_THAT(ofCodec(R"({"kind": "fp16", "elsewhere": {"kind": "int8", "between": "rack"}})"),
                HasSubstr("codec.elsewhere.between"));
    EXPECT_THAT(
        ErrorOfTensors(R"({"tensors": [{"size": "1MB"}]})",
                       R"({"kind": "federated", "closing": "minimum", "minimumReplies": 2})"),
        HasSubstr("only synchronous all-reduces"));
    EXPECT_THAT(
        ErrorOfTensors(R"({"codec": {"kind": "int8", "elsewhere": "fp16"}})", R"("switchml")"),
        HasSubstr("no \"elsewhere\""));
}

TEST(Tensors, AreReachedByPaths)
{
    UsePicoseconds();
    const auto scenario = ParseScenario(
        STAR,
        "x.json",
        {{"job", R"({"tensors": [{"size": "1MB", "codec": "dgc"}, {"size": "1MB"}]})"},
         {"job.tensors.0.codec.density", "0.5"},
         {"sweep.job.tensors.1.codec.kind", R"(["fp16", "int8"])"},
         {"sweep.job.tensors.1.codec.elsewhere", R"(["bf16"])"}});
    EXPECT_EQ(scenario.runCount, 2U);
    const auto run = ResolveRun(scenario, 1);
    EXPECT_EQ(run.jobs[0].tensors[0].codec->spec.density, 0.5);
    EXPECT_EQ(run.jobs[0].tensors[1].codec->spec.kind, CodecKind::Int8);
    EXPECT_EQ(run.jobs[0].tensors[1].codec->elsewhere->kind, CodecKind::Bf16);
}

TEST(Tensors, AutoChoosesForAllOfThem)
{
    const auto result = Simulate(
        {{"scheme", "auto"}, {"job", R"({"tensors": [{"size": "300kB"}, {"size": "700kB"}]})"}});
    EXPECT_TRUE(result.summary.finished) << result.summary.failure;
    EXPECT_LE(result.summary.meanIctPs, 12'000'000'000); // not worse than a ring
}

} // namespace
} // namespace ns3::gradsync
