/* monitor_setup.c: words of the user about a monitor: its port, its token, and its address in return. */
#include "monitor/monitor.h"

#include "base/pool.h"
#include "base/text.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

ls_status monitor_parse_port(const char *text, uint16_t *out, ls_error *err)
{
    uint64_t port;
    if (parse_u64(text, strlen(text), &port, NULL) != LS_OK || port > UINT16_MAX) {
        char quoted[80];
        quote_text(text, strlen(text), quoted, sizeof quoted);
        return ls_fail(err, LS_ERR_USAGE, "'%s' is no port for the monitor: 0 (any that is free) to 65535",
                       quoted);
    }
    *out = (uint16_t)port;
    return LS_OK;
}

ls_status monitor_choose_token(const char *wanted, char room[MONITOR_TOKEN_BYTES], const char **out,
                               ls_error *err)
{
    *out = wanted;
    if (wanted == NULL || strcmp(wanted, "auto") != 0)
        return wanted != NULL && wanted[0] == '\0' ? ls_fail(err, LS_ERR_USAGE, "the monitor's token is empty")
                                                   : LS_OK;
    unsigned char random[16];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return ls_fail(err, LS_ERR_IO, "the host gives no random numbers for the monitor's token");
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(room + 2 * i, 3, "%02x", random[i]);
    *out = room;
    return LS_OK;
}

const char *monitor_url(const monitor *m, const char *token, char *out, size_t bytes)
{
    snprintf(out, bytes, "http://127.0.0.1:%u/%s%s", (unsigned)monitor_port(m), token ? "#token=" : "",
             token ? token : "");
    return out;
}
