/* What the web server needs of control, for tests that look at little of it. */
#ifndef TESTS_UNIT_CONTROL_WEB_WEB_IDLE_H
#define TESTS_UNIT_CONTROL_WEB_WEB_IDLE_H

#include "control/configure/live_settings.h"
#include "control/web/web.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

/* Changes of settings are refused and told to nobody. */
extern const struct live_settings_conf web_idle_settings;
/* A free port of loopback, TOKEN, and answers that are empty. */
extern const struct web_conf web_idle;

#endif
