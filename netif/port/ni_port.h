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

#include "netif/port/ni_port_control.h"
#include "netif/port/ni_port_data.h"
#include "netif/port/ni_port_state.h"

#endif /* VCM5_NETIF_PORT_NI_PORT_H_ */
