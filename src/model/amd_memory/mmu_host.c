/* mmu_host.c: an MMU whose page walks go to the host, over a link to the GPU's end of the fabric. The L2 TLB keeps
 * answers. Where pages move, the host has ranges forgotten: first here, then in every TLB. Shootdowns follow answers over
 * the same links, so every request that waited for an answer has it before the page goes. */
#include "model/amd_memory/mmu_impl.h"

static uint64_t page_of(uint64_t address, uint32_t size_log2)
{
    return address >> size_log2 << size_log2;
}

/* ---------------------------------------------------------------------------------------------- to the host */

static void send_out(void *self, ls_cycle now)
{
    mmu *m = self;
    (void)now;
    m->host_waits = false;
    for (; m->out_head != m->out_tail; m->out_head++) {
        ls_page_walk *slot = ls_link_send(m->host, sizeof *slot);
        if (slot == NULL) {
            m->host_waits = true;
            ls_link_wait(m->host, &m->host_event);
            return;
        }
        *slot = m->out[m->out_head % m->out_size];
    }
}

/* There is room for one question and one LS_WALK_TAKEN of each miss, and one answer to each shootdown. */
static void send_host(mmu *m, const ls_page_walk *walk)
{
    m->out[m->out_tail++ % m->out_size] = *walk;
    if (!m->host_waits)
        send_out(m, 0);
}

/* ------------------------------------------------------------------------------------------------- requests */

static bool serves(const ls_page *page, const ls_page_walk *walk)
{
    return !page->read_only || (walk->flags & LS_WALK_WRITE) == 0;
}

static void answer_with(mmu *m, uint32_t i, const ls_page *page)
{
    ls_page_walk *walk = &m->nodes[i].walk;
    walk->address = page_of(walk->address, page->size_log2);
    walk->page = *page;
    mmu_answer(m, i);
}

static mmu_miss *find_miss(mmu *m, const ls_page_walk *walk)
{
    for (uint32_t k = 0; k < m->spec->mshr_entries; k++) {
        mmu_miss *miss = &m->misses[k];
        if (miss->open && (miss->address ^ walk->address) >> m->page_shift == 0 &&
            ((miss->flags ^ walk->flags) & LS_WALK_STAY) == 0)
            return miss;
    }
    return NULL;
}

bool mmu_host_look_up(mmu *m, uint32_t i, ls_cycle now)
{
    const index_links next = INDEX_LINKS(m->nodes, next);
    const ls_page_walk *walk = &m->nodes[i].walk;
    uint32_t at = m->spec->entries != 0 ? page_tags_find(&m->l2, walk->address) : TAG_STORE_NONE;
    if (at != TAG_STORE_NONE && serves(&m->frames[at], walk)) {
        m->n.hits++;
        answer_with(m, i, &m->frames[at]);
        return true;
    }
    mmu_miss *miss = find_miss(m, walk);
    if (miss != NULL) {
        m->n.mshr_hits++;
        mmu_tell(m, walk, LS_STEP_HOST_WALK);
        index_list_append(&miss->waiting, next, i);
        return true;
    }
    if (m->walking == m->spec->mshr_entries)
        return false;
    uint32_t number = index_pool_take(&m->miss_pool, INDEX_LINKS(m->misses, next));
    miss = &m->misses[number];
    *miss = (mmu_miss){
        .address = walk->address, .begun = now, .waiting = INDEX_LIST_EMPTY, .open = true, .flags = walk->flags
    };
    m->walking++;
    mmu_tell(m, walk, LS_STEP_HOST_WALK);
    m->n.misses++;
    m->n.walks++;
    index_list_append(&miss->waiting, next, i);
    const ls_page_walk question = { .address = walk->address,
                                    .page = { .size_log2 = (uint8_t)m->page_shift },
                                    .token = number,
                                    .flags = walk->flags };
    send_host(m, &question);
    return true;
}

/* A translation of the host. Pages that a copy engine asked for are not kept: they may lie elsewhere, and programs
 * would never bring them here. */
static void take_page(mmu *m, const ls_page_walk *walk, ls_cycle now)
{
    const index_links links = INDEX_LINKS(m->nodes, next);
    mmu_miss *miss = &m->misses[walk->token];
    index_list waiting = miss->waiting;
    uint64_t first = page_of(miss->address, walk->page.size_log2);
    m->n.walk_cycles += now - miss->begun;
    if (m->spec->entries != 0 && (miss->flags & LS_WALK_STAY) == 0)
        m->frames[page_tags_insert(&m->l2, first, walk->page.size_log2)] = walk->page;
    miss->open = false;
    m->walking--;
    index_pool_give(&m->miss_pool, INDEX_LINKS(m->misses, next), walk->token);
    index_list again = INDEX_LIST_EMPTY;
    for (uint32_t i = waiting.first; i != INDEX_NONE;) {
        uint32_t next = m->nodes[i].next;
        const ls_page_walk *question = &m->nodes[i].walk;
        if (serves(&walk->page, question) && page_of(question->address, walk->page.size_log2) == first) {
            answer_with(m, i, &walk->page);
        } else {
            index_list_append(&again, links, i);
        }
        i = next;
    }
    if ((walk->flags & LS_WALK_MANAGED) != 0)
        send_host(m, &(ls_page_walk){ .address = first, .token = walk->token, .kind = LS_WALK_TAKEN });
    /* All of these fit into the miss entry that is free now: they are for the same page of the usual size. */
    while (!index_list_empty(&again)) {
        uint32_t i = index_list_pop(&again, links);
        m->n.again++;
        (void)mmu_host_look_up(m, i, now);
    }
    m->blocked = false;
    if (!index_list_empty(&m->arrived))
        mmu_arm(m, now);
}

/* ----------------------------------------------------------------------------------------------- shootdowns */

static void shoot(mmu *m, const ls_page_walk *walk)
{
    uint32_t slot = 0;
    if (m->spec->entries != 0)
        page_tags_forget(&m->l2, walk->address, UINT64_C(1) << walk->page.size_log2);
    while (m->shootdowns[slot].left != 0) /* the agent sends no more than there are */
        slot++;
    m->shootdowns[slot] = (mmu_shootdown){ .left = m->link_count, .token = walk->token };
    for (uint32_t i = 0; i < m->link_count; i++) {
        uint32_t node = index_pool_take(&m->pool, INDEX_LINKS(m->nodes, next));
        m->nodes[node] = (mmu_node){ .link = i, .walk = *walk };
        m->nodes[node].walk.token = slot;
        mmu_answer(m, node);
    }
}

void mmu_host_shot(mmu *m, const ls_page_walk *walk)
{
    mmu_shootdown *s = &m->shootdowns[walk->token];
    if (--s->left > 0)
        return;
    m->n.shootdowns++;
    send_host(m, &(ls_page_walk){ .address = walk->address, .token = s->token, .kind = LS_WALK_SHOT });
}

void mmu_receive_host(void *self, ls_link *link, const void *payload, ls_cycle now)
{
    mmu *m = self;
    const ls_page_walk *walk = payload;
    if (walk->kind == LS_WALK_SHOOT)
        shoot(m, walk);
    else
        take_page(m, walk, now);
    ls_link_release(link, 1);
}

/* --------------------------------------------------------------------------------------------------- set-up */

ls_status mmu_set_host(void *self, ls_link *link, uint32_t *walks, ls_error *err)
{
    mmu *m = self;
    ls_domain *domain = ls_region_domain(m->region);
    m->node_count += m->link_count * MMU_SHOOTDOWNS;
    m->nodes = ls_domain_alloc(domain, m->node_count * sizeof *m->nodes);
    m->out_size = 2 * (uint32_t)m->spec->mshr_entries + MMU_SHOOTDOWNS;
    m->out = ls_domain_alloc(domain, m->out_size * sizeof *m->out);
    m->frames = ls_domain_alloc(domain, (m->spec->entries + 1) * sizeof *m->frames);
    if (m->nodes == NULL || m->out == NULL || m->frames == NULL)
        return ls_fail(err, LS_ERR_NOMEM, "no memory for '%s'", m->name);
    m->host = link;
    m->miss_pool = INDEX_POOL_NEW;
    ls_event_init(&m->host_event, send_out, m);
    *walks = (uint32_t)m->spec->mshr_entries;
    return LS_OK;
}
