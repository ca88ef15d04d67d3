/* How a node process gets its network interface. C11 and C++. */
#ifndef VCM5_RUNTIME_NODE_ATTACH_H_
#define VCM5_RUNTIME_NODE_ATTACH_H_

#include "netif/port/ni_port.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The port of this process (engine `daemons`) or of the running fiber (engine `embedded`), attached
 * at the first call. Outside of vcm5, or when what the launcher passed does not make sense, prints
 * one line to standard error and exits with status 2. Call from the thread that will use the port. */
struct vcm5_port *vcm5_attach_self(void);

#ifdef __cplusplus
}
#endif

#endif /* VCM5_RUNTIME_NODE_ATTACH_H_ */
