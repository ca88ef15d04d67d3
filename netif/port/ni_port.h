/* The NI port: the processor's side of the network interface (paper section 2).
 *
 * A `vcm5_port` is what a node keeps in its own memory about the NI that it has mapped: where the
 * FIFOs are, its positions in them, and the last positions of the other side that it saw. The
 * functions here are the register operations. They compile to loads and stores, never block and
 * make no system call, except that a read of a status that finds nothing ("a miss") goes through
 * `idle`, by which the engine lets others run.
 *
 * One thread (or fiber) a port. C11 and C++.
 */
#ifndef VCM5_NETIF_PORT_NI_PORT_H_
#define VCM5_NETIF_PORT_NI_PORT_H_

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
  uint8_t *control_bell; /* VCM5_CONTROL_FIFOS of this node's bytes in the doorbell */
  struct vcm5_doorbell *control_doorbell;
  uint32_t self;
  uint32_t partition_size;
  uint32_t misses; /* status reads in a row that found nothing */
  uint32_t send_refuse; /* testing: refuse every send_refuse-th message (0: none) */
  uint32_t segment_start; /* VCM5_ENTRY_SEGMENT or 0 */
  bool holds_back;       /* in_head of a half may not have been published */
  bool in_router_done;   /* a router-done operation may be under way */
  bool interrupts_enabled;
  bool in_interrupt;
  struct vcm5_port_fifo fifo[VCM5_CONTROL_FIFOS];

  struct vcm5_port_half half[VCM5_HALVES];
  uint8_t *data_bell[VCM5_HALVES]; /* this node's bytes in the doorbells */
  struct vcm5_doorbell *data_doorbell[VCM5_HALVES];
  uint32_t words_max;
  uint32_t slot_bytes;
  uint32_t data_mask; /* data_depth - 1 */
  uint32_t data_batch; /* publish in_head at least every so many messages */
  /* Wakes a daemon that sleeps on its doorbell. */
  void (*wake)(struct vcm5_doorbell *doorbell);
  void (*interrupt_handler)(void *argument);
  void *interrupt_argument;
  uint32_t received_told; /* messages received when the control network last heard of it */
  uint32_t async_or_seen; /* what the asynchronous OR last read as */
  uint32_t refused_sends_left; /* until the next to be refused (send_refuse) */
  uint32_t scratch[VCM5_WORDS_MAX]; /* where the words of a refused message go */
} __attribute__((aligned(64)));

/* Makes `port` the processor's side of the NI mapped at `page`. Returns NULL, or what is wrong with
 * the page (magic, version, geometry, size). Callbacks and doorbells are left to the engine: `idle`
 * and `wake` start as functions that do nothing, doorbells as one private to the port. */
const char *vcm5_port_attach(struct vcm5_port *port, struct vcm5_ni_page *page, uint32_t bytes);

/* Out of line: publishes what is held back, counts the miss, lets others run, takes interrupts. */
void vcm5_port_miss(struct vcm5_port *port);

/* Out of line: calls the interrupt handler if interrupts are enabled and a message whose tag is in
 * the mask waits in either half. Returns true if the handler was called. */
bool vcm5_port_take_interrupts(struct vcm5_port *port);

/* ---- data network: sending --------------------------------------------------------------- */

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
  __atomic_store_n(&port->control_bell[fifo], (uint8_t)1, __ATOMIC_RELEASE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (__builtin_expect(vcm5_load_relaxed(&port->control_doorbell->sleeping) != 0, 0)) {
    port->wake(port->control_doorbell);
  }
}

/* Messages that the outgoing FIFO can take now. */
static inline uint32_t vcm5_port_send_space(struct vcm5_port *port, int half) {
  struct vcm5_port_half *h = &port->half[half];
  /* SYNC data_out_head: pairs with the release in DataPort::PublishTaken(). */
  h->out_head_seen = vcm5_load_acquire(&port->page->data[half].out_head);
  uint32_t used = h->out_tail - h->out_head_seen;
  return used > port->data_mask ? 0 : port->data_mask + 1 - used;
}

/* Testing: whether this message is one to be refused for no reason (send_refuse). */
static inline bool vcm5_port_refuses(struct vcm5_port *port) {
  if (__builtin_expect(port->send_refuse == 0, 1) || --port->refused_sends_left != 0) return false;
  port->refused_sends_left = port->send_refuse;
  return true;
}

static inline bool vcm5_port_has_send_space(struct vcm5_port *port, int half) {
  struct vcm5_port_half *h = &port->half[half];
  if (vcm5_port_refuses(port)) return false;
  if (__builtin_expect(h->out_tail - h->out_head_seen <= port->data_mask, 1)) return true;
  return vcm5_port_send_space(port, half) != 0;
}

static inline uint8_t *vcm5_port_out_slot(struct vcm5_port *port, int half) {
  struct vcm5_port_half *h = &port->half[half];
  return h->out + (uint64_t)(h->out_tail & port->data_mask) * port->slot_bytes;
}

static inline void vcm5_port_commit(struct vcm5_port *port, int half) {
  struct vcm5_port_half *h = &port->half[half];
  h->out_tail++;
  /* SYNC data_out_tail: pairs with the acquire in DataPort::Look(). */
  vcm5_store_release(&port->page->node_data.out_tail[half], h->out_tail);
  vcm5_port_ring_data_bell(port, half);
}

/* Begins a message of `length` words (1..words_max) with `tag` to relative address `destination`.
 * Follow with `length` calls of vcm5_port_send_word, then ask vcm5_port_send_ok. */
static inline void vcm5_port_send_first(struct vcm5_port *port, int half, uint32_t destination,
                                        uint32_t tag, uint32_t length) {
  struct vcm5_port_half *h = &port->half[half];
  h->push_left = length;
  h->send_ok = length - 1 < port->words_max && vcm5_port_has_send_space(port, half);
  if (h->send_ok) {
    uint8_t *slot = vcm5_port_out_slot(port, half);
    uint64_t header = vcm5_send_header(destination, tag, length);
    memcpy(slot, &header, sizeof header);
    h->push = (uint32_t *)(void *)(slot + 12);
  } else {
    if (length > VCM5_WORDS_MAX) h->push_left = 0;
    h->push = port->scratch;
  }
}

/* Pushes the next word; the last one offers the message to the network. */
static inline void vcm5_port_send_word(struct vcm5_port *port, int half, uint32_t word) {
  struct vcm5_port_half *h = &port->half[half];
  if (h->push_left == 0) return;
  *h->push++ = word;
  if (--h->push_left == 0 && h->send_ok) vcm5_port_commit(port, half);
}

/* Whether the message last pushed was accepted, as a whole. If not, push all of it again, but
 * receive what has come meanwhile: the network's contract (section 3) demands it. */
static inline bool vcm5_port_send_ok(struct vcm5_port *port, int half) {
  if (__builtin_expect(port->half[half].send_ok, 1)) return true;
  vcm5_port_miss(port);
  return false;
}

/* Whole message at once: true if accepted. Does not yield on refusal; see vcm5_port_miss. */
static inline bool vcm5_port_send(struct vcm5_port *port, int half, uint32_t destination,
                                  uint32_t tag, const uint32_t *words, uint32_t length) {
  if (!vcm5_port_has_send_space(port, half)) return false;
  uint8_t *slot = vcm5_port_out_slot(port, half);
  uint64_t header = vcm5_send_header(destination, tag, length);
  memcpy(slot, &header, sizeof header);
  /* A length that no message can have is for the network to see and report. */
  if (length - 1 < port->words_max) memcpy(slot + 12, words, (uint64_t)length * 4);
  vcm5_port_commit(port, half);
  return true;
}

/* ---- data network: receiving ------------------------------------------------------------- */

/* Publishes the slots freed since the last time: credit for the network. */
static inline void vcm5_port_flush_half(struct vcm5_port *port, int half) {
  struct vcm5_port_half *h = &port->half[half];
  h->in_head_told = h->in_head;
  /* SYNC data_in_head: pairs with the acquire in DataPort::RefreshCredit(). */
  vcm5_store_release(&port->page->node_data.in_head[half], h->in_head);
  vcm5_port_ring_data_bell(port, half);
}

/* The packet at the head of the incoming FIFO, or NULL. Valid until vcm5_port_release. No miss. */
static inline const uint8_t *vcm5_port_peek(struct vcm5_port *port, int half) {
  struct vcm5_port_half *h = &port->half[half];
  if (h->in_head == h->in_tail_seen) {
    /* SYNC data_in_tail: pairs with the release in DataPort::PublishDelivered(). */
    h->in_tail_seen = vcm5_load_acquire(&port->page->data[half].in_tail);
    if (h->in_head == h->in_tail_seen) return 0;
  }
  return h->in + (uint64_t)(h->in_head & port->data_mask) * port->slot_bytes;
}

static inline uint32_t vcm5_packet_tag(const uint8_t *packet) {
  uint64_t header;
  memcpy(&header, packet, sizeof header);
  return (uint32_t)(header >> 29) & 0xfu;
}

static inline uint32_t vcm5_packet_length(const uint8_t *packet) {
  uint32_t low;
  memcpy(&low, packet, sizeof low);
  return (low >> 24) & 0x1fu;
}

static inline const uint32_t *vcm5_packet_words(const uint8_t *packet) {
  return (const uint32_t *)(const void *)(packet + 12);
}

/* Frees the slot of the packet at the head. Its message counts as received only after
 * vcm5_port_count_received, which a message layer calls when its handler has returned: so
 * router-done cannot see the instant between a request's end and its reply's beginning. */
static inline void vcm5_port_release(struct vcm5_port *port, int half) {
  struct vcm5_port_half *h = &port->half[half];
  h->in_head++;
  h->pop_left = 0;
  port->misses = 0;
  port->holds_back = true;
  if (h->in_head - h->in_head_told >= port->data_batch) vcm5_port_flush_half(port, half);
}

static inline void vcm5_port_count_received(struct vcm5_port *port, int half) {
  struct vcm5_port_half *h = &port->half[half];
  h->received++;
  /* SYNC received: pairs with the acquire in ControlPort::PollRouterDone(). */
  vcm5_store_release(&port->page->node_data.received[half], h->received);
}

/* Register reads: is there a message, its tag, its length and what is left of it, its next word. */
static inline bool vcm5_port_receive_ok(struct vcm5_port *port, int half) {
  if (vcm5_port_peek(port, half) != 0) return true;
  vcm5_port_miss(port);
  return vcm5_port_peek(port, half) != 0;
}

static inline uint32_t vcm5_port_receive_tag(struct vcm5_port *port, int half) {
  const uint8_t *packet = vcm5_port_peek(port, half);
  return packet == 0 ? 0 : vcm5_packet_tag(packet);
}

static inline uint32_t vcm5_port_receive_length(struct vcm5_port *port, int half) {
  const uint8_t *packet = vcm5_port_peek(port, half);
  return packet == 0 ? 0 : vcm5_packet_length(packet);
}

static inline uint32_t vcm5_port_receive_length_left(struct vcm5_port *port, int half) {
  return port->half[half].pop_left != 0 ? port->half[half].pop_left
                                        : vcm5_port_receive_length(port, half);
}

/* Pops the next word of the message at the head; the last one frees it. 0 if there is none. */
static inline uint32_t vcm5_port_receive_word(struct vcm5_port *port, int half) {
  struct vcm5_port_half *h = &port->half[half];
  const uint8_t *packet = vcm5_port_peek(port, half);
  if (packet == 0) return 0;
  uint32_t length = vcm5_packet_length(packet);
  if (h->pop_left == 0) h->pop_left = length;
  uint32_t word = vcm5_packet_words(packet)[length - h->pop_left];
  if (--h->pop_left == 0) {
    vcm5_port_release(port, half);
    vcm5_port_count_received(port, half);
  }
  return word;
}

/* ---- control network ---------------------------------------------------------------------- */

/* Words that the outgoing FIFO can take now. */
static inline uint32_t vcm5_port_control_space(struct vcm5_port *port, int fifo) {
  struct vcm5_port_fifo *f = &port->fifo[fifo];
  /* SYNC control_out_head: pairs with the release in ControlFifo::PublishTaken(). */
  f->out_head_seen = vcm5_load_acquire(&port->page->control.out_head[fifo]);
  uint32_t used = f->out_tail - f->out_head_seen;
  return used >= f->depth ? 0 : f->depth - used;
}

static inline void vcm5_port_control_put(struct vcm5_port *port, int fifo, uint32_t word,
                                         uint32_t control) {
  struct vcm5_port_fifo *f = &port->fifo[fifo];
  struct vcm5_control_entry *entry = &f->out[f->out_tail & (f->depth - 1)];
  entry->word = word;
  entry->control = control;
  f->out_tail++;
}

static inline void vcm5_port_control_publish(struct vcm5_port *port, int fifo) {
  struct vcm5_port_fifo *f = &port->fifo[fifo];
  f->out_tail_told = f->out_tail;
  if (fifo == VCM5_FIFO_ROUTER_DONE) port->in_router_done = true;
  /* SYNC control_out_tail: pairs with the acquire in ControlFifo::Look(). */
  vcm5_store_release(&port->page->node_control.out_tail[fifo], f->out_tail);
  vcm5_port_ring_control_bell(port, fifo);
}

/* Pushes the next word of a message; the last one offers it to the network, whole. */
static inline void vcm5_port_control_word(struct vcm5_port *port, int fifo, uint32_t word) {
  struct vcm5_port_fifo *f = &port->fifo[fifo];
  if (f->push_left == 0) return;
  --f->push_left;
  if (!f->send_ok) return;
  vcm5_port_control_put(port, fifo, word,
                        f->control | (f->push_left == 0 ? VCM5_ENTRY_LAST : 0));
  f->control &= ~VCM5_ENTRY_FIRST;
  if (f->push_left == 0) vcm5_port_control_publish(port, fifo);
}

/* Begins a message of `length` words (1..VCM5_CONTROL_WORDS_MAX) and pushes its first. `control`
 * holds combiner and pattern for the combine FIFO, else 0. */
static inline void vcm5_port_control_first(struct vcm5_port *port, int fifo, uint32_t control,
                                           uint32_t length, uint32_t word) {
  struct vcm5_port_fifo *f = &port->fifo[fifo];
  f->push_left = length;
  f->send_ok = length - 1 < VCM5_CONTROL_WORDS_MAX && !vcm5_port_refuses(port) &&
               (f->out_tail + length - f->out_head_seen <= f->depth ||
                vcm5_port_control_space(port, fifo) >= length);
  control |= VCM5_ENTRY_LENGTH(length) | VCM5_ENTRY_FIRST;
  if (length == 1) {
    f->push_left = 0;
    if (!f->send_ok) return;
    vcm5_port_control_put(port, fifo, word, control | VCM5_ENTRY_LAST);
    vcm5_port_control_publish(port, fifo);
    return;
  }
  f->control = control;
  vcm5_port_control_word(port, fifo, word);
}

static inline void vcm5_port_combine_first(struct vcm5_port *port, enum vcm5_combiner combiner,
                                           enum vcm5_pattern pattern, uint32_t length,
                                           uint32_t word) {
  vcm5_port_control_first(port, VCM5_FIFO_COMBINE,
                          ((uint32_t)combiner << VCM5_ENTRY_COMBINER_SHIFT) |
                              ((uint32_t)pattern << VCM5_ENTRY_PATTERN_SHIFT) |
                              port->segment_start,
                          length, word);
}

/* Whether the message last pushed was accepted, as a whole. */
static inline bool vcm5_port_control_send_ok(struct vcm5_port *port, int fifo) {
  if (__builtin_expect(port->fifo[fifo].send_ok, 1)) return true;
  vcm5_port_miss(port);
  return false;
}

/* The entry at the head of the incoming FIFO, or NULL. No miss. */
static inline const struct vcm5_control_entry *vcm5_port_control_peek(struct vcm5_port *port,
                                                                      int fifo) {
  struct vcm5_port_fifo *f = &port->fifo[fifo];
  if (f->in_head == f->in_tail_seen) {
    /* SYNC control_in_tail: pairs with the release in ControlFifo::Publish(). */
    f->in_tail_seen = vcm5_load_acquire(&port->page->control.in_tail[fifo]);
    if (f->in_head == f->in_tail_seen) return 0;
  }
  return &f->in[f->in_head & (f->depth - 1)];
}

/* A message has arrived whole (its words are published together). */
static inline bool vcm5_port_control_receive_ok(struct vcm5_port *port, int fifo) {
  if (vcm5_port_control_peek(port, fifo) != 0) return true;
  vcm5_port_miss(port);
  return vcm5_port_control_peek(port, fifo) != 0;
}

/* Pops the next word; 0 if there is none. */
static inline uint32_t vcm5_port_control_receive_word(struct vcm5_port *port, int fifo) {
  struct vcm5_port_fifo *f = &port->fifo[fifo];
  const struct vcm5_control_entry *entry = vcm5_port_control_peek(port, fifo);
  if (entry == 0) return 0;
  uint32_t word = entry->word;
  if (f->pop_left == 0) f->pop_left = VCM5_ENTRY_LENGTH_OF(entry->control);
  f->pop_left--;
  f->in_head++;
  port->misses = 0;
  /* SYNC control_in_head: pairs with the acquire in ControlFifo::RefreshRead(). */
  vcm5_store_release(&port->page->node_control.in_head[fifo], f->in_head);
  /* The network looks at in_head by itself when it works; ring in case it sleeps for want of room. */
  if (__builtin_expect((f->in_head & (f->depth / 4 - 1)) == 0, 0)) {
    vcm5_port_ring_control_bell(port, fifo);
  }
  return word;
}

/* Abstains from (or takes part again in) the operations of `fifo`, from the next message on
 * (NI7). Returns false if the outgoing FIFO has no room for the change; try again. */
static inline bool vcm5_port_set_abstain(struct vcm5_port *port, int fifo, bool abstain) {
  struct vcm5_port_fifo *f = &port->fifo[fifo];
  if (f->abstaining == abstain) return true;
  if (vcm5_port_control_space(port, fifo) == 0) {
    vcm5_port_miss(port);
    return false;
  }
  f->abstaining = abstain;
  vcm5_port_control_put(port, fifo, abstain ? 1u : 0u, VCM5_ENTRY_ABSTAIN);
  vcm5_port_control_publish(port, fifo);
  return true;
}

/* The asynchronous OR (CN6): this node's input, and the partition's output of a moment ago. */
static inline void vcm5_port_set_async_or(struct vcm5_port *port, uint32_t bit) {
  vcm5_store_release(&port->page->node_control.async_or, bit != 0);
  vcm5_port_ring_control_bell(port, VCM5_FIFO_BROADCAST); /* it has none of its own */
}

static inline uint32_t vcm5_port_async_or(struct vcm5_port *port) {
  return vcm5_load_acquire(&port->page->control.async_or_result);
}

#ifdef __cplusplus
}
#endif

#endif /* VCM5_NETIF_PORT_NI_PORT_H_ */
