// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCHEME_H
#define GRADSYNC_SCHEME_H

#include "ns3/nstime.h"
#include "ns3/plan.h"
#include "ns3/worker-groups.h"

#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ns3::gradsync
{

/// A parameter of an exchange scheme, as a scenario file can give it.
using ParameterValue = std::variant<bool, int64_t, double, std::string, std::vector<double>, Time>;

/// What a scheme declares of one parameter; readers, `list` and error messages are made from it.
struct ParameterSpec
{
    std::string name; //!< camelCase, as in scenario files
    ParameterValue defaultValue;
    std::string help;                 //!< one line: meaning, unit, meaning of 0 or of an empty list
    std::vector<std::string> allowed; //!< for strings: the values that exist; empty: any
    double minimum{
        -std::numeric_limits<double>::infinity()}; //!< for numbers and list members, inclusive
    double maximum{std::numeric_limits<double>::infinity()};
    /// Other values that the scheme `auto` tries; of strings it tries all that are allowed.
    std::vector<ParameterValue> alternatives{};
    bool isFile{false}; //!< of strings: a path, which in a scenario is relative to its file
};

/// Parameters by name, complete: defaults are filled in before a scheme sees them.
class ParameterSet
{
  public:
    void Set(const std::string& name, ParameterValue value);

    /// \throws std::out_of_range for an unknown name, std::bad_variant_access for another type
    template <typename T>
    const T& Get(const std::string& name) const
    {
        return std::get<T>(m_values.at(name));
    }

    const std::map<std::string, ParameterValue>& GetAll() const
    {
        return m_values;
    }

  private:
    std::map<std::string, ParameterValue> m_values;
};

/// Thrown by a scheme that cannot run on this request; the text is meant for the user.
class SchemeError : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

/// Everything a scheme may look at.
struct SchemeRequest
{
    uint32_t workers{0};
    uint64_t gradientBytes{0};
    uint32_t elementBytes{4};
    WorkerGroups groups; //!< over the workers only (dedicated servers are not in it)
    ParameterSet parameters;
};

/// A part of an exchange that goes through its iterations on its own.
struct SchemePart
{
    std::vector<uint32_t> ranks; //!< of the whole: workers, then dedicated servers; others' too
    uint32_t workers;
    ParameterSet parameters; //!< for the plan of this part
};

/// Where the plans of a scheme come from.
enum class PlanOrigin : uint8_t
{
    Own,      //!< Scheme::build
    Estimate, //!< another scheme, the best by estimate (AutoPlanner)
    File      //!< a file, whose mistakes are not ours
};

/**
 * An exchange scheme: a pure function from a request to a plan, with what users need to know of it.
 * One file per scheme defines one of these; nothing about a scheme lives anywhere else.
 */
struct Scheme
{
    std::string name;
    std::string summary; //!< one line
    std::string source;  //!< paper and section
    std::vector<ParameterSpec> parameters;
    /// Number of dedicated server ranks that the parameters ask for; 0 for most schemes.
    std::function<uint32_t(const ParameterSet&)> countServers;
    /// \throws SchemeError when the request cannot be met
    std::function<Plan(const SchemeRequest&)> build;
    /**
     * Of schemes that are asynchronous: the parts that do not wait for each other, each of which is
     * built and run as a job of its own. Empty: one synchronous whole, as schemes without it are.
     * \throws SchemeError as build
     */
    std::function<std::vector<SchemePart>(const SchemeRequest&)> split{};
    PlanOrigin planOrigin{PlanOrigin::Own};
    bool sendsCodedValues{false}; //!< indices and values already: no codec of the job goes with it
};

/// All schemes, sorted by name.
const std::vector<Scheme>& GetSchemes();

/// The scheme of that name, or nullptr.
const Scheme* FindScheme(std::string_view name);

/// Defaults of a scheme's parameters.
ParameterSet MakeDefaultParameters(const Scheme& scheme);

} // namespace ns3::gradsync

#endif // GRADSYNC_SCHEME_H
