#include "tests/standins/frame.h"
#include "tests/test.h"

TEST(standin_frame_reads_the_examples_of_the_rfc)
{
	/* RFC 6455 section 5.7: a masked "Hello". */
	uint8_t hello[] = {0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58};
	struct si_frame f;

	for (size_t n = 0; n < sizeof hello; n++)
		CHECK_INT(si_frame_parse(&f, hello, n), EAGAIN);
	CHECK_INT(si_frame_parse(&f, hello, sizeof hello), 0);
	CHECK(f.fin && f.opcode == SI_TEXT);
	si_frame_unmask(&f, hello + f.head);
	CHECK_MEM(hello + f.head, f.length, "Hello", 5);
}

TEST(standin_frame_refuses_what_no_client_sends)
{
	static const uint8_t bad[][4] = {
		{0x81, 0x05},		  /* not masked */
		{0xc1, 0x85},		  /* a reserved bit */
		{0x83, 0x80},		  /* an unknown opcode */
		{0x09, 0x80},		  /* a ping in fragments */
		{0x88, 0xfe, 0x00, 0x7e}, /* a long close */
	};
	static const uint8_t huge[] = {0x82, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0};
	struct si_frame f;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK_INT(si_frame_parse(&f, bad[i], sizeof bad[i]), EPROTO);
	CHECK_INT(si_frame_parse(&f, huge, sizeof huge), EMSGSIZE);
}

TEST(standin_frame_writes_heads_of_each_length)
{
	uint8_t head[SI_FRAME_HEAD];

	CHECK_MEM(head, si_frame_head(head, SI_TEXT, true, 5), "\x81\x05", 2);
	CHECK_MEM(head, si_frame_head(head, SI_BINARY, true, 256), "\x82\x7e\x01\x00", 4);
	CHECK_MEM(head, si_frame_head(head, SI_MORE, false, 65536),
		  "\x00\x7f\x00\x00\x00\x00\x00\x01\x00\x00", 10);
}

TEST(standin_frame_answers_the_key_of_the_rfc)
{
	char accept[SI_FRAME_ACCEPT];

	si_frame_accept("dGhlIHNhbXBsZSBub25jZQ==", accept);
	CHECK_STR(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}
