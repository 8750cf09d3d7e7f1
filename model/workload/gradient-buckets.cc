// SPDX-License-Identifier: GPL-2.0-only
#include "ns3/gradient-buckets.h"

#include "ns3/workload-builder.h"

namespace ns3::gradsync
{

std::vector<GradientBucket>
MakeGradientBuckets(std::span<const uint64_t> bytes, const BucketCaps& caps)
{
    if (caps.firstBytes == 0 || caps.bytes == 0)
    {
        throw WorkloadError("a bucket of gradients holds at least 1 byte");
    }
    std::vector<GradientBucket> buckets;
    bool isOpen = false;
    for (uint32_t tensor = 0; tensor < bytes.size(); ++tensor)
    {
        if (!isOpen)
        {
            buckets.push_back({tensor, tensor, 0});
        }
        auto& bucket = buckets.back();
        bucket.last = tensor;
        bucket.bytes += bytes[tensor];
        isOpen = bucket.bytes < (buckets.size() == 1 ? caps.firstBytes : caps.bytes);
    }
    return buckets;
}

} // namespace ns3::gradsync
