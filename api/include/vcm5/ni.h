/* The network interface at register level (paper section 2), for C11 and C++.
 *
 * Every function works on this node's own network interface, has no lock and makes no system call.
 * Sends and receives compile to loads and stores in the memory that the node shares with the
 * networks. Nothing here blocks: a send is accepted or refused as a whole, a receive finds
 * something or not. A program tries again, and meanwhile receives what has come:
 *
 *     do {
 *       vcm5_ni_dr_send_first(VCM5_LEFT, tag, 2, dest);
 *       vcm5_ni_dr_send_word(VCM5_LEFT, a);
 *       vcm5_ni_dr_send_word(VCM5_LEFT, b);
 *     } while (!vcm5_ni_dr_send_ok(VCM5_LEFT));      // and receive in the body
 *
 * Every question (`_ok`, `_status`, `_space`, `_complete`) whose answer is "nothing yet" lets
 * others run before it returns, so that a loop which polls is a good citizen under every engine. A
 * loop that asks nothing is not: where nodes are fibers of one process it stops the whole machine.
 *
 * The attachment to the machine happens at the first call. A program that was not started by
 * `vcm5 run` says so in one line then and exits with status 2.
 *
 * One thread a node may call. Words are 32 bits; lengths are in words; addresses are relative, 0 to
 * vcm5_ni_partition_size() - 1 for the nodes, then the host's if there is one (NI8). Requirement names (NI3, CN2, ...) are DESIGN.md's.
 */
#ifndef VCM5_NI_H_
#define VCM5_NI_H_

#include <stdbool.h>
#include <stdint.h>

#include "netif/port/ni_port.h"

#ifdef __cplusplus
extern "C" {
#endif

/* This node's port. Until the first call it is one that refuses every send and never receives;
 * what it does when asked for the first time is to attach (api/self.c). */
extern struct vcm5_port *vcm5_self_port;
extern struct vcm5_port vcm5_unattached_port;

/* Attaches now, if that has not happened yet. Returns this node's port. Exits with status 2 if
 * there is no machine. */
struct vcm5_port *vcm5_ni_attach(void);

/* This node's port, attached. For calls off the fast path, and for programs that want to use
 * netif/port/ni_port.h themselves. */
static inline struct vcm5_port *vcm5_ni_port(void) {
  return __builtin_expect(vcm5_self_port != &vcm5_unattached_port, 1) ? vcm5_self_port
                                                                      : vcm5_ni_attach();
}

/* ---- who and where ------------------------------------------------------------------------- */

/* This node's relative address. */
static inline uint32_t vcm5_ni_self(void) { return vcm5_ni_port()->self; }

/* Nodes in the partition; the host is none of them. */
static inline uint32_t vcm5_ni_partition_size(void) { return vcm5_ni_port()->partition_size; }

/* The host (SY4): the partition's control processor, if `vcm5 run --host` gave it one. It is one more
 * member, with a network interface as the nodes': messages go to it and come from it, and it takes
 * part in all operations of the control network, last in the order of scans, or abstains. */
static inline bool vcm5_ni_has_host(void) { return vcm5_port_has_host(vcm5_ni_port()); }
/* Whether this program is the host. */
static inline bool vcm5_ni_is_host(void) { return vcm5_port_is_host(vcm5_ni_port()); }
/* The host's relative address: vcm5_ni_partition_size(). Without a host nobody has it, and a message
 * to it is one to an address outside the partition, which ends the job. */
static inline uint32_t vcm5_ni_host(void) { return vcm5_ni_partition_size(); }

/* Longest data-network message: 5 words on a CM-5, 18 on a CM-5E (NI3). */
static inline uint32_t vcm5_ni_words_max(void) { return vcm5_ni_port()->words_max; }

/* ---- status words -------------------------------------------------------------------------- */

/* Fields of what the `_status` calls return. Bit positions are ours; use the macros. */
#define VCM5_SEND_OK(status) ((status)&1u)             /* the message last pushed was accepted */
#define VCM5_RECEIVE_OK(status) (((status) >> 1) & 1u) /* a message waits */
#define VCM5_SEND_EMPTY(status) (((status) >> 2) & 1u) /* all that was sent is taken */
#define VCM5_COMBINE_OVERFLOW(status) (((status) >> 3) & 1u) /* of the result that waits */
#define VCM5_RECEIVE_TAG(status) (((status) >> 4) & 0xfu)    /* data network only */
#define VCM5_RECEIVE_LENGTH(status) (((status) >> 8) & 0xffu)
#define VCM5_RECEIVE_LENGTH_LEFT(status) (((status) >> 16) & 0xffu)
#define VCM5_SEND_SPACE(status) (((status) >> 24) & 0xffu) /* at most 255, though there be more */

/* ---- data network (paper section 3); `half` is VCM5_LEFT or VCM5_RIGHT ---------------------- */

/* Begins a message: `tag` (0..9 are the user's; 10..13 belong to the vcm5 C++ library and 14..15 to
 * the system), `length` in words (1..vcm5_ni_words_max(); any other is refused), destination. Push
 * `length` words with vcm5_ni_dr_send_word, then ask vcm5_ni_dr_send_ok. Messages between two nodes
 * may overtake each other. */
static inline void vcm5_ni_dr_send_first(int half, uint32_t tag, uint32_t length, uint32_t dest) {
  vcm5_port_send_first(vcm5_self_port, half, dest, tag, length);
}

/* Pushes the next word; the last one offers the whole message to the network. */
static inline void vcm5_ni_dr_send_word(int half, uint32_t word) {
  vcm5_port_send_word(vcm5_self_port, half, word);
}

/* Whether the network accepted the message last pushed. If not, receive what has come, then push
 * all of it again. */
static inline bool vcm5_ni_dr_send_ok(int half) { return vcm5_port_send_ok(vcm5_self_port, half); }

/* A whole message at once: true if accepted. */
static inline bool vcm5_ni_dr_send(int half, uint32_t tag, uint32_t dest, const uint32_t *words,
                                   uint32_t length) {
  struct vcm5_port *port = vcm5_self_port;
  if (length - 1 < port->words_max && vcm5_port_send(port, half, dest, tag, words, length)) {
    return true;
  }
  vcm5_port_miss(port);
  return false;
}

/* Messages that the outgoing FIFO can take now. */
static inline uint32_t vcm5_ni_dr_send_space(int half) {
  uint32_t space = vcm5_port_send_space(vcm5_self_port, half);
  if (space == 0) vcm5_port_miss(vcm5_self_port);
  return space;
}

/* Whether a message waits in the incoming FIFO. */
static inline bool vcm5_ni_dr_receive_ok(int half) {
  return vcm5_port_receive_ok(vcm5_self_port, half);
}

/* Of the message that waits: tag, length, words of it not yet received. 0 if none waits. */
static inline uint32_t vcm5_ni_dr_receive_tag(int half) {
  return vcm5_port_receive_tag(vcm5_self_port, half);
}
static inline uint32_t vcm5_ni_dr_receive_length(int half) {
  return vcm5_port_receive_length(vcm5_self_port, half);
}
static inline uint32_t vcm5_ni_dr_receive_length_left(int half) {
  return vcm5_port_receive_length_left(vcm5_self_port, half);
}

/* Takes the next word of the message that waits; with its last word the message is received. Ask
 * vcm5_ni_dr_receive_ok before the first. */
static inline uint32_t vcm5_ni_dr_receive_word(int half) {
  return vcm5_port_receive_word(vcm5_self_port, half);
}

/* All fields in one word. Lets others run if there is nothing to receive and either the last send
 * was refused or nothing was sent since the status was last read. */
uint32_t vcm5_ni_dr_status(int half);

/* Messages that this node has put into and taken out of a half, modulo 2^32 (NI10). */
static inline uint32_t vcm5_ni_dr_messages_sent(int half) {
  return vcm5_ni_port()->half[half].out_tail;
}
static inline uint32_t vcm5_ni_dr_messages_received(int half) {
  return vcm5_ni_port()->half[half].received;
}

/* ---- broadcast (section 5, CN2) ------------------------------------------------------------- */

/* As for the data network, to all nodes, the sender included; `length` is 1 to 8 words. Messages
 * arrive everywhere in the order sent. One node at a time may broadcast: the next source begins
 * when it has received all of the previous one's. */
static inline void vcm5_ni_bc_send_first(uint32_t length, uint32_t word) {
  vcm5_port_control_first(vcm5_self_port, VCM5_FIFO_BROADCAST, 0, length, word);
}
static inline void vcm5_ni_bc_send_word(uint32_t word) {
  vcm5_port_control_word(vcm5_self_port, VCM5_FIFO_BROADCAST, word);
}
static inline bool vcm5_ni_bc_send_ok(void) {
  return vcm5_port_control_send_ok(vcm5_self_port, VCM5_FIFO_BROADCAST);
}
static inline bool vcm5_ni_bc_receive_ok(void) {
  return vcm5_port_control_receive_ok(vcm5_self_port, VCM5_FIFO_BROADCAST);
}
static inline uint32_t vcm5_ni_bc_receive_word(void) {
  return vcm5_port_control_receive_word(vcm5_self_port, VCM5_FIFO_BROADCAST);
}
uint32_t vcm5_ni_bc_status(void);

/* ---- combine: reduce and scan (section 5, CN3, CN4) ------------------------------------------ */

/* Begins a value of `length` words (1 to 8): VCM5_OR, _XOR, _MAX (signed, most significant word
 * first), _ADD, _UADD (least significant word first); VCM5_REDUCE, _SCAN_FORWARD, _SCAN_BACKWARD
 * (exclusive: the first node in the scan's direction, and one whose segment-start bit is set,
 * receive the identity). All nodes that do not abstain push the same operations in the same order;
 * they are pipelined, as many as the FIFO takes. Operations that disagree are an error told to all.
 */
static inline void vcm5_ni_com_send_first(enum vcm5_combiner combiner, enum vcm5_pattern pattern,
                                          uint32_t length, uint32_t word) {
  vcm5_port_combine_first(vcm5_self_port, combiner, pattern, length, word);
}
static inline void vcm5_ni_com_send_word(uint32_t word) {
  vcm5_port_control_word(vcm5_self_port, VCM5_FIFO_COMBINE, word);
}
static inline bool vcm5_ni_com_send_ok(void) {
  return vcm5_port_control_send_ok(vcm5_self_port, VCM5_FIFO_COMBINE);
}
static inline bool vcm5_ni_com_receive_ok(void) {
  return vcm5_port_control_receive_ok(vcm5_self_port, VCM5_FIFO_COMBINE);
}
static inline uint32_t vcm5_ni_com_receive_word(void) {
  return vcm5_port_control_receive_word(vcm5_self_port, VCM5_FIFO_COMBINE);
}
/* All fields, VCM5_COMBINE_OVERFLOW among them, of the result that waits. */
uint32_t vcm5_ni_com_status(void);

/* The segment-start bit, as of the values pushed from now on; returns the previous one. */
bool vcm5_ni_set_segment_start(bool bit);
bool vcm5_ni_segment_start(void);

/* ---- router done (section 5, CN5) ------------------------------------------------------------ */

/* Says that this node has no more messages to send of its own accord. True if accepted. */
bool vcm5_ni_router_done_send(void);

/* True, once, when all nodes have said so and no message is in the data network. Keep receiving
 * until then. */
bool vcm5_ni_router_done_complete(void);

/* ---- the ORs (section 5, CN6, CN7) ----------------------------------------------------------- */

/* The synchronous OR, which is also the barrier: push a bit, go on working, and when complete read
 * the OR of all nodes' bits. _send: true if accepted. _read takes the result; ask _complete first.
 */
bool vcm5_ni_sync_or_send(bool bit);
static inline bool vcm5_ni_sync_or_complete(void) {
  return vcm5_port_control_receive_ok(vcm5_self_port, VCM5_FIFO_SYNC_OR);
}
static inline bool vcm5_ni_sync_or_read(void) {
  return vcm5_port_control_receive_word(vcm5_self_port, VCM5_FIFO_SYNC_OR) != 0;
}

/* The asynchronous OR: sets this node's bit; reads the OR of all bits, as of a moment ago. A read
 * that tells nothing new lets others run. */
void vcm5_ni_async_or_set(bool bit);
bool vcm5_ni_async_or_read(void);

/* What is called when the asynchronous OR goes from 0 to 1; NULL: nothing. It is an interrupt like
 * those by tag below: only while interrupts are enabled, else when they are again. */
void vcm5_ni_set_async_or_handler(void (*handler)(void *argument), void *argument);

/* ---- interrupt broadcasts (section 5, CN2) --------------------------------------------------- */

/* What is called when a supervisor's interrupt broadcast comes, with its word; NULL: nothing. It
 * grabs the node's attention whether interrupts are enabled or not, so it must leave the network
 * interface alone, but may look at status registers and set variables. The word
 * VCM5_ATTENTION_ASYNC_OR says that the supervisor's asynchronous OR rose, VCM5_ATTENTION_HARD_ERROR
 * that vcm5_ni_hard_error() has become true. SIGUSR1 to `vcm5 run` is
 * an interrupt broadcast whose word is that signal's number. */
void vcm5_ni_set_attention_handler(void (*handler)(uint32_t word, void *argument), void *argument);

/* ---- errors (section 5, CN8) ----------------------------------------------------------------- */

/* The first error that the control network has signalled to all nodes of the partition; 0: none.
 * VCM5_ERROR_KIND(error) and VCM5_ERROR_PACKET(error, side) take it apart;
 * VCM5_ERROR_NODE(*parties, side) is the first node of either party. The operations concerned never
 * complete, and the job ends. */
static inline uint32_t vcm5_ni_error(uint32_t *parties) {
  return vcm5_port_error(vcm5_ni_port(), parties);
}

/* Whether a chip, a link or a network interface that the partition's messages pass has a hard error.
 * The job ends a moment after that. */
static inline bool vcm5_ni_hard_error(void) { return vcm5_port_hard_error(vcm5_ni_port()); }

/* ---- abstaining (NI7) ------------------------------------------------------------------------ */

/* From the next operation of the class on, this node takes no part (true), or does again (false).
 * `fifo` is VCM5_FIFO_COMBINE, _BROADCAST, _ROUTER_DONE or _SYNC_OR. True if accepted. */
bool vcm5_ni_set_abstain(int fifo, bool abstain);

/* ---- interrupts by tag (NI5) ----------------------------------------------------------------- */

/* Which tags interrupt on arrival, bit t for tag t. Returns the previous mask. */
uint32_t vcm5_ni_set_interrupt_mask(uint32_t mask);

/* What is called, with interrupts off, while a message with such a tag waits. It receives the
 * message, else it is called again. It runs in place of a question's "nothing yet", when interrupts
 * are enabled, and where the node is a process at any other instant, too: so disable interrupts
 * around sends and receives of the program that the handler's own must not come between. NULL:
 * none. */
void vcm5_ni_set_interrupt_handler(void (*handler)(void *argument), void *argument);

/* Both return whether interrupts were enabled before:
 *     bool enabled = vcm5_ni_disable_interrupts(); ... if (enabled) vcm5_ni_enable_interrupts(); */
bool vcm5_ni_enable_interrupts(void);
bool vcm5_ni_disable_interrupts(void);

/* ---- testing --------------------------------------------------------------------------------- */

/* Refuses every n-th message offered to any FIFO for no reason, so that a program's retries are
 * exercised; 0 stops that. n is at least 2: a machine that accepts nothing helps nobody. */
void vcm5_ni_set_send_refuse(uint32_t n);

#ifdef __cplusplus
}
#endif

#endif /* VCM5_NI_H_ */
