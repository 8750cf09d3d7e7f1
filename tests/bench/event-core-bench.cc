// SPDX-License-Identifier: GPL-2.0-only
// What ns-3's event core alone gives: reused events at random delays, nothing done in them. One
// line of JSON.
#include "bench/bench-program.h"
#include "bench/process-usage.h"

#include "ns3/event-impl.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/ptr.h"
#include "ns3/radix-scheduler.h"
#include "ns3/simulator.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

using namespace ns3;

namespace
{

/// Schedules itself again until `remaining` events are used up.
class BareEvent : public EventImpl
{
  public:
    BareEvent(uint64_t& remaining, std::minstd_rand& random)
        : m_remaining(remaining),
          m_random(random)
    {
    }

    void ScheduleNext()
    {
        // Delays as on the fabric: a microsecond of propagation and up to a frame of serialisation.
        Simulator::Schedule(PicoSeconds(1'000'000 + m_random() % 350'000), Ptr<EventImpl>(this));
    }

  private:
    void Notify() override
    {
        if (m_remaining > 0)
        {
            --m_remaining;
            ScheduleNext();
        }
    }

    uint64_t& m_remaining;
    std::minstd_rand& m_random;
};

struct Options
{
    std::string scheduler{"ns3::MapScheduler"};
    uint32_t pending{256};
    uint64_t events{5'000'000};
};

nlohmann::ordered_json
Run(const Options& options)
{
    Time::SetResolution(Time::PS);
    gradsync::RadixScheduler::GetTypeId(); // links it in
    Simulator::SetScheduler(ObjectFactory(options.scheduler));
    std::minstd_rand random(1);
    uint64_t remaining = options.events;
    for (uint32_t i = 0; i < options.pending; ++i)
    {
        Ptr<BareEvent>(new BareEvent(remaining, random), false)->ScheduleNext();
    }
    const auto userBefore = gradsync::bench::GetUserSeconds();
    const auto start = std::chrono::steady_clock::now();
    Simulator::Run();
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    const auto user = gradsync::bench::GetUserSeconds() - userBefore;
    const auto count = Simulator::GetEventCount();
    Simulator::Destroy();
    return {{"scheduler", options.scheduler},
            {"pending", options.pending},
            {"events", count},
            {"wall_s", wall.count()},
            {"user_s", user}};
}

} // namespace

int
main(int argc, char** argv)
{
    Options options;
    const gradsync::bench::BenchProgram program{
        "event-core-bench",
        "ns-3's event core alone",
        {
            {"--scheduler", &options.scheduler, "TypeId of the event scheduler"},
            {"--pending", &options.pending, "events in the queue"},
            {"--events", &options.events, "events to run"},
        },
        [&] { return Run(options); }};
    return program.Main(argc, argv);
}
