/* elf_builder.h: a small code object made byte by byte, so that tests can make each of its bytes wrong. */
#ifndef TESTS_WORKLOAD_HSA_ELF_BUILDER_H
#define TESTS_WORKLOAD_HSA_ELF_BUILDER_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

#ifndef EM_AMDGPU
#define EM_AMDGPU 224
#endif

/* The file is the image: one segment from offset 0, so that addresses are offsets. */
enum {
    ELF_PHDRS = 64,
    ELF_NOTES = 0x200,  /* of up to 0x600 bytes */
    ELF_KERNEL = 0x800, /* descriptor, or the amd_kernel_code_t of version 2 */
    ELF_CODE = 0x900,
    ELF_DATA = 0xa00,
    ELF_SYMBOLS = 0xb00,
    ELF_STRINGS = 0xc00,
    ELF_RELAS = 0xd00,
    ELF_SECTIONS = 0xe00,
    ELF_BYTES = 0x1000,
    ELF_SYMBOL_COUNT = 5,
    ELF_RELA_COUNT = 4,
};

typedef struct elf_builder {
    uint8_t bytes[ELF_BYTES];
    size_t notes; /* used */
} elf_builder;

static inline Elf64_Ehdr *elf_header(elf_builder *b)
{
    return (Elf64_Ehdr *)(void *)b->bytes;
}

static inline Elf64_Phdr *elf_phdr(elf_builder *b, int i)
{
    return (Elf64_Phdr *)(void *)(b->bytes + ELF_PHDRS) + i;
}

static inline Elf64_Shdr *elf_shdr(elf_builder *b, int i)
{
    return (Elf64_Shdr *)(void *)(b->bytes + ELF_SECTIONS) + i;
}

static inline Elf64_Sym *elf_sym(elf_builder *b, int i)
{
    return (Elf64_Sym *)(void *)(b->bytes + ELF_SYMBOLS) + i;
}

static inline Elf64_Rela *elf_rela(elf_builder *b, int i)
{
    return (Elf64_Rela *)(void *)(b->bytes + ELF_RELAS) + i;
}

static inline void elf_put32(elf_builder *b, size_t at, uint32_t value)
{
    memcpy(b->bytes + at, &value, sizeof value);
}

static inline void elf_put64(elf_builder *b, size_t at, uint64_t value)
{
    memcpy(b->bytes + at, &value, sizeof value);
}

static inline void elf_note(elf_builder *b, const char *owner, uint32_t type, const void *data, uint32_t bytes)
{
    uint32_t head[3] = { (uint32_t)strlen(owner) + 1, bytes, type };
    uint8_t *at = b->bytes + ELF_NOTES + b->notes;
    memcpy(at, head, sizeof head);
    memcpy(at + 12, owner, head[0]);
    at += 12 + ((head[0] + 3) & ~3u);
    memcpy(at, data, bytes);
    b->notes = (size_t)(at - b->bytes - ELF_NOTES) + ((bytes + 3) & ~3u);
    elf_phdr(b, 1)->p_filesz = elf_phdr(b, 1)->p_memsz = b->notes;
}

/* A kernel "k" with 16 bytes of code, a variable "v" of 8 bytes, an undefined symbol "u". abi: 0 for
 * version 2. */
static inline void elf_build(elf_builder *b, uint8_t abi)
{
    static const char strings[] = "\0k\0k.kd\0v\0u";
    memset(b, 0, sizeof *b);
    *elf_header(b) =
        (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 64, abi },
                      .e_type = ET_DYN,
                      .e_machine = EM_AMDGPU,
                      .e_version = EV_CURRENT,
                      .e_phoff = ELF_PHDRS,
                      .e_shoff = ELF_SECTIONS,
                      .e_flags = abi == 0 ? 0x2a : 0x33, /* gfx803, gfx1010 */
                      .e_ehsize = 64,
                      .e_phentsize = sizeof(Elf64_Phdr),
                      .e_phnum = 2,
                      .e_shentsize = sizeof(Elf64_Shdr),
                      .e_shnum = 4,
                      .e_shstrndx = 2 };
    *elf_phdr(b, 0) = (Elf64_Phdr){ .p_type = PT_LOAD,
                                    .p_flags = PF_R | PF_X | PF_W,
                                    .p_filesz = ELF_BYTES,
                                    .p_memsz = ELF_BYTES + 0x100,
                                    .p_align = 4096 };
    *elf_phdr(b, 1) = (Elf64_Phdr){
        .p_type = PT_NOTE, .p_flags = PF_R, .p_offset = ELF_NOTES, .p_vaddr = ELF_NOTES, .p_align = 4
    };
    *elf_shdr(b, 1) = (Elf64_Shdr){ .sh_type = SHT_DYNSYM,
                                    .sh_flags = SHF_ALLOC,
                                    .sh_addr = ELF_SYMBOLS,
                                    .sh_offset = ELF_SYMBOLS,
                                    .sh_size = ELF_SYMBOL_COUNT * sizeof(Elf64_Sym),
                                    .sh_link = 2,
                                    .sh_info = 1,
                                    .sh_addralign = 8,
                                    .sh_entsize = sizeof(Elf64_Sym) };
    *elf_shdr(b, 2) =
        (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = ELF_STRINGS, .sh_size = sizeof strings };
    *elf_shdr(b, 3) = (Elf64_Shdr){ .sh_type = SHT_RELA,
                                    .sh_flags = SHF_ALLOC,
                                    .sh_addr = ELF_RELAS,
                                    .sh_offset = ELF_RELAS,
                                    .sh_size = 0,
                                    .sh_link = 1,
                                    .sh_addralign = 8,
                                    .sh_entsize = sizeof(Elf64_Rela) };
    memcpy(b->bytes + ELF_STRINGS, strings, sizeof strings);
    *elf_sym(b, 1) = (Elf64_Sym){ .st_name = 1,
                                  .st_info = ELF64_ST_INFO(STB_GLOBAL, abi == 0 ? 10 : STT_FUNC),
                                  .st_shndx = 1,
                                  .st_value = abi == 0 ? ELF_KERNEL : ELF_CODE,
                                  .st_size = abi == 0 ? 256 + 16 : 16 };
    if (abi != 0)
        *elf_sym(b, 2) = (Elf64_Sym){ .st_name = 3,
                                      .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                                      .st_shndx = 1,
                                      .st_value = ELF_KERNEL,
                                      .st_size = 64 };
    *elf_sym(b, 3) = (Elf64_Sym){ .st_name = 8,
                                  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                                  .st_shndx = 1,
                                  .st_value = ELF_DATA,
                                  .st_size = 8 };
    *elf_sym(b, 4) = (Elf64_Sym){ .st_name = 10, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT) };
    if (abi == 0) {
        elf_put32(b, ELF_KERNEL, 1); /* code version 1.x */
        elf_put64(b, ELF_KERNEL + 16, 256);
        elf_put32(b, ELF_KERNEL + 48, 0x00ac0041);
        elf_put32(b, ELF_KERNEL + 52, 0x90);
        elf_put32(b, ELF_KERNEL + 56, 0x0b);
        elf_put32(b, ELF_KERNEL + 60, 32);
        elf_put32(b, ELF_KERNEL + 64, 1024);
        elf_put64(b, ELF_KERNEL + 72, 48);
        b->bytes[ELF_KERNEL + 103] = 6;
    } else {
        elf_put32(b, ELF_KERNEL, 512);
        elf_put32(b, ELF_KERNEL + 4, 16);
        elf_put32(b, ELF_KERNEL + 8, 40);
        elf_put64(b, ELF_KERNEL + 16, ELF_CODE - ELF_KERNEL);
        elf_put32(b, ELF_KERNEL + 48, 0x60af0042);
        elf_put32(b, ELF_KERNEL + 52, 0x90);
        elf_put32(b, ELF_KERNEL + 56, 0x040b);
    }
}

#endif
