/* flops.c: see flops.h. Pure functions of the operation. */
#include "isa/amd/flops.h"

amd_flops amd_op_flops(amd_op op)
{
    switch (op) {
    case AMD_V_ADD_F32:
    case AMD_V_SUB_F32:
    case AMD_V_SUBREV_F32:
    case AMD_V_MUL_F32:
    case AMD_V_MUL_LEGACY_F32:
        return (amd_flops){ 1, AMD_FLOPS_SINGLE };
    case AMD_V_MAC_F32:
    case AMD_V_MAC_LEGACY_F32:
    case AMD_V_MAD_F32:
    case AMD_V_MAD_LEGACY_F32:
    case AMD_V_MADAK_F32:
    case AMD_V_MADMK_F32:
    case AMD_V_FMA_F32:
    case AMD_V_FMA_LEGACY_F32:
    case AMD_V_FMAC_F32:
    case AMD_V_FMAC_LEGACY_F32:
    case AMD_V_FMAAK_F32:
    case AMD_V_FMAMK_F32:
    case AMD_V_FMA_MIX_F32:
    case AMD_V_DIV_FMAS_F32:
        return (amd_flops){ 2, AMD_FLOPS_SINGLE };
    case AMD_V_ADD_F64:
    case AMD_V_MUL_F64:
        return (amd_flops){ 1, AMD_FLOPS_DOUBLE };
    case AMD_V_FMA_F64:
    case AMD_V_DIV_FMAS_F64:
        return (amd_flops){ 2, AMD_FLOPS_DOUBLE };
    case AMD_V_ADD_F16:
    case AMD_V_SUB_F16:
    case AMD_V_SUBREV_F16:
    case AMD_V_MUL_F16:
        return (amd_flops){ 1, AMD_FLOPS_HALF };
    case AMD_V_MAC_F16:
    case AMD_V_MAD_F16:
    case AMD_V_MADAK_F16:
    case AMD_V_MADMK_F16:
    case AMD_V_FMA_F16:
    case AMD_V_FMAC_F16:
    case AMD_V_FMAAK_F16:
    case AMD_V_FMAMK_F16:
    case AMD_V_FMA_MIXLO_F16:
    case AMD_V_FMA_MIXHI_F16:
    case AMD_V_PK_ADD_F16:
    case AMD_V_PK_MUL_F16:
        return (amd_flops){ 2, AMD_FLOPS_HALF };
    case AMD_V_PK_FMA_F16:
    case AMD_V_PK_FMAC_F16:
    case AMD_V_DOT2_F32_F16:
    case AMD_V_DOT2C_F32_F16:
        return (amd_flops){ 4, AMD_FLOPS_HALF };
    default:
        return (amd_flops){ 0, AMD_FLOPS_HALF };
    }
}
