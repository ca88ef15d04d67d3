/* The supervisor's part of a network interface (NI9): memory of its own, which programs do not have
 * mapped, and so the privileged operations are the memory management's business, as on the CM-5.
 *
 * One `vcm5_supervisor_page` a node, shared by two parties: the supervisor (whoever runs the
 * partition: the launcher, a supervisor process) and the control network. FIFOs are as in
 * ni_page.h, numbered by enum vcm5_broadcast_kind; number 0 is not used.
 *
 *     supervisor, registers   written by the supervisor        read by the control network
 *     control                 written by the control network   read by the supervisor
 *
 * C11 and C++.
 */
#ifndef VCM5_NETIF_SHM_SUPERVISOR_PAGE_H_
#define VCM5_NETIF_SHM_SUPERVISOR_PAGE_H_

#include <stdint.h>

#include "netif/shm/ni_page.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VCM5_SUPERVISOR_MAGIC 0x35505553u /* "SUP5" */

/* Longest privileged broadcast, in words (paper section 5: "the supervisor with up to 4 words"). */
#define VCM5_SUPERVISOR_WORDS_MAX 4u
/* Words that a kind may have in flight, and entries of each FIFO. Several broadcasts are pipelined,
 * so that a program can be sent to all nodes in few turns of each. */
#define VCM5_SUPERVISOR_DEPTH 256u

struct vcm5_supervisor_page {
  uint32_t magic;
  uint32_t version; /* VCM5_NI_VERSION */
  uint32_t self;
  uint32_t partition_size;
  uint8_t pad0[128 - 4 * 4];

  struct vcm5_control_positions supervisor; /* async_or, interrupt_mask: the supervisor's */
  struct {
    uint32_t listening;  /* bit k: broadcasts of kind k are wanted; others are dropped here */
    uint32_t hard_error; /* this node, or what a driver watches in its name, has a hard error */
    uint32_t flushes;    /* grows: the control network is to be flushed (CN10) */
    uint32_t reinitiations; /* grows: it is to be reinitiated, once it is flushed */
    uint8_t pad[128 - 4 * 4];
  } registers;
  struct vcm5_control_results control; /* async_or_result, async_or_rises: the supervisor's */

  struct vcm5_control_entry out[VCM5_BROADCAST_KINDS][VCM5_SUPERVISOR_DEPTH];
  struct vcm5_control_entry in[VCM5_BROADCAST_KINDS][VCM5_SUPERVISOR_DEPTH];
};

/* The bell of a control daemon that the node's supervisor rings: that of the node's broadcasts. */
static inline uint32_t vcm5_supervisor_bell(uint32_t node) {
  return vcm5_control_bell(node) + VCM5_CONTROL_BELL_STRIDE * VCM5_FIFO_BROADCAST;
}

/* Makes the page of zeroed memory. */
static inline void vcm5_supervisor_page_init(struct vcm5_supervisor_page *page, uint32_t self,
                                             uint32_t partition_size) {
  page->version = VCM5_NI_VERSION;
  page->self = self;
  page->partition_size = partition_size;
  page->magic = VCM5_SUPERVISOR_MAGIC; /* last: the page is whole */
}

#ifdef __cplusplus
}
#endif

#endif /* VCM5_NETIF_SHM_SUPERVISOR_PAGE_H_ */
