/* gdb_protocol.h: requests of GDB's remote protocol and their answers. The program is behind a table of functions
 * (gdb_target), so that tests and the fuzzer need none. */
#ifndef DEBUG_GDB_PROTOCOL_H
#define DEBUG_GDB_PROTOCOL_H

#include "debug/gdb_packet.h"

/* Registers by number, in the order of the description. No gdb that distributions ship knows AMD's GPUs, and each refuses a
 * description without the registers of an architecture that it knows. So the description begins with those of AArch64:
 * x0 to x30, sp and cpsr are always 0, and pc is the wave's. They were chosen because no name of theirs is one of a GPU. */
enum {
    GDB_REG_X,
    GDB_REG_SP = 31,
    GDB_REG_PC,
    GDB_REG_CPSR,
    GDB_REG_EXEC,
    GDB_REG_VCC,
    GDB_REG_SCC,
    GDB_REG_M0,
    GDB_REG_MODE,
    GDB_REG_SGPR,
    GDB_SGPRS = 106,
    GDB_REG_VGPR = GDB_REG_SGPR + GDB_SGPRS,
    GDB_VGPRS = 256,
    GDB_REGS = GDB_REG_VGPR + GDB_VGPRS,
};
#define GDB_REGISTER_BYTES 256 /* the longest: 64 lanes */
/* Bytes of a register; 0: there is none of that number. */
uint32_t gdb_register_bytes(uint64_t number, uint32_t lanes);

typedef enum gdb_answer {
    GDB_YES,
    GDB_NO,
    GDB_HAS_NONE
} gdb_answer; /* done; refused; the register is not there */

/* Break points and watch points as packets Z0 to Z4 number them. */
enum { GDB_STOP_BREAK, GDB_STOP_HARD_BREAK, GDB_STOP_WRITE, GDB_STOP_READ, GDB_STOP_ACCESS, GDB_STOP_KINDS };

typedef struct gdb_target {
    void *self;
    uint32_t (*lanes)(void *self);
    uint64_t (*current)(void *self); /* the thread (a wave) that stopped; 0: the program does not run */
    void (*threads)(void *self, bool (*each)(void *each_self, uint64_t thread), void *each_self);
    bool (*select)(void *self, uint64_t thread); /* the functions below are about it; false: there is none */
    void (*describe)(void *self, char *out, size_t bytes);
    gdb_answer (*read_register)(void *self, uint64_t number, uint8_t *out); /* all of its bytes */
    gdb_answer (*write_register)(void *self, uint64_t number, const uint8_t *from);
    bool (*read_memory)(void *self, uint64_t address, void *out, uint64_t bytes);
    bool (*write_memory)(void *self, uint64_t address, const void *from, uint64_t bytes);
    bool (*stop_at)(void *self, unsigned kind, uint64_t address, uint64_t bytes, bool insert);
    /* A command of our own debugger; its output goes into out. */
    void (*monitor)(void *self, const char *command, char *out, size_t bytes);
    /* The packet that says why the program stopped, or that it has ended. */
    void (*stop_reply)(void *self, char *out, size_t bytes);
} gdb_target;

typedef enum gdb_action {
    GDB_ANSWER,   /* send the reply, which may be empty */
    GDB_CONTINUE, /* let the program run; no reply before it stops */
    GDB_STEP,     /* the same for one instruction of the selected thread */
    GDB_KILL,     /* end the program; no reply */
    GDB_DETACH,   /* send the reply, then let the program run without a client */
} gdb_action;

typedef struct gdb_session {
    const gdb_target *target;
    bool has_no_acks; /* the client asked for a connection without acknowledgements; valid after its reply */
    uint64_t thread;  /* of register and memory packets; 0: the current one */
    uint64_t run_thread; /* of `s` and `c` */
    char reply[GDB_PACKET_BYTES + 1];
    size_t bytes; /* of the reply */
    /* Threads that qsThreadInfo has not told yet. */
    uint64_t listed, list_skip;
    char *description; /* made once */
    size_t description_bytes;
} gdb_session;

void gdb_session_init(gdb_session *s, const gdb_target *target);
void gdb_session_fini(gdb_session *s);
/* Any bytes; a request that is not known gets an empty reply, as the protocol wants it. */
gdb_action gdb_handle(gdb_session *s, const char *packet, size_t bytes);

#endif
