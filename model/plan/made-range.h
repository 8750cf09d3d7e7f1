// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_MADE_RANGE_H
#define GRADSYNC_MADE_RANGE_H

#include <cstddef>
#include <iterator>

namespace ns3::gradsync
{

/**
 * The items [first, last) of a container that makes them when they are asked for.
 * \tparam Source has `Item MakeItem(size_t) const`, and for ForEach `ForEachItem(first, last,
 * visit)`
 */
template <typename Source, typename Item>
class MadeRange
{
  public:
    class Iterator
    {
      public:
        using iterator_category = std::input_iterator_tag;
        using value_type = Item;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = Item;

        Iterator() = default;

        Iterator(const Source* source, size_t index)
            : m_source(source),
              m_index(index)
        {
        }

        Item operator*() const
        {
            return m_source->MakeItem(m_index);
        }

        Iterator& operator++()
        {
            ++m_index;
            return *this;
        }

        Iterator operator++(int)
        {
            auto before = *this;
            ++m_index;
            return before;
        }

        bool operator==(const Iterator&) const = default;

      private:
        const Source* m_source{nullptr};
        size_t m_index{0};
    };

    using value_type = Item;
    using const_iterator = Iterator;

    MadeRange(const Source& source, size_t first, size_t last)
        : m_source(&source),
          m_first(first),
          m_last(last)
    {
    }

    size_t size() const
    {
        return m_last - m_first;
    }

    bool empty() const
    {
        return m_first == m_last;
    }

    Item operator[](size_t index) const
    {
        return m_source->MakeItem(m_first + index);
    }

    /// Calls visit(index, item) for all, in less time than one by one where they are many.
    template <typename Visit>
    void ForEach(const Visit& visit) const
    {
        m_source->ForEachItem(m_first, m_last, [this, &visit](size_t index, const Item& item) {
            visit(index - m_first, item);
        });
    }

    Item back() const
    {
        return m_source->MakeItem(m_last - 1);
    }

    Iterator begin() const
    {
        return {m_source, m_first};
    }

    Iterator end() const
    {
        return {m_source, m_last};
    }

  private:
    const Source* m_source;
    size_t m_first;
    size_t m_last;
};

} // namespace ns3::gradsync

#endif // GRADSYNC_MADE_RANGE_H
