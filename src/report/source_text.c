/* source_text.c: counts per instruction as a table and as CSV (source.h). */
#include "report/source.h"

#include "base/text.h"
#include "report/export_impl.h"
#include "report/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define TEXT_COLUMNS 38

static void put_share(FILE *to, double share)
{
    if (isnan(share))
        fprintf(to, " %9s", "-");
    else
        fprintf(to, " %7.1f %%", 100 * share);
}

static void put_row(const source_book *book, const inst_counted *inst, double share, FILE *to)
{
    char executed[LS_FORMAT_BYTES], stalls[LS_FORMAT_BYTES], conflicts[LS_FORMAT_BYTES];
    const inst_count *n = &inst->n;
    const char *reason = source_main_stall(book, n);
    fprintf(to, "    %8" PRIx64 "  %-*.*s %6.1f %% %13s %6.1f %14s  %-10s", inst->pc, TEXT_COLUMNS,
            TEXT_COLUMNS, inst->text, 100 * share, format_count(n->executed, executed, sizeof executed),
            n->executed > 0 ? (double)n->lanes / (double)n->executed : 0.0,
            format_count(source_stalls(book, n), stalls, sizeof stalls), reason ? reason : "-");
    put_share(to, source_coalescing(book, n));
    fprintf(to, " %10s", n->conflicts > 0 ? format_count(n->conflicts, conflicts, sizeof conflicts) : "-");
    if (inst->file)
        fprintf(to, "  %s:%" PRIu32, inst->file, inst->line);
    fputc('\n', to);
}

static int by_cost(const void *left, const void *right)
{
    const source_top *a = left, *b = right;
    if (a->share != b->share)
        return a->share > b->share ? -1 : 1;
    return a->inst < b->inst ? -1 : a->inst > b->inst;
}

static void put_kernel(const source_book *book, const source_kernel *k, double all, size_t rows, FILE *to)
{
    source_top *order = calloc(k->insts.count + 1, sizeof *order);
    char name[256];
    if (!order)
        return;
    fprintf(to, "\n  %s, %" PRIu64 " launch%s, %zu instructions\n",
            summary_name(k->name, 90, name, sizeof name), k->launches, k->launches == 1 ? "" : "es",
            k->insts.count);
    fprintf(to, "    %8s  %-*s %8s %13s %6s %14s  %-10s %9s %10s\n", "pc", TEXT_COLUMNS, "instruction", "cost",
            "executed", "lanes", "stalls", "mostly", "coalesced", "conflicts");
    for (size_t i = 0; i < k->insts.count; i++)
        order[i] = (source_top){ k, &k->insts.at[i], (double)source_cost(book, &k->insts.at[i].n) / all };
    qsort(order, k->insts.count, sizeof *order, by_cost);
    for (size_t i = 0; i < k->insts.count && i < rows; i++)
        put_row(book, order[i].inst, order[i].share, to);
    if (k->insts.count > rows)
        fprintf(to, "    ... and %zu more; all of them are in the files of --out\n", k->insts.count - rows);
    free(order);
}

void source_print(const source_book *book, size_t rows, FILE *to)
{
    double all = 0;
    for (size_t k = 0; k < book->kernels.count; k++)
        for (size_t i = 0; i < book->kernels.at[k].insts.count; i++)
            all += (double)source_cost(book, &book->kernels.at[k].insts.at[i].n);
    fprintf(to, "\ncostliest instructions: executions and stalls (%s) of all\n",
            book->machine == SOURCE_AMD ? "cycles of compute units" : "issue slots");
    for (size_t k = 0; k < book->kernels.count; k++)
        put_kernel(book, &book->kernels.at[k], all > 0 ? all : 1, rows, to);
}

void source_csv(const source_book *book, FILE *to)
{
    const char *const *reasons;
    size_t count = source_reasons(book->machine, &reasons);
    fputs(
        "kernel,launches,pc,instruction,file,line,executed,lanes,bytes,requests,request_bytes,hits,conflicts",
        to);
    for (size_t r = 0; r < count; r++)
        fprintf(to, ",stall_%s", reasons[r]);
    fputc('\n', to);
    for (size_t k = 0; k < book->kernels.count; k++)
        for (size_t i = 0; i < book->kernels.at[k].insts.count; i++) {
            const source_kernel *kernel = &book->kernels.at[k];
            const inst_counted *inst = &kernel->insts.at[i];
            export_csv_text(to, kernel->name);
            fprintf(to, ",%" PRIu64 ",%" PRIu64 ",", kernel->launches, inst->pc);
            export_csv_text(to, inst->text);
            fputc(',', to);
            export_csv_text(to, inst->file ? inst->file : "");
            fputc(',', to);
            if (inst->file)
                fprintf(to, "%" PRIu32, inst->line);
            fprintf(to, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64,
                    inst->n.executed, inst->n.lanes, inst->n.bytes, inst->n.requests, book->request_bytes,
                    inst->n.hits, inst->n.conflicts);
            for (size_t r = 0; r < count; r++)
                fprintf(to, ",%" PRIu64, inst->n.stalls[r]);
            fputc('\n', to);
        }
}
