/* tracez_read.c: a .tracez file as text, from any thread block on. The format has neither a version nor checksums, so
 * every size and offset is compared with the file before it is used. Memory is bounded: pages are decompressed
 * as a stream, and of the index only the place of every 1,024th block is kept. */
#include "workload/accelsim/tracez.h"

#include "base/text.h"
#include "base/vec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define WINDOW_BYTES (64u << 10) /* of the file that is looked at */
#define OUT_BYTES (128u << 10)
#define ZSTD_WINDOW_LOG 27
#define FRAME_HEADER_BYTES 18u /* of zstd, at most */
#define STEP 1024u             /* blocks from one kept place of the index to the next */

/* Where a block's entry begins in the index, and the line of its #BEGIN_TB. */
typedef struct place {
    uint64_t offset, line;
} place;

typedef struct warp_entry {
    uint32_t insts, pages;
    uint64_t offset;
} warp_entry;

typedef enum next_piece { PIECE_HEADER, PIECE_BLOCK, PIECE_WARP, PIECE_PAGE, PIECE_NONE } next_piece;

struct tracez {
    int fd;
    const uint8_t *memory;
    uint64_t bytes;
    char *name;
    /* the file's parts */
    uint64_t header_bytes, data, index; /* offsets: data begins, index begins */
    uint64_t first_line;                /* of the first block in the text */
    uint32_t blocks;
    uint32_t block_lines; /* before the first warp of a block */
    LS_VEC(place) places;
    ZSTD_DCtx *zstd;
    ZSTD_DDict *dictionary;
    /* a piece of the file in memory */
    uint64_t window_at;
    size_t window_bytes;
    uint8_t window[WINDOW_BYTES];
    /* the text that comes next */
    next_piece piece;
    uint32_t block;       /* that is being written */
    uint64_t entry;       /* of the index: what is read next */
    uint32_t warp, warps; /* of the block */
    warp_entry now;       /* the present warp */
    uint32_t page;        /* of the warp */
    uint64_t page_at;     /* where its size stands */
    bool in_page;
    uint64_t packed_at, packed_end, page_lines, page_insts; /* of the page that is being decompressed */
    text_buffer text;                                       /* of small pieces */
    size_t text_at;
    uint8_t out[OUT_BYTES];
    size_t out_at, out_end;
    ls_error failure; /* returned after the text before it */
};

static ls_status fail(const tracez *t, ls_error *err, const char *fmt, ...) LS_PRINTF(3, 4);

static ls_status fail(const tracez *t, ls_error *err, const char *fmt, ...)
{
    char text[300];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    ls_fail(err, LS_ERR_INPUT, "%s", text);
    return ls_error_at(err, t->name, 0, 0);
}

static ls_status no_memory(ls_error *err)
{
    return ls_fail(err, LS_ERR_NOMEM, "the host has no memory left");
}

/* -------------------------------------------------------------------------------------------------- bytes */

/* `count` bytes at `offset`, which the caller has compared with the file's size; NULL and an error if they cannot be
 * read. count is at most WINDOW_BYTES. */
static const uint8_t *look(tracez *t, uint64_t offset, size_t count, ls_error *err)
{
    if (t->memory)
        return t->memory + offset;
    if (offset >= t->window_at && offset - t->window_at <= t->window_bytes &&
        t->window_bytes - (offset - t->window_at) >= count)
        return t->window + (offset - t->window_at);
    t->window_at = offset;
    t->window_bytes = 0;
    while (t->window_bytes < count) {
        ssize_t got = pread(t->fd, t->window + t->window_bytes, WINDOW_BYTES - t->window_bytes,
                            (off_t)(offset + t->window_bytes));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            ls_fail(err, LS_ERR_IO, "cannot read: %s",
                    got < 0 ? strerror(errno) : "the file has become shorter");
            ls_error_at(err, t->name, 0, 0);
            return NULL;
        }
        t->window_bytes += (size_t)got;
    }
    return t->window;
}

static uint32_t u32_at(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t u64_at(const uint8_t *p)
{
    return u32_at(p) | (uint64_t)u32_at(p + 4) << 32;
}

/* ------------------------------------------------------------------------------------------------ opening */

bool tracez_is(const void *head, size_t bytes)
{
    static const char begin[] = "#BEGIN_TB";
    const char *text = head, *zero = memchr(head, '\0', bytes);
    if (!zero || zero == text || (text[0] != '-' && text[0] != '#'))
        return false;
    return memmem(text, (size_t)(zero - text), begin, sizeof begin - 1) == NULL;
}

/* The text before the first block ends with a zero byte. */
static ls_status find_header(tracez *t, ls_error *err)
{
    uint64_t most = t->bytes < TRACEZ_HEADER_LIMIT ? t->bytes : TRACEZ_HEADER_LIMIT;
    t->first_line = 1;
    for (uint64_t at = 0; at < most;) {
        size_t count = most - at < WINDOW_BYTES ? (size_t)(most - at) : WINDOW_BYTES;
        const uint8_t *p = look(t, at, count, err);
        if (!p)
            return LS_ERR_IO;
        const uint8_t *zero = memchr(p, 0, count);
        size_t text = zero ? (size_t)(zero - p) : count;
        for (size_t i = 0; i < text; i++)
            t->first_line += p[i] == '\n';
        at += text;
        if (zero) {
            t->header_bytes = at;
            return LS_OK;
        }
    }
    return fail(t, err, "no zero byte ends the header within %" PRIu64 " bytes: this is no .tracez file",
                most);
}

static ls_status read_dictionary(tracez *t, uint64_t at, uint32_t bytes, ls_error *err)
{
    if (bytes == 0)
        return LS_OK;
    uint8_t *copy = malloc(bytes);
    if (!copy)
        return no_memory(err);
    for (uint32_t done = 0; done < bytes;) {
        uint32_t count = bytes - done < WINDOW_BYTES ? bytes - done : WINDOW_BYTES;
        const uint8_t *p = look(t, at + done, count, err);
        if (!p) {
            free(copy);
            return LS_ERR_IO;
        }
        memcpy(copy + done, p, count);
        done += count;
    }
    t->dictionary = ZSTD_createDDict(copy, bytes);
    free(copy);
    if (!t->dictionary || ZSTD_isError(ZSTD_DCtx_refDDict(t->zstd, t->dictionary)))
        return fail(t, err, "the dictionary of %" PRIu32 " bytes is damaged", bytes);
    return LS_OK;
}

/* Reads the entry of a warp and its pages at *at, which moves behind them. */
static ls_status read_warp(tracez *t, uint64_t *at, uint64_t block, uint32_t warp, warp_entry *out,
                           ls_error *err)
{
    uint64_t end = t->bytes - 8, sum = 0;
    if (end - *at < 16)
        return fail(t, err, "the index ends inside block %" PRIu64, block);
    const uint8_t *p = look(t, *at, 16, err);
    if (!p)
        return LS_ERR_IO;
    *out = (warp_entry){ u32_at(p), u32_at(p + 4), u64_at(p + 8) };
    *at += 16;
    if ((end - *at) / 4 < out->pages)
        return fail(t, err, "warp %" PRIu32 " of block %" PRIu64 " has %" PRIu32 " pages, more than the index",
                    warp, block, out->pages);
    for (uint32_t i = 0; i < out->pages; i++, *at += 4) {
        p = look(t, *at, 4, err);
        if (!p)
            return LS_ERR_IO;
        sum += u32_at(p);
    }
    if (sum != out->insts)
        return fail(t, err,
                    "warp %" PRIu32 " of block %" PRIu64 " has %" PRIu32
                    " instructions, its pages have %" PRIu64,
                    warp, block, out->insts, sum);
    if (out->pages > 0 && (out->offset < t->data || out->offset > t->index || t->index - out->offset < 8))
        return fail(t, err, "warp %" PRIu32 " of block %" PRIu64 " begins at %" PRIu64 ", outside of the data",
                    warp, block, out->offset);
    return LS_OK;
}

/* Walks through the whole index once. */
static ls_status check_index(tracez *t, ls_error *err)
{
    uint64_t end = t->bytes - 8, at = t->index + 4, line = t->first_line;
    const uint8_t *p = look(t, t->index, 4, err);
    if (!p)
        return LS_ERR_IO;
    t->blocks = u32_at(p);
    for (uint32_t block = 0; block < t->blocks; block++) {
        if (block % STEP == 0 && !vec_push(&t->places, ((place){ at, line })))
            return no_memory(err);
        if (end - at < 4 * TRACEZ_BLOCK_NUMBERS)
            return fail(t, err, "the index ends after %" PRIu32 " of %" PRIu32 " blocks", block, t->blocks);
        p = look(t, at, 4 * TRACEZ_BLOCK_NUMBERS, err);
        if (!p)
            return LS_ERR_IO;
        uint32_t warps = u32_at(p + 40);
        if (warps > TRACEZ_WARP_LIMIT)
            return fail(t, err, "block %" PRIu32 " has %" PRIu32 " warps: %u are possible", block, warps,
                        TRACEZ_WARP_LIMIT);
        at += 4 * TRACEZ_BLOCK_NUMBERS;
        line += t->block_lines + (block > 0);
        for (uint32_t w = 0; w < warps; w++) {
            warp_entry entry = { 0 };
            ls_status status = read_warp(t, &at, block, w, &entry, err);
            if (status != LS_OK)
                return status;
            line += 3 + (uint64_t)entry.insts;
        }
        line += 2;
    }
    if (at != end)
        return fail(t, err, "the index has %" PRIu64 " bytes behind its last block", end - at);
    return LS_OK;
}

static ls_status open_parts(tracez *t, ls_error *err)
{
    ls_status status = find_header(t, err);
    if (status != LS_OK)
        return status;
    uint64_t sizes = t->header_bytes + 1;
    if (t->bytes - sizes < 8 + 4 + 8)
        return fail(t, err, "the file ends behind its header");
    const uint8_t *p = look(t, sizes, 8, err);
    if (!p)
        return LS_ERR_IO;
    uint32_t dictionary = u32_at(p);
    /* #BEGIN_TB, a blank line, its id, three lines of its cluster */
    t->block_lines = u32_at(p + 4) & TRACEZ_NO_CLUSTERS ? 3 : 6;
    if (dictionary > TRACEZ_DICTIONARY_LIMIT || dictionary > t->bytes - sizes - 20)
        return fail(t, err, "a dictionary of %" PRIu32 " bytes does not fit into the file of %" PRIu64,
                    dictionary, t->bytes);
    t->data = sizes + 8 + dictionary;
    p = look(t, t->bytes - 8, 8, err);
    if (!p)
        return LS_ERR_IO;
    t->index = u64_at(p);
    if (t->index < t->data || t->index > t->bytes - 12)
        return fail(t, err,
                    "the index is said to be at %" PRIu64 ", outside of the file: it is cut off or damaged",
                    t->index);
    status = read_dictionary(t, sizes + 8, dictionary, err);
    return status == LS_OK ? check_index(t, err) : status;
}

ls_status tracez_open(const char *name, int fd, const void *memory, uint64_t bytes, tracez **out,
                      ls_error *err)
{
    tracez *t = calloc(1, sizeof *t);
    *out = NULL;
    if (!t)
        return no_memory(err);
    t->fd = fd;
    t->memory = memory;
    t->bytes = bytes;
    t->name = strdup(name);
    t->zstd = ZSTD_createDCtx();
    ls_status status = LS_OK;
    if (!t->name || !t->zstd ||
        ZSTD_isError(ZSTD_DCtx_setParameter(t->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG)))
        status = no_memory(err);
    if (status == LS_OK)
        status = open_parts(t, err);
    if (status != LS_OK) {
        tracez_close(t);
        return status;
    }
    *out = t;
    return LS_OK;
}

void tracez_close(tracez *t)
{
    if (!t)
        return;
    ZSTD_freeDCtx(t->zstd);
    ZSTD_freeDDict(t->dictionary);
    vec_fini(&t->places);
    text_fini(&t->text);
    free(t->name);
    free(t);
}

uint64_t tracez_blocks(const tracez *t)
{
    return t->blocks;
}

/* -------------------------------------------------------------------------------------------------- pages */

/* The page at t->page_at: its size, and that it is one frame of known size. */
static ls_status begin_page(tracez *t, ls_error *err)
{
    if (t->index - t->page_at < 4)
        return fail(t, err, "the pages of warp %" PRIu32 " of block %" PRIu32 " run into the index", t->warp,
                    t->block);
    const uint8_t *p = look(t, t->page_at, 4, err);
    if (!p)
        return LS_ERR_IO;
    uint32_t bytes = u32_at(p);
    t->packed_at = t->page_at + 4;
    if (bytes == 0 || bytes > t->index - t->packed_at)
        return fail(t, err,
                    "page %" PRIu32 " of warp %" PRIu32 " of block %" PRIu32 " has %" PRIu32
                    " bytes and does not fit before the index",
                    t->page, t->warp, t->block, bytes);
    t->packed_end = t->packed_at + bytes;
    size_t head = bytes < FRAME_HEADER_BYTES ? bytes : FRAME_HEADER_BYTES;
    p = look(t, t->packed_at, head, err);
    if (!p)
        return LS_ERR_IO;
    unsigned long long size = ZSTD_getFrameContentSize(p, head);
    if (size == ZSTD_CONTENTSIZE_ERROR)
        return fail(t, err, "page %" PRIu32 " of warp %" PRIu32 " of block %" PRIu32 " is no zstd frame",
                    t->page, t->warp, t->block);
    if (size == ZSTD_CONTENTSIZE_UNKNOWN)
        return fail(t, err, "page %" PRIu32 " of warp %" PRIu32 " of block %" PRIu32 " does not say its size",
                    t->page, t->warp, t->block);
    ZSTD_DCtx_reset(t->zstd, ZSTD_reset_session_only);
    t->in_page = true;
    t->page_lines = size > 0;
    return LS_OK;
}

static ls_status end_page(tracez *t, ls_error *err)
{
    if (t->packed_at != t->packed_end)
        return fail(t, err,
                    "page %" PRIu32 " of warp %" PRIu32 " of block %" PRIu32 " goes on behind its frame",
                    t->page, t->warp, t->block);
    if (t->page_lines != t->page_insts)
        return fail(t, err,
                    "page %" PRIu32 " of warp %" PRIu32 " of block %" PRIu32 " has %" PRIu64
                    " lines, the index says %" PRIu64,
                    t->page, t->warp, t->block, t->page_lines, t->page_insts);
    t->in_page = false;
    t->page_at = t->packed_end;
    t->page++;
    if (t->page_lines > 0) {
        text_clear(&t->text);
        text_add(&t->text, "\n"); /* which stands between the lines only */
        t->text_at = 0;
    }
    return LS_OK;
}

/* Fills t->out with the next bytes of the page. */
static ls_status read_page(tracez *t, ls_error *err)
{
    ZSTD_outBuffer to = { t->out, sizeof t->out, 0 };
    size_t left = 1;
    t->out_at = t->out_end = 0;
    while (to.pos == 0 && left != 0) {
        size_t count = t->packed_end - t->packed_at < WINDOW_BYTES ? (size_t)(t->packed_end - t->packed_at)
                                                                   : WINDOW_BYTES;
        const uint8_t *p = count ? look(t, t->packed_at, count, err) : t->out;
        if (!p)
            return LS_ERR_IO;
        ZSTD_inBuffer from = { p, count, 0 };
        left = ZSTD_decompressStream(t->zstd, &to, &from);
        if (ZSTD_isError(left))
            return fail(t, err, "page %" PRIu32 " of warp %" PRIu32 " of block %" PRIu32 " is damaged: %s",
                        t->page, t->warp, t->block, ZSTD_getErrorName(left));
        t->packed_at += from.pos;
        if (left != 0 && from.pos == 0 && to.pos == 0)
            return fail(t, err,
                        "page %" PRIu32 " of warp %" PRIu32 " of block %" PRIu32 " ends inside its frame",
                        t->page, t->warp, t->block);
    }
    t->out_end = to.pos;
    for (size_t i = 0; i < to.pos; i++)
        t->page_lines += t->out[i] == '\n';
    return left == 0 ? end_page(t, err) : LS_OK;
}

/* --------------------------------------------------------------------------------------------------- text */

static ls_status make_block(tracez *t, ls_error *err)
{
    if (t->block == t->blocks) {
        t->piece = PIECE_NONE;
        return LS_OK;
    }
    const uint8_t *p = look(t, t->entry, 4 * TRACEZ_BLOCK_NUMBERS, err);
    if (!p)
        return LS_ERR_IO;
    uint32_t n[TRACEZ_BLOCK_NUMBERS];
    for (uint32_t i = 0; i < TRACEZ_BLOCK_NUMBERS; i++)
        n[i] = u32_at(p + 4 * i);
    t->entry += 4 * TRACEZ_BLOCK_NUMBERS;
    t->warps = n[10];
    t->warp = 0;
    text_printf(&t->text, "%s#BEGIN_TB\n\nthread block = %" PRIu32 ",%" PRIu32 ",%" PRIu32 "\n",
                t->block ? "\n" : "", n[0], n[1], n[2]);
    if (t->block_lines == 6)
        text_printf(&t->text,
                    "cluster id = %" PRIu32 ",%" PRIu32 ",%" PRIu32 "\ncluster cta = %" PRIu32 ",%" PRIu32
                    ",%" PRIu32 "\ncluster rank = %" PRIu32 "\n",
                    n[3], n[4], n[5], n[6], n[7], n[8], n[9]);
    t->piece = PIECE_WARP;
    return LS_OK;
}

static ls_status make_warp(tracez *t, ls_error *err)
{
    if (t->warp == t->warps) {
        text_add(&t->text, "\n#END_TB\n");
        t->block++;
        t->piece = PIECE_BLOCK;
        return LS_OK;
    }
    uint64_t at = t->entry;
    ls_status status = read_warp(t, &at, t->block, t->warp, &t->now, err);
    if (status != LS_OK)
        return status;
    t->entry += 16; /* the counts of its pages */
    text_printf(&t->text, "\nwarp = %" PRIu32 "\ninsts = %" PRIu32 "\n", t->warp, t->now.insts);
    t->page = 0;
    t->piece = PIECE_PAGE;
    if (t->now.pages == 0)
        return LS_OK;
    const uint8_t *p = look(t, t->now.offset, 8, err);
    if (!p)
        return LS_ERR_IO;
    if (u32_at(p) != t->now.insts || u32_at(p + 4) != t->now.pages)
        return fail(t, err,
                    "warp %" PRIu32 " of block %" PRIu32 " has %" PRIu32 " instructions in %" PRIu32
                    " pages, the index says %" PRIu32 " in %" PRIu32,
                    t->warp, t->block, u32_at(p), u32_at(p + 4), t->now.insts, t->now.pages);
    t->page_at = t->now.offset + 8;
    return LS_OK;
}

static ls_status make_page(tracez *t, ls_error *err)
{
    if (t->page == t->now.pages) {
        t->warp++;
        t->piece = PIECE_WARP;
        return LS_OK;
    }
    const uint8_t *p = look(t, t->entry, 4, err);
    if (!p)
        return LS_ERR_IO;
    t->page_insts = u32_at(p);
    t->entry += 4;
    return begin_page(t, err);
}

/* The next piece of text, in t->text or t->out. */
static ls_status advance(tracez *t, ls_error *err)
{
    text_clear(&t->text);
    t->text_at = 0;
    ls_status status = LS_OK;
    if (t->in_page)
        return read_page(t, err);
    switch (t->piece) {
    case PIECE_HEADER: {
        for (uint64_t at = 0; at < t->header_bytes;) {
            size_t count = t->header_bytes - at < WINDOW_BYTES ? (size_t)(t->header_bytes - at) : WINDOW_BYTES;
            const uint8_t *p = look(t, at, count, err);
            if (!p)
                return LS_ERR_IO;
            text_addn(&t->text, (const char *)p, count);
            at += count;
        }
        t->entry = t->index + 4;
        t->piece = PIECE_BLOCK;
        break;
    }
    case PIECE_BLOCK:
        status = make_block(t, err);
        break;
    case PIECE_WARP:
        status = make_warp(t, err);
        break;
    case PIECE_PAGE:
        status = make_page(t, err);
        break;
    case PIECE_NONE:
        break;
    }
    return status == LS_OK && t->text.failed ? no_memory(err) : status;
}

ls_status tracez_read(tracez *t, void *to, size_t bytes, size_t *got, ls_error *err)
{
    *got = 0;
    while (*got < bytes) {
        /* The decompressed part of a page stands before the line end that may be in t->text. */
        if (t->out_at < t->out_end) {
            size_t count = t->out_end - t->out_at < bytes - *got ? t->out_end - t->out_at : bytes - *got;
            memcpy((char *)to + *got, t->out + t->out_at, count);
            t->out_at += count;
            *got += count;
        } else if (t->text_at < t->text.count) {
            size_t count =
                t->text.count - t->text_at < bytes - *got ? t->text.count - t->text_at : bytes - *got;
            memcpy((char *)to + *got, t->text.at + t->text_at, count);
            t->text_at += count;
            *got += count;
        } else if (t->failure.status != LS_OK || (t->piece == PIECE_NONE && !t->in_page)) {
            break;
        } else {
            (void)advance(t, &t->failure);
        }
    }
    if (*got > 0 || t->failure.status == LS_OK)
        return LS_OK;
    if (err)
        *err = t->failure;
    return t->failure.status;
}

ls_status tracez_seek(tracez *t, uint64_t index, uint64_t *line, ls_error *err)
{
    if (index > t->blocks)
        return fail(t, err, "block %" PRIu64 " is not there: the file has %" PRIu32, index, t->blocks);
    uint64_t step = index / STEP < t->places.count ? index / STEP : t->places.count - (t->places.count > 0);
    place at = t->places.count > 0 ? t->places.at[step] : (place){ t->index + 4, t->first_line };
    for (uint64_t block = step * STEP; block < index; block++) {
        const uint8_t *p = look(t, at.offset, 4 * TRACEZ_BLOCK_NUMBERS, err);
        if (!p)
            return LS_ERR_IO;
        uint32_t warps = u32_at(p + 40);
        at.offset += 4 * TRACEZ_BLOCK_NUMBERS;
        at.line += 2 + t->block_lines + (block > 0);
        for (uint32_t w = 0; w < warps; w++) {
            warp_entry entry = { 0 };
            ls_status status = read_warp(t, &at.offset, block, w, &entry, err);
            if (status != LS_OK)
                return status;
            at.line += 3 + (uint64_t)entry.insts;
        }
    }
    ls_error_clear(&t->failure);
    t->entry = at.offset;
    t->block = (uint32_t)index;
    t->piece = PIECE_BLOCK;
    t->in_page = false;
    t->out_at = t->out_end = 0;
    text_clear(&t->text);
    t->text_at = 0;
    *line = at.line;
    return LS_OK;
}
