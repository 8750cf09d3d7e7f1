// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/aicb-workload.h"
#include "ns3/import-error.h"
#include "ns3/matched-trace.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>

namespace ns3::gradsync
{
namespace
{

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* HEADER = "HYBRID_TRANSFORMER_FWD_IN_BCKWD\tmodel_parallel_NPU_group: 2 "
                               "ep: 2 pp: 2 vpp: 1 ga: 2 all_gpus: 16 checkpoints: 0 "
                               "checkpoint_initiates: 0 pp_comm 4096\n";

std::string
GetAicbError(const std::string& text, uint32_t ranks = 16)
{
    try
    {
        MakeAicbTrace("w.txt", ReadAicbWorkload("w.txt", text), ranks);
    }
    catch (const ImportError& error)
    {
        return error.what();
    }
    return "";
}

TEST(AicbTrace, AllFieldsAreRead)
{
    const auto workload = ReadAicbWorkload(
        "w.txt",
        fmt::format("{}1\nmlp\t-1\t10\tALLTOALL_EP\t20\t30\tALLGATHER\t40\t50\tREDUCESCATTER_DP_EP"
                    "\t60\t70\n",
                    HEADER));
    EXPECT_EQ(workload.tensor, 2U);
    EXPECT_EQ(workload.expert, 2U);
    EXPECT_EQ(workload.stages, 2U);
    EXPECT_EQ(workload.chunks, 1U);
    EXPECT_EQ(workload.microbatches, 2U);
    EXPECT_EQ(workload.ranks, 16U);
    EXPECT_EQ(workload.stageBytes, 4096U);
    ASSERT_EQ(workload.layers.size(), 1U);
    const auto& layer = workload.layers[0];
    EXPECT_EQ(layer.name, "mlp");
    EXPECT_EQ(layer.forward.nanoseconds, 10U);
    EXPECT_EQ(layer.forward.collective, TraceCollective::AllToAll);
    EXPECT_EQ(layer.forward.group, "ep");
    EXPECT_EQ(layer.forward.bytes, 20U);
    EXPECT_EQ(layer.input.nanoseconds, 30U);
    EXPECT_EQ(layer.input.collective, TraceCollective::AllGather);
    EXPECT_EQ(layer.input.group, "tp");
    EXPECT_EQ(layer.weight.collective, TraceCollective::ReduceScatter);
    EXPECT_EQ(layer.weight.group, "dp_ep");
    EXPECT_EQ(layer.weight.bytes, 60U);
    EXPECT_EQ(layer.updateNanoseconds, 70U);
}

TEST(AicbTrace, BadFilesAreOneMessage)
{
    const std::string layer = "x -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n";
    const std::string begin = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: ";
    EXPECT_THAT(GetAicbError(""), HasSubstr("w.txt:0: is empty"));
    EXPECT_THAT(GetAicbError("DLRM model_parallel_NPU_group: 1\n"),
                HasSubstr("w.txt:1: is no workload that can be run: expected HYBRID_TRANSFORMER"));
    EXPECT_THAT(GetAicbError(begin + "1 vppp: 2\n"),
                HasSubstr("found \"vppp\", expected one of pp_comm"));
    EXPECT_THAT(GetAicbError(begin + "1 vppp: 2\n"), HasSubstr("did you mean \"vpp\"?"));
    EXPECT_THAT(GetAicbError(begin + "0\n1\n" + layer), HasSubstr("found 0, expected at least 1"));
    EXPECT_THAT(GetAicbError(begin + "1 checkpoints: 2\n"), HasSubstr("computed again"));
    EXPECT_THAT(GetAicbError(begin + "1\n2\n" + layer), HasSubstr("found 1 layers, line 2 says 2"));
    EXPECT_THAT(GetAicbError(begin + "1\n1\n" + layer + layer), HasSubstr("w.txt:4: a layer more"));
    EXPECT_THAT(GetAicbError(begin + "1\n1\nx -1 1 NONE 0\n"),
                HasSubstr("w.txt:3: found 5 words, expected 12"));
    EXPECT_THAT(GetAicbError(begin + "1\n1\nx -1 1 GATHER 0 1 NONE 0 1 NONE 0 1\n"),
                HasSubstr("found \"GATHER\", expected NONE, ALLREDUCE"));
    EXPECT_THAT(GetAicbError(begin + "1\n1\nx -1 1ms NONE 0 1 NONE 0 1 NONE 0 1\n"),
                HasSubstr("found \"1ms\", expected nanoseconds"));
    EXPECT_THAT(GetAicbError(begin + "3\n1\n" + layer), HasSubstr("16 ranks are no multiple of 3"));
}

/// How often each group of each name meets, by kind and bytes.
std::map<std::string, size_t>
CountMeetings(const MatchedTrace& trace)
{
    std::map<std::string, size_t> counts;
    for (const auto& meeting : trace.meetings)
    {
        const auto* what =
            meeting.collective ? GetTraceCollectiveName(*meeting.collective) : "message";
        ++counts
            [fmt::format("{} {} B x {}", what, meeting.bytes, trace.groups[meeting.group].size())];
    }
    return counts;
}

TEST(AicbTrace, EachRankMeetsItsGroups)
{
    // 16 ranks: tensor 2 x data 4 x 2 stages, of which 2 expert-parallel. A microbatch of a stage:
    // an embedding, at the first stage only, and a layer; gradients once.
    const auto workload =
        ReadAicbWorkload("w.txt",
                         fmt::format("{}5\ngrads -1 1 NONE 0 1 NONE 0 1 REDUCESCATTER 800 1\n"
                                     "embedding_layer -1 5 ALLREDUCE 100 5 NONE 0 5 NONE 0 1\n"
                                     "mlp -1 5 ALLTOALL_EP 200 5 ALLREDUCE 300 5 NONE 0 1\n"
                                     "embedding_layer -1 5 ALLREDUCE 100 5 NONE 0 5 NONE 0 1\n"
                                     "mlp -1 5 ALLTOALL_EP 200 5 ALLREDUCE 300 5 NONE 0 1\n",
                                     HEADER));
    TraceIssues issues;
    const auto trace = MatchTrace(MakeAicbTrace("w.txt", workload, 16), issues);
    EXPECT_TRUE(issues.IsEmpty()) << issues.Describe();
    const auto counts = CountMeetings(trace);
    // Tensor groups: 8, 4 of them at the first stage. Expert groups: 16 / 2. Data groups: 16 / 4.
    EXPECT_EQ(counts.at("all-reduce 100 B x 2"), 4U * 2); // microbatches
    EXPECT_EQ(counts.at("all-reduce 300 B x 2"), 8U * 2);
    EXPECT_EQ(counts.at("all-to-all 200 B x 2"), 8U * 2);
    EXPECT_EQ(counts.at("reduce-scatter 800 B x 4"), 4U);
    // 8 pairs of ranks, forth and back, each microbatch.
    EXPECT_EQ(counts.at("message 4096 B x 2"), 8U * 2 * 2);
    EXPECT_EQ(counts.size(), 5U);
}

TEST(AicbTrace, MicrobatchesOfPipelinesMustBeAlike)
{
    const auto error =
        GetAicbError(fmt::format("{}2\nembedding_layer -1 5 NONE 0 5 NONE 0 5 NONE 0 1\n"
                                 "embedding_layer -1 5 ALLREDUCE 9 5 NONE 0 5 NONE 0 1\n",
                                 HEADER));
    EXPECT_THAT(error, HasSubstr("the layers of its 2 microbatches have to follow each other"));
    EXPECT_THAT(error, HasSubstr("microbatch 1 differs in layer 0"));
    const auto none = GetAicbError(fmt::format("{}1\nx -1 5 NONE 0 5 NONE 0 5 NONE 0 1\n", HEADER));
    EXPECT_THAT(none, HasSubstr("found 0 embedding_layer"));
}

constexpr const char* TABLE =
    "[rank0 ~ rank7]\n"
    "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,algbw,"
    "busbw,count\n"
    "CommType.broadcast,CommGroup.dp_group,4,8,init,None,0,,None,None,None,1\n"
    "CommType.epoch_end,None,None,0,,None,None,,None,None,None,1\n"
    "CommType.all_reduce,CommGroup.tp_group,2,100,forward,None,None,,None,None,None,1\n"
    "CommType.reduce_scatter,CommGroup.dp_group,4,400,step,None,None,,None,None,None,1\n"
    "CommType.barrier,CommGroup.all,8,0,step,None,None,,None,None,None,1\n"
    "CommType.epoch_end,None,None,0,,None,None,,None,None,None,1\n";

TEST(AicbTrace, TheLastEpochOfATableIsRun)
{
    TraceIssues issues;
    const auto trace = MatchTrace(ReadAicbTable("t.csv", TABLE, issues), issues);
    EXPECT_TRUE(issues.IsEmpty()) << issues.Describe();
    // 8 ranks: 4 tensor groups of 2, 2 data groups of 4. No broadcast: it is of the first epoch.
    const std::map<std::string, size_t> expected{{"all-reduce 100 B x 2", 4},
                                                 {"reduce-scatter 400 B x 4", 2},
                                                 {"barrier 0 B x 8", 1}};
    EXPECT_EQ(CountMeetings(trace), expected);
    // Megatron-LM's numbers: tensor-parallel ranks follow each other.
    EXPECT_THAT(trace.groups[trace.meetings[0].group].size(), testing::AnyOf(2U, 4U, 8U));
    EXPECT_TRUE(std::ranges::find(trace.groups, std::vector<uint32_t>{2, 3}) != trace.groups.end());
    EXPECT_TRUE(std::ranges::find(trace.groups, std::vector<uint32_t>{1, 3, 5, 7}) !=
                trace.groups.end());
}

TEST(AicbTrace, RowsThatAreNoCollectivesAreCounted)
{
    std::string text = TABLE;
    text += "CommType.isend,CommGroup.pp_group,1,100,forward,1,None,,None,None,None,1\n"
            "CommType.all_gather,CommGroup.tp_group,2,64,forward,None,None,,None,None,None,1\n";
    TraceIssues issues;
    const auto set = ReadAicbTable("t.csv", text, issues);
    EXPECT_EQ(set.programs.size(), 8U);
    EXPECT_THAT(issues.Describe(), HasSubstr("8 rows of comm_type \"isend\""));
}

TEST(AicbTrace, BadTablesAreOneMessage)
{
    const auto error = [](const std::string& text) -> std::string {
        TraceIssues issues;
        try
        {
            ReadAicbTable("t.csv", text, issues);
        }
        catch (const ImportError& thrown)
        {
            return thrown.what();
        }
        return "";
    };
    std::string table = TABLE;
    EXPECT_THAT(error("id\tName\n1\tLLaMA\n"),
                HasSubstr("t.csv:1: is no communication table of AICB"));
    EXPECT_THAT(error("[rank0 ~ rankx]\n"), HasSubstr("found \"x\", expected the last rank"));
    EXPECT_THAT(error("[rank0 ~ rank7]\na,b\n"), HasSubstr("the column comm_type is missing"));
    EXPECT_THAT(error(table + "CommType.all_reduce,CommGroup.tp_group\n"),
                HasSubstr("found 2 columns, expected at least 5"));
    EXPECT_THAT(error(table + "CommType.all_reduce,CommGroup.tp_group,4,1,x,,\n"),
                HasSubstr("comm_group_size: found 4, expected 2"));
    EXPECT_THAT(error(table + "CommType.all_reduce,CommGroup.xp_group,4,1,x,,\n"),
                HasSubstr("comm_group: expected dp_group"));
    EXPECT_THAT(error(table + "CommType.all_reduce,CommGroup.ep_group,3,1,x,,\n"),
                HasSubstr("do not make up 8 ranks"));
}

} // namespace
} // namespace ns3::gradsync
