/* debug_gdb.h: a server of GDB's remote protocol in front of the debugger: `lockstep debug --gdb`. It listens on the
 * loopback interface only and serves one client, then ends. */
#ifndef DEBUG_DEBUG_GDB_H
#define DEBUG_DEBUG_GDB_H

#include "lockstep/status.h"

#include <stdbool.h>
#include <stdio.h>

struct debugger;
typedef struct debug_gdb debug_gdb;

/* Listens and says where, then waits for the client. port 0: any that is free. */
ls_status debug_gdb_open(struct debugger *d, uint16_t port, FILE *console, debug_gdb **out, ls_error *err);
void debug_gdb_close(debug_gdb *g); /* NULL is fine */

/* The program stands: says so to the client and serves it until the program may go on; false: it ends. */
bool debug_gdb_talk(debug_gdb *g);
/* While the program runs: whether the client wants it to stop. Looks at the socket once in a while. */
bool debug_gdb_interrupts(debug_gdb *g);
/* The program has ended with this exit code: says so, and serves the client until it leaves. */
void debug_gdb_ended(debug_gdb *g, int code);
/* Why the client left, if it did not say goodbye; NULL: it did. */
const char *debug_gdb_lost(const debug_gdb *g);

#endif
