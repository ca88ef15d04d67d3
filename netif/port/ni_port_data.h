/* Register operations of the data network: sending and receiving messages (paper section 3). */
#ifndef VCM5_NETIF_PORT_NI_PORT_DATA_H_
#define VCM5_NETIF_PORT_NI_PORT_DATA_H_

#include "netif/port/ni_port_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sending ------------------------------------------------------------------------------ */

/* Messages that the outgoing FIFO can take now. */
static inline uint32_t vcm5_port_send_space(struct vcm5_port *port, int half) {
  struct vcm5_port_half *h = &port->half[half];
  /* SYNC data_out_head: pairs with the release in DataPort::PublishTaken(). */
  h->out_head_seen = vcm5_load_acquire(&port->page->data[half].out_head);
  uint32_t used = h->out_tail - h->out_head_seen;
  return used > port->data_mask ? 0 : port->data_mask + 1 - used;
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

/* ---- receiving ---------------------------------------------------------------------------- */

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

#ifdef __cplusplus
}
#endif

#endif /* VCM5_NETIF_PORT_NI_PORT_DATA_H_ */
