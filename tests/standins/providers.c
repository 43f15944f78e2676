#include "tests/standins/services.h"

#define SERVICES(...)                                                                              \
	(const struct si_service *const[])                                                         \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

const struct si_provider si_providers[] = {
	{"openai", "Realtime (GA, beta form, transcription) and everything by request",
	 SERVICES(&si_openai_realtime, &si_responses, &si_chat, &si_openai_files)},
	{"xai", "Grok Voice Agent, speech to text by socket",
	 SERVICES(&si_xai_realtime, &si_xai_stt)},
	{"gemini", "Gemini Live", SERVICES(&si_gemini_live)},
	{"elevenlabs", "text to speech by socket and request, Scribe by socket and file",
	 SERVICES(&si_eleven_speech, &si_eleven_scribe, &si_eleven_files)},
	{"chat", "chat completions, speech and transcription, as local servers have them",
	 SERVICES(&si_chat, &si_openai_files)},
	{"responses", "OpenAI Responses", SERVICES(&si_responses)},
	{"anthropic", "Messages", SERVICES(&si_messages)},
	{"vllm", "chat completions and transcription by socket",
	 SERVICES(&si_vllm_realtime, &si_chat, &si_openai_files)},
	{"searxng", "web search in JSON", SERVICES(&si_searxng)},
	{NULL, NULL, NULL},
};
