#include "tests/talk/board.h"

#include "ipc/http.h"
#include "tests/unit/ipc/loop.h"

static struct fixture {
	struct loop l;
	struct http *http;
	struct board *board;
} fx;

static void on_board(void *arg)
{
	(void)arg;
}

static int begin(void)
{
	int err;

	memset(&fx, 0, sizeof fx);
	err = loop_open(&fx.l, NULL);
	if (!err)
		err = http_alloc(&fx.http, fx.l.env, NULL, "Tester");
	if (!err)
		err = board_alloc(&fx.board, fx.l.env, fx.http, "http://127.0.0.1:1", 8, on_board,
				  NULL);
	return err;
}

static void end(void)
{
	board_free(fx.board);
	http_free(fx.http);
	loop_close(&fx.l);
}

static int take(const char *text)
{
	return board_take(fx.board, text, strlen(text));
}

static const char *text_at(size_t i)
{
	return json_string_value(json_object_get(json_array_get(board_list(fx.board), i), "text"));
}

#define MESSAGE(text) "{\"author\":{\"username\":\"parley\"},\"content\":\"" text "\"}"

TEST(board_shows_the_last_words_and_tells_only_changes)
{
	CHECK_INT(begin(), 0);
	CHECK_INT(json_array_size(board_list(fx.board)), 0);
	CHECK_INT(take("[]"), EALREADY);
	CHECK_INT(take("[" MESSAGE("a") "," MESSAGE("") "," MESSAGE("b") "]"), 0);
	CHECK_INT(take("[" MESSAGE("a") "," MESSAGE("b") "]"), EALREADY);
	CHECK_STR(text_at(0), "a");
	CHECK_STR(text_at(1), "b");
	CHECK_INT(take("[" MESSAGE("a") "," MESSAGE("b") "," MESSAGE("c") "," MESSAGE("d") "]"), 0);
	CHECK_INT(json_array_size(board_list(fx.board)), BOARD_SHOWN);
	CHECK_STR(text_at(0), "b");
	CHECK_STR(text_at(2), "d");
	end();
}

TEST(board_keeps_what_it_has_when_an_answer_makes_no_sense)
{
	CHECK_INT(begin(), 0);
	CHECK_INT(take("[" MESSAGE("a") "]"), 0);
	CHECK_INT(take("{}"), EBADMSG);
	CHECK_INT(take(""), EBADMSG);
	CHECK_INT(take("[1,{},{\"content\":3},{\"author\":[],\"content\":\"x\"}]"), 0);
	CHECK_INT(json_array_size(board_list(fx.board)), 0);
	end();
}

TEST_OOM(board_survives_no_memory)
{
	int err = begin();

	end();
	CHECK_OOM(err, (void)0);
}
