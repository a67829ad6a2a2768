/* format.h: the numbers of the packed format and how integers stand in it. docs/trace-format.md is the
 * specification; a change here is a change there. Used by the files of this folder only. */
#ifndef PACK_FORMAT_H
#define PACK_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LS_PACK_VERSION 3u       /* the version that is written: with records and places in clusters */
#define LS_PACK_FIRST_VERSION 1u /* and the oldest that is read: blocks without columns */

/* --- the frame: file header, sections, trailer ---------------------------------------------------------- */

/* The first byte is not text and the line ends are there to be damaged by transfers that change them. */
#define LS_PACK_MAGIC "\x89LSPK\r\n\x1a"
#define LS_PACK_END_MAGIC "LSPKEND\n"
#define LS_PACK_MAGIC_BYTES 8

/* magic, u32 version, u32 flags (LS_PACK_FLAG_*), u64 zero, u64 XXH3 of these 24 */
#define LS_PACK_HEADER_BYTES 32
/* u32 kind, u32 codec, u64 stored bytes, u64 raw bytes, u64 XXH3 of the raw */
#define LS_PACK_SECTION_BYTES 32
/* u64 directory, u64 file bytes, u64 hash high, low, u64 XXH3 of these 32, end magic */
#define LS_PACK_TRAILER_BYTES 48

/* The file holds wavefronts of AMD programs (amd_file.h), not warps of a trace. */
#define LS_PACK_FLAG_AMD 1u

enum {
    LS_PACK_BLOCK = 1,     /* thread blocks */
    LS_PACK_VALUES = 2,    /* register values of the block before it */
    LS_PACK_TABLE = 3,     /* static instructions */
    LS_PACK_INDEX = 4,     /* where a kernel's blocks are */
    LS_PACK_CATALOG = 5,   /* the list of commands, and facts about each kernel */
    LS_PACK_DIRECTORY = 6, /* where the catalog and the indices are */
    /* Recordings of AMD programs have a directory and these. */
    LS_PACK_AMD_CODE = 7,     /* a code section */
    LS_PACK_AMD_GROUPS = 8,   /* work-groups */
    LS_PACK_AMD_INDEX = 9,    /* where a launch's work-groups are */
    LS_PACK_AMD_CATALOG = 10, /* commands and launches */
    LS_PACK_KIND_COUNT
};

enum {
    LS_PACK_RAW = 0,
    LS_PACK_ZSTD = 1,
    LS_PACK_SPLIT = 2, /* u32 bytes of a frame, the frame (the first part of the payload), the rest as it is */
};

/* The largest payload: more is refused before any memory is taken. */
#define LS_PACK_RAW_LIMIT (UINT64_C(1) << 30)

/* --- the streams of a block ----------------------------------------------------------------------------- */

enum {
    LS_PACK_SHAPE,     /* varints: numbers of warps, instructions and address words */
    LS_PACK_PATH,      /* varints: runs of consecutive static instructions */
    LS_PACK_MASKS,     /* bytes: which known mask is next */
    LS_PACK_OPS,       /* bytes: one for each instruction with addresses */
    LS_PACK_STRIDES,   /* signed varints */
    LS_PACK_NEW_MASKS, /* u32: masks that are not known. From here on the streams are often random */
    LS_PACK_BASES,     /* signed varints: first address minus the predicted one */
    LS_PACK_NEAR,      /* u16: addresses minus their instruction's anchor */
    LS_PACK_FAR,       /* i32: the same */
    LS_PACK_WIDE,      /* u64: addresses */
    LS_PACK_STREAM_COUNT
};
#define LS_PACK_FIRST_RANDOM LS_PACK_NEW_MASKS

#define LS_PACK_RUN_LIMIT 256         /* instructions of one run: bounds what few bytes can become */
#define LS_PACK_WARP_LIMIT 64         /* warps of a thread block */
#define LS_PACK_WORD_LIMIT (1u << 30) /* address words of a thread block: ls_dyn.addr has no room for more */

/* Masks that both sides remember: two that never change (all lanes, no lane), then the last new ones in a
 * ring. */
#define LS_PACK_KNOWN_MASKS 16
#define LS_PACK_FIXED_MASKS 2

/* Paths of warps that later warps of the block take again. The encoder marks them, so that no others are
 * kept. */
#define LS_PACK_KEPT_PATHS 8
#define LS_PACK_PATH_LIMIT 16384 /* instructions */
#define LS_PACK_PATH_KNOWN 1u    /* bit of a warp's number: the rest says which kept path it takes */
#define LS_PACK_PATH_KEEP 2u     /* else: keep this one; the rest is the number of instructions */

#define LS_PACK_PATH_COLUMNS 2u /* this number alone: the warp is in the columns */

/* An address op: mode in bits 0-1; 3 is none of them. */
enum {
    LS_PACK_OP_NONE = 3,        /* an instruction with a width that has no addresses in memory */
    LS_PACK_OP_NULL = 7,        /* stride mode, address 0, stride 0: tracers write this for mask 0 */
    LS_PACK_OP_RECORD = 11,     /* a record, in LS_PACK_BASES: its number of words, then the words */
    LS_PACK_OP_BASE = 1 << 2,   /* a correction of the predicted address follows in LS_PACK_BASES */
    LS_PACK_OP_STRIDE = 1 << 3, /* a new stride follows in LS_PACK_STRIDES */
    LS_PACK_OP_KIND_SHIFT = 4,  /* lists and deltas: encoding of the addresses */
};
enum {
    LS_PACK_SAME,    /* the differences of the last time */
    LS_PACK_AFFINE,  /* the address of the first lane, and a stride for each lane, active or not */
    LS_PACK_AT_NEAR, /* one by one: in LS_PACK_NEAR, */
    LS_PACK_AT_FAR,  /* in LS_PACK_FAR, */
    LS_PACK_AT_WIDE, /* in LS_PACK_WIDE, which sets the anchor */
    LS_PACK_LIST_KIND_COUNT
};
/* From this word of a record on each is written as its difference from the one before: addresses of a bulk copy. */
#define LS_PACK_RECORD_CHAIN 6u
/* The first number of a thread block: bits that say which others follow. */
#define LS_PACK_HAS_ID 1u            /* x, y, z */
#define LS_PACK_HAS_CLUSTER 2u       /* cluster x, y, z, position in it x, y, z, rank */
#define LS_PACK_ANCHOR_BELOW 0x8000u /* the anchor lies so far below the first address */

/* --- the columns of a block ----------------------------------------------------------------------------- */

enum {
    LS_COLUMN_SEGMENTS, /* u32 first static instruction, u32 instructions: each once in a block */
    LS_COLUMN_ANCHORS,  /* u64: base of near and far addresses */
    LS_COLUMN_TOKENS,   /* u16: which segment is next, */
    LS_COLUMN_CODES,    /* u8: with which of the warp's masks */
    LS_COLUMN_GAPS,     /* u8: executions since the last access, 1 if there is none between */
    LS_COLUMN_ACCESSES, /* u16: mode in bits 0-1 (3: as LS_PACK_OP_NULL), form in bits 2-4, then the anchor */
    LS_COLUMN_MASKS,    /* u32: those of each warp */
    LS_COLUMN_NEAR,     /* u16 */
    LS_COLUMN_FAR,      /* u32 */
    LS_COLUMN_WIDE,     /* u64 */
    LS_COLUMN_COUNT
};
#define LS_COLUMN_FORM_SHIFT 2
#define LS_COLUMN_ANCHOR_SHIFT 5
enum {
    LS_COLUMN_AT_NEAR, /* anchor + one of LS_COLUMN_NEAR for each lane */
    LS_COLUMN_AT_FAR,  /* the same, LS_COLUMN_FAR; in stride mode one of these, then the stride, signed */
    LS_COLUMN_AT_WIDE, /* one of LS_COLUMN_WIDE for each lane; in stride mode two. The anchor is 0 */
    LS_COLUMN_AFFINE, /* of LS_COLUMN_FAR the first lane's, and a signed stride for each lane, active or not */
};
#define LS_COLUMN_SEGMENT_LIMIT 4096 /* of a block */
#define LS_COLUMN_ANCHOR_LIMIT 256
#define LS_COLUMN_MASK_LIMIT 256 /* of a warp */

/* --- integers ------------------------------------------------------------------------------------------- */

static inline uint32_t get_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint32_t get_u16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}
static inline uint64_t get_u64(const uint8_t *p)
{
    return get_u32(p) | (uint64_t)get_u32(p + 4) << 32;
}
static inline void put_u32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}
static inline void write_u64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

/* 0, -1, 1, -2, ... as 0, 1, 2, 3, ...: small numbers of either sign are short. */
static inline uint64_t zigzag(int64_t v)
{
    return v < 0 ? ~((uint64_t)v << 1) : (uint64_t)v << 1;
}
static inline int64_t unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

/* Seven bits a byte, low ones first, the top bit set on all but the last. */
#define LS_VARINT_BYTES 10
static inline uint8_t *write_varint(uint8_t *p, uint64_t v)
{
    while (v >= 0x80) {
        *p++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *p++ = (uint8_t)v;
    return p;
}
/* Reads at most LS_VARINT_BYTES from *p; the caller ensures that they are readable. */
static inline uint64_t get_varint(const uint8_t **p)
{
    const uint8_t *at = *p;
    uint64_t v = *at++;
    if (v & 0x80) {
        v &= 0x7f;
        for (unsigned shift = 7; shift < 64; shift += 7) {
            uint64_t byte = *at++;
            v |= (byte & 0x7f) << shift;
            if (!(byte & 0x80))
                break;
        }
    }
    *p = at;
    return v;
}
/* Bytes that may be read past the end of a stream before its end is noticed: eight of the widest numbers. */
#define LS_PACK_SLACK 64

#endif
