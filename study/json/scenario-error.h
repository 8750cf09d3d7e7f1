// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCENARIO_ERROR_H
#define GRADSYNC_SCENARIO_ERROR_H

#include <stdexcept>
#include <string>

namespace ns3::gradsync
{

/**
 * Bad input. The text is one line for the user: file, JSON path, what was found, what is allowed
 * and, where a name is wrong, the nearest one that exists. The program exits with 2 on it.
 */
class ScenarioError : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;

    /// `where` is a file, a JSON path or both, as "x.json: topology.hostLink"; `what` follows a
    /// colon.
    ScenarioError(const std::string& where, const std::string& what)
        : std::runtime_error(where + ": " + what)
    {
    }
};

} // namespace ns3::gradsync

#endif // GRADSYNC_SCENARIO_ERROR_H
