/* This node's port: how it comes to be at the first call, and the operations of vcm5/ni.h that are
 * not worth a place in line.
 *
 * Fast calls look at no flag to see whether the node is attached. Before it is, vcm5_self_port
 * points at a port whose outgoing FIFOs are full and whose incoming ones are empty; so the first
 * question misses, and its `idle` attaches. What was pushed until then counts as refused.
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/node/attach.h"
#include "vcm5/ni.h"

static void attach_instead_of_idling(struct vcm5_port *port) {
  (void)port;
  vcm5_ni_attach();
}

static struct vcm5_ni_page empty_page;
static struct vcm5_control_entry no_entry;

#define FULL_HALF \
  { .out_tail = 1, .send_ok = false }
#define FULL_FIFO \
  { .out = &no_entry, .in = &no_entry, .depth = 0, .send_ok = false }

struct vcm5_port vcm5_unattached_port = {
    .page = &empty_page,
    .words_max = VCM5_WORDS_MAX,
    .half = {FULL_HALF, FULL_HALF},
    .fifo = {FULL_FIFO, FULL_FIFO, FULL_FIFO, FULL_FIFO},
    .idle = attach_instead_of_idling,
};

struct vcm5_port *vcm5_self_port = &vcm5_unattached_port;

struct vcm5_port *vcm5_ni_attach(void) {
  if (vcm5_self_port != &vcm5_unattached_port) return vcm5_self_port;
  struct vcm5_port *port = vcm5_attach_self();
  if (port == NULL) {
    /* The machine is there, but no node runs: the program is only being loaded. */
    fputs("vcm5: called before main, when this is no node yet\n", stderr);
    exit(2);
  }
  vcm5_self_port = port;
  return port;
}

/* ---- status ---------------------------------------------------------------------------------- */

static uint32_t at_most(uint32_t value, uint32_t limit) { return value < limit ? value : limit; }

/* The status calls ask the port as it is: what was pushed before the attachment was refused. */
uint32_t vcm5_ni_dr_status(int half) {
  struct vcm5_port *port = vcm5_self_port;
  struct vcm5_port_half *h = &port->half[half];
  const bool news = h->send_ok && h->out_tail != h->status_tail;
  h->status_tail = h->out_tail;
  if (vcm5_port_peek(port, half) == NULL && !news) vcm5_port_miss(port);
  const uint8_t *packet = vcm5_port_peek(port, half);
  const uint32_t space = vcm5_port_send_space(port, half);
  uint32_t status = (h->send_ok ? 1u : 0u) | (h->out_tail == h->out_head_seen ? 4u : 0u) |
                    at_most(space, 255) << 24;
  if (packet != NULL) {
    status |= 2u | vcm5_packet_tag(packet) << 4 | vcm5_packet_length(packet) << 8 |
              vcm5_port_receive_length_left(port, half) << 16;
  }
  return status;
}

static uint32_t control_status(int fifo) {
  struct vcm5_port *port = vcm5_self_port;
  struct vcm5_port_fifo *f = &port->fifo[fifo];
  const bool news = f->send_ok && f->out_tail != f->status_tail;
  f->status_tail = f->out_tail;
  if (vcm5_port_control_peek(port, fifo) == NULL && !news) vcm5_port_miss(port);
  const struct vcm5_control_entry *entry = vcm5_port_control_peek(port, fifo);
  const uint32_t space = vcm5_port_control_space(port, fifo);
  uint32_t status = (f->send_ok ? 1u : 0u) | (f->out_tail == f->out_head_seen ? 4u : 0u) |
                    at_most(space, 255) << 24;
  if (entry != NULL) {
    const uint32_t length = VCM5_ENTRY_LENGTH_OF(entry->control);
    status |= 2u | length << 8 | (f->pop_left != 0 ? f->pop_left : length) << 16;
    if ((entry->control & VCM5_ENTRY_OVERFLOW) != 0) status |= 8u;
  }
  return status;
}

uint32_t vcm5_ni_bc_status(void) { return control_status(VCM5_FIFO_BROADCAST); }
uint32_t vcm5_ni_com_status(void) { return control_status(VCM5_FIFO_COMBINE); }

/* ---- the rest -------------------------------------------------------------------------------- */

bool vcm5_ni_segment_start(void) { return vcm5_ni_port()->segment_start != 0; }

bool vcm5_ni_set_segment_start(bool bit) {
  const bool before = vcm5_ni_segment_start();
  vcm5_ni_port()->segment_start = bit ? VCM5_ENTRY_SEGMENT : 0;
  return before;
}

bool vcm5_ni_router_done_send(void) {
  struct vcm5_port *port = vcm5_ni_port();
  vcm5_port_control_first(port, VCM5_FIFO_ROUTER_DONE, 0, 1, 0);
  return vcm5_port_control_send_ok(port, VCM5_FIFO_ROUTER_DONE);
}

bool vcm5_ni_router_done_complete(void) {
  struct vcm5_port *port = vcm5_ni_port();
  if (!vcm5_port_control_receive_ok(port, VCM5_FIFO_ROUTER_DONE)) return false;
  vcm5_port_control_receive_word(port, VCM5_FIFO_ROUTER_DONE);
  return true;
}

bool vcm5_ni_sync_or_send(bool bit) {
  struct vcm5_port *port = vcm5_ni_port();
  vcm5_port_control_first(port, VCM5_FIFO_SYNC_OR, 0, 1, bit);
  return vcm5_port_control_send_ok(port, VCM5_FIFO_SYNC_OR);
}

void vcm5_ni_async_or_set(bool bit) { vcm5_port_set_async_or(vcm5_ni_port(), bit); }

bool vcm5_ni_async_or_read(void) {
  struct vcm5_port *port = vcm5_ni_port();
  uint32_t now = vcm5_port_async_or(port);
  if (now == port->async_or_seen) {
    vcm5_port_miss(port);
    now = vcm5_port_async_or(port);
  }
  port->async_or_seen = now;
  return now != 0;
}

void vcm5_ni_set_async_or_handler(void (*handler)(void *argument), void *argument) {
  vcm5_port_set_async_or_handler(vcm5_ni_port(), handler, argument);
}

void vcm5_ni_set_attention_handler(void (*handler)(uint32_t word, void *argument), void *argument) {
  vcm5_port_set_attention_handler(vcm5_ni_port(), handler, argument);
}

bool vcm5_ni_set_abstain(int fifo, bool abstain) {
  return vcm5_port_set_abstain(vcm5_ni_port(), fifo, abstain);
}

uint32_t vcm5_ni_set_interrupt_mask(uint32_t mask) {
  struct vcm5_port *port = vcm5_ni_port();
  const uint32_t before = vcm5_load_relaxed(&port->page->node_data.interrupt_mask);
  vcm5_store_relaxed(&port->page->node_data.interrupt_mask, mask & 0xffffu);
  return before;
}

void vcm5_ni_set_interrupt_handler(void (*handler)(void *argument), void *argument) {
  struct vcm5_port *port = vcm5_ni_port();
  port->interrupt_handler = handler;
  port->interrupt_argument = argument;
}

bool vcm5_ni_enable_interrupts(void) {
  struct vcm5_port *port = vcm5_ni_port();
  const bool before = port->interrupts_enabled;
  port->interrupts_enabled = true;
  vcm5_port_note_interrupts(port);
  vcm5_port_take_interrupts(port);
  return before;
}

bool vcm5_ni_disable_interrupts(void) {
  struct vcm5_port *port = vcm5_ni_port();
  const bool before = port->interrupts_enabled;
  port->interrupts_enabled = false;
  vcm5_port_note_interrupts(port);
  return before;
}

void vcm5_ni_set_send_refuse(uint32_t n) {
  struct vcm5_port *port = vcm5_ni_port();
  port->send_refuse = n == 1 ? 2 : n;
  port->refused_sends_left = port->send_refuse;
}
