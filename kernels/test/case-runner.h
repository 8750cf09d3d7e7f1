// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_CASE_RUNNER_H
#define GRADSYNC_CASE_RUNNER_H

#include "device-array.h"

#include <functional>
#include <vector>

namespace ns3::gradsync
{

struct Case
{
    const char* name;
    std::function<bool(const Gradient&)> test;
    bool needsDevice{true};
};

/// What the program that case-runner.cc is linked into tests.
const std::vector<Case>& GetCases();

} // namespace ns3::gradsync

#endif // GRADSYNC_CASE_RUNNER_H
