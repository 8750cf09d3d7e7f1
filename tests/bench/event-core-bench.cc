// SPDX-License-Identifier: GPL-2.0-only
// What ns-3's event core alone gives: reused events at random delays, nothing done in them. One
// line of JSON.
#include "bench/process-usage.h"

#include "ns3/event-impl.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/ptr.h"
#include "ns3/radix-scheduler.h"
#include "ns3/simulator.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <random>

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

} // namespace

int
main(int argc, char** argv)
{
    std::string scheduler = "ns3::MapScheduler";
    uint32_t pending = 256;
    uint64_t events = 5'000'000;
    CLI::App app{"ns-3's event core alone"};
    app.add_option("--scheduler", scheduler, "TypeId of the event scheduler")
        ->capture_default_str();
    app.add_option("--pending", pending, "events in the queue")->capture_default_str();
    app.add_option("--events", events, "events to run")->capture_default_str();
    CLI11_PARSE(app, argc, argv);

    Time::SetResolution(Time::PS);
    gradsync::RadixScheduler::GetTypeId(); // links it in
    Simulator::SetScheduler(ObjectFactory(scheduler));
    std::minstd_rand random(1);
    uint64_t remaining = events;
    for (uint32_t i = 0; i < pending; ++i)
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
    const nlohmann::ordered_json result = {{"scheduler", scheduler},
                                           {"pending", pending},
                                           {"events", count},
                                           {"wall_s", wall.count()},
                                           {"user_s", user}};
    fmt::print("{}\n", result.dump());
}
