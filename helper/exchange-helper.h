// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_EXCHANGE_HELPER_H
#define GRADSYNC_EXCHANGE_HELPER_H

#include "ns3/application-container.h"
#include "ns3/checked-attributes.h"
#include "ns3/codec-profile.h"
#include "ns3/job-spec.h"
#include "ns3/node-container.h"
#include "ns3/scheme.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace ns3::gradsync
{

/**
 * Installs training jobs on the hosts of a network that a FabricHelper has built.
 *
 * Whatever is set is checked at once: a name or value that does not go is a std::invalid_argument
 * that says which there are. One helper may install any number of jobs.
 */
class ExchangeHelper
{
  public:
    /// \param scheme as doc/schemes.rst names it \param parameters names and values in turn, as in
    /// scenario files: ("rat", "pipelineChunks", 8)
    template <typename... Args>
    explicit ExchangeHelper(const std::string& scheme, const Args&... parameters)
    {
        SetScheme(scheme, parameters...);
    }

    /// A scheme of the user's own.
    template <typename... Args>
    explicit ExchangeHelper(Scheme scheme, const Args&... parameters)
    {
        SetScheme(std::move(scheme), parameters...);
    }

    /// A plan that is there already, for as many hosts as it has ranks; it says how large the
    /// gradient is.
    explicit ExchangeHelper(Plan plan);

    /// Another scheme, with the defaults of its parameters but for those given.
    template <typename... Args>
    void SetScheme(const std::string& name, const Args&... parameters)
    {
        ChooseScheme(name);
        SetSchemeParameters(parameters...);
    }

    template <typename... Args>
    void SetScheme(Scheme scheme, const Args&... parameters)
    {
        ChooseScheme(std::move(scheme));
        SetSchemeParameters(parameters...);
    }

    void SetSchemeParameter(const std::string& name, const ParameterValue& value);

    /// Of the job (ExchangeJob), as `GradientBytes`.
    void SetAttribute(const std::string& name, const AttributeValue& value);

    /// By which gradients are compressed. \param profile the times it takes; none: no time
    void SetCodec(const CodecChoice& codec, std::shared_ptr<const CodecProfile> profile = nullptr);

    /**
     * A job of its own on these hosts, all of one network. May be called again, also for the same
     * hosts: the jobs then share the network.
     *
     * Nodes of a network that the program has built itself, with ns-3's point-to-point devices and
     * Internet stack, are handed to FabricHelper("tcp").Adopt first, unless the program has done
     * so: do that where jobs have different hosts of the same network.
     * \param hosts the workers in the order of their ranks, then the dedicated servers of the
     * scheme
     * \returns an ExchangeApplication for each rank; their times and Attributes may be changed
     * before they count
     * \throws std::invalid_argument when the hosts do not go; std::runtime_error with a text for
     * the user when the scheme cannot run there
     */
    ApplicationContainer Install(const NodeContainer& hosts) const;

  private:
    static TypeId GetJobTypeId();
    void ChooseScheme(const std::string& name);
    void ChooseScheme(Scheme scheme);

    void SetSchemeParameters()
    {
    }

    template <typename... Args>
    void SetSchemeParameters(const std::string& name,
                             const ParameterValue& value,
                             const Args&... others)
    {
        SetSchemeParameter(name, value);
        SetSchemeParameters(others...);
    }

    std::shared_ptr<const Scheme> m_scheme;
    std::optional<uint64_t> m_planBytes; //!< of the gradient of a plan that is there already
    ParameterSet m_parameters;           //!< complete
    CheckedAttributes m_attributes{GetJobTypeId()};
    std::optional<CodecChoice> m_codec;
    std::shared_ptr<const CodecProfile> m_profile;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_EXCHANGE_HELPER_H
