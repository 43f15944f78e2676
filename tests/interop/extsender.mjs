// The voice server's part of a DAVE group: an MLS external sender (RFC 9420 section 12.1.8) over node:crypto, for scripts that
// make groups without a server. It signs Add and Remove proposals for the given epoch.
import { createHash, generateKeyPairSync, sign } from 'node:crypto';

const be = (n, bytes) => {
  const b = Buffer.alloc(8);
  b.writeBigUInt64BE(BigInt(n));
  return b.subarray(8 - bytes);
};
// opaque<V>: the length in its shortest form, and the bytes.
export const vec = (b) => {
  if (b.length < 0x40) return Buffer.concat([be(b.length, 1), b]);
  return Buffer.concat([b.length < 0x4000 ? be(b.length | 0x4000, 2) : be(b.length + 0x80000000, 4), b]);
};
const label = (text) => vec(Buffer.from(`MLS 1.0 ${text}`));

export class ExternalSender {
  // channel: decimal id, the group's name. identity: the production gateway sends one zero byte.
  constructor(channel, identity = Buffer.from([0])) {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { x, y } = publicKey.export({ format: 'jwk' });
    this.key = privateKey;
    this.group = be(channel, 8);
    this.epoch = 0n;
    this.package = Buffer.concat([vec(Buffer.concat([be(4, 1), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])), be(1, 2), vec(identity)]);
  }
  // MLSMessage(PublicMessage(proposal)) of external sender 0.
  proposal(body) {
    const head = Buffer.concat([be(1, 2), be(1, 2)]);
    const content = Buffer.concat([vec(this.group), be(this.epoch, 8), be(2, 1), be(0, 4), vec(Buffer.alloc(0)), be(2, 1), body]);
    const tbs = Buffer.concat([label('FramedContentTBS'), vec(Buffer.concat([head, content]))]);
    return Buffer.concat([head, content, vec(sign('sha256', tbs, this.key))]);
  }
  add(keyPackage) { return this.proposal(Buffer.concat([be(1, 2), keyPackage])); }
  remove(leaf) { return this.proposal(Buffer.concat([be(3, 2), be(leaf, 4)])); }
  // The payload of op 27 after its first byte.
  vector(proposals) { return vec(Buffer.concat(proposals)); }
  // The reference of a proposal made here, to revoke it (section 5.2): over the AuthenticatedContent, which is the message
  // without its version.
  ref(message) {
    return createHash('sha256').update(label('Proposal Reference')).update(vec(message.subarray(2))).digest();
  }
  revocation(messages) { return vec(Buffer.concat(messages.map((m) => vec(this.ref(m))))); }
}
