#include "tests/unit/control/web/web_idle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static int on_save(const struct live_settings_version *version, void *arg)
{
	(void)version;
	(void)arg;
	return EIO;
}

static void on_changed(void *arg)
{
	(void)arg;
}

static void on_told(const char *name, enum settings_when when, const char *author, void *arg)
{
	(void)name;
	(void)when;
	(void)author;
	(void)arg;
}

static json_t *on_any(void *arg)
{
	(void)arg;
	return json_object();
}

static json_t *on_list(void *arg)
{
	(void)arg;
	return json_array();
}

static char *on_metrics(void *arg)
{
	(void)arg;
	return strdup("");
}

static json_t *on_channels(uint64_t guild, void *arg)
{
	(void)guild;
	(void)arg;
	return NULL;
}

static int on_order(const struct web_order *o, char why[WEB_WHY_SIZE], void *arg)
{
	(void)o;
	(void)why;
	(void)arg;
	return 0;
}

static const uint32_t one_hour = 1;

const struct live_settings_conf web_idle_settings = {
	.saveh = on_save, .changedh = on_changed, .toldh = on_told};

const struct web_conf web_idle = {.listen = "127.0.0.1:0",
				  .token = TOKEN,
				  .session_hours = &one_hour,
				  .mcph = on_any,
				  .readyh = on_any,
				  .metricsh = on_metrics,
				  .roomsh = on_list,
				  .reasonsh = on_any,
				  .statsh = on_any,
				  .guildsh = on_list,
				  .channelsh = on_channels,
				  .orderh = on_order};
