// SPDX-License-Identifier: GPL-2.0-only
// A congestion control that the library does not know, as a program of a user's own has it.
#include "scenario/scenario-runs.h"
#include "support/bottleneck-fixture.h"

#include "ns3/congestion-controls.h"
#include "ns3/data-rate.h"
#include "ns3/string.h"

#include <gmock/gmock.h>
#include <set>

namespace ns3::gradsync::tests
{

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Every flow has the same rate, whatever happens to it.
class SteadyControl final : public CongestionControl
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::gradsync::tests::SteadyControl")
                                .SetParent<CongestionControl>()
                                .SetGroupName("GradSync")
                                .AddConstructor<SteadyControl>()
                                .AddAttribute("Rate",
                                              "Of every flow, on the wire.",
                                              DataRateValue(DataRate("1Gbps")),
                                              MakeDataRateAccessor(&SteadyControl::m_rate),
                                              MakeDataRateChecker());
        return tid;
    }

    CongestionSignals GetSignals() const override
    {
        return {};
    }

    void Open(CongestionFlow& flow) override
    {
        SetRate(flow, static_cast<double>(m_rate.GetBitRate()));
    }

    void Close(CongestionFlow& /* flow */) override
    {
    }

  private:
    DataRate m_rate;
};

NS_OBJECT_ENSURE_REGISTERED(SteadyControl);

/// One that ns-3 knows from the first call of its GetTypeId on.
class LateControl final : public CongestionControl
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::gradsync::tests::LateControl")
                                .SetParent<CongestionControl>()
                                .SetGroupName("GradSync")
                                .AddConstructor<LateControl>();
        return tid;
    }

    void Open(CongestionFlow& /* flow */) override
    {
    }
};

namespace
{

constexpr const char* LATE = "ns3::gradsync::tests::LateControl";
constexpr const char* STEADY = "ns3::gradsync::tests::SteadyControl";

/// One message of 1 MB, 1000 packets of 1000 B, over one switch at 10 Gb/s without delay.
constexpr const char* ONE_MESSAGE = R"({
  "topology": {"kind": "star", "hosts": 2, "hostLink": {"rate": "10Gbps", "delay": "0s"}},
  "transport": {"kind": "roce", "mtu": "1000B"},
  "job": {"gradient": "1MB"}, "scheme": {"kind": "broadcast", "pipelineChunks": 1}})";

/// What that message takes at a rate, in seconds.
double
GetTimeAt(double rate)
{
    // On the wire each packet has 82 B more: Ethernet 14 + 4, IPv4 20, UDP 8, BTH 12, ICRC 4,
    // preamble and gap 20. The last one starts after 999 others at that rate; then it takes its own
    // time on the two links.
    const double bits = 8 * 1082;
    return 999 * bits / rate + 2 * bits / 10e9;
}

std::string
RefuseWith(const std::string& path, const std::string& value)
{
    try
    {
        Simulate({{path, value}}, ONE_MESSAGE);
    }
    catch (const ScenarioError& error)
    {
        return error.what();
    }
    return {};
}

TEST(OwnCongestionControl, RunsInAScenarioByTheNameOfItsType)
{
    const auto take = [](const std::vector<ScenarioOverride>& overrides) {
        const auto record = Simulate(overrides, ONE_MESSAGE).iterations.at(0);
        return (record.end - record.exchangeStart).GetSeconds();
    };
    const std::string type = std::string("transport.") + STEADY + ".rate";
    EXPECT_NEAR(take({}), GetTimeAt(10e9), 1e-12);
    EXPECT_NEAR(take({{"transport.congestionControl", STEADY}}), GetTimeAt(1e9), 1e-8);
    EXPECT_NEAR(take({{"transport.congestionControl", STEADY}, {type, "4Gbps"}}),
                GetTimeAt(4e9),
                1e-8);
}

TEST(OwnCongestionControl, IsRefusedByOneMessageWithTheNearestNameWhenMisspelt)
{
    EXPECT_THAT(RefuseWith("transport.congestionControl", "ns3::gradsync::tests::StedyControl"),
                AllOf(HasSubstr("transport.congestionControl: found "),
                      HasSubstr("did you mean \"ns3::gradsync::tests::SteadyControl\"?")));
    EXPECT_THAT(RefuseWith("transport.congestionControl", "dctpc"),
                HasSubstr("did you mean \"dctcp\"?"));
    EXPECT_THAT(RefuseWith(std::string("transport.") + STEADY + ".rat", "1Gbps"),
                HasSubstr("did you mean \"transport.ns3::gradsync::tests::SteadyControl.rate\"?"));
}

TEST(OwnCongestionControl, ThoseOfTheLibraryHaveShortNamesToo)
{
    std::set<std::string> names;
    for (const auto& entry : GetCongestionControls())
    {
        names.insert(entry.name);
        EXPECT_EQ(FindCongestionControl(entry.type.GetName())->name, entry.name);
        EXPECT_EQ(MakeCongestionControl(entry)->GetInstanceTypeId(), entry.type);
    }
    names.erase(LATE); // of the test below, if that has run
    EXPECT_EQ(names, (std::set<std::string>{"dcqcn", "dctcp", "hpcc", "swift", "timely", STEADY}));
    EXPECT_FALSE(FindCongestionControl("none"));
    EXPECT_FALSE(FindCongestionControl("ns3::gradsync::RoceTransport"));
}

TEST(OwnCongestionControl, IsFoundThoughItIsRegisteredAfterOthersWereLookedFor)
{
    EXPECT_TRUE(FindCongestionControl("dcqcn"));
    LateControl::GetTypeId();
    ASSERT_TRUE(FindCongestionControl(LATE));
    EXPECT_EQ(FindCongestionControl(LATE)->type, LateControl::GetTypeId());
}

class OwnControlTest : public BottleneckFixture
{
};

TEST_F(OwnControlTest, RunsByItsNameAsAnAttribute)
{
    Set("Mtu", UintegerValue(1000));
    Set("CongestionControl", StringValue(STEADY));
    SetControl(STEADY, "Rate", DataRateValue(DataRate("2Gbps")));
    InstallStar(3, "10Gbps");
    Start(1, 0);
    Start(2, 0);
    const auto rates = MeasureRates(MilliSeconds(1), MilliSeconds(11));
    // 1000 of 1082 B on the wire are payload; a message of 100 kB more or less in 2.5 MB.
    EXPECT_NEAR(rates.at(1), 2e9 * 1000 / 1082, 0.04 * 2e9);
    EXPECT_NEAR(rates.at(2), 2e9 * 1000 / 1082, 0.04 * 2e9);
}

TEST_F(OwnControlTest, TheFullNameOfOneOfTheLibraryMeansTheSameObject)
{
    EXPECT_EQ(m_transport->GetCongestionControl("ns3::gradsync::DcqcnControl"),
              m_transport->GetCongestionControl("dcqcn"));
    EXPECT_FALSE(m_transport->SetAttributeFailSafe("CongestionControl", StringValue("dcqnc")));
}

} // namespace

} // namespace ns3::gradsync::tests
