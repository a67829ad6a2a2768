/* dram_naive.h: the rules of a DRAM channel a second time, in the plainest form. Everything is checked in
 * every cycle, delays are counters that count down, the queue is a list that is searched. The model must agree
 * with it to the cycle. */
#ifndef TESTS_MODEL_DRAM_NAIVE_H
#define TESTS_MODEL_DRAM_NAIVE_H

#include "dram_rig.h"

#define NAIVE_REQUESTS 1024
#define NAIVE_NONE 0xffffffffu

enum { NAIVE_OUTSIDE, NAIVE_FRONT, NAIVE_WAITING, NAIVE_SERVED, NAIVE_PIPE, NAIVE_RETURN, NAIVE_DONE };

typedef struct naive_bank {
    bool open;
    uint32_t row, request;
    uint64_t rcd, rcdwr, ras, rp, rc, wtp, rtp; /* cycles left */
    bool serving[2];                            /* a row, per queue */
    uint32_t serving_row[2], served[2];
} naive_bank;

typedef struct naive_group {
    uint64_t ccdl, wtrl, rtpl, rrdl;
} naive_group;

typedef struct naive {
    const bank_spec *spec;
    dram_timing t;
    uint64_t burst;
    uint32_t turn;
    naive_bank banks[64];
    naive_group groups[16];
    uint64_t ccd, rtw, wtr, rrd, faw[4], refresh_left;
    ls_cycle refresh_due;
    bool refreshing, draining;
    uint32_t state[NAIVE_REQUESTS], atoms[NAIVE_REQUESTS];
    ls_cycle enter[NAIVE_REQUESTS], done[NAIVE_REQUESTS], pushed[NAIVE_REQUESTS];
    uint32_t pipe[NAIVE_REQUESTS]; /* request, or NAIVE_NONE for an atom that is not the last */
    uint64_t pipe_left[NAIVE_REQUESTS];
    uint32_t pipe_count;
    uint32_t returns[NAIVE_REQUESTS], return_count;
    ls_cycle stamp, last_enter;
    uint32_t low, high; /* all that wait are in [low, high) */
    uint64_t activates, precharges, reads, writes;
} naive;

static inline bool naive_apart(const naive *m)
{
    return m->spec->write_queue_entries != 0;
}

static inline uint32_t naive_kind(const naive *m, const rig_request *r)
{
    return naive_apart(m) && r->write;
}

static inline uint32_t naive_bank_of(const naive *m, const rig_request *r)
{
    return r->bank % (uint32_t)m->t.banks;
}

static inline naive_group *naive_group_of(naive *m, uint32_t number)
{
    uint32_t groups = (uint32_t)m->t.groups, banks = (uint32_t)m->t.banks;
    return &m->groups[m->spec->group_bits == BANK_GROUP_LOW ? number % groups : number / (banks / groups)];
}

static inline uint32_t naive_waiting(const naive *m, const rig_request *r, uint32_t kind)
{
    uint32_t waiting = 0;
    for (uint32_t i = m->low; i < m->high; i++)
        waiting += m->state[i] == NAIVE_WAITING && naive_kind(m, &r[i]) == kind;
    return waiting;
}

static inline uint64_t naive_limit(const naive *m, uint32_t kind)
{
    return kind != 0 ? m->spec->write_queue_entries : m->spec->queue_entries;
}

/* The oldest waiting request of a bank and queue; of one row only, if any_row is false. */
static inline uint32_t naive_oldest(const naive *m, const rig_request *r, uint32_t kind, uint32_t number,
                                    bool any_row, uint32_t row)
{
    for (uint32_t i = m->low; i < m->high; i++)
        if (m->state[i] == NAIVE_WAITING && naive_kind(m, &r[i]) == kind &&
            naive_bank_of(m, &r[i]) == number && (any_row || r[i].row == row))
            return i;
    return NAIVE_NONE;
}

static inline uint32_t naive_pick(naive *m, const rig_request *r, uint32_t kind, uint32_t number)
{
    naive_bank *b = &m->banks[number];
    uint32_t oldest = naive_oldest(m, r, kind, number, true, 0);
    if (oldest == NAIVE_NONE)
        return NAIVE_NONE;
    if (!b->serving[kind]) {
        uint32_t hit = naive_oldest(m, r, kind, number, false, b->row);
        b->serving[kind] = true;
        b->serving_row[kind] = r[hit != NAIVE_NONE ? hit : oldest].row;
        b->served[kind] = 0;
    }
    bool others = false;
    for (uint32_t i = m->low; i < m->high; i++)
        others |= m->state[i] == NAIVE_WAITING && naive_kind(m, &r[i]) == kind &&
                  naive_bank_of(m, &r[i]) == number && r[i].row != b->serving_row[kind];
    if (others && m->spec->scheduler == BANK_FRFCFS_CAP && b->served[kind] == m->spec->scheduler_cap) {
        b->serving_row[kind] = r[oldest].row;
        b->served[kind] = 0;
    }
    if (others)
        b->served[kind]++;
    return naive_oldest(m, r, kind, number, false, b->serving_row[kind]);
}

static inline void naive_take(naive *m, const rig_request *r)
{
    uint32_t banks = (uint32_t)m->t.banks;
    if (m->spec->scheduler == BANK_FCFS) {
        for (uint32_t i = m->low; i < m->high; i++)
            if (m->state[i] == NAIVE_WAITING) {
                naive_bank *b = &m->banks[naive_bank_of(m, &r[i])];
                if (b->request == NAIVE_NONE) {
                    b->request = i;
                    m->state[i] = NAIVE_SERVED;
                }
                return;
            }
        return;
    }
    uint32_t kind = 0;
    if (naive_apart(m)) {
        if (naive_waiting(m, r, 1) >= m->spec->write_high)
            m->draining = true;
        kind = m->draining || naive_waiting(m, r, 0) == 0;
    }
    for (uint32_t i = 0; i < banks; i++) {
        uint32_t number = (i + m->turn) % banks;
        naive_bank *b = &m->banks[number];
        if (b->request != NAIVE_NONE)
            continue;
        uint32_t request = naive_pick(m, r, kind, number);
        if (request == NAIVE_NONE)
            continue;
        m->state[request] = NAIVE_SERVED;
        b->request = request;
        if (naive_oldest(m, r, kind, number, false, b->serving_row[kind]) == NAIVE_NONE)
            b->serving[kind] = false;
        if (kind != 0 && naive_waiting(m, r, 1) < m->spec->write_low)
            m->draining = false;
        m->turn = (m->turn + 1) % banks;
        return;
    }
}

static inline bool naive_column(naive *m, const rig_request *r, uint32_t number)
{
    naive_bank *b = &m->banks[number];
    naive_group *g = naive_group_of(m, number);
    uint64_t depth = (m->t.cl > m->t.wl ? m->t.cl : m->t.wl) + 1;
    if (b->request == NAIVE_NONE || !b->open || b->row != r[b->request].row || m->ccd || g->ccdl)
        return false;
    if (m->pipe_count > 0 && m->pipe_left[m->pipe_count - 1] >= depth)
        return false;
    bool write = r[b->request].write;
    if (write ? b->rcdwr || m->rtw : b->rcd || m->wtr || g->wtrl)
        return false;
    m->ccd = m->t.ccd;
    g->ccdl = m->t.ccdl;
    if (write) {
        m->wtr = m->spec->turnaround ? m->t.wl + m->burst + m->t.cdlr : 0;
        g->wtrl = m->spec->turnaround ? m->t.wl + m->burst + m->t.cdlrl : 0;
        b->wtp = m->t.wl + m->burst + m->t.wr;
        m->writes++;
    } else {
        m->rtw = m->spec->turnaround ? m->t.cl + m->burst + 2 - m->t.wl : 0;
        b->rtp = m->burst;
        g->rtpl = m->t.rtpl;
        m->reads++;
    }
    uint64_t left = write ? m->t.wl : m->t.cl;
    if (m->pipe_count > 0 && m->pipe_left[m->pipe_count - 1] >= left)
        left = m->pipe_left[m->pipe_count - 1] + 1;
    bool last = --m->atoms[b->request] == 0;
    m->pipe[m->pipe_count] = last ? b->request : NAIVE_NONE;
    m->pipe_left[m->pipe_count++] = left;
    if (last) {
        m->state[b->request] = NAIVE_PIPE;
        b->request = NAIVE_NONE;
    }
    return true;
}

static inline bool naive_row(naive *m, const rig_request *r, uint32_t number)
{
    naive_bank *b = &m->banks[number];
    naive_group *g = naive_group_of(m, number);
    if (b->request == NAIVE_NONE)
        return false;
    if (!b->open && !m->rrd && !g->rrdl && !m->faw[3] && !b->rp && !b->rc) {
        b->open = true;
        b->row = r[b->request].row;
        m->rrd = m->t.rrd;
        g->rrdl = m->t.rrdl;
        m->faw[3] = m->faw[2], m->faw[2] = m->faw[1], m->faw[1] = m->faw[0], m->faw[0] = m->t.faw;
        b->rcd = m->t.rcd, b->rcdwr = m->t.rcdwr, b->ras = m->t.ras, b->rc = m->t.rc;
        m->activates++;
    } else if (b->open && b->row != r[b->request].row && !b->ras && !b->wtp && !b->rtp && !g->rtpl) {
        b->open = false;
        b->rp = m->t.rp;
        m->precharges++;
    } else {
        return false;
    }
    m->turn = (number + 1) % (uint32_t)m->t.banks;
    return true;
}

static inline void naive_commands(naive *m, const rig_request *r)
{
    uint32_t banks = (uint32_t)m->t.banks;
    bool column = false, row = false;
    if (m->spec->command_bus == BANK_BUS_DUAL) {
        for (uint32_t i = 0; i < banks && !column; i++)
            column = naive_column(m, r, (i + m->turn) % banks);
        for (uint32_t i = 0, turn = m->turn; i < banks && !row; i++)
            row = naive_row(m, r, (i + turn) % banks);
        return;
    }
    for (uint32_t i = 0; i < banks; i++) { /* the turn may move on while the banks are gone through */
        uint32_t number = (i + m->turn) % banks;
        if (!column && !(row && m->spec->command_bus == BANK_BUS_SINGLE))
            column = naive_column(m, r, number);
        if (!column && !row)
            row = naive_row(m, r, number);
    }
}

/* True while no command may leave. */
static inline bool naive_refresh(naive *m, ls_cycle now)
{
    if (m->refreshing && m->refresh_left > 0 && --m->refresh_left == 0)
        m->refreshing = false;
    if (!m->spec->refresh || m->t.refi == 0 || (!m->refreshing && now < m->refresh_due))
        return m->refreshing;
    if (m->refresh_left > 0)
        return true;
    m->refreshing = true;
    uint32_t open = 0;
    for (uint32_t i = 0; i < m->t.banks; i++) {
        const naive_bank *b = &m->banks[i];
        open += b->open;
        if (b->open ? b->ras || b->wtp || b->rtp || naive_group_of(m, i)->rtpl : b->rp || b->rc)
            return true; /* not yet */
    }
    for (uint32_t i = 0; i < m->t.banks; i++) {
        m->banks[i].open = false;
        m->banks[i].rp = m->banks[i].rc = 0; /* over before the refresh is */
    }
    m->precharges += open;
    m->refresh_left = (open ? m->t.rp : 0) + m->t.rfc;
    m->refresh_due += m->t.refi;
    return true;
}

#define NAIVE_DOWN(counter) ((counter) -= (counter) > 0)
static inline void naive_count_down(naive *m)
{
    NAIVE_DOWN(m->ccd), NAIVE_DOWN(m->rtw), NAIVE_DOWN(m->wtr), NAIVE_DOWN(m->rrd);
    for (int i = 0; i < 4; i++)
        NAIVE_DOWN(m->faw[i]);
    for (uint32_t i = 0; i < m->t.banks; i++) {
        naive_bank *b = &m->banks[i];
        NAIVE_DOWN(b->rcd), NAIVE_DOWN(b->rcdwr), NAIVE_DOWN(b->ras), NAIVE_DOWN(b->rp);
        NAIVE_DOWN(b->rc), NAIVE_DOWN(b->wtp), NAIVE_DOWN(b->rtp);
    }
    for (uint32_t i = 0; i < m->t.groups; i++) {
        naive_group *g = &m->groups[i];
        NAIVE_DOWN(g->ccdl), NAIVE_DOWN(g->wtrl), NAIVE_DOWN(g->rtpl), NAIVE_DOWN(g->rrdl);
    }
}

/* Runs the requests; `ask`: requests that find the queue full try again in the next cycle. Results in `m`. */
static inline void naive_run(naive *m, const bank_spec *spec, const rig_request *r, size_t count,
                             rig_room_fn room, const void *room_self, bool ask)
{
    assert_true(count <= NAIVE_REQUESTS);
    *m = (naive){ .spec = spec, .t = rig_times(spec) };
    m->burst = m->t.burst / m->t.rate;
    m->refresh_due = m->t.refi;
    for (uint32_t i = 0; i < m->t.banks; i++)
        m->banks[i].request = NAIVE_NONE;
    uint32_t next = 0;
    size_t left = count;
    for (ls_cycle now = 0; left > 0; now++) {
        assert_true(now < 10 * 1000 * 1000);
        if (m->return_count > 0 && (room == NULL || room(room_self, now))) {
            m->done[m->returns[0]] = now;
            left--;
            memmove(m->returns, m->returns + 1, --m->return_count * sizeof m->returns[0]);
        }
        if (m->return_count < spec->return_entries) {
            for (uint32_t i = 0; i < m->pipe_count; i++)
                m->pipe_left[i]--;
            if (m->pipe_count > 0 && m->pipe_left[0] == 0) {
                uint32_t request = m->pipe[0];
                memmove(m->pipe, m->pipe + 1, --m->pipe_count * sizeof m->pipe[0]);
                memmove(m->pipe_left, m->pipe_left + 1, m->pipe_count * sizeof m->pipe_left[0]);
                if (request != NAIVE_NONE && r[request].write) {
                    m->done[request] = now;
                    left--;
                } else if (request != NAIVE_NONE) {
                    m->returns[m->return_count++] = request;
                }
            }
        }
        while (m->low < m->high && m->state[m->low] > NAIVE_WAITING)
            m->low++;
        if (m->high < next && m->enter[m->high] <= now) {
            uint32_t kind = naive_kind(m, &r[m->high]);
            if (naive_waiting(m, r, kind) < naive_limit(m, kind))
                m->state[m->high++] = NAIVE_WAITING;
        }
        bool refreshing = naive_refresh(m, now);
        naive_take(m, r);
        if (!refreshing)
            naive_commands(m, r);
        naive_count_down(m);
        for (; next < count && r[next].at <= now; next++) {
            uint32_t kind = naive_kind(m, &r[next]);
            if (ask && naive_waiting(m, r, kind) >= naive_limit(m, kind))
                break;
            m->pushed[next] = now;
            m->stamp = m->stamp > now ? m->stamp + 1 : now + 1;
            ls_cycle enter = m->stamp + spec->front_latency_cycles + 1;
            m->enter[next] = m->last_enter = enter > m->last_enter ? enter : m->last_enter + 1;
            m->state[next] = NAIVE_FRONT;
            m->atoms[next] = r[next].atoms != 0 ? r[next].atoms : 1;
        }
    }
}

#endif
