/* faults.S: kernels with one defect each that hardware would trap on, hang on or hide. All have one argument, a
 * pointer, and the same text for gfx803, gfx1010 and gfx1030; v0 is the work-item, s[0:1] the arguments. */
#if defined(TARGET_gfx803)
#define STORE(address, data) flat_store_dword address, data
#define LOAD4(to, address) flat_load_dwordx4 to, address
#define WAVE32
#define SGPRS .amdhsa_next_free_sgpr 16
#define LDS_ON s_mov_b32 m0, -1
#else
#define STORE(address, data) global_store_dword address, data, off
#define LOAD4(to, address) global_load_dwordx4 to, address, off
#define WAVE32 .amdhsa_wavefront_size32 1
#define SGPRS .amdhsa_next_free_sgpr 16
#define LDS_ON s_nop 0
#endif

/* The address of the argument in v[2:3]. */
.macro pointer
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v2, s4
    v_mov_b32 v3, s5
.endm

.macro begin name
    .text
    .globl \name
    .p2align 8
    .type \name,@function
    \name:
.endm

/* 8 VGPRs, 64 bytes of LDS; `private` bytes of private memory. */
.macro end name, private=0
    s_endpgm
    .rodata
    .p2align 6
    .amdhsa_kernel \name
        .amdhsa_user_sgpr_kernarg_segment_ptr 1
        .amdhsa_next_free_vgpr 8
        SGPRS
        .amdhsa_group_segment_fixed_size 64
        .amdhsa_private_segment_fixed_size \private
        .amdhsa_kernarg_size 8
        WAVE32
    .end_amdhsa_kernel
.endm

begin fine
    pointer
    v_mov_b32 v7, 7
    STORE(v[2:3], v7)
end fine

begin stray_vgpr
    v_mov_b32 v40, 0
end stray_vgpr

begin stray_source
    v_add_f32 v1, v0, v40
end stray_source

begin stray_load
    pointer
    LOAD4(v[15:18], v[2:3])
end stray_load

begin stray_sgpr
    s_mov_b32 s90, 0
end stray_sgpr

begin stray_skipped
    s_branch over
    v_mov_b32 v40, 0
over:
    pointer
    v_mov_b32 v7, 7
    STORE(v[2:3], v7)
end stray_skipped

begin lds_read
    LDS_ON
    v_mov_b32 v1, 0x1000
    ds_read_b32 v2, v1
    s_waitcnt lgkmcnt(0)
end lds_read

begin lds_write
    LDS_ON
    v_mov_b32 v1, 0x1fe
    v_mov_b32 v2, 0
    ds_write_b16 v1, v2 offset:2
end lds_write

begin halt
    s_sethalt 1
end halt

begin halt_off
    s_sethalt 0
    pointer
    v_mov_b32 v7, 7
    STORE(v[2:3], v7)
end halt_off

begin message_halt
    s_sendmsghalt 1
end message_halt

begin trap
    s_trap 2
end trap

begin kill
    pointer
    v_mov_b32 v7, 7
    STORE(v[2:3], v7)
    s_setkill 1
    s_trap 2
end kill

begin odd_jump
    s_getpc_b64 s[4:5]
    s_add_u32 s4, s4, 18
    s_addc_u32 s5, s5, 0
    s_setpc_b64 s[4:5]
    s_nop 0
end odd_jump

begin far_jump
    s_mov_b64 s[4:5], 64
    s_setpc_b64 s[4:5]
end far_jump

begin scalar_null
    s_mov_b64 s[4:5], 0
    s_load_dword s6, s[4:5], 0x0
    s_waitcnt lgkmcnt(0)
end scalar_null

begin lds_odd
    LDS_ON
    v_mov_b32 v1, 2
    v_mov_b32 v2, 0
    ds_add_u32 v1, v2
    s_waitcnt lgkmcnt(0)
end lds_odd

begin private_all
    s_nop 0
end private_all, 0xfffffff8

begin private_much
    s_nop 0
end private_much, 262144
