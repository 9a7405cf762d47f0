/* A commit arrives at mbarriers of both CTAs of a pair, one of which has exited by then.
 *
 * target: 100a
 * says: the peer CTA has exited
 * says: cudaErrorLaunchFailure
 */
#include "fault.h"
#include "z_cluster.h"
#include "z_mbarrier.h"
#include "z_tmem.h"

enum { PAIR = 2 };

__global__ void __cluster_dims__(PAIR, 1, 1) commit(void)
{
    __shared__ mbarrier done;
    if (threadIdx.x == 0) {
        mbarrier_init(&done, 1);
        fence_mbarrier_init_release_cluster();
    }
    cluster_sync();
    if (cluster_ctarank() == 0 && threadIdx.x == 0) {
        __nanosleep(2000);
        tcgen05_commit_multicast<PAIR>(&done, 3);               // here
        wait_parity(&done, 0);
    }
#ifdef FIXED
    if (cluster_ctarank() == 1)
        wait_parity(&done, 0);
#endif
}

int main(void)
{
    commit<<<PAIR, 32>>>();
    return outcome();
}
