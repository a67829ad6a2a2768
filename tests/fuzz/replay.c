/* replay.c: runs a fuzz target on the files of its seed corpus, so that what fuzzing once found stays
 * found. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* A copy of exactly the right size, so that AddressSanitizer sees one byte too many. */
static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return 1;
    }
    char *buffer = NULL;
    size_t size = 0, room = 0;
    for (;;) {
        char *larger = realloc(buffer, room += 65536);
        if (!larger)
            break;
        buffer = larger;
        size_t n = fread(buffer + size, 1, room - size, file);
        size += n;
        if (size < room)
            break;
    }
    int failed = ferror(file);
    uint8_t *exact = malloc(size ? size : 1);
    if (exact && buffer && size)
        memcpy(exact, buffer, size);
    if (!exact || !buffer)
        failed = 1;
    if (!failed)
        LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    free(buffer);
    fclose(file);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0, files = 0;
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) {
        struct dirent **entries;
        int count = scandir(argv[i], &entries, not_hidden, alphasort);
        if (count < 0) {
            perror(argv[i]);
            failed = 1;
            continue;
        }
        for (int k = 0; k < count; k++) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], entries[k]->d_name);
            failed |= replay(path);
            files++;
            free(entries[k]);
        }
        free(entries);
    }
    printf("%d seeds\n", files);
    return failed || files == 0;
}
