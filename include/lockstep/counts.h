/* counts.h: the counts of executed AMD programs, declared once. Work-groups (cu.h) and launches (driver.h) have a member
 * for each row, and are added up through the same rows. */
#ifndef LOCKSTEP_COUNTS_H
#define LOCKSTEP_COUNTS_H

#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define LS_EXECUTION_COUNTS(ROW)                                                                              \
    ROW(active_lanes) /* summed over vector and memory instructions */                                        \
    ROW(loads)        /* of global memory, by lanes; a scalar instruction counts once */                      \
    ROW(stores)                                                                                               \
    ROW(atomics)                                                                                              \
    ROW(load_bytes)                                                                                           \
    ROW(store_bytes)                                                                                          \
    ROW(atomic_bytes)                                                                                         \
    ROW(barriers)                                                                                             \
    ROW(flops_half)   /* operations by type: a multiply-add is two, for each active lane */                   \
    ROW(flops_single)                                                                                         \
    ROW(flops_double)
/* clang-format on */

/* The members: instructions of wavefronts, the same by class (ls_gpu_class_name()), and the rows. */
#define LS_COUNT_MEMBER_(name) uint64_t name;
#define LS_COUNT_MEMBERS(class_count)                                                                         \
    uint64_t instructions;                                                                                    \
    uint64_t classes[class_count];                                                                            \
    LS_EXECUTION_COUNTS(LS_COUNT_MEMBER_)

/* Adds the members of one struct to those of another one, which has as many classes or more. */
#define LS_COUNT_ADD_(name) counts_to_->name += counts_from_->name;
#define LS_COUNTS_ADD(to, from)                                                                               \
    do {                                                                                                      \
        __typeof__(&*(to)) counts_to_ = (to);                                                                 \
        __typeof__(&*(from)) counts_from_ = (from);                                                           \
        counts_to_->instructions += counts_from_->instructions;                                               \
        for (size_t class_ = 0; class_ < sizeof counts_from_->classes / sizeof counts_from_->classes[0];      \
             class_++)                                                                                        \
            counts_to_->classes[class_] += counts_from_->classes[class_];                                     \
        LS_EXECUTION_COUNTS(LS_COUNT_ADD_)                                                                    \
    } while (0)

#endif
