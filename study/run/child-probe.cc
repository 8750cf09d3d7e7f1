// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/child-probe.h"

#include "ns3/captured-words.h"
#include "ns3/process-pool.h"
#include "ns3/regular-expression.h"
#include "ns3/scenario-error.h"

#include <cstdlib>
#include <sys/resource.h>
#include <unistd.h>

namespace ns3::gradsync
{

namespace
{

/// Far more than any probe takes.
constexpr rlim_t CPU_SECONDS = 20;

/// The child's last words go to a file, and an endless loop in it ends.
void
PrepareChild(const CapturedWords& words)
{
    dup2(words.GetDescriptor(), STDERR_FILENO);
    const rlimit cpu{CPU_SECONDS, CPU_SECONDS};
    setrlimit(RLIMIT_CPU, &cpu);
    const rlimit noCore{0, 0};
    setrlimit(RLIMIT_CORE, &noCore);
}

/// What ns-3 says before it aborts: `msg="text", +0.0s -1 file=...`, or `cond="text", ...`.
std::string
FindReason(const std::string& words)
{
    for (const auto* form : {"msg=\"([^\"]+)\"", "cond=\"([^\"]+)\""})
    {
        const auto found = FindGroups(form, words);
        if (!found.empty())
        {
            return found[1];
        }
    }
    return {};
}

} // namespace

std::string
ProbeInChild(const std::function<void()>& attempt)
{
    const CapturedWords words;
    TaskOutcome outcome;
    ProcessPool pool(1);
    const bool ended =
        pool.Run({0},
                 [&](uint32_t /* task */, const ProcessPool::Report& /* report */) {
                     PrepareChild(words);
                     attempt();
                 },
                 {[](uint32_t /* task */, uint64_t /* progress */) {},
                  [&outcome](uint32_t /* task */, const TaskOutcome& how) { outcome = how; },
                  [] {}});
    if (!ended)
    {
        throw ScenarioError("check", "interrupted");
    }
    if (outcome.ok)
    {
        return {};
    }
    const auto reason = FindReason(words.ReadAll());
    return reason.empty() ? outcome.problem : reason;
}

} // namespace ns3::gradsync
