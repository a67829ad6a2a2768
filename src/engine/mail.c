/* mail.c: mailboxes: the way of messages to the wheel of their receiver while several threads share a window. One thread
 * alone puts them there itself, after it has emptied the mailboxes of the window before.
 *
 * Each thread has a mailbox for each region and for each parity of a window. What domains that it runs send in a window
 * goes there, in the order of sending, whatever the links. In the next window the receiver empties the boxes of all
 * threads into its wheel, which orders messages by time and link. So it makes no difference which thread sent what. */
#include "engine/wheel.h"

static bool add_thread(ls_engine *engine)
{
    thread_mail mail;
    for (int parity = 0; parity < 2; parity++) {
        mailbox *boxes =
            arena_alloc_aligned(&engine->arena, engine->region_count * sizeof *boxes, LS_CACHE_LINE);
        if (boxes == NULL)
            return false;
        for (uint32_t i = 0; i < engine->region_count; i++)
            boxes[i].end = &boxes[i].first;
        mail.boxes[parity] = boxes;
    }
    return vec_push(&engine->mail_of, mail);
}

ls_status mail_prepare(ls_engine *engine, uint32_t threads, ls_error *err)
{
    while (engine->mail_of.count < threads)
        if (!add_thread(engine))
            return ls_fail(err, LS_ERR_NOMEM, "no memory for the messages of %u threads", threads);
    return LS_OK;
}

void mail_set_out(ls_domain *domain, const thread_mail *mail)
{
    mailbox *out = mail != NULL ? mail->boxes[domain->group->window_index & 1] : NULL;
    for (uint32_t i = 0; i < domain->region_count; i++)
        domain->regions[i]->out = out;
}

void mail_take(const ls_engine *engine, ls_region *region, unsigned parity)
{
    for (size_t i = 0; i < engine->mail_of.count; i++) {
        mailbox *box = &engine->mail_of.at[i].boxes[parity][region->place];
        if (box->end == &box->first)
            continue;
        box->end = &box->first;
        for (arrival *message = box->first, *next; message != NULL; message = next) {
            next = message->next;
            region_take_message(region, message);
        }
    }
}

void mail_take_before(ls_domain *const *domains, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const ls_group *group = domains[i]->group;
        for (uint32_t r = 0; r < domains[i]->region_count && group->mailed; r++)
            mail_take(group->engine, domains[i]->regions[r], (group->window_index + 1) & 1);
    }
    for (size_t i = 0; i < count; i++)
        domains[i]->group->mailed = false;
}

void mail_take_all(const ls_engine *engine)
{
    if (engine->mail_of.count == 0)
        return;
    for (size_t i = 0; i < engine->groups.count; i++)
        engine->groups.at[i]->mailed = false;
    for (size_t i = 0; i < engine->domains.count; i++)
        for (uint32_t r = 0; r < engine->domains.at[i]->region_count; r++)
            for (unsigned parity = 0; parity < 2; parity++)
                mail_take(engine, engine->domains.at[i]->regions[r], parity);
}
