#include "netif/port/ni_port.h"

#include <stddef.h>

/* Where a port that has no engine yet rings. Nothing ever reads it. */
static uint8_t unheard_bell[VCM5_CONTROL_BELL_STRIDE * VCM5_CONTROL_FIFOS];
static struct vcm5_doorbell unheard_doorbell;

static void idle_nothing(struct vcm5_port *port) { (void)port; }
static void wake_nothing(struct vcm5_doorbell *doorbell) { (void)doorbell; }

static bool is_power_of_two(uint32_t value) { return value != 0 && (value & (value - 1)) == 0; }

const char *vcm5_port_attach(struct vcm5_port *port, struct vcm5_ni_page *page, uint32_t bytes) {
  if (bytes < sizeof *page || page->magic != VCM5_NI_MAGIC) return "not a network interface page";
  if (page->version != VCM5_NI_VERSION) return "a network interface page of another version";
  if (page->words_max < 1 || page->words_max > VCM5_WORDS_MAX) return "bad longest message";
  if (page->slot_bytes < 12 + 4 * page->words_max || page->slot_bytes % 32 != 0 ||
      page->slot_bytes > 96) {
    return "bad slot size";
  }
  if (!is_power_of_two(page->data_depth) || page->data_depth > 1u << 16) return "bad FIFO depth";
  for (int fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) {
    if (!is_power_of_two(page->control_depth[fifo]) || page->control_depth[fifo] < 4 || page->control_depth[fifo] > 1u << 16) {
      return "bad FIFO depth";
    }
  }
  if (page->addresses - page->partition_size > 1) return "bad partition";
  const struct vcm5_ni_offsets offsets =
      vcm5_ni_compute_offsets(page->slot_bytes, page->data_depth, page->control_depth);
  if (offsets.bytes != bytes || page->bytes != bytes) return "bad size";

  memset(port, 0, sizeof *port);
  uint8_t *base = (uint8_t *)page;
  port->page = page;
  port->self = page->self;
  port->partition_size = page->partition_size;
  port->addresses = page->addresses;
  port->words_max = page->words_max;
  port->slot_bytes = page->slot_bytes;
  port->data_mask = page->data_depth - 1;
  port->data_batch = page->data_depth >= 8 ? page->data_depth / 4 : 1;
  for (int half = 0; half < VCM5_HALVES; ++half) {
    port->half[half].out = base + offsets.data_out[half];
    port->half[half].in = base + offsets.data_in[half];
    port->half[half].send_ok = true;
    port->data_bell[half] = unheard_bell;
    port->data_doorbell[half] = &unheard_doorbell;
  }
  for (int fifo = 0; fifo < VCM5_CONTROL_FIFOS; ++fifo) {
    port->fifo[fifo].out = (struct vcm5_control_entry *)(void *)(base + offsets.control_out[fifo]);
    port->fifo[fifo].in = (struct vcm5_control_entry *)(void *)(base + offsets.control_in[fifo]);
    port->fifo[fifo].depth = page->control_depth[fifo];
    port->fifo[fifo].send_ok = true;
  }
  port->control_bell = unheard_bell;
  port->control_doorbell = &unheard_doorbell;
  port->idle = idle_nothing;
  port->wake = wake_nothing;
  return NULL;
}

static void publish_held_back(struct vcm5_port *port) {
  port->holds_back = false;
  for (int half = 0; half < VCM5_HALVES; ++half) {
    if (port->half[half].in_head != port->half[half].in_head_told) {
      vcm5_port_flush_half(port, half);
    }
  }
}

/* While a router-done operation runs: lets the control network count again. */
static void tell_received(struct vcm5_port *port) {
  const struct vcm5_port_fifo *fifo = &port->fifo[VCM5_FIFO_ROUTER_DONE];
  port->in_router_done = fifo->out_tail != fifo->in_head;
  const uint32_t received = port->half[VCM5_LEFT].received + port->half[VCM5_RIGHT].received;
  if (!port->in_router_done || received == port->received_told) return;
  port->received_told = received;
  vcm5_port_ring_control_bell(port, VCM5_FIFO_ROUTER_DONE);
}

static void miss_with_interrupts(struct vcm5_port *port) {
  if (vcm5_port_take_interrupts(port)) return;
  port->idle(port);
  vcm5_port_take_interrupts(port);
}

void vcm5_port_miss(struct vcm5_port *port) {
  if (port->holds_back) publish_held_back(port);
  if (__builtin_expect(port->in_router_done, 0)) tell_received(port);
  port->misses++;
  if (__builtin_expect(port->attentive, 0)) {
    miss_with_interrupts(port);
    return;
  }
  port->idle(port);
}

void vcm5_port_set_async_or_handler(struct vcm5_port *port, void (*handler)(void *argument),
                                    void *argument) {
  port->async_or_handler = NULL; /* a signal may come between these lines */
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  port->async_or_argument = argument;
  port->rises_seen = vcm5_load_acquire(&port->page->control.async_or_rises);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  port->async_or_handler = handler;
  vcm5_store_release(&port->page->node_control.interrupt_mask,
                     handler != NULL ? VCM5_INTERRUPT_ASYNC_OR : 0);
}

void vcm5_port_set_attention_handler(struct vcm5_port *port,
                                     void (*handler)(uint32_t word, void *argument),
                                     void *argument) {
  port->attention_handler = NULL;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  port->attention_argument = argument;
  port->attention_seen = vcm5_load_acquire(&port->page->control.interrupts);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  port->attention_handler = handler;
  vcm5_port_note_interrupts(port);
}

static bool take_attention(struct vcm5_port *port) {
  if (port->attention_handler == NULL || port->in_attention) return false;
  /* SYNC interrupts: pairs with the release in ControlPort::InterruptNode(). */
  const uint32_t interrupts = vcm5_load_acquire(&port->page->control.interrupts);
  if (interrupts == port->attention_seen) return false;
  port->attention_seen = interrupts;
  port->in_attention = true;
  port->attention_handler(vcm5_load_relaxed(&port->page->control.interrupt_word),
                          port->attention_argument);
  port->in_attention = false;
  return true;
}

static bool take_async_or(struct vcm5_port *port) {
  if (port->async_or_handler == NULL) return false;
  const uint32_t rises = vcm5_load_acquire(&port->page->control.async_or_rises);
  if (rises == port->rises_seen) return false;
  port->rises_seen = rises;
  port->in_interrupt = true;
  port->async_or_handler(port->async_or_argument);
  port->in_interrupt = false;
  return true;
}

static bool take_messages(struct vcm5_port *port) {
  if (port->interrupt_handler == NULL) return false;
  const uint32_t mask = vcm5_load_relaxed(&port->page->node_data.interrupt_mask);
  bool called = false;
  for (int half = 0; half < VCM5_HALVES; ++half) {
    const uint8_t *packet = vcm5_port_peek(port, half);
    if (packet == NULL || ((mask >> vcm5_packet_tag(packet)) & 1u) == 0) continue;
    port->in_interrupt = true;
    port->interrupt_handler(port->interrupt_argument);
    port->in_interrupt = false;
    called = true;
  }
  return called;
}

bool vcm5_port_take_interrupts(struct vcm5_port *port) {
  bool called = take_attention(port);
  if (!port->interrupts_enabled || port->in_interrupt) return called;
  called |= take_async_or(port);
  called |= take_messages(port);
  return called;
}
