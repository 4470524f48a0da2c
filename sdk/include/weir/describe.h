/* How a module describes itself to the build: the manifest generator of weir_add_plugin() calls it once, at build time.
 * The gateway never does; it reads the manifest from the module's ELF note. */
#ifndef WEIR_DESCRIBE_H
#define WEIR_DESCRIBE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_INTERFACE_DESCRIBE "weir.describe/1"

typedef struct weir_describe {
    uint32_t size;
    /* Writes the JSON array of what the module provides, in as many pieces as it likes. */
    void (*provides)(void (*write)(void* context, const char* text, size_t size), void* context);
} weir_describe;

#ifdef __cplusplus
}
#endif

#endif
