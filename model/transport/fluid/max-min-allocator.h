// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_MAX_MIN_ALLOCATOR_H
#define GRADSYNC_MAX_MIN_ALLOCATOR_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/**
 * Max-min fair rates by progressive filling (Bertsekas and Gallager, Data Networks, section 6.5.2).
 *
 * Flows that use the same links with the same weights form a class; all flows of a class get the
 * same rate, so the work grows with the classes and not with the flows. A flow of rate x takes
 * weight * x of each link it uses, which is how an evenly split (ECMP) flow is described.
 */
class MaxMinAllocator
{
  public:
    /// How a flow uses one link.
    struct Use
    {
        uint32_t link;
        double weight; //!< (0, 1]
    };

    MaxMinAllocator() = default;

    /// \param capacities of the links, positive, in the unit in which rates are wanted
    explicit MaxMinAllocator(std::vector<double> capacities);

    /// \returns the index of the new class; a class must use at least one link, each once
    uint32_t AddClass(std::span<const Use> uses);

    /// The flows of a class take another path from now on.
    void SetUses(uint32_t classIndex, std::span<const Use> uses);

    /// \param capacity positive
    void SetCapacity(uint32_t link, double capacity);

    std::span<const Use> GetUses(uint32_t classIndex) const
    {
        const auto& place = m_places[classIndex];
        return {m_uses.data() + place.first, place.count};
    }

    /**
     * Computes the rate of each flow of the active classes.
     * \param active distinct class indices
     * \param flowCounts [class] -> number of flows, positive for active classes
     * \param [out] rates [class] -> rate of one flow; entries of other classes are left alone
     */
    void Allocate(std::span<const uint32_t> active,
                  std::span<const uint32_t> flowCounts,
                  std::span<double> rates);

  private:
    struct Link
    {
        double capacity{0};
        double frozenRate{0};  //!< taken by classes whose rate is final
        double openWeight{0};  //!< sum of flows * weight over the other classes
        uint32_t openCount{0}; //!< number of the other classes
        size_t first{0};       //!< this link's classes are m_classesByLink[first, last)
        size_t last{0};

        double GetLevel() const
        {
            return (capacity - frozenRate) / openWeight;
        }
    };

    /// Where the uses of a class stand in m_uses.
    struct Place
    {
        size_t first;
        size_t count;
        size_t room; //!< at least count
    };

    void Index(std::span<const uint32_t> active, std::span<const uint32_t> flowCounts);
    double FindSaturated(double floor);
    void Freeze(uint32_t classIndex, uint32_t flows, double rate);

    std::vector<Link> m_links;
    std::vector<Place> m_places; //!< [class]
    std::vector<Use> m_uses;
    std::vector<uint32_t> m_busyLinks;     //!< links with open classes
    std::vector<uint32_t> m_saturated;     //!< links of the current filling step
    std::vector<uint32_t> m_classesByLink; //!< active classes, link by link
    std::vector<uint8_t> m_open;           //!< [class] -> its rate is not final yet
};

} // namespace ns3::gradsync

#endif // GRADSYNC_MAX_MIN_ALLOCATOR_H
