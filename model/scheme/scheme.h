// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_SCHEME_H
#define GRADSYNC_SCHEME_H

#include "ns3/parameter-spec.h"
#include "ns3/plan.h"
#include "ns3/worker-groups.h"

#include <functional>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ns3::gradsync
{

/// Thrown by a scheme that cannot run on this request; the text is meant for the user.
class SchemeError : public std::runtime_error
{
  public:
    using std::runtime_error::runtime_error;
};

/// What is in the files that parameters name, by parameter: a scheme opens none itself.
using FileTexts = std::map<std::string, std::shared_ptr<const std::string>>;

/// Everything a scheme may look at.
struct SchemeRequest
{
    uint32_t workers{0};
    uint64_t gradientBytes{0};
    uint32_t elementBytes{4};
    WorkerGroups groups; //!< over the workers only (dedicated servers are not in it)
    ParameterSet parameters;
    FileTexts texts{};
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
    std::string summary{}; //!< one line
    std::string source{};  //!< paper and section
    std::vector<ParameterSpec> parameters{};
    /// Number of dedicated server ranks that the parameters ask for; 0 for most schemes.
    std::function<uint32_t(const ParameterSet&)> countServers{
        [](const ParameterSet& /* parameters */) { return 0U; }};
    /// \throws SchemeError when the request cannot be met
    std::function<Plan(const SchemeRequest&)> build{};
    /**
     * Of schemes that are asynchronous: the parts that do not wait for each other, each of which is
     * built and run as a job of its own. Empty: one synchronous whole, as schemes without it are.
     * \throws SchemeError as build
     */
    std::function<std::vector<SchemePart>(const SchemeRequest&)> split{};
    PlanOrigin planOrigin{PlanOrigin::Own};
    bool sendsCodedValues{false}; //!< indices and values already: no codec of the job goes with it
};

/// What `make` gives: a plan. \throws SchemeError also when it is too large for its numbers or the
/// memory
template <typename Make>
Plan
MakeWithinLimits(const Make& make)
{
    try
    {
        return make();
    }
    catch (const std::length_error& error)
    {
        throw SchemeError(error.what());
    }
    catch (const std::bad_alloc&)
    {
        throw SchemeError("plan: there is not enough memory for all its operations");
    }
}

/// All schemes, sorted by name.
const std::vector<Scheme>& GetSchemes();

/// The scheme of that name, or nullptr.
const Scheme* FindScheme(std::string_view name);

/// Defaults of a scheme's parameters.
ParameterSet MakeDefaultParameters(const Scheme& scheme);

} // namespace ns3::gradsync

#endif // GRADSYNC_SCHEME_H
