// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/exchange-helper.h"

#include "ns3/exchange-application.h"
#include "ns3/exchange-engine.h"
#include "ns3/exchange-job.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-host.h"
#include "ns3/job-assembly.h"
#include "ns3/job-planner.h"
#include "ns3/node.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdexcept>
#include <vector>

namespace ns3::gradsync
{

namespace
{

/// A job with the scheme that it points to.
struct OwnedSpec
{
    std::shared_ptr<const Scheme> scheme;
    JobSpec spec;
};

[[noreturn]] void
Refuse(const Scheme& scheme, const ParameterSpec& spec, const std::string& range)
{
    throw std::invalid_argument(fmt::format("the parameter {} of the scheme {} must be {}: {}",
                                            spec.name,
                                            scheme.name,
                                            range,
                                            spec.help));
}

/// The value as the scheme has it. \throws std::invalid_argument
ParameterValue
CheckParameter(const Scheme& scheme, const ParameterSpec& spec, ParameterValue value)
{
    if (const auto* whole = std::get_if<int64_t>(&value);
        whole && std::holds_alternative<double>(spec.defaultValue))
    {
        value = static_cast<double>(*whole);
    }
    if (value.index() != spec.defaultValue.index())
    {
        Refuse(scheme, spec, "of the type of its default");
    }
    std::vector<double> numbers;
    if (const auto* whole = std::get_if<int64_t>(&value))
    {
        numbers.push_back(static_cast<double>(*whole));
    }
    else if (const auto* number = std::get_if<double>(&value))
    {
        numbers.push_back(*number);
    }
    else if (const auto* list = std::get_if<std::vector<double>>(&value))
    {
        numbers = *list;
    }
    const bool isInside = std::ranges::all_of(numbers, [&spec](double number) {
        return number >= spec.minimum && number <= spec.maximum;
    });
    if (!isInside)
    {
        Refuse(scheme, spec, fmt::format("{} to {}", spec.minimum, spec.maximum));
    }
    const auto* text = std::get_if<std::string>(&value);
    if (text && !spec.allowed.empty() &&
        std::ranges::find(spec.allowed, *text) == spec.allowed.end())
    {
        Refuse(scheme, spec, fmt::format("one of {}", fmt::join(spec.allowed, ", ")));
    }
    return value;
}

/// Endpoints of hosts, which must be of one network.
std::vector<uint32_t>
GetEndpoints(const NodeContainer& hosts, const FabricHost& network)
{
    std::vector<uint32_t> endpoints;
    for (auto node = hosts.Begin(); node != hosts.End(); ++node)
    {
        const auto host = FabricHost::Of(*node);
        if (host->GetEngine() != network.GetEngine())
        {
            throw std::invalid_argument("the hosts of a job are of several networks");
        }
        endpoints.push_back(host->GetEndpoint());
    }
    return endpoints;
}

/// Makes of a program's own Nodes the hosts of a network.
void
AdoptOwnNodes(const NodeContainer& hosts)
{
    const bool hasHost = std::any_of(hosts.Begin(), hosts.End(), [](const Ptr<Node>& node) {
        return node->GetObject<FabricHost>() != nullptr;
    });
    if (!hasHost && hosts.GetN() > 0)
    {
        FabricHelper("tcp").Adopt(hosts);
    }
}

/// That gives this plan, whatever it is asked.
Scheme
MakePlanScheme(Plan plan)
{
    const auto shared = std::make_shared<const Plan>(std::move(plan));
    return {.name = "plan",
            .countServers =
                [shared](const ParameterSet& /* parameters */) {
                    return shared->GetRankCount() - shared->GetWorkerCount();
                },
            .build =
                [shared](const SchemeRequest& request) {
                    if (request.workers != shared->GetWorkerCount())
                    {
                        throw SchemeError(
                            fmt::format("the plan is for {} workers, and there are {}",
                                        shared->GetWorkerCount(),
                                        request.workers));
                    }
                    return *shared;
                },
            .planOrigin = PlanOrigin::File};
}

} // namespace

ExchangeHelper::ExchangeHelper(Plan plan)
{
    const auto bytes = plan.GetLayout().GetTotalBytes();
    ChooseScheme(MakePlanScheme(std::move(plan)));
    m_planBytes = bytes;
}

TypeId
ExchangeHelper::GetJobTypeId()
{
    return ExchangeJob::GetTypeId();
}

void
ExchangeHelper::ChooseScheme(const std::string& name)
{
    const auto* scheme = FindScheme(name);
    if (!scheme)
    {
        std::vector<std::string> names;
        for (const auto& known : GetSchemes())
        {
            names.push_back(known.name);
        }
        throw std::invalid_argument(
            fmt::format("there is no scheme \"{}\" (there are: {})", name, fmt::join(names, ", ")));
    }
    m_scheme = {std::shared_ptr<const void>(), scheme}; // the registry's, for ever
    m_parameters = MakeDefaultParameters(*m_scheme);
    m_planBytes.reset();
}

void
ExchangeHelper::ChooseScheme(Scheme scheme)
{
    m_scheme = std::make_shared<const Scheme>(std::move(scheme));
    m_parameters = MakeDefaultParameters(*m_scheme);
    m_planBytes.reset();
}

void
ExchangeHelper::SetSchemeParameter(const std::string& name, const ParameterValue& value)
{
    std::vector<std::string> names;
    for (const auto& spec : m_scheme->parameters)
    {
        if (spec.name == name)
        {
            m_parameters.Set(name, CheckParameter(*m_scheme, spec, value));
            return;
        }
        names.push_back(spec.name);
    }
    throw std::invalid_argument(fmt::format("the scheme {} has no parameter {} (it has: {})",
                                            m_scheme->name,
                                            name,
                                            fmt::join(names, ", ")));
}

void
ExchangeHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_attributes.Set(name, value);
}

void
ExchangeHelper::SetCodec(const CodecChoice& codec, std::shared_ptr<const CodecProfile> profile)
{
    m_codec = codec;
    m_profile = std::move(profile);
}

ApplicationContainer
ExchangeHelper::Install(const NodeContainer& hosts) const
{
    AdoptOwnNodes(hosts);
    const auto network = FabricHost::Of(hosts);
    const auto& topology = network->GetTopology();
    const auto engine = network->GetEngine();

    auto settings = CreateObject<ExchangeJob>();
    m_attributes.Apply(*settings);
    auto whole = settings->MakeSpec(engine->GetJobCount());
    whole.scheme = {m_scheme.get(), m_parameters};
    whole.gradientBytes = m_planBytes.value_or(whole.gradientBytes);
    whole.codec = m_codec;
    whole.profile = m_profile;
    whole.endpointOf = GetEndpoints(hosts, *network);
    const auto servers = m_scheme->countServers(m_parameters);
    if (hosts.GetN() < servers + 2)
    {
        throw std::invalid_argument(fmt::format("{} hosts are too few: the scheme {} needs at "
                                                "least 2 workers and {} dedicated servers",
                                                hosts.GetN(),
                                                m_scheme->name,
                                                servers));
    }
    whole.workers = hosts.GetN() - servers;

    ApplicationContainer ranks;
    for (auto& part : SplitJob(std::move(whole), *topology))
    {
        const auto owned = std::make_shared<const OwnedSpec>(OwnedSpec{m_scheme, std::move(part)});
        const std::shared_ptr<const JobSpec> spec(owned, &owned->spec);
        const auto planned = PlanCheckedJob(*spec, *topology, PlanCheck::Small, false);
        const auto job = engine->AddJob(MakeJob(spec, planned, topology));
        for (uint32_t rank = 0; rank < spec->endpointOf.size(); ++rank)
        {
            ranks.Add(engine->GetApplication(job, rank));
        }
    }
    return ranks;
}

} // namespace ns3::gradsync
