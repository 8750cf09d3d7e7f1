// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_OBJECT_POOL_H
#define GRADSYNC_OBJECT_POOL_H

#include "ns3/prefetch.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef GRADSYNC_SANITIZED
// As sanitizer/asan_interface.h has them; programs that use gradsync include no such headers.
extern "C" void __asan_poison_memory_region(const volatile void* first, size_t bytes);
extern "C" void __asan_unpoison_memory_region(const volatile void* first, size_t bytes);
#endif

namespace ns3::gradsync
{

/**
 * Plain structs that nobody uses, the last one that was given back first. Grows in blocks and
 * reuses for ever, so that neither packets nor messages cost an allocation. Peak use is peak
 * memory: where those lie that nobody uses is written into some of them, the shelves, as many on
 * each as have room there. So taking one mostly waits for no other, which may have left the cache,
 * and one that will be taken soon is fetched.
 */
template <typename T>
class ObjectPool
{
  public:
    ObjectPool() = default;
    ObjectPool(const ObjectPool&) = delete;
    ObjectPool& operator=(const ObjectPool&) = delete;

    /// An object with anything in it.
    T* Take()
    {
        if (!m_shelf)
        {
            Grow();
        }
        if (m_onShelf == 0)
        {
            return TakeShelf();
        }
        auto* object = Read(m_onShelf--);
        Permit(object);
        if (m_onShelf >= AHEAD)
        {
            Prefetch(Read(m_onShelf - AHEAD)); // in the end the next shelf
        }
        return object;
    }

    void Give(T* object)
    {
        Forbid(object);
        if (m_onShelf < ROOM)
        {
            Write(++m_onShelf, object);
            return;
        }
        auto* below = std::exchange(m_shelf, object);
        Write(BELOW, below);
        m_onShelf = 0;
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
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) >= sizeof(T*),
                  "what lies in it is written over");

    static constexpr size_t BLOCK_SIZE = 256;
    static constexpr size_t AHEAD = 3; //!< that Take fetches
    static constexpr size_t BELOW = 0; //!< the place of the next shelf, or null, on a shelf
    static constexpr size_t ROOM = sizeof(T) / sizeof(T*) - 1; //!< places beside it, from 1 on

    /// In builds with AddressSanitizer it tells of whoever touches what nobody uses.
    static void Forbid([[maybe_unused]] void* first, [[maybe_unused]] size_t bytes = sizeof(T))
    {
#ifdef GRADSYNC_SANITIZED
        __asan_poison_memory_region(first, bytes);
#endif
    }

    static void Permit([[maybe_unused]] void* first, [[maybe_unused]] size_t bytes = sizeof(T))
    {
#ifdef GRADSYNC_SANITIZED
        __asan_unpoison_memory_region(first, bytes);
#endif
    }

    std::byte* GetPlace(size_t place) const
    {
        return reinterpret_cast<std::byte*>(m_shelf) + place * sizeof(T*);
    }

    T* Read(size_t place) const
    {
        T* object;
        Permit(GetPlace(place), sizeof(T*));
        std::memcpy(&object, GetPlace(place), sizeof(T*));
        Forbid(GetPlace(place), sizeof(T*));
        return object;
    }

    void Write(size_t place, T* object)
    {
        Permit(GetPlace(place), sizeof(T*));
        std::memcpy(GetPlace(place), &object, sizeof(T*));
        Forbid(GetPlace(place), sizeof(T*));
    }

    /// When nothing is left on it.
    T* TakeShelf()
    {
        auto* shelf = std::exchange(m_shelf, Read(BELOW));
        Permit(shelf);
        m_onShelf = ROOM;
        for (size_t i = 0; m_shelf && i <= std::min(AHEAD, ROOM); ++i)
        {
            Prefetch(Read(ROOM - i));
        }
        return shelf;
    }

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

    T* m_shelf{nullptr};    //!< the upmost; all those below it are full
    size_t m_onShelf{ROOM}; //!< how many lie on it; as on a full one when there is none
    std::vector<std::unique_ptr<T[]>> m_blocks;
    std::function<void()> m_onGrowth; //!< empty: nobody asks
};

} // namespace ns3::gradsync

#endif // GRADSYNC_OBJECT_POOL_H
