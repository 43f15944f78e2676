/* Where telemetry may go (control/otlp/exporter.h). */
#include "control/otlp/exporter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "control/settings/settings.h"
#include "tests/unit/ipc/loop.h"

static char *on_metrics(void *arg)
{
	(void)arg;
	return strdup("{}");
}

TEST(a_token_goes_over_tls_or_stays_on_this_machine)
{
	static const struct {
		const char *endpoint, *token;
		int err;
	} rows[] = {
		{"http://collector.example:4318", "", 0},
		{"http://collector.example:4318", "t0ken", EINVAL},
		{"http://127.0.0.1.evil.example:4318", "t0ken", EINVAL},
		{"http://localhost.evil.example", "t0ken", EINVAL},
		{"https://collector.example", "t0ken", 0},
		{"http://127.0.0.1:4318", "t0ken", 0},
		{"http://[::1]:4318", "t0ken", 0},
		{"http://localhost:4318", "t0ken", 0},
		{"collector.example", "", EINVAL},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct otlp_exporter *e = NULL;
		struct otlp_exporter_conf conf = {.metricsh = on_metrics};
		struct settings *settings = NULL;
		struct bus *bus = NULL;
		struct loop l;

		CHECK(!loop_open(&l, NULL) && !settings_alloc(&settings) && !bus_alloc(&bus));
		CHECK_INT(settings_set(settings, "otlp_endpoint", rows[i].endpoint), 0);
		if (*rows[i].token)
			CHECK_INT(settings_set(settings, "otlp_token", rows[i].token), 0);
		conf.env = l.env;
		conf.bus = bus;
		conf.settings = settings;
		CHECK_INT(otlp_exporter_alloc(&e, &conf), rows[i].err);
		otlp_exporter_free(e);
		bus_free(bus);
		settings_free(settings);
		loop_close(&l);
	}
}
