/* The supervisor's side of a network interface: register operations of the privileged broadcasts,
 * the supervisor's asynchronous OR (paper section 5, CN2, CN6, NI9) and messages of the system in
 * the data network (sections 2 and 3, NI8). For whoever has the supervisor page mapped, which
 * programs have not.
 *
 * `kind` is VCM5_BROADCAST_SUPERVISOR, _INTERRUPT or _UTILITY. Nothing here blocks. One thread a
 * port, one port a page and kind, or page and half of the data network. C11 and C++.
 */
#ifndef VCM5_NETIF_PORT_SUPERVISOR_PORT_H_
#define VCM5_NETIF_PORT_SUPERVISOR_PORT_H_

#include <stdbool.h>
#include <stdint.h>

#include "netif/shm/atomic_words.h"
#include "netif/shm/supervisor_page.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vcm5_supervisor_fifo {
  uint32_t out_tail;
  uint32_t in_head;
  uint32_t pop_left; /* words of the message at the head not yet popped; 0: none begun */
};

struct vcm5_supervisor_port {
  struct vcm5_supervisor_page *page;
  uint8_t *bell; /* of this node's broadcasts, in the control network's doorbell */
  struct vcm5_doorbell *doorbell;
  struct vcm5_doorbell *data_doorbell[VCM5_HALVES]; /* the data daemon's own */
  /* Wakes a network's driver if it sleeps on its doorbell. */
  void (*wake)(struct vcm5_doorbell *doorbell);
  struct vcm5_supervisor_fifo fifo[VCM5_BROADCAST_KINDS];
};

/* Makes `port` the supervisor's side of `page`. Returns NULL, or what is wrong with the page. The
 * bell is left to the engine; until it is set nobody hears the port. */
const char *vcm5_supervisor_attach(struct vcm5_supervisor_port *port,
                                   struct vcm5_supervisor_page *page);

/* Broadcasts a message of 1 to 4 words to all nodes of the partition. True if accepted; else try
 * again: at most VCM5_SUPERVISOR_DEPTH words of a kind are in flight. An interrupt broadcast interrupts every node with
 * its first word. One supervisor of a partition at a time may broadcast a kind. */
bool vcm5_supervisor_broadcast(struct vcm5_supervisor_port *port, int kind, const uint32_t *words,
                               uint32_t length);

/* Whether the network has taken all that was offered. */
bool vcm5_supervisor_sent(const struct vcm5_supervisor_port *port, int kind);

/* Whether this node wants broadcasts of `kind` in its incoming FIFO, as of the next one. Who
 * listens must read: the window of VCM5_SUPERVISOR_DEPTH words is the whole partition's. At first nobody listens. */
void vcm5_supervisor_listen(struct vcm5_supervisor_port *port, int kind, bool listen);

/* Words left of the message that waits, whole; 0: none. */
uint32_t vcm5_supervisor_receive_length(struct vcm5_supervisor_port *port, int kind);
/* Takes the next word; ask vcm5_supervisor_receive_length first. */
uint32_t vcm5_supervisor_receive_word(struct vcm5_supervisor_port *port, int kind);

/* The supervisor's asynchronous OR: this node's input; the partition's output of a moment ago; how
 * often that went from 0 to 1. */
void vcm5_supervisor_set_async_or(struct vcm5_supervisor_port *port, bool bit);
bool vcm5_supervisor_async_or(const struct vcm5_supervisor_port *port);
uint32_t vcm5_supervisor_async_or_rises(const struct vcm5_supervisor_port *port);
/* Whether that interrupts this node, as an interrupt broadcast of VCM5_ATTENTION_ASYNC_OR would. */
void vcm5_supervisor_set_async_or_interrupts(struct vcm5_supervisor_port *port, bool interrupts);

/* The end of a timeslice (CN10): asks for the control network to be flushed, which aborts what the
 * users' programs have in progress in it; whether it is, and so what NIs hold can be saved; asks for
 * it to be reinitiated, as soon as it is flushed: NIs go on with what they hold. When they do it is no
 * longer flushed, and may be flushed again. One supervisor of a partition at a time does this. */
void vcm5_supervisor_flush(struct vcm5_supervisor_port *port);
bool vcm5_supervisor_flushed(const struct vcm5_supervisor_port *port);
void vcm5_supervisor_reinitiate(struct vcm5_supervisor_port *port);

/* Hard errors (CN8): says that this node, or a part of the machine that is watched in its name, has
 * one; the OR over the partition. */
void vcm5_supervisor_set_hard_error(struct vcm5_supervisor_port *port, bool bit);
bool vcm5_supervisor_hard_error(const struct vcm5_supervisor_port *port);

/* Messages of the system in the data network: through the users' links and chips, but from and to
 * FIFOs of their own. Sends one with a system tag (14 or 15) to the NI at a physical address, in
 * any partition. True if accepted; false if the outgoing FIFO is full, so try again, or if no
 * machine has such a tag or length. An address without NI, or more words than this machine's
 * messages have, are reported by the data network as this node's fault.
 *
 * A supervisor need not read: a message that finds the incoming FIFO full (VCM5_SYSTEM_DEPTH) is
 * dropped and counted. To hold it in the network would hold users' messages behind it, who cannot
 * know; to bound senders by credits would give each NI a count for every other, for traffic that is
 * rare. So supervisors that must not lose anything answer each other and have no more under way to
 * one NI than fit. On the way there a message waits as users' messages do, behind those for a program
 * that does not receive, and others behind it. */
bool vcm5_supervisor_send(struct vcm5_supervisor_port *port, int half, uint32_t physical,
                          uint32_t tag, const uint32_t *words, uint32_t length);
/* Whether the network has taken all that was accepted. */
bool vcm5_supervisor_data_sent(const struct vcm5_supervisor_port *port, int half);
/* Takes the message that waits; false: none. */
bool vcm5_supervisor_receive(struct vcm5_supervisor_port *port, int half,
                             struct vcm5_system_message *message);
/* Messages that this NI has dropped, as above. */
uint32_t vcm5_supervisor_dropped(const struct vcm5_supervisor_port *port, int half);

#ifdef __cplusplus
}
#endif

#endif /* VCM5_NETIF_PORT_SUPERVISOR_PORT_H_ */
