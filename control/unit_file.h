/* What the installed systemd unit of control allows: read from its files, because --check runs
 * beside the unit, not in it. */
#ifndef CONTROL_UNIT_FILE_H
#define CONTROL_UNIT_FILE_H

#include <stdbool.h>

#define UNIT_CONTROL "parley-control.service"

/* True if the unit is installed below this root ("" for the system's own) and neither it nor a
 * drop-in lets it make user namespaces, without which no sandbox can be made. */
bool unit_forbids_programs(const char *root);

#endif
