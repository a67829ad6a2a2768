/* http.h: libmicrohttpd, loaded when the first monitor starts: most runs have none. */
#ifndef MONITOR_HTTP_H
#define MONITOR_HTTP_H

#include "lockstep/status.h"

#include <microhttpd.h>

/* The functions that are used here. */
#define HTTP_CALLS(X)                                                                                         \
    X(start_daemon)                                                                                           \
    X(stop_daemon)                                                                                            \
    X(get_daemon_info)                                                                                        \
    X(lookup_connection_value)                                                                                \
    X(create_response_from_buffer)                                                                            \
    X(add_response_header)                                                                                    \
    X(queue_response)                                                                                         \
    X(destroy_response)

typedef struct http_calls {
#define X(name) __typeof__(&MHD_##name) name;
    HTTP_CALLS(X)
#undef X
} http_calls;

/* Fills http, once; before any use of it. */
ls_status http_load(ls_error *err);
extern http_calls http;

#endif
