/* fabric.c: names that all parts of a fabric share. */
#include "model/fabric/fabric.h"

const char *const fabric_class_names[FABRIC_CLASSES] = { "request",    "data",    "walk",
                                                         "invalidate", "migrate", "copy" };
