// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_OBJECT_POOL_H
#define GRADSYNC_OBJECT_POOL_H

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * Free list of plain structs that are linked by a member `next`. Grows in blocks and reuses for
 * ever, so that neither packets nor messages cost an allocation. Peak use is peak memory.
 */
template <typename T>
class ObjectPool
{
  public:
    ObjectPool() = default;
    ObjectPool(const ObjectPool&) = delete;
    ObjectPool& operator=(const ObjectPool&) = delete;

    /// An object with whatever its last user left in it.
    T* Take()
    {
        if (!m_free)
        {
            Grow();
        }
        auto* object = m_free;
        m_free = object->next;
        return object;
    }

    void Give(T* object)
    {
        object->next = m_free;
        m_free = object;
    }

    size_t GetCapacity() const
    {
        return m_blocks.size() * BLOCK_SIZE;
    }

    /// Calls this whenever there have come to be more.
    void SetGrowthCallback(std::function<void()> onGrowth)
    {
        m_onGrowth = std::move(onGrowth);
    }

  private:
    static constexpr size_t BLOCK_SIZE = 256;

    void Grow()
    {
        auto& block = m_blocks.emplace_back(std::make_unique<T[]>(BLOCK_SIZE));
        for (size_t i = BLOCK_SIZE;
             i-- > 0;) // lowest address first: what is used together lies together
        {
            Give(&block[i]);
        }
        if (m_onGrowth)
        {
            m_onGrowth();
        }
    }

    T* m_free{nullptr};
    std::vector<std::unique_ptr<T[]>> m_blocks;
    std::function<void()> m_onGrowth; //!< empty: nobody asks
};

} // namespace ns3::gradsync

#endif // GRADSYNC_OBJECT_POOL_H
