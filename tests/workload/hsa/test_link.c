/* test_link.c: relocatable code objects made by hand: addresses of sections and symbols, each kind of
 * relocation against its formula, and refusals. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "workload/hsa/hsa.h"

#include <elf.h>
#include <string.h>

#ifndef EM_AMDGPU
#define EM_AMDGPU 224
#endif

enum {
    TEXT = 0x100,
    TEXT_BYTES = 0x80,
    RODATA = 0x200, /* the descriptor */
    RODATA_BYTES = 64,
    DATA = 0x280,
    DATA_BYTES = 0x20,
    SYMBOLS = 0x300,
    SYMBOL_COUNT = 8,
    STRINGS = 0x400,
    RELAS = 0x480,
    RELA_MOST = 8,
    SECTIONS = 0x600,
    SECTION_COUNT = 8,
    BYTES = 0x800,
    BASE_HIGH = 0x70 /* the image is loaded at 0x7000000000 */
};
enum { S_TEXT = 1, S_RODATA, S_DATA, S_BSS, S_RELA, S_SYMTAB, S_STRTAB };
enum { Y_K = 1, Y_KD, Y_V, Y_B, Y_U, Y_COMMON, Y_ABS };

static uint8_t file[BYTES];
static unsigned relas;

static Elf64_Ehdr *header(void)
{
    return (Elf64_Ehdr *)(void *)file;
}
static Elf64_Shdr *section(unsigned i)
{
    return (Elf64_Shdr *)(void *)(file + SECTIONS) + i;
}
static Elf64_Sym *symbol(unsigned i)
{
    return (Elf64_Sym *)(void *)(file + SYMBOLS) + i;
}

static void relocate(uint64_t offset, unsigned sym, unsigned type, int64_t addend)
{
    Elf64_Rela *r = (Elf64_Rela *)(void *)(file + RELAS) + relas++;
    *r = (Elf64_Rela){ .r_offset = offset, .r_info = ELF64_R_INFO(sym, type), .r_addend = addend };
    section(S_RELA)->sh_size = relas * sizeof *r;
}

static void add_section(unsigned i, uint32_t type, uint64_t flags, uint64_t offset, uint64_t bytes,
                        uint64_t align)
{
    *section(i) = (Elf64_Shdr){
        .sh_type = type, .sh_flags = flags, .sh_offset = offset, .sh_size = bytes, .sh_addralign = align
    };
}

static void add_symbol(unsigned i, uint32_t name, unsigned bind, unsigned type, uint16_t in, uint64_t value,
                       uint64_t bytes)
{
    *symbol(i) = (Elf64_Sym){ .st_name = name,
                              .st_info = (unsigned char)ELF64_ST_INFO(bind, type),
                              .st_shndx = in,
                              .st_value = value,
                              .st_size = bytes };
}

static void build(void)
{
    static const char strings[] = "\0k\0k.kd\0v\0b\0u\0c\0a";
    memset(file, 0, sizeof file);
    relas = 0;
    *header() = (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 64, 2 },
                              .e_type = ET_REL,
                              .e_machine = EM_AMDGPU,
                              .e_version = EV_CURRENT,
                              .e_shoff = SECTIONS,
                              .e_flags = 0x33,
                              .e_ehsize = 64,
                              .e_shentsize = sizeof(Elf64_Shdr),
                              .e_shnum = SECTION_COUNT,
                              .e_shstrndx = S_STRTAB };
    add_section(S_TEXT, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, TEXT_BYTES, 256);
    add_section(S_RODATA, SHT_PROGBITS, SHF_ALLOC, RODATA, RODATA_BYTES, 64);
    add_section(S_DATA, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, DATA, DATA_BYTES, 8);
    add_section(S_BSS, SHT_NOBITS, SHF_ALLOC | SHF_WRITE, DATA, 0x30, 16);
    add_section(S_RELA, SHT_RELA, SHF_INFO_LINK, RELAS, 0, 8);
    section(S_RELA)->sh_link = S_SYMTAB;
    section(S_RELA)->sh_info = S_TEXT;
    section(S_RELA)->sh_entsize = sizeof(Elf64_Rela);
    add_section(S_SYMTAB, SHT_SYMTAB, 0, SYMBOLS, SYMBOL_COUNT * sizeof(Elf64_Sym), 8);
    section(S_SYMTAB)->sh_link = S_STRTAB;
    section(S_SYMTAB)->sh_entsize = sizeof(Elf64_Sym);
    add_section(S_STRTAB, SHT_STRTAB, 0, STRINGS, sizeof strings, 1);
    memcpy(file + STRINGS, strings, sizeof strings);
    add_symbol(Y_K, 1, STB_GLOBAL, STT_FUNC, S_TEXT, 0, 0x40);
    add_symbol(Y_KD, 3, STB_GLOBAL, STT_OBJECT, S_RODATA, 0, 64);
    add_symbol(Y_V, 8, STB_GLOBAL, STT_OBJECT, S_DATA, 8, 8);
    add_symbol(Y_B, 10, STB_LOCAL, STT_OBJECT, S_BSS, 0x10, 4);
    add_symbol(Y_U, 12, STB_WEAK, STT_NOTYPE, SHN_UNDEF, 0, 0);
    add_symbol(Y_COMMON, 14, STB_GLOBAL, STT_OBJECT, SHN_COMMON, 32, 12);
    add_symbol(Y_ABS, 16, STB_GLOBAL, STT_NOTYPE, SHN_ABS, 0x1122334455, 0);
    /* As if the assembler knew the distance: text begins one page after the descriptor. */
    uint64_t distance = 0x1000;
    memcpy(file + RODATA + 16, &distance, sizeof distance);
}

static hsa_object *read_ok(void)
{
    ls_error err;
    hsa_object *o;
    if (hsa_object_read(file, sizeof file, &o, &err) != LS_OK)
        fail_msg("%s", err.what);
    return o;
}

static void refuse(ls_status want, const char *part)
{
    ls_error err;
    hsa_object *o;
    assert_int_equal(hsa_object_read(file, sizeof file, &o, &err), want);
    if (!strstr(err.what, part))
        fail_msg("'%s' is not in: %s", part, err.what);
}

static const hsa_variable *variable(const hsa_object *o, const char *name)
{
    for (size_t i = 0; i < o->variable_count; i++)
        if (strcmp(o->variables[i].name, name) == 0)
            return &o->variables[i];
    fail_msg("no variable '%s'", name);
    return NULL;
}

static void places(void **state)
{
    (void)state;
    build();
    file[TEXT + 5] = 0xab;
    file[DATA + 8] = 0xcd;
    hsa_object *o = read_ok();
    assert_int_equal(o->segment_count, 3);
    assert_false(o->segments[0].writable || o->segments[0].executable);
    assert_true(o->segments[1].executable && !o->segments[1].writable);
    assert_true(o->segments[2].writable && !o->segments[2].executable);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(o->segments[i].address % 4096, 0);
    assert_int_equal(o->kernel_count, 1);
    assert_int_equal(o->kernels[0].entry, o->segments[1].address);
    assert_int_equal(o->kernels[0].code_bytes, 0x40);
    assert_int_equal(o->image[o->segments[1].address + 5], 0xab);
    assert_int_equal(o->image[variable(o, "v")->address], 0xcd);
    assert_int_equal(variable(o, "v")->address, o->segments[2].address + 8);
    assert_int_equal(variable(o, "b")->address % 16, 0);
    assert_int_equal(variable(o, "c")->address % 32, 0);
    assert_int_equal(variable(o, "c")->bytes, 12);
    assert_true(variable(o, "c")->writable);
    hsa_object_destroy(o);
}

/* Every kind against the formula of the ABI: S symbol, A addend, P place, G entry of the global table. */
static void formulas(void **state)
{
    (void)state;
    enum { A = 20 };
    const uint64_t base = (uint64_t)BASE_HIGH << 32;
    for (unsigned sym = Y_K; sym <= Y_ABS; sym++) {
        for (unsigned type = 1; type <= 14; type++) {
            if (type == 12 || type == 13 || (sym == Y_ABS && type == 14) || (sym == Y_U && type == 14))
                continue;
            build();
            relocate(0x24, sym, type, A);
            hsa_object *o = read_ok();
            uint8_t *image = o->image;
            hsa_object_relocate(o, base, image);
            uint64_t p = base + o->kernels[0].entry + 0x24, s = 0, got;
            if (sym == Y_K)
                s = base + o->kernels[0].entry;
            else if (sym == Y_KD)
                s = base + o->kernels[0].descriptor;
            else if (sym == Y_ABS)
                s = 0x1122334455;
            else if (sym != Y_U)
                s = base + variable(o, sym == Y_V ? "v" : sym == Y_B ? "b" : "c")->address;
            uint8_t *place = image + o->kernels[0].entry + 0x24;
            int32_t word;
            int16_t half;
            uint64_t wide;
            memcpy(&word, place, sizeof word);
            memcpy(&half, place, sizeof half);
            memcpy(&wide, place, sizeof wide);
            switch (type) {
            case 1: /* ABS32_LO */
            case 6: /* ABS32 */
                assert_int_equal((uint32_t)word, (uint32_t)(s + A));
                break;
            case 2:
                assert_int_equal((uint32_t)word, (uint32_t)((s + A) >> 32));
                break;
            case 3:
                assert_int_equal(wide, s + A);
                break;
            case 4: /* REL32 */
            case 10:
                assert_int_equal((uint32_t)word, (uint32_t)(s + A - p));
                break;
            case 5:
                assert_int_equal(wide, s + A - p);
                break;
            case 11:
                assert_int_equal((uint32_t)word, (uint32_t)((s + A - p) >> 32));
                break;
            case 7: /* GOTPCREL: S lies there */
            case 8:
                memcpy(&got, image + (uint64_t)((int64_t)(p - base) + word - A), sizeof got);
                assert_int_equal(got, s);
                break;
            case 9:
                assert_int_equal(word, 0);
                break;
            default:
                assert_int_equal(half, (int64_t)(s + A - p - 4) / 4);
            }
            assert_int_equal(place[type == 14 ? 2 : type == 3 || type == 5 ? 8 : 4], 0); /* and nothing else */
            hsa_object_destroy(o);
        }
    }
}

/* A symbol has one entry, even with several references. */
static void one_entry_each(void **state)
{
    (void)state;
    build();
    relocate(0, Y_V, 8, 4);
    relocate(8, Y_V, 8, 4);
    relocate(16, Y_K, 8, 4);
    hsa_object *o = read_ok();
    int32_t word[3];
    for (unsigned i = 0; i < 3; i++)
        memcpy(&word[i], o->image + o->kernels[0].entry + 8 * (size_t)i, 4);
    assert_int_equal(word[0], word[1] + 8);
    assert_int_equal(o->reloc_count, 2);
    hsa_object_destroy(o);
}

static void refusals(void **state)
{
    (void)state;
    build();
    symbol(Y_U)->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
    hsa_object_destroy(read_ok()); /* without references */
    relocate(0, Y_U, 10, 0);
    refuse(LS_ERR_UNSUPPORTED, "needs the symbol 'u'");
    build();
    symbol(Y_V)->st_shndx = 0xff00; /* local memory */
    relocate(0, Y_V, 1, 0);
    refuse(LS_ERR_UNSUPPORTED, "needs the symbol 'v'");
    build();
    relocate(0, Y_V, 13, 0);
    refuse(LS_ERR_UNSUPPORTED, "unknown type 13");
    build();
    relocate(0, Y_V, 99, 0);
    refuse(LS_ERR_UNSUPPORTED, "unknown type 99");
    build();
    relocate(TEXT_BYTES - 3, Y_V, 1, 0);
    refuse(LS_ERR_INPUT, "outside of its section");
    build();
    relocate(0, SYMBOL_COUNT, 1, 0);
    refuse(LS_ERR_INPUT, "symbol that does not exist");
    build();
    relocate(0, Y_V, 14, 0x40000);
    refuse(LS_ERR_INPUT, "does not reach 'v'");
    build();
    relocate(0, Y_V, 4, INT64_C(0x100000000));
    refuse(LS_ERR_INPUT, "does not reach 'v'");
    build();
    section(S_TEXT)->sh_addralign = 24;
    refuse(LS_ERR_INPUT, "aligned to 24");
    build();
    section(S_BSS)->sh_size = UINT64_C(1) << 40;
    refuse(LS_ERR_INPUT, "beyond the limit");
    build();
    section(S_DATA)->sh_offset = BYTES;
    refuse(LS_ERR_INPUT, "section lies outside");
    section(S_DATA)->sh_type = SHT_NULL;
    refuse(LS_ERR_INPUT, "section lies outside");
    build();
    symbol(Y_V)->st_value = DATA_BYTES + 1;
    refuse(LS_ERR_INPUT, "outside of its section");
    build();
    section(S_RELA)->sh_type = SHT_REL;
    refuse(LS_ERR_UNSUPPORTED, "without addends");
}

/* Any single byte may be wrong: the object is read or refused, and nothing else happens. */
static void any_byte(void **state)
{
    (void)state;
    for (size_t at = 0; at < sizeof file; at++) {
        static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
        for (size_t k = 0; k < sizeof values; k++) {
            hsa_object *o;
            ls_error err;
            build();
            relocate(0, Y_V, 8, 4);
            relocate(8, Y_K, 11, 4);
            relocate(16, Y_COMMON, 3, 4);
            file[at] = values[k];
            if (hsa_object_read(file, sizeof file, &o, &err) == LS_OK) {
                hsa_object_relocate(o, 0x7000000000, o->image);
                hsa_object_destroy(o);
            } else {
                assert_true(err.what[0] != '\0');
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places),   cmocka_unit_test(formulas), cmocka_unit_test(one_entry_each),
        cmocka_unit_test(refusals), cmocka_unit_test(any_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
