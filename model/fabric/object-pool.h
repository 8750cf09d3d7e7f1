// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_OBJECT_POOL_H
#define GRADSYNC_OBJECT_POOL_H

#include "ns3/prefetch.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace ns3::gradsync
{

/**
 * Plain structs that nobody uses, the last one that was given back first. Grows in blocks and
 * reuses for ever, so that neither packets nor messages cost an allocation. Peak use is peak
 * memory.
 *
 * Where they lie is kept apart from them: taking one waits for no other, which may have left the
 * cache, and one that will be taken soon is fetched.
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
        if (m_free.empty())
        {
            Grow();
        }
        auto* object = m_free.back();
        m_free.pop_back();
        if (m_free.size() > AHEAD)
        {
            Prefetch(m_free[m_free.size() - 1 - AHEAD]);
        }
        return object;
    }

    void Give(T* object)
    {
        m_free.push_back(object);
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
    static constexpr size_t AHEAD = 3; //!< that Take fetches

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

    std::vector<T*> m_free;
    std::vector<std::unique_ptr<T[]>> m_blocks;
    std::function<void()> m_onGrowth; //!< empty: nobody asks
};

} // namespace ns3::gradsync

#endif // GRADSYNC_OBJECT_POOL_H
