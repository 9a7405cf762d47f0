/* device.c: the table of chips (devices.def), and which of them a PTX target asks for. */
#include "core.h"

#include <string.h>

static const struct device devices[] = {
#define DEVICE(id_, name_, ...) { .id = id_, .name = name_, __VA_ARGS__ },
#include "devices.def"
#undef DEVICE
};
enum { NDEVICES = sizeof devices / sizeof *devices };

const struct device *device_by_id(const char *id)
{
    for (int i = 0; i < NDEVICES; i++)
        if (!strcmp(devices[i].id, id))
            return &devices[i];
    return NULL;
}

/* sm_90a runs on 9.0 alone, sm_100f on 10.0 and its family from there on, sm_90 on 9.0 and all later. */
bool device_runs(const struct device *d, uint32_t target, char suffix)
{
    if (suffix == 'a')
        return d->cc == target;
    if (suffix == 'f')
        return d->cc / 10 == target / 10 && d->cc >= target;
    return d->cc >= target;
}

const struct device *device_for_target(uint32_t target, char suffix)
{
    for (int i = 0; i < NDEVICES; i++)          /* in the order of their compute capability: the least that can */
        if (device_runs(&devices[i], target, suffix))
            return &devices[i];
    return NULL;
}
