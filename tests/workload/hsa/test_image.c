/* test_image.c: code objects made by hand: their contents, and refusals when a byte is wrong. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "workload/hsa/elf_builder.h"
#include "workload/hsa/hsa.h"

#include <stdio.h>

static elf_builder b;

static hsa_object *read_ok(void)
{
    ls_error err;
    hsa_object *o;
    ls_status status = hsa_object_read(b.bytes, sizeof b.bytes, &o, &err);
    if (status != LS_OK)
        print_error("%s\n", err.what);
    assert_int_equal(status, LS_OK);
    return o;
}

static void refuse(ls_status want, const char *part)
{
    ls_error err;
    hsa_object *o;
    assert_int_equal(hsa_object_read(b.bytes, sizeof b.bytes, &o, &err), want);
    assert_null(o);
    if (!strstr(err.what, part))
        print_error("'%s' is not in: %s\n", part, err.what);
    assert_non_null(strstr(err.what, part));
}

static void version_4(void **state)
{
    hsa_object *o;
    (void)state;
    elf_build(&b, 2);
    elf_header(&b)->e_flags |= 0x200;
    o = read_ok();
    assert_int_equal(o->version, 4);
    assert_string_equal(o->target_name, "gfx1010");
    assert_string_equal(o->isa_name, "amdgcn-amd-amdhsa--gfx1010");
    assert_string_equal(o->xnack, "off");
    assert_true(o->has_target);
    assert_int_equal(o->target, AMD_GFX1010);
    assert_int_equal(o->image_bytes, ELF_BYTES + 0x100);
    assert_int_equal(o->image[ELF_BYTES + 0xff], 0);
    assert_int_equal(o->kernel_count, 1);
    assert_string_equal(o->kernels[0].name, "k");
    assert_string_equal(o->kernels[0].symbol, "k.kd");
    assert_int_equal(o->kernels[0].entry, ELF_CODE);
    assert_int_equal(o->kernels[0].code_bytes, 16);
    assert_int_equal(o->kernels[0].lds_bytes, 512);
    assert_int_equal(o->kernels[0].scratch_bytes, 16);
    assert_int_equal(o->kernels[0].kernarg_bytes, 40);
    assert_int_equal(o->kernels[0].wave_size, 32);
    assert_int_equal(o->kernels[0].vgprs, 24); /* 3 granules of 8 */
    assert_int_equal(o->kernels[0].properties, 0x040b);
    assert_false(o->kernels[0].has_args);
    assert_int_equal(o->variable_count, 1);
    assert_string_equal(o->variables[0].name, "v");
    assert_int_equal(o->variables[0].address, ELF_DATA);
    assert_true(o->variables[0].writable);
    hsa_object_destroy(o);
}

static void version_2(void **state)
{
    static const char yaml[] =
        "---\nKernels:\n  - Name: k\n    SymbolName: 'k@kd'\n    Args:\n"
        "      - { Name: p, TypeName: 'int*', Size: 8, Align: 8, ValueKind: GlobalBuffer, "
        "AddrSpaceQual: Global, IsConst: true }\n"
        "      - { Size: 1, Align: 1, ValueKind: ByValue, AccQual: Default }\n"
        "      - { Size: 8, Align: 8, ValueKind: HiddenGlobalOffsetX }\n"
        "    Attrs: { ReqdWorkGroupSize: [ 64, 2, 1 ] }\n"
        "    CodeProps: { NumSGPRs: 14, NumVGPRs: 5, MaxFlatWorkGroupSize: 256, "
        "KernargSegmentAlign: 8 }\n...\n";
    static const uint32_t version[2] = { 2, 1 };
    const hsa_kernel *k;
    hsa_object *o;
    (void)state;
    elf_build(&b, 0);
    elf_note(&b, "AMD", 1, version, sizeof version);
    elf_note(&b, "AMD", 10, yaml, sizeof yaml - 1);
    o = read_ok();
    assert_int_equal(o->version, 2);
    assert_int_equal(o->target, AMD_GFX803);
    assert_int_equal(o->kernel_count, 1);
    k = &o->kernels[0];
    assert_string_equal(k->name, "k");
    assert_int_equal(k->entry, ELF_KERNEL + 256);
    assert_int_equal(k->code_bytes, 16);
    assert_int_equal(k->rsrc1, 0x00ac0041);
    assert_int_equal(k->properties, 0x0b);
    assert_int_equal(k->lds_bytes, 1024);
    assert_int_equal(k->scratch_bytes, 32);
    assert_int_equal(k->kernarg_bytes, 48);
    assert_int_equal(k->wave_size, 64);
    assert_int_equal(k->sgprs, 14);
    assert_int_equal(k->vgprs, 5);
    assert_int_equal(k->group_size_max, 256);
    assert_int_equal(k->required_group[1], 2);
    assert_int_equal(k->arg_count, 3);
    assert_int_equal(k->explicit_count, 2);
    assert_int_equal(k->explicit_bytes, 9);
    assert_int_equal(k->args[0].kind, HSA_ARG_GLOBAL_BUFFER);
    assert_string_equal(k->args[0].address_space, "global");
    assert_true(k->args[0].is_const);
    assert_int_equal(k->args[1].offset, 8);
    assert_int_equal(k->args[2].kind, HSA_ARG_GLOBAL_OFFSET_X);
    assert_int_equal(k->args[2].offset, 16); /* aligned */
    hsa_object_destroy(o);
}

/* Value of the word at ELF_DATA after loading at the base. */
static uint64_t relocated(uint32_t type, uint32_t symbol, uint64_t base, size_t bytes)
{
    uint64_t value = 0;
    uint8_t image[ELF_BYTES + 0x100];
    hsa_object *o;
    elf_build(&b, 3);
    *elf_rela(&b, 0) =
        (Elf64_Rela){ .r_offset = ELF_DATA, .r_info = ELF64_R_INFO(symbol, type), .r_addend = 0x10 };
    elf_shdr(&b, 3)->sh_size = sizeof(Elf64_Rela);
    o = read_ok();
    assert_int_equal(o->reloc_count, 1);
    memcpy(image, o->image, sizeof image);
    hsa_object_relocate(o, base, image);
    memcpy(&value, image + ELF_DATA, bytes);
    hsa_object_destroy(o);
    return value;
}

static void relocations(void **state)
{
    const uint64_t base = 0x123456789000;
    (void)state;
    assert_int_equal(relocated(13, 0, base, 8), base + 0x10);                           /* RELATIVE64 */
    assert_int_equal(relocated(3, 1, base, 8), base + ELF_CODE + 0x10);                 /* ABS64 */
    assert_int_equal(relocated(1, 1, base, 4), 0x56789000 + ELF_CODE + 0x10);           /* ABS32_LO */
    assert_int_equal(relocated(2, 1, base, 4), 0x1234);                                 /* ABS32_HI */
    assert_int_equal(relocated(6, 1, 0x1000, 4), 0x1000 + ELF_CODE + 0x10);             /* ABS32 */
    assert_int_equal(relocated(5, 1, base, 8), (uint64_t)(ELF_CODE + 0x10 - ELF_DATA)); /* REL64 */
    assert_int_equal(relocated(10, 1, base, 4), (uint32_t)(ELF_CODE + 0x10 - ELF_DATA));
    assert_int_equal(relocated(11, 1, base, 4), 0xffffffff); /* REL32_HI of a negative distance */
    elf_build(&b, 3);
    *elf_rela(&b, 0) = (Elf64_Rela){ .r_offset = ELF_DATA, .r_info = ELF64_R_INFO(4, 3) };
    elf_shdr(&b, 3)->sh_size = sizeof(Elf64_Rela);
    refuse(LS_ERR_UNSUPPORTED, "needs the symbol 'u'");
    elf_rela(&b, 0)->r_info = ELF64_R_INFO(1, 200);
    refuse(LS_ERR_UNSUPPORTED, "unknown type 200");
    elf_rela(&b, 0)->r_info = ELF64_R_INFO(77, 3);
    refuse(LS_ERR_INPUT, "names a symbol that does not exist");
    *elf_rela(&b, 0) = (Elf64_Rela){ .r_offset = ELF_BYTES + 0xfc, .r_info = ELF64_R_INFO(1, 3) };
    refuse(LS_ERR_INPUT, "relocation lies outside");
    /* An undefined weak symbol is 0, wherever the image is. */
    *elf_rela(&b, 0) = (Elf64_Rela){ .r_offset = ELF_DATA, .r_info = ELF64_R_INFO(4, 3) };
    elf_sym(&b, 4)->st_info = ELF64_ST_INFO(STB_WEAK, STT_OBJECT);
    hsa_object *o = read_ok();
    assert_true(o->relocs[0].is_absolute);
    hsa_object_destroy(o);
}

static void wrong_headers(void **state)
{
    (void)state;
    elf_build(&b, 2);
    b.bytes[0] = 'x';
    refuse(LS_ERR_INPUT, "no code object");
    elf_build(&b, 2);
    elf_header(&b)->e_machine = EM_X86_64;
    refuse(LS_ERR_INPUT, "machine 62");
    elf_build(&b, 2);
    elf_header(&b)->e_type = ET_CORE;
    refuse(LS_ERR_INPUT, "type 4, neither a shared object");
    elf_build(&b, 2);
    elf_header(&b)->e_ident[EI_OSABI] = 65;
    refuse(LS_ERR_UNSUPPORTED, "OS ABI 65");
    elf_build(&b, 9);
    refuse(LS_ERR_UNSUPPORTED, "version 11");
    elf_build(&b, 2);
    elf_header(&b)->e_flags = 0xfe;
    refuse(LS_ERR_UNSUPPORTED, "unknown processor 0xfe");
}

static void wrong_places(void **state)
{
    (void)state;
    elf_build(&b, 2);
    elf_phdr(&b, 0)->p_offset = 1;
    refuse(LS_ERR_INPUT, "segment lies outside");
    elf_build(&b, 2);
    elf_phdr(&b, 0)->p_vaddr = UINT64_MAX - 5;
    refuse(LS_ERR_INPUT, "beyond the limit");
    elf_build(&b, 2);
    elf_phdr(&b, 0)->p_type = PT_NULL;
    refuse(LS_ERR_INPUT, "nothing to load");
    elf_build(&b, 2);
    elf_phdr(&b, 1)->p_filesz = UINT64_MAX;
    refuse(LS_ERR_INPUT, "notes lie outside");
    elf_build(&b, 2);
    elf_sym(&b, 2)->st_value = ELF_BYTES + 0xf0;
    refuse(LS_ERR_INPUT, "descriptor of kernel 'k'");
    elf_build(&b, 2);
    elf_put64(&b, ELF_KERNEL + 16, UINT64_MAX / 2);
    refuse(LS_ERR_INPUT, "not in executable code");
    elf_build(&b, 2);
    elf_put32(&b, ELF_KERNEL + 8, UINT32_MAX);
    refuse(LS_ERR_INPUT, "bytes of arguments");
    elf_build(&b, 0);
    elf_put32(&b, ELF_KERNEL, 2);
    refuse(LS_ERR_UNSUPPORTED, "code version 2.0");
    elf_build(&b, 2);
    elf_sym(&b, 1)->st_name = 5000;
    refuse(LS_ERR_INPUT, "symbol's name");
}

/* Every cut of the file and every single byte turned round: refused or read, never more. */
static void any_bytes(void **state)
{
    hsa_object *o;
    (void)state;
    for (size_t n = 0; n < ELF_BYTES; n += 7) {
        elf_build(&b, 2);
        hsa_object_read(b.bytes, n, &o, NULL);
        hsa_object_destroy(o);
    }
    for (size_t n = 0; n < ELF_BYTES; n++) {
        if (n == 0x100)
            n = ELF_KERNEL;
        elf_build(&b, (uint8_t)(n & 3));
        b.bytes[n] ^= 0xff;
        hsa_object_read(b.bytes, ELF_BYTES, &o, NULL);
        hsa_object_destroy(o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_4),     cmocka_unit_test(version_2),    cmocka_unit_test(relocations),
        cmocka_unit_test(wrong_headers), cmocka_unit_test(wrong_places), cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
