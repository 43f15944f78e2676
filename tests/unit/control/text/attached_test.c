/* What Discord tells of attached files. */
#include "control/text/attached.h"

#include <string.h>

#include "tests/test.h"

static struct attached_list list;

static void take(const char *text)
{
	json_t *a = json_loads(text, 0, NULL);

	attached_read(&list, a);
	json_decref(a);
}

TEST(files_are_told_by_kind_type_and_size)
{
	char line[ATTACHED_LINE];

	take("[{\"id\":\"7\",\"filename\":\"cat.png\",\"size\":34567,\"content_type\":\"image/"
	     "png\","
	     "\"url\":\"https://cdn.discordapp.com/attachments/1/7/cat.png?ex=1\"},"
	     "{\"id\":\"8\",\"filename\":\"a.txt\",\"size\":12,\"content_type\":\"text/plain; "
	     "charset=utf-8\"},{\"id\":\"9\",\"filename\":\"film.mp4\",\"size\":7340032,"
	     "\"content_type\":\"video/mp4\"},{\"id\":\"10\",\"filename\":\"b.JPG\",\"size\":1}]");
	CHECK_INT(list.n, 4);
	CHECK_INT(list.v[0].kind, ATTACHED_IMAGE);
	CHECK_STR(list.v[0].url, "https://cdn.discordapp.com/attachments/1/7/cat.png?ex=1");
	CHECK_INT(list.v[1].kind, ATTACHED_TEXT);
	CHECK_STR(list.v[1].type, "text/plain");
	CHECK_INT(list.v[2].kind, ATTACHED_OTHER);
	CHECK_INT(list.v[3].kind, ATTACHED_IMAGE);
	attached_line(&list.v[0], line);
	CHECK_STR(line, "[attached: cat.png, image/png, 34 kB]");
	attached_line(&list.v[1], line);
	CHECK_STR(line, "[attached: a.txt, text/plain, 12 bytes]");
	attached_line(&list.v[2], line);
	CHECK_STR(line, "[attached: film.mp4, video/mp4, 7.3 MB]");
	attached_line(&list.v[3], line);
	CHECK_STR(line, "[attached: b.JPG, 1 bytes]");
}

TEST(malformed_files_are_left_out_and_names_are_one_plain_line)
{
	take("[1,{},{\"id\":\"x\",\"filename\":\"a\"},{\"id\":\"5\",\"filename\":\"\"},"
	     "{\"id\":\"6\",\"filename\":\"a]\\n[b\",\"size\":-4,\"url\":7}]");
	CHECK_INT(list.n, 1);
	CHECK(!strpbrk(list.v[0].name, "[]\n"));
	CHECK_INT(list.v[0].size, 0);
	CHECK_STR(list.v[0].url, "");
	take("[{\"id\":\"7\",\"filename\":\"cat.png\",\"content_type\":\"image/png\\u007f; a\"}]");
	CHECK_STR(list.v[0].type, "image/png");
	CHECK_INT(list.v[0].kind, ATTACHED_IMAGE);
	take("{}");
	CHECK_INT(list.n, 0);
	attached_read(&list, NULL);
	CHECK_INT(list.n, 0);
}

TEST(a_message_has_ten_files_at_most)
{
	char text[1024] = "[";

	for (unsigned i = 1; i < 16; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text),
			 "%s{\"id\":\"%u\",\"filename\":\"f\"}", i > 1 ? "," : "", i);
	strcat(text, "]");
	take(text);
	CHECK_INT(list.n, ATTACHED_FILES);
}

TEST(files_come_from_discord_alone)
{
	static const char api[] = "https://discord.com/api/v10",
			  here[] = "http://127.0.0.1:81/api/v10";
	static const char *const fit[] = {"https://cdn.discordapp.com/attachments/1/2/a.png",
					  "https://media.discordapp.net/attachments/1/2/a.png"};
	static const char *const unfit[] = {"http://cdn.discordapp.com/attachments/1/2/a.png",
					    "https://cdn.discordapp.com@evil.example/a.png",
					    "https://cdn.discordapp.com.evil.example/a.png",
					    "https://cdn.discordapp.com:81/a.png",
					    "https://discord.com/a.png",
					    "https://evil.example/cdn.discordapp.com/",
					    "file:///etc/passwd",
					    ""};

	for (size_t i = 0; i < sizeof fit / sizeof fit[0]; i++)
		CHECK(attached_url_fits(fit[i], api) && attached_url_fits(fit[i], here));
	for (size_t i = 0; i < sizeof unfit / sizeof unfit[0]; i++)
		CHECK(!attached_url_fits(unfit[i], api));
	CHECK(!attached_url_fits("http://127.0.0.1:81/attachments/a", api));
	CHECK(attached_url_fits("http://127.0.0.1:81/attachments/a", here));
	CHECK(!attached_url_fits("http://127.0.0.1:811/attachments/a", here));
	CHECK(!attached_url_fits("http://127.0.0.1:81@evil/a", here));
	CHECK(!attached_url_fits("http://user@127.0.0.1/a", "http://user@127.0.0.1/"));
}
