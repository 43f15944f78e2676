/* What `control --help` prints. */
#ifndef CONTROL_HELP_H
#define CONTROL_HELP_H

extern const char control_help[];

#endif
