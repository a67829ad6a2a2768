/* image.c: reads the ELF file of a code object with libelf. Every offset and size is checked here before
 * use: libelf's own checks are a second line. */
#include "workload/hsa/image.h"

#include "base/text.h"
#include "workload/hsa/link.h"

#include <gelf.h>
#include <inttypes.h>
#include <string.h>

#define OSABI_AMDGPU_HSA 64
#define SEGMENTS_MAX 64
#define NT_AMD_CODE_OBJECT_VERSION 1
#define NT_AMD_ISA_VERSION 3
#define NT_AMD_METADATA 10
#define NT_AMD_ISA_NAME 11
#define NT_AMDGPU_METADATA 32

typedef struct reader {
    Elf *elf;
    hsa_object *object;
    image_file *out;
    const uint8_t *data;
    size_t bytes;
    ls_error *err;
} reader;

static ls_status no_memory(reader *r)
{
    return ls_fail(r->err, LS_ERR_NOMEM, "the host has no memory left");
}

static ls_status damaged(reader *r, const char *what)
{
    return ls_fail(r->err, LS_ERR_INPUT, "the code object is damaged: %s", what);
}

bool image_fits(uint64_t offset, uint64_t bytes, uint64_t limit)
{
    return offset <= limit && bytes <= limit - offset;
}

/* ------------------------------------------------------------------------------------------------ header */

static ls_status check_header(reader *r)
{
    GElf_Ehdr header;
    char quoted[32];
    if (r->bytes < 4 || memcmp(r->data, ELFMAG, 4) != 0)
        return ls_fail(r->err, LS_ERR_INPUT,
                       "this is no code object: it begins with '%s', not with an ELF header",
                       quote_text((const char *)r->data, r->bytes < 8 ? r->bytes : 8, quoted, sizeof quoted));
    if (elf_kind(r->elf) != ELF_K_ELF || !gelf_getehdr(r->elf, &header))
        return damaged(r, "the ELF header is incomplete");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
        return ls_fail(r->err, LS_ERR_INPUT, "this is no 64-bit little-endian ELF file");
    if (header.e_machine != EM_AMDGPU)
        return ls_fail(r->err, LS_ERR_INPUT, "this is an ELF file for machine %u, not for an AMD GPU (224)",
                       (unsigned)header.e_machine);
    if (header.e_type != ET_DYN && header.e_type != ET_EXEC && header.e_type != ET_REL)
        return ls_fail(r->err, LS_ERR_INPUT,
                       "this is an ELF file of type %u, neither a shared object (3) nor a relocatable one (1)",
                       (unsigned)header.e_type);
    if (header.e_ident[EI_OSABI] != OSABI_AMDGPU_HSA)
        return ls_fail(r->err, LS_ERR_UNSUPPORTED, "the code object is for OS ABI %u, not for HSA (64)",
                       (unsigned)header.e_ident[EI_OSABI]);
    r->out->abi = header.e_ident[EI_ABIVERSION];
    r->out->flags = header.e_flags;
    r->out->is_relocatable = header.e_type == ET_REL;
    return LS_OK;
}

/* ---------------------------------------------------------------------------------------------- segments */

static ls_status read_segments(reader *r)
{
    hsa_object *o = r->object;
    hsa_segment *segments = arena_array(&o->arena, SEGMENTS_MAX, sizeof *segments);
    GElf_Phdr headers[SEGMENTS_MAX];
    size_t count, loads = 0;
    if (!segments)
        return no_memory(r);
    if (elf_getphdrnum(r->elf, &count) != 0 || count > SEGMENTS_MAX)
        return damaged(r, "the program headers cannot be read");
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr *h = &headers[loads];
        if (!gelf_getphdr(r->elf, (int)i, h))
            return damaged(r, "a program header lies outside of the file");
        if (h->p_type != PT_LOAD || h->p_memsz == 0)
            continue;
        if (h->p_filesz > h->p_memsz || !image_fits(h->p_offset, h->p_filesz, r->bytes))
            return damaged(r, "a segment lies outside of the file");
        if (!image_fits(h->p_vaddr, h->p_memsz, HSA_IMAGE_LIMIT))
            return ls_fail(r->err, LS_ERR_INPUT,
                           "a segment of %" PRIu64 " bytes at 0x%" PRIx64 " is beyond the limit of %u MiB",
                           (uint64_t)h->p_memsz, (uint64_t)h->p_vaddr, HSA_IMAGE_LIMIT >> 20);
        segments[loads++] = (hsa_segment){ .address = h->p_vaddr,
                                           .bytes = h->p_memsz,
                                           .writable = (h->p_flags & PF_W) != 0,
                                           .executable = (h->p_flags & PF_X) != 0 };
        if (h->p_vaddr + h->p_memsz > o->image_bytes)
            o->image_bytes = h->p_vaddr + h->p_memsz;
    }
    if (loads == 0)
        return damaged(r, "it has nothing to load");
    o->image = arena_alloc_aligned(&o->arena, o->image_bytes, 4096);
    if (!o->image)
        return no_memory(r);
    for (size_t i = 0; i < loads; i++)
        memcpy(o->image + headers[i].p_vaddr, r->data + headers[i].p_offset, headers[i].p_filesz);
    o->segments = segments;
    o->segment_count = loads;
    return LS_OK;
}

const hsa_segment *image_segment(const hsa_object *object, uint64_t address)
{
    for (size_t i = 0; i < object->segment_count; i++)
        if (address - object->segments[i].address < object->segments[i].bytes)
            return &object->segments[i];
    return NULL;
}

const uint8_t *image_at(const hsa_object *object, uint64_t address, uint64_t bytes)
{
    const hsa_segment *segment = image_segment(object, address);
    if (!segment || !image_fits(address - segment->address, bytes, segment->bytes))
        return NULL;
    return object->image + address;
}

/* ------------------------------------------------------------------------------------------------- notes */

static bool note_is(const char *owner, size_t owner_bytes, const char *name)
{
    size_t bytes = strlen(name);
    return owner_bytes >= bytes && memcmp(owner, name, bytes) == 0 && (owner_bytes == bytes || !owner[bytes]);
}

static void take_note(image_file *out, uint32_t type, const char *owner, size_t owner_bytes, image_note note)
{
    if (note_is(owner, owner_bytes, "AMDGPU")) {
        if (type == NT_AMDGPU_METADATA)
            out->msgpack = note;
    } else if (note_is(owner, owner_bytes, "AMD")) {
        if (type == NT_AMD_CODE_OBJECT_VERSION && note.bytes >= 4)
            memcpy(&out->note_version, note.at, 4);
        else if (type == NT_AMD_ISA_VERSION)
            out->isa_v2 = note;
        else if (type == NT_AMD_ISA_NAME)
            out->isa_name = note;
        else if (type == NT_AMD_METADATA)
            out->yaml = note;
    }
}

void image_take_notes(image_file *out, const uint8_t *at, size_t bytes)
{
    while (bytes >= 12) {
        uint32_t head[3];
        uint64_t name, total;
        memcpy(head, at, sizeof head);
        name = ((uint64_t)head[0] + 3) & ~(uint64_t)3;
        total = 12 + name + (((uint64_t)head[1] + 3) & ~(uint64_t)3);
        if (12 + name + head[1] > bytes)
            return; /* notes read so far count; missing metadata is reported later */
        take_note(out, head[2], (const char *)at + 12, head[0], (image_note){ at + 12 + name, head[1] });
        if (total >= bytes)
            return;
        at += total;
        bytes -= (size_t)total;
    }
}

/* Through the program headers, which stripped files have too. */
static ls_status read_notes(reader *r)
{
    size_t count = 0;
    if (elf_getphdrnum(r->elf, &count) != 0)
        return damaged(r, "the program headers cannot be read");
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr h;
        if (!gelf_getphdr(r->elf, (int)i, &h) || h.p_type != PT_NOTE)
            continue;
        if (!image_fits(h.p_offset, h.p_filesz, r->bytes))
            return damaged(r, "its notes lie outside of the file");
        image_take_notes(r->out, r->data + h.p_offset, h.p_filesz);
    }
    return LS_OK;
}

/* ----------------------------------------------------------------------------------------------- symbols */

/* The first section of the type, with a header that lies inside of the file. */
static Elf_Scn *find_section(reader *r, uint32_t type, Elf_Scn *after, GElf_Shdr *header)
{
    for (Elf_Scn *s = elf_nextscn(r->elf, after); s; s = elf_nextscn(r->elf, s))
        if (gelf_getshdr(s, header) && header->sh_type == type &&
            image_fits(header->sh_offset, header->sh_size, r->bytes))
            return s;
    return NULL;
}

static ls_status read_symbol(reader *r, Elf_Data *data, const GElf_Shdr *header, size_t index,
                             image_symbol *out)
{
    GElf_Sym symbol;
    const char *name;
    if (!gelf_getsym(data, (int)index, &symbol))
        return damaged(r, "a symbol lies outside of its table");
    name = elf_strptr(r->elf, header->sh_link, symbol.st_name);
    if (!name)
        return damaged(r, "a symbol's name lies outside of its table");
    *out = (image_symbol){ .name = arena_strdup(&r->object->arena, name),
                           .address = symbol.st_value,
                           .bytes = symbol.st_size,
                           .type = GELF_ST_TYPE(symbol.st_info),
                           .is_weak = GELF_ST_BIND(symbol.st_info) == STB_WEAK,
                           .is_defined = symbol.st_shndx != SHN_UNDEF,
                           .is_absolute = symbol.st_shndx == SHN_ABS };
    return out->name ? LS_OK : no_memory(r);
}

static ls_status read_table(reader *r, uint32_t type, image_symbol **symbols, size_t *count)
{
    GElf_Shdr header;
    Elf_Scn *section = find_section(r, type, NULL, &header);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    ls_status status = LS_OK;
    *count = 0;
    *symbols = NULL;
    if (!data || !data->d_buf)
        return LS_OK;
    *count = data->d_size / sizeof(Elf64_Sym);
    *symbols = arena_array(&r->object->arena, *count + 1, sizeof **symbols);
    if (!*symbols)
        return no_memory(r);
    for (size_t i = 0; i < *count && status == LS_OK; i++)
        status = read_symbol(r, data, &header, i, &(*symbols)[i]);
    return status;
}

const image_symbol *image_find(const image_file *file, const char *name)
{
    return map_get(&file->by_name, name);
}

void image_fini(image_file *file)
{
    map_fini(&file->by_name);
}

static ls_status index_symbols(reader *r)
{
    for (size_t i = 0; i < r->out->symbol_count; i++) {
        image_symbol *symbol = &r->out->symbols[i];
        if (symbol->is_defined && !map_has(&r->out->by_name, symbol->name) &&
            !map_put(&r->out->by_name, symbol->name, symbol))
            return no_memory(r);
    }
    return LS_OK;
}

/* ------------------------------------------------------------------------------------------- relocations */

unsigned image_reloc_bytes(uint32_t type)
{
    switch (type) {
    case R_AMDGPU_REL16:
        return 2;
    case R_AMDGPU_ABS32_LO:
    case R_AMDGPU_ABS32_HI:
    case R_AMDGPU_REL32:
    case R_AMDGPU_ABS32:
    case R_AMDGPU_GOTPCREL:
    case R_AMDGPU_GOTPCREL32_LO:
    case R_AMDGPU_GOTPCREL32_HI:
    case R_AMDGPU_REL32_LO:
    case R_AMDGPU_REL32_HI:
        return 4;
    case R_AMDGPU_ABS64:
    case R_AMDGPU_REL64:
    case R_AMDGPU_RELATIVE64:
        return 8;
    default:
        return 0;
    }
}

/* Relocations that remain for a loader. The linker has applied those of branches and of the table of global
 * offsets. */
static bool is_dynamic(uint64_t type)
{
    return type != R_AMDGPU_GOTPCREL && type != R_AMDGPU_GOTPCREL32_LO && type != R_AMDGPU_GOTPCREL32_HI &&
           type != R_AMDGPU_REL16;
}

static ls_status read_reloc(reader *r, const GElf_Rela *rela, const image_symbol *symbols, size_t count,
                            hsa_reloc *out)
{
    uint64_t type = GELF_R_TYPE(rela->r_info), index = GELF_R_SYM(rela->r_info);
    unsigned bytes = type <= UINT8_MAX && is_dynamic(type) ? image_reloc_bytes((uint32_t)type) : 0;
    if (bytes == 0)
        return ls_fail(r->err, LS_ERR_UNSUPPORTED,
                       "the relocation at 0x%" PRIx64 " has the unknown type %" PRIu64,
                       (uint64_t)rela->r_offset, type);
    if (!image_at(r->object, rela->r_offset, bytes))
        return damaged(r, "a relocation lies outside of the segments");
    *out = (hsa_reloc){ .address = rela->r_offset, .value = (uint64_t)rela->r_addend, .type = (uint8_t)type };
    if (type == R_AMDGPU_RELATIVE64)
        return LS_OK;
    if (index >= count)
        return damaged(r, "a relocation names a symbol that does not exist");
    if (symbols[index].is_defined) {
        out->value += symbols[index].address;
        out->is_absolute = symbols[index].is_absolute;
    } else if (symbols[index].is_weak) {
        out->is_absolute = true;
    } else {
        return ls_fail(r->err, LS_ERR_UNSUPPORTED,
                       "the code object needs the symbol '%s', which it does not have", symbols[index].name);
    }
    return LS_OK;
}

/* Only those of the loaded part (SHF_ALLOC): the others were applied by the linker. Their symbols are
 * those of the dynamic table. */
static ls_status read_relocs(reader *r, const image_symbol *symbols, size_t symbol_count)
{
    hsa_object *o = r->object;
    GElf_Shdr header;
    size_t total = 0;
    hsa_reloc *relocs;
    for (Elf_Scn *s = find_section(r, SHT_RELA, NULL, &header); s; s = find_section(r, SHT_RELA, s, &header))
        if (header.sh_flags & SHF_ALLOC)
            total += header.sh_size / sizeof(Elf64_Rela);
    if (total > r->bytes / sizeof(Elf64_Rela))
        return damaged(r, "its relocation tables overlap");
    relocs = arena_array(&o->arena, total + 1, sizeof *relocs);
    if (!relocs)
        return no_memory(r);
    for (Elf_Scn *s = find_section(r, SHT_RELA, NULL, &header); s; s = find_section(r, SHT_RELA, s, &header)) {
        Elf_Data *data = (header.sh_flags & SHF_ALLOC) ? elf_getdata(s, NULL) : NULL;
        size_t count = data && data->d_buf ? data->d_size / sizeof(Elf64_Rela) : 0;
        for (size_t i = 0; i < count && o->reloc_count < total; i++) {
            GElf_Rela rela;
            ls_status status;
            if (!gelf_getrela(data, (int)i, &rela))
                return damaged(r, "a relocation lies outside of its table");
            if (GELF_R_TYPE(rela.r_info) == R_AMDGPU_NONE)
                continue;
            status = read_reloc(r, &rela, symbols, symbol_count, &relocs[o->reloc_count]);
            if (status != LS_OK)
                return status;
            o->reloc_count++;
        }
    }
    o->relocs = relocs;
    return LS_OK;
}

void hsa_object_relocate(const hsa_object *object, uint64_t base, uint8_t *bytes)
{
    for (size_t i = 0; i < object->reloc_count; i++) {
        const hsa_reloc *reloc = &object->relocs[i];
        uint64_t value = reloc->value + (reloc->is_absolute ? 0 : base);
        if (reloc->type == R_AMDGPU_REL32 || reloc->type == R_AMDGPU_REL64 ||
            reloc->type == R_AMDGPU_REL32_LO || reloc->type == R_AMDGPU_REL32_HI)
            value -= base + reloc->address;
        if (reloc->type == R_AMDGPU_ABS32_HI || reloc->type == R_AMDGPU_REL32_HI)
            value >>= 32;
        memcpy(bytes + reloc->address, &value, image_reloc_bytes(reloc->type));
    }
}

/* --------------------------------------------------------------------------------------------------- all */

static bool has_lines(const reader *r)
{
    size_t names;
    if (elf_getshdrstrndx(r->elf, &names) != 0)
        return false;
    for (Elf_Scn *s = elf_nextscn(r->elf, NULL); s; s = elf_nextscn(r->elf, s)) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(s, &header) ? elf_strptr(r->elf, names, header.sh_name) : NULL;
        if (name && strcmp(name, ".debug_line") == 0)
            return true;
    }
    return false;
}

static ls_status read_all(reader *r)
{
    image_symbol *dynamic, *all;
    size_t dynamic_count, all_count;
    ls_status status = check_header(r);
    if (status == LS_OK && r->out->is_relocatable) {
        status = link_read(r->object, r->elf, r->data, r->bytes, r->out, r->err);
        return status == LS_OK ? index_symbols(r) : status;
    }
    if (status == LS_OK)
        status = read_segments(r);
    if (status == LS_OK)
        status = read_notes(r);
    if (status == LS_OK)
        status = read_table(r, SHT_DYNSYM, &dynamic, &dynamic_count);
    if (status == LS_OK)
        status = read_table(r, SHT_SYMTAB, &all, &all_count);
    if (status == LS_OK)
        status = read_relocs(r, dynamic, dynamic_count);
    if (status != LS_OK)
        return status;
    /* The full table also has local variables; stripped files have only the dynamic one. */
    r->out->symbols = all_count > 0 ? all : dynamic;
    r->out->symbol_count = all_count > 0 ? all_count : dynamic_count;
    r->object->has_lines = has_lines(r);
    return index_symbols(r);
}

ls_status image_read(hsa_object *object, const void *data, size_t bytes, image_file *out, ls_error *err)
{
    /* A copy: aligned as libelf likes it, and notes stay valid. */
    uint8_t *copy = arena_alloc(&object->arena, bytes + 1);
    reader r = { .object = object, .out = out, .data = copy, .bytes = bytes, .err = err };
    ls_status status;
    *out = (image_file){ 0 };
    if (!copy)
        return no_memory(&r);
    memcpy(copy, data, bytes);
    object->elf = copy;
    object->elf_bytes = bytes;
    if (elf_version(EV_CURRENT) == EV_NONE)
        return ls_fail(err, LS_ERR_INTERNAL, "libelf is too old");
    r.elf = elf_memory((char *)copy, bytes);
    if (!r.elf && bytes >= 4 && memcmp(copy, ELFMAG, 4) == 0)
        return ls_fail(err, LS_ERR_INPUT, "the code object is damaged: %s", elf_errmsg(-1));
    status = read_all(&r);
    elf_end(r.elf);
    return status;
}
