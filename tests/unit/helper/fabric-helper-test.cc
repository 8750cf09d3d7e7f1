// SPDX-License-Identifier: GPL-2.0-only
#include "unit/helper/helper-fixture.h"
#include "unit/study/scenario-test-support.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/exchange-helper.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-network.h"
#include "ns3/node.h"
#include "ns3/radix-scheduler.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/window-simulator-impl.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <set>

namespace ns3::gradsync::tests
{
namespace
{

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FabricHelperTest : public HelperFixture
{
};

TEST_F(FabricHelperTest, RefusesNamesThatThereAreNotAndSaysWhichThereAre)
{
    EXPECT_THAT(RefusalOf([] { FabricHelper("rocce"); }),
                HasSubstr("no transport \"rocce\" (there are fluid, roce, tcp"));
    EXPECT_THAT(RefusalOf([] { FabricHelper("ns3::gradsync::DcqcnControl"); }),
                HasSubstr("no transport"));
    FabricHelper fabric;
    EXPECT_THAT(
        RefusalOf([&] { fabric.SetTransportAttribute("Mtuu", UintegerValue(1)); }),
        AllOf(HasSubstr("ns3::gradsync::RoceTransport has no Attribute Mtuu"), HasSubstr("Mtu, ")));
    EXPECT_THAT(
        RefusalOf([&] { fabric.SetFabricAttribute("pfc", BooleanValue(true)); }),
        AllOf(HasSubstr("ns3::gradsync::FabricNetwork has no Attribute pfc"), HasSubstr("Pfc, ")));
    EXPECT_THAT(RefusalOf([&] { fabric.SetPartAttribute("dcqnc", "MinRate", StringValue("1")); }),
                HasSubstr("no part \"dcqnc\""));
    EXPECT_THAT(RefusalOf([&] { fabric.SetCongestionControl("dctpc"); }),
                AllOf(HasSubstr("cannot be \"dctpc\""), HasSubstr("dctcp")));
    EXPECT_THAT(RefusalOf([&] { fabric.SetCongestionControl("dcqcn", "Rat", UintegerValue(1)); }),
                HasSubstr("ns3::gradsync::DcqcnControl has no Attribute Rat"));
    FabricHelper fluid("fluid");
    EXPECT_THAT(RefusalOf([&] { fluid.SetFabricAttribute("Pfc", BooleanValue(true)); }),
                HasSubstr("ns3::gradsync::FluidTransport has no FabricNetwork"));
}

TEST_F(FabricHelperTest, RefusesValuesThatTheirCheckersRefuse)
{
    FabricHelper fabric;
    EXPECT_THAT(RefusalOf([&] { fabric.SetTransportAttribute("Mtu", UintegerValue(0)); }),
                HasSubstr("the Attribute Mtu of ns3::gradsync::RoceTransport cannot be"));
    EXPECT_THAT(RefusalOf([&] { fabric.SetFabricAttribute("Pfc", UintegerValue(1)); }),
                HasSubstr("BooleanValue bool): Priority flow control"));
}

TEST_F(FabricHelperTest, GivesEveryPartItsAttributes)
{
    AggregationHelper aggregation;
    aggregation.SetAttribute("RetryLimit", UintegerValue(7));
    FabricHelper fabric("ns3::gradsync::RoceTransport");
    fabric.SetAggregation(aggregation);
    fabric.SetTransportAttribute("Mtu", UintegerValue(1234));
    fabric.SetFabricAttribute("Pfc", StringValue("false"));
    fabric.SetCongestionControl("ns3::gradsync::TimelyControl",
                                "MinRate",
                                DataRateValue(DataRate("3Mbps")),
                                "HyperEvents",
                                UintegerValue(9));
    fabric.SetPartAttribute("aggregation.slot", "Slots", UintegerValue(33));

    const auto transport = fabric.Create();
    const auto find = [&transport](const std::string& part) {
        return transport->GetCapabilities()->GetPart(part);
    };
    const auto number = [](const Ptr<Object>& object, const std::string& name) {
        UintegerValue value;
        object->GetAttribute(name, value);
        return value.Get();
    };
    StringValue control;
    transport->GetAttribute("CongestionControl", control);
    BooleanValue pfc;
    transport->GetCapabilities()->GetFabric()->GetAttribute("Pfc", pfc);
    DataRateValue rate;
    find("timely")->GetAttribute("MinRate", rate);
    EXPECT_EQ(control.Get(), "ns3::gradsync::TimelyControl");
    EXPECT_FALSE(pfc.Get());
    EXPECT_EQ(rate.Get(), DataRate("3Mbps"));
    EXPECT_EQ(number(transport, "Mtu"), 1234U);
    EXPECT_EQ(number(find("timely"), "HyperEvents"), 9U);
    EXPECT_EQ(number(find("aggregation"), "RetryLimit"), 7U);
    EXPECT_EQ(number(find("aggregation.slot"), "Slots"), 33U);
}

TEST_F(FabricHelperTest, ReturnsANodeForEachEndpointInTheirOrder)
{
    const auto hosts = FabricHelper("fluid").Install(MakeStar(5));
    ASSERT_EQ(hosts.GetN(), 5U);
    const auto first = FabricHost::Of(hosts);
    for (uint32_t i = 0; i < 5; ++i)
    {
        const auto host = FabricHost::Of(hosts.Get(i));
        EXPECT_EQ(host->GetEndpoint(), i);
        EXPECT_EQ(host->GetEngine(), first->GetEngine());
        EXPECT_EQ(host->GetTransport(), first->GetTransport());
        EXPECT_EQ(first->GetEngine()->GetNode(i), hosts.Get(i));
    }
    EXPECT_THAT(RefusalOf([] { FabricHost::Of(CreateObject<Node>()); }),
                HasSubstr("FabricHelper::Install"));
    EXPECT_THAT(RefusalOf([] { FabricHost::Of(NodeContainer()); }), HasSubstr("no hosts"));
}

TEST_F(FabricHelperTest, InstallsNetworksThatDoNotTouchEachOther)
{
    // A ring of 2 moves 2 * 500 kB from each at 1 B/ns, the two halves at once: 1 ms on the fluid;
    // two jobs on one network would take 2 ms.
    const FabricHelper fabric("fluid");
    ExchangeHelper exchange("ring");
    exchange.SetAttribute("GradientBytes", UintegerValue(1'000'000));
    const auto left = fabric.Install(MakeStar(2));
    const auto right = fabric.Install(MakeStar(2));
    EXPECT_NE(FabricHost::Of(left)->GetEngine(), FabricHost::Of(right)->GetEngine());
    exchange.Install(left);
    exchange.Install(right);
    const Recorder recorder(FabricHost::Of(left)->GetEngine(), Recorder::Detail::Iterations);
    EXPECT_THAT(RunToEnd(right), ElementsAre(MilliSeconds(1)));
    ASSERT_EQ(recorder.GetIterations().size(), 1U);
    EXPECT_EQ(recorder.GetIterations()[0].end, MilliSeconds(1));
}

TEST_F(FabricHelperTest, LeadsToTraceSourcesByPathsOfConfig)
{
    const auto hosts = FabricHelper("fluid").Install(MakeStar(3));
    ExchangeHelper exchange("ring");
    exchange.SetAttribute("GradientBytes", UintegerValue(3000));
    exchange.SetAttribute("Iterations", UintegerValue(2));
    exchange.Install(hosts);
    static uint32_t iterations;
    static uint64_t sentBytes;
    iterations = 0;
    sentBytes = 0;
    const auto id = std::to_string(hosts.Get(0)->GetId());
    Config::ConnectWithoutContext(
        "/NodeList/" + id + "/$ns3::gradsync::FabricHost/Engine/Iteration",
        Callback<void, const IterationRecord&>([](const IterationRecord&) { ++iterations; }));
    Config::ConnectWithoutContext(
        "/NodeList/*/ApplicationList/*/$ns3::gradsync::ExchangeApplication/Send",
        Callback<void, uint32_t, OperationId, uint64_t>(
            [](uint32_t, OperationId, uint64_t bytes) { sentBytes += bytes; }));
    Simulator::Run();
    EXPECT_EQ(iterations, 2U);
    // In each iteration each of 3 ranks sends 2 * 2 parts of 1000 B.
    EXPECT_EQ(sentBytes, 2U * 3 * 4 * 1000);
}

TEST_F(FabricHelperTest, CapturesTheLinksOfHostsOrAll)
{
    const auto capture = [](const auto& enable) {
        const TemporaryFolder folder;
        const auto hosts = FabricHelper().Install(MakeStar(3));
        enable(folder.Get() / "made", hosts);
        ExchangeHelper exchange("ring");
        exchange.SetAttribute("GradientBytes", UintegerValue(3000));
        exchange.Install(hosts);
        RunToEnd(hosts);
        Simulator::Destroy();
        std::set<std::string> files;
        for (const auto& file : std::filesystem::directory_iterator(folder.Get() / "made"))
        {
            EXPECT_GT(file.file_size(), 24U) << file.path(); // more than the header of the format
            files.insert(file.path().filename().string());
        }
        return files;
    };
    const auto some = capture([](const auto& folder, const NodeContainer& hosts) {
        FabricHelper().EnablePcap(folder, NodeContainer(hosts.Get(1)));
    });
    const auto all = capture([](const auto& folder, const NodeContainer& hosts) {
        FabricHelper().EnablePcapAll(folder, hosts);
    });
    // A file for each end.
    EXPECT_EQ(some.size(), 2U);
    EXPECT_EQ(all.size(), 6U);
    EXPECT_THAT(all, ::testing::IsSupersetOf(some));
    const auto fluid = FabricHelper("fluid").Install(MakeStar(2));
    EXPECT_THAT(RefusalOf([&] { FabricHelper().EnablePcapAll("nowhere", fluid); }),
                HasSubstr("no packets to capture"));
    EXPECT_FALSE(std::filesystem::exists("nowhere"));
}

TEST_F(FabricHelperTest, TheFastSchedulerBringsItsSimulatorWhereThereIsNoneYet)
{
    const auto isFast = [] {
        return dynamic_cast<WindowSimulatorImpl*>(PeekPointer(Simulator::GetImplementation())) !=
               nullptr;
    };
    FabricHelper::UseFastScheduler();
    EXPECT_TRUE(isFast());
    Simulator::Destroy(); // the next one is what is bound, which is ns-3's own as before
    EXPECT_FALSE(isFast());
    FabricHelper::UseFastScheduler(); // too late for another simulator
    EXPECT_FALSE(isFast());
    EXPECT_TRUE(RadixScheduler::IsInUse());
}

} // namespace
} // namespace ns3::gradsync::tests
