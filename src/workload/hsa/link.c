/* link.c: links a relocatable code object (ET_REL, as `clang -c` and assemblers write it) into an image. It
 * places sections, resolves symbols, builds the table of global offsets and applies relocations. Words that
 * depend on the load address become hsa_reloc entries, as in a linked object. */
#include "workload/hsa/link.h"

#include <inttypes.h>
#include <string.h>

#define PAGE 4096u
#define SHN_AMDGPU_LDS 0xff00u /* a symbol of local memory: has no place in the image */

/* Sections with the same permissions (read, execute, write) lie side by side. */
typedef enum group_kind { GROUP_READ, GROUP_CODE, GROUP_DATA, GROUP_COUNT } group_kind;

typedef struct placed {
    GElf_Shdr header;
    uint64_t address;
    bool is_placed;
} placed;

typedef struct linker {
    Elf *elf;
    hsa_object *object;
    image_file *out;
    const uint8_t *data;
    size_t bytes;
    ls_error *err;
    placed *sections; /* by section number */
    size_t section_count;
    Elf_Scn *table; /* of symbols; NULL: none */
    GElf_Shdr table_header;
    uint64_t *got_of; /* by symbol: the address of its entry, 0 without one */
    uint64_t end;     /* of the sections placed so far */
    hsa_reloc *relocs;
    size_t relocs_most;
} linker;

static ls_status no_memory(linker *l)
{
    return ls_fail(l->err, LS_ERR_NOMEM, "the host has no memory left");
}

static ls_status damaged(linker *l, const char *what)
{
    return ls_fail(l->err, LS_ERR_INPUT, "the code object is damaged: %s", what);
}

/* ------------------------------------------------------------------------------------------------ places */

static ls_status read_sections(linker *l)
{
    size_t count = 0;
    if (elf_getshdrnum(l->elf, &count) != 0 || count > l->bytes / sizeof(Elf64_Shdr))
        return damaged(l, "the section headers cannot be read");
    l->sections = arena_array(&l->object->arena, count + 1, sizeof *l->sections);
    if (!l->sections)
        return no_memory(l);
    l->section_count = count;
    for (size_t i = 1; i < count; i++) {
        Elf_Scn *section = elf_getscn(l->elf, i);
        GElf_Shdr *h = &l->sections[i].header;
        if (!section || !gelf_getshdr(section, h))
            return damaged(l, "a section header lies outside of the file");
        if (h->sh_type != SHT_NOBITS && !image_fits(h->sh_offset, h->sh_size, l->bytes))
            return damaged(l, "a section lies outside of the file");
        if (h->sh_type == SHT_SYMTAB && !l->table) {
            l->table = section;
            l->table_header = *h;
        } else if (h->sh_type == SHT_NOTE) {
            image_take_notes(l->out, l->data + h->sh_offset, h->sh_size);
        }
    }
    return LS_OK;
}

static group_kind group_of(const GElf_Shdr *h)
{
    return h->sh_flags & SHF_EXECINSTR ? GROUP_CODE : h->sh_flags & SHF_WRITE ? GROUP_DATA : GROUP_READ;
}

static ls_status place(linker *l, uint64_t bytes, uint64_t align, uint64_t *address)
{
    if (align == 0)
        align = 1;
    if ((align & (align - 1)) != 0 || align > (1u << 20))
        return ls_fail(l->err, LS_ERR_INPUT, "a section is aligned to %" PRIu64 " bytes", align);
    *address = (l->end + align - 1) & ~(align - 1);
    if (!image_fits(*address, bytes, HSA_IMAGE_LIMIT))
        return ls_fail(l->err, LS_ERR_INPUT,
                       "a section of %" PRIu64 " bytes at 0x%" PRIx64 " is beyond the limit of %u MiB", bytes,
                       *address, HSA_IMAGE_LIMIT >> 20);
    l->end = *address + bytes;
    return LS_OK;
}

static ls_status place_sections(linker *l, group_kind group)
{
    for (size_t i = 1; i < l->section_count; i++) {
        placed *s = &l->sections[i];
        ls_status status;
        if (!(s->header.sh_flags & SHF_ALLOC) || group_of(&s->header) != group)
            continue;
        status = place(l, s->header.sh_size, s->header.sh_addralign, &s->address);
        if (status != LS_OK)
            return status;
        s->is_placed = true;
    }
    return LS_OK;
}

/* ----------------------------------------------------------------------------------------------- symbols */

static ls_status read_symbol(linker *l, Elf_Data *data, size_t index, image_symbol *out)
{
    GElf_Sym symbol;
    const char *name;
    if (!gelf_getsym(data, (int)index, &symbol))
        return damaged(l, "a symbol lies outside of its table");
    name = elf_strptr(l->elf, l->table_header.sh_link, symbol.st_name);
    if (!name)
        return damaged(l, "a symbol's name lies outside of its table");
    *out = (image_symbol){ .name = arena_strdup(&l->object->arena, name),
                           .bytes = symbol.st_size,
                           .type = GELF_ST_TYPE(symbol.st_info),
                           .is_weak = GELF_ST_BIND(symbol.st_info) == STB_WEAK };
    if (!out->name)
        return no_memory(l);
    if (symbol.st_shndx == SHN_COMMON) { /* st_value is its alignment; it lives with the variables */
        out->is_defined = true;
        return place(l, symbol.st_size, symbol.st_value, &out->address);
    }
    if (symbol.st_shndx == SHN_ABS) {
        out->is_defined = out->is_absolute = true;
        out->address = symbol.st_value;
        return LS_OK;
    }
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_AMDGPU_LDS ||
        symbol.st_shndx >= l->section_count)
        return LS_OK;
    const placed *section = &l->sections[symbol.st_shndx];
    if (!section->is_placed) /* of debugging information and the like */
        return LS_OK;
    if (symbol.st_value > section->header.sh_size)
        return damaged(l, "a symbol lies outside of its section");
    out->is_defined = true;
    out->address = section->address + symbol.st_value;
    return LS_OK;
}

static ls_status read_symbols(linker *l)
{
    Elf_Data *data = l->table ? elf_getdata(l->table, NULL) : NULL;
    size_t count = data && data->d_buf ? data->d_size / sizeof(Elf64_Sym) : 0;
    ls_status status = LS_OK;
    l->out->symbols = arena_array(&l->object->arena, count + 1, sizeof *l->out->symbols);
    l->got_of = arena_array(&l->object->arena, count + 1, sizeof *l->got_of);
    if (!l->out->symbols || !l->got_of)
        return no_memory(l);
    l->out->symbol_count = count;
    for (size_t i = 0; i < count && status == LS_OK; i++)
        status = read_symbol(l, data, i, &l->out->symbols[i]);
    return status;
}

/* ------------------------------------------------------------------------------------------- relocations */

typedef ls_status (*each_reloc)(linker *l, const placed *section, const GElf_Rela *rela);

static ls_status for_relocs(linker *l, each_reloc call)
{
    for (size_t i = 1; i < l->section_count; i++) {
        const GElf_Shdr *h = &l->sections[i].header;
        if ((h->sh_type != SHT_RELA && h->sh_type != SHT_REL) || h->sh_info >= l->section_count ||
            !l->sections[h->sh_info].is_placed)
            continue;
        if (h->sh_type == SHT_REL)
            return ls_fail(l->err, LS_ERR_UNSUPPORTED, "section %zu has relocations without addends", i);
        Elf_Data *data = elf_getdata(elf_getscn(l->elf, i), NULL);
        size_t count = data && data->d_buf ? data->d_size / sizeof(Elf64_Rela) : 0;
        for (size_t n = 0; n < count; n++) {
            GElf_Rela rela;
            if (!gelf_getrela(data, (int)n, &rela))
                return damaged(l, "a relocation lies outside of its table");
            if (GELF_R_TYPE(rela.r_info) == R_AMDGPU_NONE)
                continue;
            ls_status status = call(l, &l->sections[h->sh_info], &rela);
            if (status != LS_OK)
                return status;
        }
    }
    return LS_OK;
}

static bool through_got(uint64_t type)
{
    return type == R_AMDGPU_GOTPCREL || type == R_AMDGPU_GOTPCREL32_LO || type == R_AMDGPU_GOTPCREL32_HI;
}

/* The first pass: counts, and gives each symbol that wants one an entry in the table of global offsets. */
static ls_status count_reloc(linker *l, const placed *section, const GElf_Rela *rela)
{
    uint64_t index = GELF_R_SYM(rela->r_info);
    (void)section;
    if (index >= l->out->symbol_count)
        return damaged(l, "a relocation names a symbol that does not exist");
    if (through_got(GELF_R_TYPE(rela->r_info)) && !l->got_of[index]) {
        ls_status status = place(l, 8, 8, &l->got_of[index]);
        if (status != LS_OK)
            return status;
        l->relocs_most++;
    }
    l->relocs_most++;
    return LS_OK;
}

static ls_status missing(linker *l, const image_symbol *symbol)
{
    return ls_fail(l->err, LS_ERR_UNSUPPORTED, "the code object needs the symbol '%s', which it does not have",
                   symbol->name);
}

static void add_reloc(linker *l, uint64_t address, uint8_t type, const image_symbol *symbol, uint64_t addend)
{
    l->relocs[l->object->reloc_count++] =
        (hsa_reloc){ .address = address,
                     .value = symbol->address + addend,
                     .type = type,
                     .is_absolute = !symbol->is_defined || symbol->is_absolute };
}

/* A word whose value is known now: distances inside of the image. */
static ls_status write_word(linker *l, uint64_t at, uint64_t type, int64_t value, const image_symbol *symbol)
{
    int64_t limit = type == R_AMDGPU_REL32 || type == R_AMDGPU_GOTPCREL ? INT32_MAX : INT64_MAX;
    if (type == R_AMDGPU_REL16) { /* a branch: in words, from the one after it */
        value = (value - 4) / 4;
        limit = INT16_MAX;
    }
    if (value > limit || value < -limit - 1)
        return ls_fail(l->err, LS_ERR_INPUT, "the relocation at 0x%" PRIx64 " does not reach '%s'", at,
                       symbol->name);
    if (type == R_AMDGPU_REL32_HI || type == R_AMDGPU_GOTPCREL32_HI)
        value = (int64_t)((uint64_t)value >> 32);
    memcpy(l->object->image + at, &value, image_reloc_bytes((uint32_t)type));
    return LS_OK;
}

static ls_status apply_reloc(linker *l, const placed *section, const GElf_Rela *rela)
{
    uint64_t type = GELF_R_TYPE(rela->r_info), index = GELF_R_SYM(rela->r_info);
    unsigned bytes = type <= UINT8_MAX ? image_reloc_bytes((uint32_t)type) : 0;
    const image_symbol *symbol = &l->out->symbols[index];
    uint64_t at = section->address + rela->r_offset, addend = (uint64_t)rela->r_addend;
    if (bytes == 0 || type == R_AMDGPU_RELATIVE64)
        return ls_fail(l->err, LS_ERR_UNSUPPORTED,
                       "the relocation at 0x%" PRIx64 " has the unknown type %" PRIu64, at, type);
    if (!image_fits(rela->r_offset, bytes, section->header.sh_size) || section->header.sh_type == SHT_NOBITS)
        return damaged(l, "a relocation lies outside of its section");
    if (!symbol->is_defined && !symbol->is_weak)
        return missing(l, symbol);
    if (through_got(type))
        return write_word(l, at, type, (int64_t)(l->got_of[index] + addend - at), symbol);
    bool distance = type == R_AMDGPU_REL32 || type == R_AMDGPU_REL64 || type == R_AMDGPU_REL32_LO ||
                    type == R_AMDGPU_REL32_HI || type == R_AMDGPU_REL16;
    if (distance && symbol->is_defined && !symbol->is_absolute)
        return write_word(l, at, type, (int64_t)(symbol->address + addend - at), symbol);
    if (type == R_AMDGPU_REL16)
        return missing(l, symbol);
    add_reloc(l, at, (uint8_t)type, symbol, addend);
    return LS_OK;
}

/* --------------------------------------------------------------------------------------------------- all */

/* Places one group and its parts; it becomes a segment of the image if it has any bytes. */
static ls_status place_group(linker *l, group_kind group, hsa_segment *segments)
{
    uint64_t begin = l->end = (l->end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    ls_status status = place_sections(l, group);
    if (status == LS_OK && group == GROUP_DATA)
        status = read_symbols(l); /* common ones are variables */
    if (status == LS_OK && group == GROUP_DATA)
        status = for_relocs(l, count_reloc);
    if (status == LS_OK && l->end > begin)
        segments[l->object->segment_count++] = (hsa_segment){ .address = begin,
                                                              .bytes = l->end - begin,
                                                              .writable = group == GROUP_DATA,
                                                              .executable = group == GROUP_CODE };
    return status;
}

static ls_status fill_image(linker *l)
{
    hsa_object *o = l->object;
    o->image_bytes = l->end;
    o->image = arena_alloc_aligned(&o->arena, o->image_bytes, PAGE);
    l->relocs = arena_array(&o->arena, l->relocs_most + 1, sizeof *l->relocs);
    if (!o->image || !l->relocs)
        return no_memory(l);
    for (size_t i = 1; i < l->section_count; i++) {
        const placed *s = &l->sections[i];
        if (s->is_placed && s->header.sh_type != SHT_NOBITS)
            memcpy(o->image + s->address, l->data + s->header.sh_offset, s->header.sh_size);
    }
    for (size_t i = 0; i < l->out->symbol_count; i++)
        if (l->got_of[i])
            add_reloc(l, l->got_of[i], R_AMDGPU_ABS64, &l->out->symbols[i], 0);
    o->relocs = l->relocs;
    return for_relocs(l, apply_reloc);
}

ls_status link_read(hsa_object *object, Elf *elf, const uint8_t *data, size_t bytes, image_file *out,
                    ls_error *err)
{
    linker l = { .elf = elf, .object = object, .out = out, .data = data, .bytes = bytes, .err = err };
    hsa_segment *segments = arena_array(&object->arena, GROUP_COUNT, sizeof *segments);
    ls_status status = segments ? read_sections(&l) : no_memory(&l);
    object->segments = segments;
    for (group_kind g = GROUP_READ; g < GROUP_COUNT && status == LS_OK; g++)
        status = place_group(&l, g, segments);
    if (status == LS_OK && object->segment_count == 0)
        status = damaged(&l, "it has nothing to load");
    return status == LS_OK ? fill_image(&l) : status;
}
