// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/import-scheme.h"

#include "ns3/goal-planner.h"
#include "ns3/import-error.h"
#include "ns3/msccl-planner.h"
#include "ns3/plan-document.h"
#include "ns3/scheme-support.h"

#include <fmt/format.h>
#include <limits>

namespace ns3::gradsync
{

namespace
{

constexpr double NO_LIMIT = std::numeric_limits<double>::infinity();
constexpr double MAX_SERVERS = 1 << 20;

constexpr const char* FORMATS = "an MSCCL algorithm (XML), a GOAL schedule or a plan (JSON)";

bool
BeginsWith(const std::string& text, char letter)
{
    const auto first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    return first != std::string::npos && text[first] == letter;
}

bool
IsXml(const std::string& text)
{
    return BeginsWith(text, '<');
}

bool
IsJson(const std::string& text)
{
    return BeginsWith(text, '{');
}

void
CheckImport(const std::string& file, const std::string& text)
{
    if (text.empty())
    {
        throw ImportError(fmt::format("{}: found nothing, expected {}", file, FORMATS));
    }
}

uint32_t
CountServers(const ParameterSet& parameters)
{
    return GetCount(parameters, "servers", 0);
}

Plan
BuildImport(const SchemeRequest& request)
{
    CheckRequest(request);
    const auto& file = request.parameters.Get<std::string>("file");
    if (file.empty())
    {
        throw SchemeError(fmt::format("\"file\" is missing, expected the path of {}", FORMATS));
    }
    try
    {
        auto plan = PlanImport(file,
                               *request.texts.at("file"),
                               request.gradientBytes,
                               request.elementBytes);
        const auto servers = plan.GetRankCount() - plan.GetWorkerCount();
        if (plan.GetWorkerCount() != request.workers || servers != CountServers(request.parameters))
        {
            throw SchemeError(fmt::format(
                "{} is for {} workers and {} dedicated servers, but the job has {} and {}",
                file,
                plan.GetWorkerCount(),
                servers,
                request.workers,
                CountServers(request.parameters)));
        }
        return plan;
    }
    catch (const ImportError& error)
    {
        throw SchemeError(error.what());
    }
}

} // namespace

Plan
PlanImport(const std::string& file,
           const std::string& text,
           uint64_t gradientBytes,
           uint32_t elementBytes)
{
    CheckImport(file, text);
    if (IsXml(text))
    {
        const auto algorithm = ReadMsccl(file, text);
        return MscclPlanner(algorithm, gradientBytes, elementBytes).Build();
    }
    if (IsJson(text))
    {
        return BuildDocumentPlan(ReadPlanDocument(file, text), gradientBytes, elementBytes);
    }
    return BuildGoalPlan(ReadGoal(file, text));
}

uint32_t
CountImportServers(const std::string& file, const std::string& text)
{
    CheckImport(file, text);
    if (IsXml(text))
    {
        return 0;
    }
    if (IsJson(text))
    {
        const auto document = ReadPlanDocument(file, text);
        return document.ranks - document.workers;
    }
    const auto header = ReadGoalHeader(file, text);
    return header.plan && header.plan->workers <= header.ranks ? header.ranks - header.plan->workers
                                                               : 0;
}

Scheme
MakeImportScheme()
{
    Scheme scheme{
        "import",
        "the exchange that a file describes: an MSCCL algorithm, a GOAL schedule or a plan",
        "Cowan et al. 2023 (MSCCLang); Hoefler et al. 2009 (GOAL)",
        {},
        CountServers,
        BuildImport,
        {},
        PlanOrigin::File};
    scheme.parameters = {
        {"file",
         std::string(),
         "MSCCL algorithm (XML), GOAL schedule or plan (JSON), relative to the scenario; must be "
         "given",
         {},
         -NO_LIMIT,
         NO_LIMIT,
         {},
         true},
        {"digest",
         std::string(),
         "what the content of the file has to hash to; empty: whatever it does",
         {}},
        {"servers",
         int64_t{0},
         "dedicated servers, the last ranks of the file; by default as many as the file says",
         {},
         0,
         MAX_SERVERS}};
    return scheme;
}

} // namespace ns3::gradsync
