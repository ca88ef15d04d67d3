#include "netif/port/supervisor_port.h"

#include <string.h>

/* Where a port that has no engine yet rings. Nothing ever reads it. */
static uint8_t unheard_bell;
static struct vcm5_doorbell unheard_doorbell;

static void wake_nothing(struct vcm5_doorbell *doorbell) { (void)doorbell; }

static bool is_privileged(int kind) {
  return kind > VCM5_BROADCAST_USER && kind < VCM5_BROADCAST_KINDS;
}

static void wake_if_asleep(const struct vcm5_supervisor_port *port,
                           struct vcm5_doorbell *doorbell) {
  /* Supervisors are seldom heard, so they pay for the fence themselves. */
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (vcm5_load_relaxed(&doorbell->sleeping) != 0) port->wake(doorbell);
}

static void ring(const struct vcm5_supervisor_port *port) {
  /* SYNC control_bell: pairs with the exchange in Doorbell::Take(). */
  __atomic_store_n(port->bell, (uint8_t)1, __ATOMIC_RELEASE);
  wake_if_asleep(port, port->doorbell);
}

const char *vcm5_supervisor_attach(struct vcm5_supervisor_port *port,
                                   struct vcm5_supervisor_page *page) {
  if (page->magic != VCM5_SUPERVISOR_MAGIC) return "not a supervisor page";
  if (page->version != VCM5_NI_VERSION) return "a supervisor page of another version";
  memset(port, 0, sizeof *port);
  port->page = page;
  port->bell = &unheard_bell;
  port->doorbell = &unheard_doorbell;
  for (int half = 0; half < VCM5_HALVES; ++half) port->data_doorbell[half] = &unheard_doorbell;
  port->wake = wake_nothing;
  for (int kind = 0; kind < VCM5_BROADCAST_KINDS; ++kind) {
    /* One supervisor may follow another. */
    port->fifo[kind].out_tail = vcm5_load_relaxed(&page->supervisor.out_tail[kind]);
    port->fifo[kind].in_head = vcm5_load_relaxed(&page->supervisor.in_head[kind]);
  }
  return NULL;
}

bool vcm5_supervisor_broadcast(struct vcm5_supervisor_port *port, int kind, const uint32_t *words,
                               uint32_t length) {
  if (!is_privileged(kind) || length - 1 >= VCM5_SUPERVISOR_WORDS_MAX) return false;
  struct vcm5_supervisor_fifo *f = &port->fifo[kind];
  /* SYNC control_out_head: pairs with the release in ControlFifo::FreeTaken(). */
  const uint32_t head = vcm5_load_acquire(&port->page->control.out_head[kind]);
  if (f->out_tail - head + length > VCM5_SUPERVISOR_DEPTH) return false;
  for (uint32_t i = 0; i < length; ++i) {
    struct vcm5_control_entry *entry =
        &port->page->out[kind][f->out_tail++ % VCM5_SUPERVISOR_DEPTH];
    entry->word = words[i];
    entry->control = VCM5_ENTRY_LENGTH(length) | (i == 0 ? VCM5_ENTRY_FIRST : 0) |
                     (i + 1 == length ? VCM5_ENTRY_LAST : 0);
  }
  /* SYNC control_out_tail: pairs with the acquire in ControlFifo::Look(). */
  vcm5_store_release(&port->page->supervisor.out_tail[kind], f->out_tail);
  ring(port);
  return true;
}

bool vcm5_supervisor_sent(const struct vcm5_supervisor_port *port, int kind) {
  return is_privileged(kind) &&
         vcm5_load_acquire(&port->page->control.out_head[kind]) == port->fifo[kind].out_tail;
}

void vcm5_supervisor_listen(struct vcm5_supervisor_port *port, int kind, bool listen) {
  if (!is_privileged(kind)) return;
  const uint32_t before = vcm5_load_relaxed(&port->page->registers.listening);
  const uint32_t bit = 1u << kind;
  vcm5_store_release(&port->page->registers.listening, listen ? before | bit : before & ~bit);
}

static const struct vcm5_control_entry *peek(const struct vcm5_supervisor_port *port, int kind) {
  const struct vcm5_supervisor_fifo *f = &port->fifo[kind];
  /* SYNC control_in_tail: pairs with the release in ControlFifo::Publish(). */
  if (vcm5_load_acquire(&port->page->control.in_tail[kind]) == f->in_head) return NULL;
  return &port->page->in[kind][f->in_head % VCM5_SUPERVISOR_DEPTH];
}

uint32_t vcm5_supervisor_receive_length(struct vcm5_supervisor_port *port, int kind) {
  if (!is_privileged(kind)) return 0;
  const struct vcm5_control_entry *entry = peek(port, kind);
  if (entry == NULL) return 0;
  return port->fifo[kind].pop_left != 0 ? port->fifo[kind].pop_left
                                        : VCM5_ENTRY_LENGTH_OF(entry->control);
}

uint32_t vcm5_supervisor_receive_word(struct vcm5_supervisor_port *port, int kind) {
  const uint32_t length = vcm5_supervisor_receive_length(port, kind);
  if (length == 0) return 0;
  struct vcm5_supervisor_fifo *f = &port->fifo[kind];
  const uint32_t word = peek(port, kind)->word;
  f->pop_left = length - 1;
  f->in_head++;
  /* SYNC control_in_head: pairs with the acquire in ControlFifo::RefreshRead(). */
  vcm5_store_release(&port->page->supervisor.in_head[kind], f->in_head);
  ring(port);
  return word;
}

void vcm5_supervisor_set_async_or(struct vcm5_supervisor_port *port, bool bit) {
  vcm5_store_release(&port->page->supervisor.async_or, bit);
  ring(port);
}

bool vcm5_supervisor_async_or(const struct vcm5_supervisor_port *port) {
  return vcm5_load_acquire(&port->page->control.async_or_result) != 0;
}

uint32_t vcm5_supervisor_async_or_rises(const struct vcm5_supervisor_port *port) {
  return vcm5_load_acquire(&port->page->control.async_or_rises);
}

void vcm5_supervisor_set_async_or_interrupts(struct vcm5_supervisor_port *port, bool interrupts) {
  vcm5_store_release(&port->page->supervisor.interrupt_mask,
                     interrupts ? VCM5_INTERRUPT_ASYNC_OR : 0);
}

static void ask(struct vcm5_supervisor_port *port, uint32_t *how_often) {
  /* Each supervisor of the page goes on from the one before. */
  vcm5_store_release(how_often, vcm5_load_relaxed(how_often) + 1);
  ring(port);
}

void vcm5_supervisor_flush(struct vcm5_supervisor_port *port) {
  ask(port, &port->page->registers.flushes);
}

bool vcm5_supervisor_flushed(const struct vcm5_supervisor_port *port) {
  /* SYNC flushed: pairs with the release in SupervisorPort::ShowFlushed(). */
  return vcm5_load_acquire(&port->page->control.flushed) != 0;
}

void vcm5_supervisor_reinitiate(struct vcm5_supervisor_port *port) {
  ask(port, &port->page->registers.reinitiations);
}

void vcm5_supervisor_set_hard_error(struct vcm5_supervisor_port *port, bool bit) {
  vcm5_store_release(&port->page->registers.hard_error, bit);
  ring(port);
}

bool vcm5_supervisor_hard_error(const struct vcm5_supervisor_port *port) {
  return vcm5_load_acquire(&port->page->control.hard_error) != 0;
}

static bool is_half(int half) { return half == VCM5_LEFT || half == VCM5_RIGHT; }

bool vcm5_supervisor_send(struct vcm5_supervisor_port *port, int half, uint32_t physical,
                          uint32_t tag, const uint32_t *words, uint32_t length) {
  if (!is_half(half) || tag < VCM5_FIRST_SYSTEM_TAG || tag > VCM5_LAST_SYSTEM_TAG ||
      length - 1 >= VCM5_SYSTEM_WORDS_MAX) {
    return false;
  }
  struct vcm5_supervisor_page *page = port->page;
  const uint32_t tail = vcm5_load_relaxed(&page->supervisor_data.out_tail[half]);
  /* SYNC system_out_head: pairs with the release in SystemPort::PublishTaken(). */
  if (tail - vcm5_load_acquire(&page->data[half].out_head) >= VCM5_SYSTEM_DEPTH) return false;
  struct vcm5_system_message *message = &page->data_out[half][tail % VCM5_SYSTEM_DEPTH];
  message->address = physical;
  message->control = VCM5_SYSTEM_CONTROL(tag, length);
  memcpy(message->words, words, (size_t)length * 4);
  /* SYNC system_out_tail: pairs with the acquire in SystemPort::Look(). */
  vcm5_store_release(&page->supervisor_data.out_tail[half], tail + 1);
  /* SYNC supervisor_bell: pairs with the exchange in Doorbell::TakeSupervisors(). */
  vcm5_store_release(&port->data_doorbell[half]->supervisor_bell[half], 1);
  wake_if_asleep(port, port->data_doorbell[half]);
  return true;
}

bool vcm5_supervisor_data_sent(const struct vcm5_supervisor_port *port, int half) {
  return is_half(half) &&
         vcm5_load_acquire(&port->page->data[half].out_head) ==
             vcm5_load_relaxed(&port->page->supervisor_data.out_tail[half]);
}

bool vcm5_supervisor_receive(struct vcm5_supervisor_port *port, int half,
                             struct vcm5_system_message *message) {
  if (!is_half(half)) return false;
  struct vcm5_supervisor_page *page = port->page;
  const uint32_t head = vcm5_load_relaxed(&page->supervisor_data.in_head[half]);
  /* SYNC system_in_tail: pairs with the release in SystemPort::PublishDelivered(). */
  if (vcm5_load_acquire(&page->data[half].in_tail) == head) return false;
  *message = page->data_in[half][head % VCM5_SYSTEM_DEPTH];
  /* SYNC system_in_head: pairs with the acquire in SystemPort::Deliver(). */
  vcm5_store_release(&page->supervisor_data.in_head[half], head + 1);
  return true;
}

uint32_t vcm5_supervisor_dropped(const struct vcm5_supervisor_port *port, int half) {
  return is_half(half) ? vcm5_load_acquire(&port->page->data[half].dropped) : 0;
}
