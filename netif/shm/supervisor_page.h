/* The supervisor's part of a network interface (NI9): memory of its own, which programs do not have
 * mapped, and so the privileged operations are the memory management's business, as on the CM-5.
 *
 * One `vcm5_supervisor_page` a node, shared by three parties: the supervisor (whoever runs the
 * partition: the launcher, a supervisor process), the control network and the data network. FIFOs
 * are as in ni_page.h; those of broadcasts are numbered by enum vcm5_broadcast_kind; number 0 is
 * not used.
 *
 *     supervisor, registers   written by the supervisor        read by the control network
 *     control                 written by the control network   read by the supervisor
 *     supervisor_data         written by the supervisor        read by the data network
 *     data[half]              written by that half of it       read by the supervisor
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

/* A message of the system in the data network: one with a system tag. Outgoing to a physical
 * address; incoming it is this NI's own. */
#define VCM5_FIRST_SYSTEM_TAG 14u
#define VCM5_LAST_SYSTEM_TAG 15u
#define VCM5_SYSTEM_WORDS_MAX 18u /* the CM-5E's; fewer where the machine's messages are shorter */
#define VCM5_SYSTEM_DEPTH 16u /* messages of each FIFO; a power of two */
struct vcm5_system_message {
  uint32_t address;
  uint32_t control; /* VCM5_SYSTEM_CONTROL */
  uint32_t words[VCM5_SYSTEM_WORDS_MAX];
};
#define VCM5_SYSTEM_CONTROL(tag, length) ((uint32_t)(tag) | ((uint32_t)(length) << 8))
#define VCM5_SYSTEM_TAG_OF(control) ((control)&0xffu)
#define VCM5_SYSTEM_LENGTH_OF(control) ((control) >> 8)

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

  struct {
    uint32_t out_tail[VCM5_HALVES];
    uint32_t in_head[VCM5_HALVES];
    uint8_t pad[128 - 4 * 4];
  } supervisor_data;
  struct {
    uint32_t out_head;
    uint32_t in_tail;
    uint32_t dropped; /* messages that found the incoming FIFO full */
    uint8_t pad[128 - 3 * 4];
  } data[VCM5_HALVES];
  struct vcm5_system_message data_out[VCM5_HALVES][VCM5_SYSTEM_DEPTH];
  struct vcm5_system_message data_in[VCM5_HALVES][VCM5_SYSTEM_DEPTH];
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
