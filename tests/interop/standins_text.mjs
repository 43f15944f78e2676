// The official clients of text models, speech and transcription by request against the stand-ins.
import { once } from 'node:events';
import WebSocket from 'ws';
import OpenAI, { toFile } from 'openai';
import Anthropic from '@anthropic-ai/sdk';
import { check, main, sleep } from './lib.mjs';
import { standin } from './standin.mjs';
import { unlike } from './schema.mjs';

const wav = (ms) => {
  const b = Buffer.concat([Buffer.from('RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data\0\0\0\0', 'latin1'), Buffer.alloc(ms * 32, 7)]);
  b.writeUInt32LE(b.length - 44, 40);
  return b;
};
const words = { messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'the code word is tern' }, { role: 'assistant', content: 'Fine.' },
  { role: 'user', content: 'what is the code word' }] };
const bad = [];
const note = (why) => { if (why) bad.push(why); };
const failure = (p) => p.then(() => null, (e) => e);
const text = async (stream) => {
  let all = '';
  for await (const c of stream) {
    if (c.type === 'x.unknown.event') continue; // inserted by the script's line extra
    note(unlike(c, 'CreateChatCompletionStreamResponse'));
    all += c.choices[0]?.delta?.content ?? '';
  }
  return all;
};

async function chat() {
  const s = await standin('chat', { key: 'k-chat', script: ['request 3 extra', 'request 3 split 3', 'response 3 reason Let me think.', 'response 4 call look {"city":"Paris"}',
    'response 6 gap 50', 'response 7 fail server_error It broke.', 'response 8 error rate_limit_exceeded Slow down.', 'response 9 nodone', 'response 10 audio 2 abort'].join('\n') });
  const client = new OpenAI({ apiKey: 'k-chat', baseURL: `http://127.0.0.1:${s.port}/v1`, maxRetries: 0 });
  const ask = (o) => client.chat.completions.create({ model: 'local', ...words, ...o });
  check('chat: a wrong key', (await failure(new OpenAI({ apiKey: 'wrong', baseURL: client.baseURL, maxRetries: 0 }).chat.completions.create({ model: 'local', ...words }))) instanceof OpenAI.AuthenticationError);
  check('chat: models', (await client.models.list()).data[0].id === 'stand-in');
  const odd = await text(await ask({ messages: [{ role: 'user', content: 'repeat čaj und 茶' }], stream: true }));
  check('chat: chunks that split characters and lines, comments, CRLF', odd === 'čaj und 茶', odd);
  const one = await ask({});
  check('chat: a whole answer', one.choices[0].message.content === 'The code word is tern.' && one.usage.total_tokens > 0);
  let reasoning = '';
  let usage;
  for await (const c of await ask({ stream: true, stream_options: { include_usage: true } })) {
    reasoning += c.choices[0]?.delta?.reasoning_content ?? '';
    usage = c.usage ?? usage;
  }
  check('chat: reasoning beside the answer, usage at the end', reasoning === 'Let me think.' && usage.prompt_tokens > 0);
  const tools = [{ type: 'function', function: { name: 'look', description: 'x', parameters: { type: 'object' } } }];
  const called = await client.chat.completions.stream({ model: 'local', ...words, tools }).finalChatCompletion();
  const call = called.choices[0].message.tool_calls[0];
  check('chat: a call in fragments', call.function.name === 'look' && call.function.arguments === '{"city":"Paris"}' && called.choices[0].finish_reason === 'tool_calls');
  const asked = { role: 'assistant', content: null, tool_calls: [{ id: call.id, type: 'function', function: { name: 'look', arguments: '{}' } }] };
  const after = await ask({ tools, messages: [...words.messages, asked, { role: 'tool', tool_call_id: call.id, content: 'blue' }] });
  check('chat: its output', after.choices[0].message.content === 'The tool says blue.');
  const cut = await ask({ stream: true, messages: [{ role: 'user', content: 'count to 40' }] });
  let n = 0;
  for await (const c of cut) { n += c.choices.length; if (n === 3) { cut.controller.abort(); break; } }
  await sleep(100);
  check('chat: an abort reaches the server', s.record().some((l) => l.what === 'aborted'));
  check('chat: an error in the middle', /It broke/.test((await failure(text(await ask({ stream: true }))))?.message ?? ''));
  check('chat: a rate limit', (await failure(ask({}))) instanceof OpenAI.RateLimitError);
  check('chat: a stream without its last line', (await text(await ask({ stream: true }))) === 'The code word is tern.');
  check('chat: a stream that breaks off', (await failure((async () => text(await ask({ stream: true })))())) !== null);
  check('chat: an unknown field', (await failure(ask({ voice: 'x' }))) instanceof OpenAI.BadRequestError);
  check('chat: a tool message without its call', (await failure(ask({ messages: [{ role: 'tool', tool_call_id: 'x', content: 'y' }] }))) instanceof OpenAI.BadRequestError);
  check('chat: at most two tokens', (await ask({ max_completion_tokens: 2 })).choices[0].finish_reason === 'length');
  const r = await fetch(`http://127.0.0.1:${s.port}/slots/0?action=erase`, { method: 'POST', headers: { authorization: 'Bearer k-chat' } });
  check('chat: the slots of llama.cpp', (await r.json()).id_slot === 0);
  await s.stop();
}

async function responses() {
  const s = await standin('openai', { script: 'response 2 call look {"city":"Paris"}\nresponse 4 reason Let me think.\nresponse 5 fail server_error It broke.' });
  const client = new OpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${s.port}/v1`, maxRetries: 0 });
  const ask = (o) => client.responses.create({ model: 'gpt', ...o });
  const stream = async (o) => {
    const events = [];
    for await (const e of await ask({ stream: true, ...o })) { note(unlike(e, 'ResponseStreamEvent')); events.push(e); }
    return events;
  };
  const first = await ask({ input: 'the code word is gull' });
  check('responses: a whole answer', first.output_text === 'I will remember it.' && first.status === 'completed');
  const tools = [{ type: 'function', name: 'look', parameters: { type: 'object' }, strict: false }];
  let events = await stream({ input: 'look', tools });
  const call = events.find((e) => e.type === 'response.function_call_arguments.done');
  check('responses: a call', call.arguments === '{"city":"Paris"}' && events.at(-1).type === 'response.completed');
  const item = events.find((e) => e.type === 'response.output_item.done').item;
  const told = await ask({ tools, input: [{ role: 'user', content: 'look' }, item, { type: 'function_call_output', call_id: item.call_id, output: 'blue' }] });
  check('responses: its output', told.output_text === 'The tool says blue.', told.output_text);
  events = await stream({ input: 'what is the code word', previous_response_id: first.id });
  check('responses: goes on from an earlier one', events.at(-1).response.output[0].content[0].text === 'The code word is gull.');
  check('responses: in sequence', events.every((e, i) => e.sequence_number === i) && events.some((e) => e.type === 'response.reasoning_summary_text.delta'));
  check('responses: a failure', (await stream({ input: 'x' })).at(-1).type === 'response.failed');
  check('responses: at most two tokens', (await ask({ input: 'count to 20', max_output_tokens: 2 })).incomplete_details.reason === 'max_output_tokens');
  check('responses: an unknown earlier one', (await failure(ask({ input: 'x', previous_response_id: 'resp_x' }))).code === 'previous_response_not_found');
  check('responses: an output without its call', (await failure(ask({ input: [{ type: 'function_call_output', call_id: 'x', output: 'y' }] }))) instanceof OpenAI.BadRequestError);
  await s.stop();
}

async function files() {
  const s = await standin('openai', { script: 'commit transcript good morning' });
  const client = new OpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${s.port}/v1`, maxRetries: 0 });
  const speech = async (o) => Buffer.from(await (await client.audio.speech.create({ model: 'tts', voice: 'alloy', input: 'Hello there.', ...o })).arrayBuffer());
  check('files: speech', (await speech({ response_format: 'pcm' })).length === 2 * 200 * 48);
  check('files: speech in a WAV file', (await speech({ response_format: 'wav' })).subarray(0, 4).toString() === 'RIFF');
  check('files: speech as events', (await speech({ response_format: 'pcm', stream_format: 'sse' })).toString().includes('"speech.audio.done"'));
  const hear = async (o) => client.audio.transcriptions.create({ model: 'gpt-4o-transcribe', file: await toFile(wav(500), 'a.wav'), ...o });
  const heard = await hear({ include: ['logprobs'] });
  check('files: transcription', heard.text === 'good morning' && heard.logprobs[0].logprob < 0);
  let all = '';
  for await (const e of await hear({ stream: true })) { note(unlike(e, 'CreateTranscriptionResponseStreamEvent')); all += e.delta ?? ''; }
  check('files: transcription as events', all === 'good morning', all);
  const vectors = await client.embeddings.create({ model: 'e', input: ['red green', 'red blue'] });
  note(unlike(vectors, 'CreateEmbeddingResponse'));
  const plain = await client.embeddings.create({ model: 'e', input: 'red green', encoding_format: 'float' });
  check('files: embeddings, as base64 and as numbers', vectors.data.length === 2 && JSON.stringify(vectors.data[0].embedding) === JSON.stringify(plain.data[0].embedding));
  await s.stop();
}

async function anthropic() {
  const s = await standin('anthropic', { key: 'k-anth', script: ['response 2 call look {"city":"Paris"}', 'response 4 reason Let me think.', 'response 5 gap 50',
    'response 6 fail overloaded_error Too much.', 'response 7 error overloaded_error Too much.'].join('\n') });
  const client = new Anthropic({ apiKey: 'k-anth', baseURL: `http://127.0.0.1:${s.port}`, maxRetries: 0 });
  const messages = words.messages.slice(1);
  const ask = (o) => client.messages.create({ model: 'claude', max_tokens: 100, system: 'Be brief.', messages, ...o });
  check('anthropic: a whole answer', (await ask({})).content[0].text === 'The code word is tern.');
  const tools = [{ name: 'look', description: 'x', input_schema: { type: 'object' } }];
  const called = await client.messages.stream({ model: 'claude', max_tokens: 100, messages, tools }).finalMessage();
  const use = called.content.find((b) => b.type === 'tool_use');
  check('anthropic: a call in fragments', use.input.city === 'Paris' && called.stop_reason === 'tool_use');
  const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: 'blue' }] };
  check('anthropic: its result', (await ask({ tools, messages: [...messages, { role: 'assistant', content: called.content }, result] })).content[0].text === 'The tool says blue.');
  const thought = await client.messages.stream({ model: 'claude', max_tokens: 100, messages }).finalMessage();
  check('anthropic: thinking beside the text', thought.content[0].thinking === 'Let me think.' && thought.content[1].text === 'The code word is tern.' && thought.usage.output_tokens > 0);
  const cut = client.messages.stream({ model: 'claude', max_tokens: 100, messages: [{ role: 'user', content: 'count to 40' }] });
  await once(cut, 'text');
  cut.abort();
  await failure(cut.finalMessage());
  await sleep(100);
  check('anthropic: an abort reaches the server', s.record().some((l) => l.what === 'aborted'));
  check('anthropic: an error in the middle', /Too much/.test((await failure(client.messages.stream({ model: 'claude', max_tokens: 9, messages }).finalMessage())).message));
  check('anthropic: overloaded', (await failure(ask({}))).status === 529);
  check('anthropic: a wrong key', (await failure(new Anthropic({ apiKey: 'wrong', baseURL: client.baseURL, maxRetries: 0 }).messages.create({ model: 'claude', max_tokens: 9, messages }))) instanceof Anthropic.AuthenticationError);
  for (const [why, o] of [
    ['sampling parameters', { temperature: 0.5 }],
    ['a call without its result', { tools, messages: [...messages, { role: 'assistant', content: called.content }, { role: 'user', content: 'and now?' }] }],
    ['a result that is not first', { tools, messages: [...messages, { role: 'assistant', content: called.content }, { role: 'user', content: [{ type: 'text', text: 'so' }, ...result.content] }] }],
    ['a first message of the assistant', { messages: [{ role: 'assistant', content: 'x' }] }],
    ['an unknown field', { voice: 'x' }],
  ]) check(`anthropic: refuses ${why}`, (await failure(ask(o))) instanceof Anthropic.BadRequestError);
  check('anthropic: at most two tokens', (await ask({ max_tokens: 2 })).stop_reason === 'max_tokens');
  await s.stop();
}

async function vllm() {
  const s = await standin('vllm', { script: 'commit transcript good morning' });
  const ws = new WebSocket(`ws://127.0.0.1:${s.port}/v1/realtime`);
  const got = [];
  ws.on('message', (m) => got.push(JSON.parse(m)));
  await once(ws, 'open');
  const send = (e) => ws.send(JSON.stringify(e));
  send({ type: 'session.update', session: { type: 'transcription' } });
  send({ type: 'input_audio_buffer.commit' });
  send({ type: 'session.update', model: 'voxtral' });
  send({ type: 'input_audio_buffer.commit' });
  send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(16000, 7).toString('base64') });
  send({ type: 'input_audio_buffer.commit', final: true });
  for (let i = 0; i < 100 && !got.some((e) => e.type === 'transcription.done'); i += 1) await sleep(20);
  check('vllm: the model comes first, at the top', got.filter((e) => e.type === 'error').map((e) => e.code).join() === 'unknown_event,model_not_validated' && typeof got[1].error === 'string');
  check('vllm: a transcript', got.at(-1).text === 'good morning' && got.filter((e) => e.type === 'transcription.delta').map((e) => e.delta).join('') === 'good morning');
  ws.close();
  await s.stop();
}

const parts = { chat, responses, files, anthropic, vllm };
await main(async () => {
  const chosen = process.argv.slice(2);
  for (const [name, part] of Object.entries(parts)) {
    if (chosen.length && !chosen.includes(name)) continue;
    try { await part(); } catch (e) { check(`${name} runs to its end`, false, e?.stack ?? e); }
  }
  check('every event of the stand-ins is as the published schemas say', bad.length === 0, [...new Set(bad)].slice(0, 8).join('\n'));
}, 120000);
