/* write_policy.h: what a cache does with a write: the policies of the caches of both vendors. */
#ifndef MODEL_POLICY_WRITE_POLICY_H
#define MODEL_POLICY_WRITE_POLICY_H

typedef enum write_policy {
    WRITE_THROUGH, /* written here and below; a miss takes a line */
    WRITE_BACK,    /* written here; below when the line goes or on a flush */
    WRITE_EVICT,   /* written below; the line goes */
    WRITE_AROUND,  /* written below, and here if the line is present */
} write_policy;

extern const char *const write_policy_names[]; /* in the order of write_policy, then NULL */

#endif
