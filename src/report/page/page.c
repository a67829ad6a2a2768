/* page.c: the frame of a report: style, landmarks, data and script. */
#include "report/page/page.h"

#include "base/file.h"
#include "lockstep/version.h"
#include "report/html.h"
#include "report/timeline/spans.h"

#include <stdlib.h>
#include <string.h>

/* '<' is written as an escape, so that no text of the data can end the element that holds it. */
static void put_data(FILE *to, const char *text)
{
    for (; *text; text++)
        if (*text == '<')
            fputs("\\u003c", to);
        else
            fputc(*text, to);
}

/* One script in several files: each builds on those before it. */
static void put_scripts(FILE *to)
{
    static const unsigned char *const scripts[] = { page_core_js,          page_table_js,
                                                    page_model_js,         page_charts_js,
                                                    page_memory_js,        page_details_js,
                                                    page_blocks_js,        page_source_js,
                                                    page_sections_js,      page_compare_js,
                                                    page_sweep_js,         page_timeline_data_js,
                                                    page_timeline_draw_js, page_timeline_details_js,
                                                    page_timeline_js,      page_main_js };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        fputs((const char *)scripts[i], to);
}

static ls_status make_data(const page_input *in, text_buffer *text, ls_error *err)
{
    json_writer j;
    json_to_text(&j, text, 0);
    json_begin_object(&j);
    json_put_text(&j, "format", "lockstep-report");
    json_put_u64(&j, "version", 1);
    json_put_text(&j, "lockstep", LS_VERSION_STRING);
    json_put_text(&j, "title", in->title);
    json_key(&j, "results");
    json_array(&j);
    for (size_t i = 0; i < in->result_count; i++)
        page_put_result(&j, &in->results[i]);
    json_end(&j);
    if (in->sweep)
        page_put_sweep(&j, in->sweep);
    json_end(&j);
    return json_finish(&j, err);
}

/* Texts may have '<', columns have none. */
static ls_status put_timeline(const page_input *in, FILE *to, ls_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    if (in->timeline == NULL)
        return LS_OK;
    FILE *stream = open_memstream(&text, &bytes);
    if (!stream)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the timeline of a report");
    ls_status status = timeline_spans_write(in->timeline, stream, err);
    if (fclose(stream) != 0 && status == LS_OK)
        status = ls_fail(err, LS_ERR_NOMEM, "no memory left for the timeline of a report");
    if (status == LS_OK) {
        fputs("<script type=\"application/json\" id=\"timeline-data\">", to);
        put_data(to, text);
        fputs("</script>\n", to);
    }
    free(text);
    return status;
}

ls_status page_write(const page_input *in, FILE *to, ls_error *err)
{
    text_buffer data = { 0 };
    ls_status status = make_data(in, &data, err);
    if (status == LS_OK) {
        fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>Lockstep: ", to);
        html_text(to, in->title);
        fputs("</title>\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n", to);
        fputs(
            "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n<style>",
            to);
        fputs((const char *)page_css, to);
        fputs("</style></head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to content</a>\n<header><h1>",
              to);
        html_text(to, in->title);
        fprintf(to, "</h1><p id=\"about\">Report of Lockstep %s</p></header>\n", LS_VERSION_STRING);
        fputs(
            "<nav id=\"nav\" aria-label=\"Sections\"></nav>\n<main id=\"main\" tabindex=\"-1\"><noscript><p>This "
            "page draws its tables and charts from the data inside it with JavaScript, which is switched off "
            "here.</p></noscript></main>\n<script type=\"application/json\" id=\"data\">",
            to);
        put_data(to, text_get(&data));
        fputs("</script>\n", to);
        status = put_timeline(in, to, err);
        fputs("<script>", to);
        put_scripts(to);
        fputs("</script>\n</body></html>\n", to);
    }
    text_fini(&data);
    return status;
}

ls_status page_write_file(const page_input *in, const char *path, ls_error *err)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    if (!stream)
        return ls_fail(err, LS_ERR_NOMEM, "no memory left for the report");
    ls_status status = page_write(in, stream, err);
    if (fclose(stream) != 0 && status == LS_OK)
        status = ls_fail(err, LS_ERR_NOMEM, "no memory left for the report");
    if (status == LS_OK)
        status = file_write(path, text, bytes, err);
    free(text);
    return status;
}
