/* Where the power comes from, by folders as the kernel has them. */
#include "control/agent/power.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"

static char folder[64];

static void put(const char *supply, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", folder, supply);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/%s/%s", folder, supply, name);
	f = fopen(path, "we");
	if (!f)
		return;
	fputs(text, f);
	fclose(f);
}

static void away(void)
{
	static const char *const supplies[] = {"AC", "BAT0", "mouse"};
	static const char *const all[] = {"type", "online", "status", "scope"};
	char path[256];

	for (unsigned i = 0; i < 3; i++) {
		for (unsigned k = 0; k < 4; k++) {
			snprintf(path, sizeof path, "%s/%s/%s", folder, supplies[i], all[k]);
			unlink(path);
		}
		snprintf(path, sizeof path, "%s/%s", folder, supplies[i]);
		rmdir(path);
	}
	rmdir(folder);
}

TEST(the_kernel_tells_where_the_power_comes_from)
{
	snprintf(folder, sizeof folder, "/tmp/parley-power-XXXXXX");
	CHECK(mkdtemp(folder));
	CHECK_STR(power_of("/tmp/parley-there-is-no-such-folder"), "");
	CHECK_STR(power_of(folder), ""); /* a server */
	put("mouse", "type", "Battery\n");
	put("mouse", "scope", "Device\n");
	put("mouse", "status", "Discharging\n");
	CHECK_STR(power_of(folder), "");
	put("BAT0", "type", "Battery\n");
	put("BAT0", "status", "Discharging\n");
	CHECK_STR(power_of(folder), "battery");
	put("BAT0", "status", "Full\n");
	CHECK_STR(power_of(folder), "");
	put("AC", "type", "Mains\n");
	put("AC", "online", "0\n");
	put("BAT0", "status", "Discharging\n");
	CHECK_STR(power_of(folder), "battery");
	put("AC", "online", "1\n");
	CHECK_STR(power_of(folder), "mains");
	away();
}
