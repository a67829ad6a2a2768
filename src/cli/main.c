/* main.c: hands the process's arguments and streams to the command framework, and its exit code back. */
#include "cli/cli.h"

int main(int argc, char **argv)
{
    return cli_main(cli_root(), argc, (const char *const *)argv, stdout, stderr);
}
