/* The network interface's memory: what a node maps (NI1, NI6, NI10).
 *
 * One `vcm5_ni_page` a node, followed by its FIFOs. The page is made and sized by the engine (one
 * creator), then shared by three parties: the node, the data network and the control network.
 * Every cache line of positions has exactly one writer (but for the word that says that the node
 * sleeps), so each FIFO is a ring with one producer and one consumer and needs no lock:
 *
 *     node_data      written by the node        read by both networks (router-done counts)
 *     data[half]     written by the data network (that half)      read by the node
 *     node_control   written by the node        read by the control network
 *     control        written by the control network               read by the node
 *
 * What programs may not touch is not here, but in vcm5_supervisor_page (supervisor_page.h), which
 * they do not have mapped (NI9).
 *
 * Positions are free-running 32-bit counts; `tail - head` is the number of entries in a FIFO and
 * the slot of a position is `position & (depth - 1)`. Depths are powers of two. The producer
 * writes slots, then publishes `tail` with release; the consumer reads `tail` with acquire, then
 * slots, then publishes `head` with release.
 *
 * The node may write anything anywhere in this memory (NI13): the networks copy a value once, then
 * validate the copy, and take depths and offsets from their own description, never from here.
 *
 * C11 and C++; the public header vcm5/ni.h is built on it.
 */
#ifndef VCM5_NETIF_SHM_NI_PAGE_H_
#define VCM5_NETIF_SHM_NI_PAGE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VCM5_NI_MAGIC 0x35494e4du /* "MNI5" */
#define VCM5_NI_VERSION 3u

/* The two halves of the data network (NI2). */
enum { VCM5_LEFT = 0, VCM5_RIGHT = 1, VCM5_HALVES = 2 };

/* The control network's FIFO pairs (NI6). */
enum {
  VCM5_FIFO_COMBINE = 0,
  VCM5_FIFO_BROADCAST = 1,
  VCM5_FIFO_ROUTER_DONE = 2,
  VCM5_FIFO_SYNC_OR = 3,
  VCM5_CONTROL_FIFOS = 4
};

/* Bells of a control daemon: 16 nodes' to a cache line, and in that those of one FIFO together, so
 * that who is in the same operation is found eight at a time. A node's bell for FIFO f is
 * VCM5_CONTROL_BELL_STRIDE * f after its first. */
#define VCM5_CONTROL_BELL_STRIDE 16u
static inline uint32_t vcm5_control_bell(uint32_t node) {
  return node / VCM5_CONTROL_BELL_STRIDE * 64u + node % VCM5_CONTROL_BELL_STRIDE;
}
static inline uint32_t vcm5_control_bell_node(uint32_t bell) {
  return bell / 64u * VCM5_CONTROL_BELL_STRIDE + bell % VCM5_CONTROL_BELL_STRIDE;
}
static inline uint32_t vcm5_control_bell_fifo(uint32_t bell) {
  return bell / VCM5_CONTROL_BELL_STRIDE % VCM5_CONTROL_FIFOS;
}
static inline uint32_t vcm5_control_bells(uint32_t nodes) {
  return (nodes + VCM5_CONTROL_BELL_STRIDE - 1) / VCM5_CONTROL_BELL_STRIDE * 64u;
}

/* One entry of a control FIFO. Outgoing, `control` says what the entry is; incoming, what came. */
struct vcm5_control_entry {
  uint32_t word;
  uint32_t control;
};

/* Fields of vcm5_control_entry.control. */
#define VCM5_ENTRY_LENGTH(n) ((uint32_t)(n)) /* bits 0-7: words of the message, in every word */
#define VCM5_ENTRY_LENGTH_OF(c) ((c)&0xffu)
#define VCM5_ENTRY_FIRST 0x100u      /* first word of a message */
#define VCM5_ENTRY_LAST 0x200u       /* last word of a message */
#define VCM5_ENTRY_SEGMENT 0x400u    /* outgoing combine: this node's segment-start bit */
#define VCM5_ENTRY_OVERFLOW 0x800u   /* incoming combine: an add overflowed on the way */
#define VCM5_ENTRY_ABSTAIN 0x1000u   /* outgoing: no message; from here on abstain if word != 0 */
#define VCM5_ENTRY_COMBINER_SHIFT 16 /* bits 16-18: enum vcm5_combiner */
#define VCM5_ENTRY_PATTERN_SHIFT 20  /* bits 20-21: enum vcm5_pattern */
#define VCM5_ENTRY_KIND_SHIFT 24     /* bits 24-25, outgoing broadcast: enum vcm5_broadcast_kind */
#define VCM5_ENTRY_KIND(kind) ((uint32_t)(kind) << VCM5_ENTRY_KIND_SHIFT)
#define VCM5_ENTRY_KIND_OF(c) (((c) >> VCM5_ENTRY_KIND_SHIFT) & 3u)
#define VCM5_ENTRY_COMBINER_OF(c) (((c) >> VCM5_ENTRY_COMBINER_SHIFT) & 7u)
#define VCM5_ENTRY_PATTERN_OF(c) (((c) >> VCM5_ENTRY_PATTERN_SHIFT) & 3u)

/* The four kinds of broadcast (CN2). All but the first are privileged: a program that pushes one
 * into its own FIFO ends its job. */
enum vcm5_broadcast_kind {
  VCM5_BROADCAST_USER = 0,
  VCM5_BROADCAST_SUPERVISOR = 1,
  VCM5_BROADCAST_INTERRUPT = 2,
  VCM5_BROADCAST_UTILITY = 3,
  VCM5_BROADCAST_KINDS = 4
};

/* Bits of node_control.interrupt_mask. */
#define VCM5_INTERRUPT_ASYNC_OR 1u /* the asynchronous OR went from 0 to 1 (CN6) */

/* interrupt_word of an interrupt that was no broadcast: the supervisor's asynchronous OR rose, and
 * this node's supervisor had asked for that. */
#define VCM5_ATTENTION_ASYNC_OR 0xffffffffu
/* The same of a hard error of the machine, which concerns this partition (CN8). */
#define VCM5_ATTENTION_HARD_ERROR 0xfffffffeu

enum vcm5_combiner {
  VCM5_OR = 0,
  VCM5_XOR = 1,
  VCM5_MAX = 2,  /* signed; the most significant word goes first */
  VCM5_ADD = 3,  /* signed overflow reported; the least significant word goes first */
  VCM5_UADD = 4, /* unsigned overflow reported; the least significant word goes first */
  VCM5_COMBINERS = 5
};

enum vcm5_pattern {
  VCM5_REDUCE = 0,
  VCM5_SCAN_FORWARD = 1,
  VCM5_SCAN_BACKWARD = 2,
  VCM5_PATTERNS = 3
};

/* Longest message of a control FIFO, in words. */
#define VCM5_CONTROL_WORDS_MAX 8u

/* What the processor's side writes about its control FIFOs, and what the control network writes. */
struct vcm5_control_positions {
  uint32_t out_tail[VCM5_CONTROL_FIFOS];
  uint32_t in_head[VCM5_CONTROL_FIFOS];
  uint32_t async_or;       /* this node's input of the asynchronous OR */
  uint32_t waiting;        /* not 0: asleep, or about to be; whoever wakes it stores 0 */
  uint32_t interrupt_mask; /* VCM5_INTERRUPT_ASYNC_OR or 0 */
  uint8_t pad[128 - 11 * 4];
};

struct vcm5_control_results {
  uint32_t out_head[VCM5_CONTROL_FIFOS];
  uint32_t in_tail[VCM5_CONTROL_FIFOS];
  uint32_t async_or_result; /* OR over the partition, a moment ago */
  uint32_t events;          /* grows when one of the following, or the result above, has changed */
  uint32_t async_or_rises;  /* how often async_or_result went from 0 to 1 (CN6) */
  uint32_t interrupts;      /* interrupt broadcasts that have come (CN2), and VCM5_ATTENTION_... */
  uint32_t interrupt_word;  /* the last one's first word */
  uint32_t hard_error;      /* OR over the partition: a chip or an NI has a hard error (CN8) */
  uint32_t error;           /* the first error report, 0: none; VCM5_ERROR_... take it apart */
  uint32_t error_parties;   /* who met: first node of either side, 16 bits each; all ones: the error
                               is this NI's own link's */
  uint32_t flushed;         /* in a supervisor page: the network is flushed, and holds (CN10) */
  uint8_t pad[128 - 17 * 4];
};

/* Fields of vcm5_control_results.error: the kind (enum ControlFault of
 * netif/wire/control_packet.h), and of the packets that met, `side` 0 and 1, type, operation and
 * combiner as on the wire. */
#define VCM5_ERROR_KIND(error) ((error)&0xfu)
#define VCM5_ERROR_PACKET(error, side) (((error) >> ((side) == 0 ? 4 : 16)) & 0xfffu)
#define VCM5_ERROR_NODE(parties, side) (((parties) >> ((side) == 0 ? 0 : 16)) & 0xffffu)

struct vcm5_ni_page {
  /* Identity: written by the creator before anybody else maps the page. */
  uint32_t magic;
  uint32_t version;
  uint32_t self;          /* relative address, 0 .. addresses - 1 */
  uint32_t partition_size; /* nodes; the host, if there is one, has this relative address */
  uint32_t words_max;     /* longest data message: 5 words on the CM-5, 18 on the CM-5E (NI3) */
  uint32_t slot_bytes;    /* 32, 64 or 96: whole units of the packet */
  uint32_t data_depth;    /* slots of each data FIFO */
  uint32_t control_depth[VCM5_CONTROL_FIFOS]; /* entries of each control FIFO */
  uint32_t bytes;         /* whole size of the mapping */
  uint32_t processors;    /* processors of the host, for idling */
  uint32_t runners;       /* processes of the job that want one */
  uint32_t data_bell[VCM5_HALVES]; /* index of this node's bytes in its data daemon's doorbell */
  uint32_t control_bell;           /* and its first in the control daemon's */
  uint32_t addresses; /* relative addresses in use: partition_size, or 1 more for the host */
  uint8_t pad0[128 - 18 * 4];

  struct {
    uint32_t out_tail[VCM5_HALVES];
    uint32_t in_head[VCM5_HALVES];
    uint32_t received[VCM5_HALVES]; /* messages taken out and handled (NI10, router-done) */
    uint32_t interrupt_mask;        /* bit t: arrival of tag t interrupts (NI5) */
    uint32_t pad0;
    uint64_t copied_directly; /* bytes that others took out of this node's memory, for reports */
    uint8_t pad[128 - 8 * 4 - 8];
  } node_data;

  struct vcm5_control_positions node_control;

  struct {
    uint32_t out_head;
    uint32_t in_tail;
    uint8_t pad[120];
  } data[VCM5_HALVES];

  struct vcm5_control_results control;
};

/* A doorbell: how nodes tell a daemon that there is something to look at. Mapped by the daemon and
 * by every node that it serves. A node stores 1 into its byte after publishing; the daemon exchanges
 * eight bytes for 0 before looking. `sleeping` is the word on which an idle daemon sleeps (futex). */
struct vcm5_doorbell {
  uint32_t magic;
  uint32_t version;
  uint32_t bells; /* bytes that follow */
  /* In a doorbell that no program has. Not 0: a supervisor has something for this half of the data
   * network. It is rare, so all of them share it, and the daemon looks at all. */
  uint32_t supervisor_bell[VCM5_HALVES];
  uint8_t pad0[108];
  uint32_t sleeping; /* 1: the daemon sleeps on this word, or is about to */
  uint8_t pad1[124];
  /* uint8_t bell[bells], rounded up to 64 */
};
#define VCM5_DOORBELL_MAGIC 0x354c4c42u /* "BLL5" */

/* Offsets of the FIFOs in the mapping, from the geometry; the same sum on every side. */
struct vcm5_ni_offsets {
  uint32_t data_out[VCM5_HALVES];
  uint32_t data_in[VCM5_HALVES];
  uint32_t control_out[VCM5_CONTROL_FIFOS];
  uint32_t control_in[VCM5_CONTROL_FIFOS];
  uint32_t bytes; /* rounded up to whole pages of 4096 */
};

static inline struct vcm5_ni_offsets vcm5_ni_compute_offsets(
    uint32_t slot_bytes, uint32_t data_depth,
    const uint32_t control_depth[VCM5_CONTROL_FIFOS]) {
  struct vcm5_ni_offsets offsets;
  uint32_t at = (uint32_t)sizeof(struct vcm5_ni_page);
  /* The small control FIFOs first: a program that only synchronises touches one page. */
  static const int order[VCM5_CONTROL_FIFOS] = {VCM5_FIFO_SYNC_OR, VCM5_FIFO_ROUTER_DONE,
                                                VCM5_FIFO_COMBINE, VCM5_FIFO_BROADCAST};
  for (int i = 0; i < VCM5_CONTROL_FIFOS; ++i) {
    const int fifo = order[i];
    offsets.control_out[fifo] = at;
    at += control_depth[fifo] * (uint32_t)sizeof(struct vcm5_control_entry);
    at = (at + 63u) & ~63u;
    offsets.control_in[fifo] = at;
    at += control_depth[fifo] * (uint32_t)sizeof(struct vcm5_control_entry);
    at = (at + 63u) & ~63u;
  }
  for (int half = 0; half < VCM5_HALVES; ++half) {
    offsets.data_out[half] = at;
    at += data_depth * slot_bytes;
    at = (at + 63u) & ~63u;
    offsets.data_in[half] = at;
    at += data_depth * slot_bytes;
    at = (at + 63u) & ~63u;
  }
  offsets.bytes = (at + 4095u) & ~4095u;
  return offsets;
}

/* Outgoing data slot: the first 8 bytes as a program writes them; words follow at byte 12 as in
 * the packet (netif/wire/data_packet.h). Incoming slots hold the packet itself. */
static inline uint64_t vcm5_send_header(uint32_t destination, uint32_t tag, uint32_t length) {
  return (uint64_t)destination | ((uint64_t)tag << 32) | ((uint64_t)length << 40);
}

#ifdef __cplusplus
}
#endif

#endif /* VCM5_NETIF_SHM_NI_PAGE_H_ */
