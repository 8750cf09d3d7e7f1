// SPDX-License-Identifier: GPL-2.0-only
#ifndef GRADSYNC_GRADIENT_BUCKETS_H
#define GRADSYNC_GRADIENT_BUCKETS_H

#include <cstdint>
#include <span>
#include <vector>

namespace ns3::gradsync
{

/// How much PyTorch's DistributedDataParallel collects before it exchanges (Li et al., VLDB'20,
/// section 4.2; torch.nn.parallel.distributed: 1 MiB, then bucket_cap_mb = 25).
struct BucketCaps
{
    uint64_t firstBytes{uint64_t{1} << 20};
    uint64_t bytes{uint64_t{25} << 20};
};

/// Gradients that are exchanged together.
struct GradientBucket
{
    uint32_t first; //!< the tensors [first, last], in the order in which they are ready
    uint32_t last;
    uint64_t bytes;
};

/**
 * Collects gradients: a bucket closes once its bytes reach the cap.
 * \param bytes of the tensors, in the order in which backward passes make them, the last layer's
 * first
 * \throws WorkloadError for caps of 0
 */
std::vector<GradientBucket> MakeGradientBuckets(std::span<const uint64_t> bytes,
                                                const BucketCaps& caps = {});

} // namespace ns3::gradsync

#endif // GRADSYNC_GRADIENT_BUCKETS_H
