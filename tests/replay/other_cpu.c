/* Preloaded into a replay: changes audio as another CPU might. Opus packets have other bytes and
 * lengths, decoded and resampled audio differs slightly. If any other output changes, it depends on
 * audio, which is a fault. */
#include <dlfcn.h>
#include <opus/opus.h>
#include <samplerate.h>

enum { PAD_MAX = 3 };

static void *real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

opus_int32 opus_encode(OpusEncoder *st, const opus_int16 *pcm, int frame_size, unsigned char *data,
		       opus_int32 max_data_bytes)
{
	static opus_int32 (*encode)(OpusEncoder *, const opus_int16 *, int, unsigned char *,
				    opus_int32);
	static unsigned calls;
	opus_int32 n, more = (opus_int32)(calls++ % (PAD_MAX + 1));

	if (!encode)
		encode = (opus_int32(*)(OpusEncoder *, const opus_int16 *, int, unsigned char *,
					opus_int32))real("opus_encode");
	n = encode(st, pcm, frame_size, data, max_data_bytes);
	if (n > 2 && n + more <= max_data_bytes && opus_packet_pad(data, n, n + more) == OPUS_OK)
		n += more;
	return n;
}

int opus_decode(OpusDecoder *st, const unsigned char *data, opus_int32 len, opus_int16 *pcm,
		int frame_size, int decode_fec)
{
	static int (*decode)(OpusDecoder *, const unsigned char *, opus_int32, opus_int16 *, int,
			     int);
	int n;

	if (!decode)
		decode = (int (*)(OpusDecoder *, const unsigned char *, opus_int32, opus_int16 *,
				  int, int))real("opus_decode");
	n = decode(st, data, len, pcm, frame_size, decode_fec);
	for (int i = 0; i < n; i++)
		pcm[i] ^= 1;
	return n;
}

int src_process(SRC_STATE *state, SRC_DATA *data)
{
	static int (*process)(SRC_STATE *, SRC_DATA *);
	int err;

	if (!process)
		process = (int (*)(SRC_STATE *, SRC_DATA *))real("src_process");
	err = process(state, data);
	for (long i = 0; !err && i < data->output_frames_gen; i++)
		data->data_out[i] *= 0.9999f;
	return err;
}
