// Records a DAVE group for dave-follow. The members are unmodified davey sessions, extsender.mjs is the voice server, and ts-mls is
// the member that follows, so that every value comes from implementations that are not Parley's.
//
//   npm install && node record.mjs OUT.json [MEMBERS] [EPOCHS] [SEED] [lean]
//
// MEMBERS is the maximum number of members, the follower included. lean: records fingerprints only when they are new, and one
// frame per sender. Ids, order and sizes come from the seed; keys are new each time.
import { createHash, createHmac, generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as mls from 'ts-mls';
import { defaultClientConfig } from 'ts-mls/clientConfig.js';
import { encodeKeyPackage, decodeKeyPackage } from 'ts-mls/keyPackage.js';
import { decodeWelcome } from 'ts-mls/welcome.js';
import { ExternalSender } from '../extsender.mjs';

const davey = createRequire(import.meta.url)('@snazzah/davey');
const [out, members = '20', epochs = '17', seed = '1', lean] = process.argv.slice(2);
const MEMBERS = Number(members), EPOCHS = Number(epochs), CHANNEL = '927310423890473011', SELF = '1090123456789012345';

// ---- helpers ----
const hex = (b) => Buffer.from(b).toString('hex');
let state = Number(seed) >>> 0;
const random = (n) => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor(state / 2 ** 32 * n);
};
const u64 = (v, little) => {
  const b = Buffer.alloc(8);
  if (little) b.writeBigUInt64LE(BigInt(v));
  else b.writeBigUInt64BE(BigInt(v));
  return b;
};
const user = (i) => String(158000000000000000n + BigInt(i) * 7919000013n);

// The key ratchet, by RFC 9420 sections 5.1 and 9, on node:crypto alone.
const expand = (secret, name, context, n) => {
  const label = Buffer.from(`MLS 1.0 ${name}`);
  const info = Buffer.concat([Buffer.from([n >> 8, n, label.length]), label, Buffer.from([context.length]), context]);
  return createHmac('sha256', secret).update(info).update(Buffer.from([1])).digest().subarray(0, n);
};
const generation = (g) => Buffer.from([0, 0, 0, g]);
const keys = (base) => {
  const next = expand(base, 'secret', generation(0), 32);
  return { base_secret: hex(base), key_gen0: hex(expand(base, 'key', generation(0), 16)), key_gen1: hex(expand(next, 'key', generation(1), 16)) };
};

// ---- the voice server's view ----
const server = new ExternalSender(CHANNEL);
const leaves = []; // user or null, by leaf index
const place = (id) => {
  const free = leaves.indexOf(null);
  leaves[free < 0 ? leaves.length : free] = id;
};

// ---- davey's members ----
const sessions = new Map();
const fresh = (id) => {
  const s = new davey.DAVESession(1, id, CHANNEL);
  s.setExternalSender(server.package);
  return s;
};

// ---- the follower ----
const suite = await mls.getCiphersuiteImpl(mls.getCiphersuiteFromName('MLS_128_DHKEMP256_AES128GCM_SHA256_P256'));
const config = { ...defaultClientConfig, lifetimeConfig: { maximumTotalLifetime: 2n ** 64n - 1n, validateLifetimeOnReceive: false } };
const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
const raw = (part) => Buffer.from(part, 'base64url');
const own = await mls.generateKeyPackageWithKey(
  { credentialType: 'basic', identity: u64(SELF) },
  { versions: ['mls10'], ciphersuites: ['MLS_128_DHKEMP256_AES128GCM_SHA256_P256'], extensions: [], proposals: [], credentials: ['basic'] },
  { notBefore: 0n, notAfter: 2n ** 64n - 1n }, [],
  { signKey: new Uint8Array(raw(jwk.d)), publicKey: new Uint8Array(Buffer.concat([Buffer.from([4]), raw(jwk.x), raw(jwk.y)])) }, suite);
const ownPackage = Buffer.from(encodeKeyPackage(own.publicPackage));
let follower;

const propose = (message) => {
  const { content } = mls.decodeMlsMessage(new Uint8Array(message), 0)[0].publicMessage;
  const ref = Buffer.from(server.ref(message)).toString('base64');
  follower = { ...follower, unappliedProposals: { ...follower.unappliedProposals, [ref]: { proposal: content.proposal, senderLeafIndex: undefined } } };
};
const revoke = (message) => {
  const left = { ...follower.unappliedProposals };
  delete left[Buffer.from(server.ref(message)).toString('base64')];
  follower = { ...follower, unappliedProposals: left };
};

// ---- one epoch ----
const op27 = (step, kind, messages, told) => {
  const payload = kind === 0 ? server.vector(messages) : server.revocation(messages);
  let commits = new Map();
  step.op27_payloads.push(hex(Buffer.concat([Buffer.from([kind]), payload])));
  for (const [id, s] of sessions) {
    if (!told.inside.has(id)) continue;
    try {
      commits.set(id, s.processProposals(kind, payload, told.users));
    } catch (e) {
      if (!told.leaving.has(id)) throw e; // a member cannot commit its own removal
    }
  }
  if (follower) for (const m of messages) (kind === 0 ? propose : revoke)(m);
  return commits;
};

const fingerprints = async (step, keyOf) => {
  step.pairwise_with_self = {};
  for (const [id, key] of keyOf) {
    if (id === SELF || (lean && seen.get(id) === hex(key))) continue;
    seen.set(id, hex(key));
    const f = await davey.generatePairwiseFingerprint(0, Buffer.from(keyOf.get(SELF)), SELF, Buffer.from(key), id);
    step.pairwise_with_self[id] = { fingerprint: hex(f), code: davey.generateDisplayableCode(f, 45, 5) };
  }
};
const seen = new Map();

const frames = (step) => {
  step.frames = [];
  for (const [id, s] of sessions)
    for (let i = 0; i < (lean ? 1 : 3); i++) {
      const plain = Buffer.from(createHash('sha512').update(`${id}${step.epoch}${i}`).digest()).subarray(0, [3, 10, 60][i]);
      step.frames.push({ user_id: id, codec: 'OPUS', truncated_nonce: i + 1, plaintext: hex(plain), frame: hex(s.encryptOpus(plain)) });
    }
};

const roster = () => new Map(follower.ratchetTree.filter((n) => n?.nodeType === 'leaf')
  .map((n) => [Buffer.from(n.leaf.credential.identity).readBigUInt64BE().toString(), n.leaf.signaturePublicKey]));

const snapshot = async (step) => {
  const { groupContext: g, keySchedule: k } = follower;
  const keyOf = roster();
  step.epoch = Number(g.epoch);
  step.tree_hash = hex(g.treeHash);
  step.confirmed_transcript_hash = hex(g.confirmedTranscriptHash);
  step.epoch_authenticator = hex(k.epochAuthenticator);
  step.voice_privacy_code = davey.generateDisplayableCode(Buffer.from(k.epochAuthenticator), 30, 5);
  step.exporter_secret = hex(k.exporterSecret);
  step.membership_key = hex(k.membershipKey);
  step.senders = {};
  for (const id of keyOf.keys())
    step.senders[id] = keys(Buffer.from(await mls.mlsExporter(k.exporterSecret, 'Discord Secure Frames v0', u64(id, true), 16, suite)));
  for (const [id, s] of sessions)
    if (s.epoch !== g.epoch || hex(s.getEpochAuthenticator()) !== step.epoch_authenticator || s.voicePrivacyCode !== step.voice_privacy_code)
      throw new Error(`${id} and the follower disagree in epoch ${g.epoch}`);
  await fingerprints(step, keyOf);
  frames(step);
};

// Applies the commit: members process it, joiners process the welcome. A removed member has no session any more, or a new one.
const settle = async (step, { commit, welcome }, joining, leaving) => {
  step.op29_commit = hex(commit);
  for (const [id, s] of sessions) (joining.has(id) ? s.processWelcome(welcome) : s.processCommit(commit));
  if (follower) {
    const message = mls.decodeMlsMessage(new Uint8Array(commit), 0)[0];
    follower = (await mls.processPublicMessage(follower, message.publicMessage, mls.emptyPskIndex, suite)).newState;
  } else if (joining.has(SELF)) {
    step.op30_welcome = hex(welcome);
    follower = await mls.joinGroup(decodeWelcome(new Uint8Array(welcome), 0)[0], decodeKeyPackage(new Uint8Array(ownPackage), 0)[0],
      own.privatePackage, mls.emptyPskIndex, suite, undefined, undefined, config);
  }
  for (const id of leaving) leaves[leaves.indexOf(id)] = null;
  for (const id of joining.keys()) place(id);
  server.epoch++;
};

// ---- the sequence of epochs ----
const steps = [];
let next = 1;

const first = user(0);
sessions.set(first, fresh(first));
leaves.push(first);

const begin = async () => {
  const step = { name: 'join-by-welcome', op27_payloads: [] };
  const joining = new Map([[SELF, ownPackage]]);
  for (let i = 0; i < 2 && joining.size + 1 < MEMBERS; i++) {
    const id = user(next++), s = fresh(id);
    joining.set(id, s.getSerializedKeyPackage());
    sessions.set(id, s);
  }
  const told = { inside: new Set([first]), users: [first, ...joining.keys()], leaving: new Set() };
  const made = op27(step, 0, [...joining.values()].map((k) => server.add(k)), told);
  await settle(step, made.get(first), joining, new Set());
  await snapshot(step);
  steps.push(step);
};

const go = async () => {
  const step = { op27_payloads: [] };
  const inside = new Set(sessions.keys());
  const leaving = new Set(), joining = new Map(), groups = [[]];
  const room = MEMBERS - 1 - sessions.size, gone = [...sessions.keys()];
  // Removes first, so that a returning member takes a free leaf; sends the proposals in one to three messages.
  for (let n = gone.length > 3 ? random(4) : 0; n > 0; n--) leaving.add(gone.splice(random(gone.length), 1)[0]);
  for (const id of leaving) groups.at(-1).push(server.remove(leaves.indexOf(id)));
  if (random(2)) groups.push([]);
  const back = [...leaving].filter(() => random(3) === 0);
  const fill = Math.min(room + leaving.size - back.length, random(5) + (leaving.size ? 0 : 1));
  const come = [...back, ...Array.from({ length: Math.max(0, fill) }, () => user(next++))];
  for (const id of come) {
    const s = fresh(id);
    joining.set(id, { s, package: s.getSerializedKeyPackage() });
    groups.at(-1).push(server.add(joining.get(id).package));
    if (random(4) === 0) groups.push([]);
  }
  if (!leaving.size && !joining.size) {
    leaving.add(gone.splice(random(gone.length), 1)[0]);
    groups.at(-1).push(server.remove(leaves.indexOf([...leaving][0])));
  }
  // Sometimes revokes some of the proposals.
  const extra = random(2) ? [server.remove(leaves.indexOf(gone[random(gone.length)])), server.add(fresh(user(next)).getSerializedKeyPackage())] : [];
  const users = [...sessions.keys(), ...joining.keys(), SELF, user(next)];
  const told = { inside, users, leaving: new Set([...leaving, ...gone]) };
  let made = new Map();
  const parts = groups.filter((g) => g.length);
  if (extra.length) {
    op27(step, 0, extra, told);
    // davey's commit after a revocation lacks its welcome, so the last proposal is an append.
    if (parts.length > 1 && random(2)) op27(step, 0, parts.shift(), told);
    if (random(2)) op27(step, 1, extra, told);
    else for (const m of extra) op27(step, 1, [m], told);
  }
  for (const p of parts) made = op27(step, 0, p, told);
  const able = gone.filter((id) => made.get(id)?.commit);
  const by = able[random(able.length)];
  step.name = `add ${joining.size}, remove ${leaving.size}, revoke ${extra.length}, by leaf ${leaves.indexOf(by)}`;
  const offers = new Map([...joining].map(([id, j]) => [id, j.package]));
  for (const id of leaving) sessions.delete(id);
  for (const [id, j] of joining) sessions.set(id, j.s);
  await settle(step, made.get(by), offers, leaving);
  await snapshot(step);
  steps.push(step);
};

await begin();
for (let i = 1; i < EPOCHS; i++) await go();

const priv = own.privatePackage;
const recording = {
  generated_by: '@snazzah/davey 0.1.12 (members) + ts-mls 1.6.4 (follower) + own external sender',
  protocol_version: 1, channel_id: CHANNEL, group_id: hex(u64(CHANNEL)),
  self: { user_id: SELF, init_priv: hex(priv.initPrivateKey), encryption_priv: hex(priv.hpkePrivateKey), signature_priv: hex(priv.signaturePrivateKey), key_package: hex(ownPackage) },
  op25_external_sender: hex(server.package), steps,
};
writeFileSync(out, JSON.stringify(recording).replace(/("op27_payloads"|"op29_commit"|"senders"|"frames"|"steps"|"self"|{"name")/g, '\n$1') + '\n');
console.log(`${out}: ${steps.length} epochs, ${Math.max(...steps.map((s) => Object.keys(s.senders).length))} members at most`);
