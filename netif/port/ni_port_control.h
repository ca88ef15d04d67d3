/* Register operations of the control network: broadcast, combine, router-done, the ORs (paper
 * section 5). */
#ifndef VCM5_NETIF_PORT_NI_PORT_CONTROL_H_
#define VCM5_NETIF_PORT_NI_PORT_CONTROL_H_

#include "netif/port/ni_port_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Words that the outgoing FIFO can take now. */
static inline uint32_t vcm5_port_control_space(struct vcm5_port *port, int fifo) {
  struct vcm5_port_fifo *f = &port->fifo[fifo];
  /* SYNC control_out_head: pairs with the release in ControlFifo::FreeTaken(). */
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

/* The first error that the control network has signalled, 0: none (CN8); VCM5_ERROR_KIND and
 * VCM5_ERROR_PACKET take it apart. *parties: who met, for VCM5_ERROR_NODE. */
static inline uint32_t vcm5_port_error(struct vcm5_port *port, uint32_t *parties) {
  /* SYNC error: pairs with the release in ControlPort::NoteError(). */
  uint32_t error = vcm5_load_acquire(&port->page->control.error);
  *parties = vcm5_load_relaxed(&port->page->control.error_parties);
  return error;
}

/* Whether a chip or an NI of the partition has a hard error. */
static inline bool vcm5_port_hard_error(struct vcm5_port *port) {
  return vcm5_load_acquire(&port->page->control.hard_error) != 0;
}

#ifdef __cplusplus
}
#endif

#endif /* VCM5_NETIF_PORT_NI_PORT_CONTROL_H_ */
