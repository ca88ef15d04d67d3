/* What a node keeps about its NI (see ni_port.h), and the bells by which it tells the networks. */
#ifndef VCM5_NETIF_PORT_NI_PORT_STATE_H_
#define VCM5_NETIF_PORT_NI_PORT_STATE_H_

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "netif/shm/atomic_words.h"
#include "netif/shm/ni_page.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VCM5_WORDS_MAX 18u /* of any machine; port->words_max is this machine's */

/* A half of the data network, as the node sees it. */
struct vcm5_port_half {
  uint8_t *out; /* data_depth slots of slot_bytes */
  uint8_t *in;
  uint32_t out_tail;      /* next slot to fill */
  uint32_t out_head_seen; /* the network had taken everything before this one */
  uint32_t in_head;       /* next slot to read */
  uint32_t in_head_told;  /* in_head as last published */
  uint32_t in_tail_seen;
  uint32_t received;      /* messages handled, as counted for router-done */
  uint32_t *push;         /* where the next pushed word goes */
  uint32_t push_left;     /* words that the message being pushed still needs */
  uint32_t pop_left;      /* words of the message at the head not yet popped; 0: none begun */
  bool send_ok;           /* the message last pushed was accepted */
  uint32_t status_tail;   /* out_tail when the status was last read */
};

/* A FIFO pair of the control network, as the node sees it. */
struct vcm5_port_fifo {
  struct vcm5_control_entry *out;
  struct vcm5_control_entry *in;
  uint32_t depth;
  uint32_t out_tail;     /* next entry to fill, the unfinished message included */
  uint32_t out_tail_told;
  uint32_t out_head_seen;
  uint32_t in_head;
  uint32_t in_tail_seen;
  uint32_t control;      /* control word of the message being pushed */
  uint32_t push_left;
  uint32_t pop_left;     /* words of the message at the head not yet popped; 0: none begun */
  uint32_t status_tail;  /* out_tail when the status was last read */
  bool send_ok;
  bool abstaining;
};

struct vcm5_port {
  /* A cache line for every miss and every operation of the control network; then one for each of
   * its FIFOs. */
  struct vcm5_ni_page *page;
  /* Lets others run; called after a miss. Set by the engine, as are wake and engine. */
  void (*idle)(struct vcm5_port *port);
  void *engine;
  uint8_t *control_bell; /* this node's first in the doorbell */
  struct vcm5_doorbell *control_doorbell;
  uint32_t self;
  uint32_t partition_size;
  uint32_t misses; /* status reads in a row that found nothing */
  uint32_t send_refuse; /* testing: refuse every send_refuse-th message (0: none) */
  uint32_t segment_start; /* VCM5_ENTRY_SEGMENT or 0 */
  bool holds_back;       /* in_head of a half may not have been published */
  bool in_router_done;   /* a router-done operation may be under way */
  bool attentive;        /* there is something that may interrupt: see vcm5_port_note_interrupts */
  bool interrupts_enabled;
  struct vcm5_port_fifo fifo[VCM5_CONTROL_FIFOS];

  struct vcm5_port_half half[VCM5_HALVES];
  uint8_t *data_bell[VCM5_HALVES]; /* this node's bytes in the doorbells */
  struct vcm5_doorbell *data_doorbell[VCM5_HALVES];
  uint32_t addresses; /* relative addresses in use: partition_size, or 1 more for the host */
  uint32_t words_max;
  uint32_t slot_bytes;
  uint32_t data_mask; /* data_depth - 1 */
  uint32_t data_batch; /* publish in_head at least every so many messages */
  /* Wakes a daemon that sleeps on its doorbell. */
  void (*wake)(struct vcm5_doorbell *doorbell);
  void (*interrupt_handler)(void *argument);
  void *interrupt_argument;
  void (*async_or_handler)(void *argument);
  void *async_or_argument;
  void (*attention_handler)(uint32_t word, void *argument); /* of interrupt broadcasts */
  void *attention_argument;
  uint32_t rises_seen;     /* of the asynchronous OR */
  uint32_t attention_seen; /* interrupt broadcasts */
  bool in_interrupt;       /* in one of the first two handlers */
  bool in_attention;
  uint32_t received_told; /* messages received when the control network last heard of it */
  uint32_t async_or_seen; /* what the asynchronous OR last read as */
  uint32_t refused_sends_left; /* until the next to be refused (send_refuse) */
  uint32_t scratch[VCM5_WORDS_MAX]; /* where the words of a refused message go */
} __attribute__((aligned(64)));

/* Makes `port` the processor's side of the NI mapped at `page`. Returns NULL, or what is wrong with
 * the page (magic, version, geometry, size). Callbacks and doorbells are left to the engine: `idle`
 * and `wake` start as functions that do nothing, doorbells as one private to the port. */
const char *vcm5_port_attach(struct vcm5_port *port, struct vcm5_ni_page *page, uint32_t bytes);

/* Whether the partition has a host, a control processor that takes part as one more member; and
 * whether this is it. Its relative address is partition_size (NI12, SY4). */
static inline bool vcm5_port_has_host(const struct vcm5_port *port) {
  return port->addresses != port->partition_size;
}
static inline bool vcm5_port_is_host(const struct vcm5_port *port) {
  return vcm5_port_has_host(port) && port->self == port->partition_size;
}

/* Out of line: publishes what is held back, counts the miss, lets others run, takes interrupts. */
void vcm5_port_miss(struct vcm5_port *port);

/* Out of line: calls the handlers of what interrupts. First that of interrupt broadcasts, if one
 * has come, be interrupts enabled or not; then, if they are, that of the asynchronous OR, if it
 * went from 0 to 1; then the one of messages, if one whose tag is in the mask waits in either half.
 * Returns true if a handler was called. */
bool vcm5_port_take_interrupts(struct vcm5_port *port);

/* Handlers have changed, or whether interrupts are enabled: notes whether a miss must look. */
static inline void vcm5_port_note_interrupts(struct vcm5_port *port) {
  port->attentive = port->interrupts_enabled || port->attention_handler != 0;
}

/* Registers a handler; NULL: none. What happened before does not count. The first is called when
 * the asynchronous OR goes from 0 to 1 (CN6), the second for interrupt broadcasts (CN2), with the
 * first word of the last one. */
void vcm5_port_set_async_or_handler(struct vcm5_port *port, void (*handler)(void *argument),
                                    void *argument);
void vcm5_port_set_attention_handler(struct vcm5_port *port,
                                     void (*handler)(uint32_t word, void *argument),
                                     void *argument);

/* Telling a daemon that there is something to look at, and waking it if it sleeps. */
static inline void vcm5_port_ring_data_bell(struct vcm5_port *port, int half) {
  /* SYNC data_bell: pairs with the exchange in Doorbell::Take(). */
  __atomic_store_n(port->data_bell[half], (uint8_t)1, __ATOMIC_RELEASE);
  /* The daemon's expedited membarrier stands in for the fence that this load would need. */
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (__builtin_expect(vcm5_load_relaxed(&port->data_doorbell[half]->sleeping) != 0, 0)) {
    port->wake(port->data_doorbell[half]);
  }
}

static inline void vcm5_port_ring_control_bell(struct vcm5_port *port, int fifo) {
  /* SYNC control_bell: pairs with the exchange in Doorbell::Take(). */
  __atomic_store_n(&port->control_bell[VCM5_CONTROL_BELL_STRIDE * (uint32_t)fifo], (uint8_t)1,
                   __ATOMIC_RELEASE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (__builtin_expect(vcm5_load_relaxed(&port->control_doorbell->sleeping) != 0, 0)) {
    port->wake(port->control_doorbell);
  }
}

/* Testing: whether this message is one to be refused for no reason (send_refuse). */
static inline bool vcm5_port_refuses(struct vcm5_port *port) {
  if (__builtin_expect(port->send_refuse == 0, 1) || --port->refused_sends_left != 0) return false;
  port->refused_sends_left = port->send_refuse;
  return true;
}

#ifdef __cplusplus
}
#endif

#endif /* VCM5_NETIF_PORT_NI_PORT_STATE_H_ */
