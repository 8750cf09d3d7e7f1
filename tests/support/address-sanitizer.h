// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_ADDRESS_SANITIZER_H
#define GRADSYNC_ADDRESS_SANITIZER_H

/// Whether tests run under the address sanitizer, and what they tell it.
#if defined(__SANITIZE_ADDRESS__)
#define GRADSYNC_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GRADSYNC_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef GRADSYNC_ADDRESS_SANITIZER
#define GRADSYNC_ADDRESS_SANITIZER 0
#endif
#if GRADSYNC_ADDRESS_SANITIZER
#include <sanitizer/allocator_interface.h>
#endif

namespace ns3::gradsync::tests
{

inline constexpr bool HAS_ADDRESS_SANITIZER = GRADSYNC_ADDRESS_SANITIZER != 0;

/// Gives back memory that was freed, of which the sanitizer keeps some hundred megabytes: what
/// forks afterwards would copy them page by page.
inline void
ReleaseFreedMemory()
{
#if GRADSYNC_ADDRESS_SANITIZER
    __sanitizer_purge_allocator();
#endif
}

} // namespace ns3::gradsync::tests

#endif // GRADSYNC_ADDRESS_SANITIZER_H
